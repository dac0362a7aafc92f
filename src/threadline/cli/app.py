"""The commands: read, call, show. No logic."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import typer

from threadline.cli import files, record, show
from threadline.cli.converted import converted_json
from threadline.cli.inputs import read_for_optimizing
from threadline.cli.journal import register
from threadline.cli.options import AsJson, Force, Input, Model, Output, print_json
from threadline.cli.tally import Tally
from threadline.cli.understanding import register_understanding
from threadline.errors import InvalidInputError, ThreadlineError
from threadline.messages import Checker, Converter, Dialect, read_conversation, read_document

__all__ = ["app", "check", "convert", "count", "fit", "main", "optimize", "restore"]

app = typer.Typer(
    name="threadline",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


MarkerName: TypeAlias = Literal["reference", "silent"]
Keep: TypeAlias = Literal["first", "latest"]


def _tell_version(asked: bool) -> None:  # noqa: FBT001 - the shape Typer calls
    if asked:
        from importlib.metadata import version

        typer.echo(f"threadline {version('threadline')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Fit long conversations with language models to a token budget, and lose nothing."""


@app.command()
def optimize(
    source: Input,
    output: Output = None,
    *,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the JSON; the report goes to stderr.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse input that is no message list.")] = False,
    marker: Annotated[MarkerName, typer.Option("--marker", help="What stands where a repeat was.")] = "reference",
    keep: Annotated[Keep, typer.Option("--keep", help="Which copy stays.")] = "first",
    min_chars: Annotated[int, typer.Option("--min-chars", help="Shortest repeat, in characters.")] = 64,
    tables: Annotated[bool, typer.Option("--tables", help="Name the keys of uniform JSON lists once.")] = False,
    force: Force = False,
) -> None:
    """Leave out what a conversation repeats, word for word."""
    from threadline.compat.contextray import optimize_context

    if stdout and output is not None:
        raise typer.BadParameter("--stdout and --output exclude each other")
    messages, is_text = read_for_optimizing(files.read(source), name=files.name_of(source), strict=strict)
    target = output or _beside(source, is_text=is_text)
    files.guard([source], [] if stdout else [target], force=force)
    with show.progress("looking for repeats"):
        result = _named(
            source,
            lambda: optimize_context(messages, marker=marker, keep=keep, min_chars=min_chars, tables=tables),
        )
    text = result.pop("report")
    data = json.dumps(result, ensure_ascii=False, indent=2).encode("utf-8", "threadline.json")
    if stdout:
        files.write((Path("-"), [data, b"\n"]))
        show.console(stderr=True).print(text, markup=False)
        return
    files.write((target, [data]))
    out = show.console()
    out.print(text, markup=False)
    out.print(f"Written to {target}", markup=False)


def _beside(source: Path, *, is_text: bool) -> Path:
    if str(source) == "-":
        return Path("stdin_optimized.json")
    return source.with_name(f"{source.stem}_optimized{'.json' if is_text else source.suffix}")


@app.command()
def fit(
    source: Input,
    max_input_tokens: Annotated[int, typer.Option("--max-input-tokens", help="The budget.")],
    model: Model = None,
    output: Output = None,
    elisions: Annotated[Path | None, typer.Option("--elisions", help="Where to keep what was left out.")] = None,
    *,
    tables: Annotated[bool, typer.Option("--tables", help="Name the keys of uniform JSON lists once.")] = False,
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Make a conversation fit a token budget; `restore` gives back the very bytes."""
    from threadline.transcript import FitPolicy
    from threadline.transcript import fit as fit_request

    to_stdout = Path("-") if as_json else None
    files.guard([source], [output, elisions, to_stdout], force=force)
    data = files.read(source)
    name = files.name_of(source)
    document = read_document(data, name=name)
    kept = record.record_of(document, data) if elisions is not None else None
    del data  # a large file is not held twice
    with show.progress("fitting"):
        result = _named(
            source,
            lambda: fit_request(
                document.request, max_input_tokens=max_input_tokens, model=model, policy=FitPolicy(tables=tables)
            ),
        )
    value = document.rebuild(result.request.messages)
    outputs: list[tuple[Path, Iterable[bytes]]] = []
    if elisions is not None and kept is not None:
        outputs.append((elisions, [record.dumped(record.with_decisions(kept, document, result.elisions))]))
    if output is not None:
        outputs.append((output, document.stream(value)))
    files.write(*outputs)
    if as_json:
        summary = msgspec.to_builtins(result.report)
        print_json({**summary, "value": value} if output is None else summary)
        return
    out = show.console(stderr=output is not None and str(output) == "-")
    show.report(out, result.report)
    if output is not None and elisions is None and result.elisions:
        show.console(stderr=True).print("without --elisions the original cannot be restored from the output")


@app.command()
def restore(
    source: Input,
    elisions: Annotated[Path, typer.Option("--elisions", help="What `fit` left out.")],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Give back the very bytes of a file that `fit` reduced."""
    files.guard([source, elisions], [output], force=force)
    kept = record.loaded(files.read(elisions), name=files.name_of(elisions))
    data = _named(source, lambda: record.restored(files.read(source), kept, name=files.name_of(source)))
    files.write((output or Path("-"), [data]))


@app.command()
def count(source: Input, model: Model = None, *, as_json: AsJson = False) -> None:
    """Count tokens: by role, by tool, by message."""
    from threadline.tokens import Measure

    measure = Measure(model)
    with files.opened(source) as file, show.progress("counting"):
        conversation = read_conversation(file, name=files.name_of(source))
        tally = Tally(measure, conversation.frame)
        for message in conversation.messages:
            tally.feed(message)
        tally.finish()
    if as_json:
        print_json(tally.summary())
    else:
        show.counts(show.console(), tally)


@app.command()
def check(
    source: Input,
    provider: Annotated[Dialect | None, typer.Option("--provider", help="Whose rules; default its own.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Tell what a provider would refuse in the shape of a conversation; exit code 1 if anything."""
    with files.opened(source) as file:
        conversation = read_conversation(file, name=files.name_of(source))
        checker = Checker(conversation.frame, provider)
        for message in conversation.messages:
            checker.feed(message)
        found = checker.finish()
    if as_json:
        print_json({"violations": msgspec.to_builtins(found)})
    else:
        show.violations(show.console(), found)
    if found:
        raise typer.Exit(1)


@app.command()
def convert(
    source: Input,
    to: Annotated[Dialect, typer.Option("--to", help="The dialect to write.")],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Write a conversation in another provider's dialect; what cannot be carried over is told on stderr."""
    files.guard([source], [output], force=force)
    with files.opened(source) as file:
        conversation = read_conversation(file, name=files.name_of(source))
        converter = Converter(conversation.frame, conversation.messages, to)
        files.write((output or Path("-"), converted_json(converter, conversation.frame)))
    show.losses(show.console(stderr=True), converter.losses)


def _named(source: Path, run: Any) -> Any:
    """Errors about an input say which input it is."""
    try:
        return run()
    except InvalidInputError as error:
        name = files.name_of(source)
        if error.code == "unknown_model" or str(error).startswith(name):
            raise
        raise InvalidInputError(f"{name}: {error}", **error.fields) from error


register(app)
register_understanding(app)


def main() -> None:
    """Run the command line; errors are one line on stderr and exit code 1, wrong usage is exit code 2."""
    try:
        app()
    except ThreadlineError as error:
        _fail(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        _fail("interrupted", code=130)


def _fail(text: str, code: int = 1) -> None:
    one_line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    print(f"threadline: {one_line}", file=sys.stderr)  # noqa: T201 - the one line an error is
    sys.exit(code)
