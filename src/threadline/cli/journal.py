"""The commands of a durable thread: ingest, assemble, look, explain, export, forget, and care for a store."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from threadline.cli import files, show_journal
from threadline.cli.options import AsJson, Force, Model, print_json
from threadline.errors import InvalidInputError

if TYPE_CHECKING:
    from threadline.engine import SyncEngine, SyncThread
    from threadline.messages import Message

__all__ = [
    "assemble",
    "branches",
    "db_check",
    "db_migrate",
    "explain",
    "export",
    "forget",
    "history",
    "import_",
    "ingest",
    "manifest_diff",
    "manifest_replay",
    "manifest_show",
    "register",
]

_BATCH = 500

Db = Annotated[str, typer.Option("--db", help="memory:, sqlite:///PATH or postgresql://...", envvar="THREADLINE_DB")]
Agent = Annotated[str, typer.Option("--agent", help="Whose conversation.")]
Owner = Annotated[str, typer.Option("--owner", help="Whose agent.", envvar="THREADLINE_OWNER")]
Tenant = Annotated[str, typer.Option("--tenant", help="Whose owner.", envvar="THREADLINE_TENANT")]
Ref = Annotated[str | None, typer.Argument(metavar="REF", help="A manifest; default the last.")]

manifest_app = typer.Typer(no_args_is_help=True, help="Look at what went into a call.")
db_app = typer.Typer(no_args_is_help=True, help="Look after a store.")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for name, command in (
        ("ingest", ingest),
        ("assemble", assemble),
        ("history", history),
        ("explain", explain),
        ("branches", branches),
        ("export", export),
        ("import", import_),
        ("forget", forget),
    ):
        app.command(name)(command)
    manifest_app.command("show")(manifest_show)
    manifest_app.command("diff")(manifest_diff)
    manifest_app.command("replay")(manifest_replay)
    db_app.command("migrate")(db_migrate)
    db_app.command("check")(db_check)
    app.add_typer(manifest_app, name="manifest")
    app.add_typer(db_app, name="db")


@contextmanager
def _engine(db: str) -> Generator[SyncEngine]:
    from threadline.engine import SyncEngine

    with SyncEngine.open(db) as engine:
        yield engine


@contextmanager
def _thread(db: str, agent: str, owner: str, tenant: str) -> Generator[SyncThread]:
    with _engine(db) as engine:
        yield engine.thread(agent, owner=owner, tenant=tenant)


def ingest(
    *,
    sources: Annotated[list[Path], typer.Argument(metavar="FILES...", help="Conversations; - is standard input.")],
    db: Db,
    agent: Agent,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Store conversations at the end of a thread; what was ingested before is not stored again."""
    told: list[dict[str, Any]] = []
    with _thread(db, agent, owner, tenant) as thread:
        for source in sources:
            messages = _conversation(source)
            keys = _chain(messages)
            new = 0
            with show_journal.counted(f"ingesting {files.name_of(source)}", len(messages)) as done:
                for at in range(0, len(messages), _BATCH):
                    batch = messages[at : at + _BATCH]
                    new += thread.append(batch, message_ids=keys[at : at + _BATCH]).added
                    done(len(batch))
            told.append({"file": files.name_of(source), "messages": len(messages), "new": new})
    if as_json:
        print_json({"agent": agent, "files": told})
    else:
        show_journal.ingested(told)


def _conversation(source: Path) -> list[Message]:
    """The messages of a file, as wire objects of a provider."""
    from threadline.messages import convert, decode, read_document

    document = read_document(files.read(source), name=files.name_of(source))
    request = convert(document.request, document.request.dialect).request
    system = [{"role": "system", "content": message.content} for message in request.system]
    held = decode(system, "plain").messages if system else ()
    if not held and not request.messages:
        raise InvalidInputError(f"{files.name_of(source)} holds no messages")
    return [*held, *request.messages]


def _chain(messages: Sequence[Message]) -> list[str | None]:
    """A name for each message, of all that stands before it and itself: a file that grew is ingested on from there."""
    from threadline.messages.wire import dump_bytes

    digest = hashlib.sha256()
    names: list[str | None] = []
    for message in messages:
        digest.update(dump_bytes(message.wire))
        names.append(f"ingest:{digest.hexdigest()[:32]}")
    return names


def assemble(
    *,
    db: Db,
    agent: Agent,
    max_input_tokens: Annotated[int | None, typer.Option("--max-input-tokens", help="The budget.")] = None,
    model: Model = None,
    instructions: Annotated[str | None, typer.Option("--instructions", help="What the operator tells.")] = None,
    tools: Annotated[Path | None, typer.Option("--tools", help="A JSON array of tool definitions.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="The dialect of the body; default the thread's.")] = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Put together what the model sees next, store the proof, and show it."""
    definitions = None if tools is None else _json_file(tools)
    with _thread(db, agent, owner, tenant) as thread:
        call = thread.assemble(
            model=model, max_input_tokens=max_input_tokens, instructions=instructions, tools=definitions
        )
    if as_json:
        dialect: Any = to
        print_json(
            {
                "manifest_ref": call.manifest_ref,
                "tokens": call.tokens,
                "call_sequence": call.call_sequence,
                "execution_id": call.execution_id,
                "manifest": msgspec.to_builtins(call.manifest),
                "body": call.body(dialect),
            }
        )
        return
    show_journal.manifest(call.manifest, call.manifest_ref)


def _json_file(path: Path) -> list[Any]:
    from threadline.messages.shapes import is_array
    from threadline.messages.wire import load_bytes

    value = load_bytes(files.read(path))
    if not is_array(value):
        raise InvalidInputError(f"{files.name_of(path)} holds no JSON array")
    return value


def history(
    *,
    db: Db,
    agent: Agent,
    after: Annotated[int, typer.Option("--after", help="Begin behind this sequence.")] = 0,
    limit: Annotated[int, typer.Option("--limit", help="Most messages to show.")] = 100,
    branch: Annotated[int | None, typer.Option("--branch", help="Which branch; default the current one.")] = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show what was said, hidden messages too, page by page."""
    with _thread(db, agent, owner, tenant) as thread:
        page = thread.history(after=after, limit=limit, branch=branch)
    if as_json:
        print_json(msgspec.to_builtins(page))
    else:
        show_journal.history(page)


def explain(
    *,
    message_id: Annotated[str, typer.Argument(metavar="MESSAGE", help="A message's id.")],
    db: Db,
    agent: Agent,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Tell what became of a message in the last call, and why."""
    with _thread(db, agent, owner, tenant) as thread:
        told = thread.explain(message_id)
    if as_json:
        print_json(msgspec.to_builtins(told))
    else:
        show_journal.explanation(told)


def branches(
    *, db: Db, agent: Agent, owner: Owner = "default", tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """List the branches of a thread."""
    with _thread(db, agent, owner, tenant) as thread:
        found = thread.branches()
    if as_json:
        print_json({"branches": msgspec.to_builtins(found)})
    else:
        show_journal.branches(found)


def manifest_show(
    *,
    db: Db,
    agent: Agent,
    ref: Ref = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show a manifest: every block, its source, its cost and its reason; what was left out and why."""
    with _thread(db, agent, owner, tenant) as thread:
        found = thread.manifest(ref)
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        show_journal.manifest(found, ref)


def manifest_diff(
    *,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A manifest.")],
    db: Db,
    agent: Agent,
    after: Annotated[str | None, typer.Argument(metavar="AFTER", help="Another; default the last.")] = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Show what entered, left, moved and changed its cost between two manifests."""
    from threadline.context import diff, render_diff

    with _thread(db, agent, owner, tenant) as thread:
        difference = diff(thread.manifest(before), thread.manifest(after))
    if as_json:
        print_json(msgspec.to_builtins(difference))
    else:
        show_journal.text(render_diff(difference))


def manifest_replay(
    *,
    db: Db,
    agent: Agent,
    ref: Ref = None,
    again: Annotated[bool, typer.Option("--reassemble", help="Run the policy again instead.")] = False,
    owner: Owner = "default",
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Rebuild a stored request and compare it byte for byte; exit code 1 when it differs."""
    with _thread(db, agent, owner, tenant) as thread:
        replayed = thread.reassemble(ref) if again else thread.replay(ref)
    if as_json:
        print_json(msgspec.to_builtins(replayed))
    else:
        show_journal.replayed(replayed)
    if not replayed.same:
        raise typer.Exit(1)


def export(
    *,
    db: Db,
    agent: Agent,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write it.")] = Path("-"),
    owner: Owner = "default",
    tenant: Tenant = "default",
) -> None:
    """Write a whole journal as JSONL."""
    lines: list[bytes] = []
    with _engine(db) as engine, show_journal.progress("exporting"):
        engine.export_journal(agent, owner=owner, tenant=tenant, write=lines.append)
    files.write((output, lines))


def import_(
    *,
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="An exported journal; - is standard input.")],
    db: Db,
    agent: Annotated[str | None, typer.Option("--agent", help="Under which name; default its own.")] = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
) -> None:
    """Read an exported journal into a store; all of it or nothing."""
    with files.opened(source) as file, _engine(db) as engine, show_journal.progress("importing"):
        info = engine.import_journal(file, owner=owner, tenant=tenant, agent_id=agent)
    show_journal.text(f"{info.records:,} records of {info.agent_id}")


def forget(
    *,
    db: Db,
    agent: Annotated[str | None, typer.Option("--agent", help="All of this agent.")] = None,
    messages: Annotated[list[str] | None, typer.Option("--message", help="Only this message of it.")] = None,
    owner: Owner = "default",
    tenant: Tenant = "default",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Forget messages, an agent or (without --agent) an owner, for good; prints the certificate."""
    if agent is None and messages:
        raise typer.BadParameter("--message needs --agent")
    if not force and not messages:
        what = f"the owner {owner}" if agent is None else f"the agent {agent}"
        typer.confirm(f"forget everything of {what}, for good?", abort=True)
    with _engine(db) as engine:
        certificate = engine.forget(owner=owner, tenant=tenant, agent_id=agent, message_ids=messages or None)
    if as_json:
        print_json(msgspec.to_builtins(certificate))
    else:
        show_journal.certificate(certificate)


def db_migrate(db: Db) -> None:
    """Bring a store's schema up to date."""
    with _engine(db) as engine, show_journal.progress("migrating"):
        run = engine.migrate()
    show_journal.text("\n".join(run) if run else "the schema is up to date")


def db_check(
    *,
    db: Db,
    owner: Annotated[str | None, typer.Option("--owner", help="Only this owner.")] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Derive content ids and views anew and compare; exit code 1 when something is wrong."""
    with _engine(db) as engine, show_journal.progress("checking"):
        report = engine.check(owner=owner, tenant=tenant)
    if as_json:
        print_json(msgspec.to_builtins(report))
    else:
        show_journal.checked(report)
    if report.findings:
        raise typer.Exit(1)
