"""`append`: new messages become records, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct, structs

from threadline.context import FilterSource, Trust, filter_message
from threadline.context.filters import Stage
from threadline.errors import ConflictError, InvalidInputError
from threadline.journal import AgentRoot, Book, Entry, JournalRecord
from threadline.messages.dialects import Decoder
from threadline.messages.message import Dialect
from threadline.messages.wire import dump_bytes, load_bytes
from threadline.ports.scope import checked_name
from threadline.thread.desk import Desk, with_metadata
from threadline.thread.digests import digest_of
from threadline.thread.incoming import Incoming, home_of, place_of, read_incoming, read_wire
from threadline.thread.warm import home_in

__all__ = ["Appended", "append", "keys_of", "write"]


_STAGES: dict[str, tuple[Stage, Trust]] = {
    "external_message": ("input", "user"),
    "assistant_message": ("output", "model"),
    "tool_message": ("tool_result", "tool"),
}


class Appended(Struct, frozen=True, kw_only=True):
    """What `append` stored.

    Attributes:
        message_ids: of the messages handed over, in order: the caller's where there is one, else the record's.
        record_ids: the same by record.
        sequence: the journal's position after it.
        execution_id: the run that the last of them belongs to.
        added: how many of them were not there already.
    """

    message_ids: tuple[str, ...]
    record_ids: tuple[str, ...]
    sequence: int
    execution_id: str | None
    added: int

    @property
    def is_new(self) -> bool:
        """False where all of them were there already."""
        return self.added > 0


async def append(
    desk: Desk,
    messages: Any,
    *,
    keys: Sequence[str | None] | None,
    dialect: Dialect | None,
    metadata: Mapping[str, Any],
) -> Appended:
    """Store messages at the end of the current branch; see `Thread.append`."""

    async def attempt(book: Book) -> Appended:
        root = await desk.root(book)
        return (await write(desk, book, root, messages, keys=keys, dialect=dialect, metadata=metadata))[1]

    return await desk.retried(attempt)


def keys_of(
    messages: Any, message_ids: str | Sequence[str | None] | None, idempotency_key: str | None
) -> list[str | None] | None:
    """One key for each message, from what the caller named them or the batch.

    Raises:
        InvalidInputError: both are given, or there are not as many ids as messages, or one is no name.
    """
    count = len(cast("list[object]", messages)) if isinstance(messages, (list, tuple)) else 1
    if message_ids is None and idempotency_key is None:
        return None
    if message_ids is not None and idempotency_key is not None:
        raise InvalidInputError("give message ids or an idempotency key, not both", key="idempotency_key")
    if idempotency_key is not None:
        checked_name(idempotency_key, "idempotency_key")
        return [idempotency_key if count == 1 else f"{idempotency_key}#{number}" for number in range(count)]
    ids = [message_ids] if message_ids is None or isinstance(message_ids, str) else list(message_ids)
    if len(ids) != count:
        raise InvalidInputError(f"{len(ids)} message ids for {count} messages", key="message_ids")
    named = [one for one in ids if one is not None]
    for one in named:
        checked_name(one, "message_ids")
    if len(set(named)) < len(named):
        raise InvalidInputError("a message id is given twice", key="message_ids")
    return ids


async def write(
    desk: Desk,
    book: Book,
    root: AgentRoot,
    messages: Any,
    *,
    keys: Sequence[str | None] | None = None,
    dialect: Dialect | None = None,
    metadata: Mapping[str, Any] | None = None,
    more: Sequence[Entry] = (),
    llm_call_id: str | None = None,
    execution_id: str | None = None,
    visible: bool = True,
) -> tuple[AgentRoot, Appended]:
    """Store messages, and the records in `more` behind them, in one step.

    Raises:
        ConflictError: a key is taken by a message that says something else.
    """
    home = home_of(messages, home_in(root), dialect)
    decoder = await _decoder(book, root, home)
    incoming = read_incoming(
        messages, home, decoder, dialect=dialect, at=root.journal_position + 1, redactor=desk.habits.redactor
    )
    known = await book.keyed(root, [key for key in keys if key is not None]) if keys else {}
    entries: list[Entry] = []
    added: set[int] = set()
    ids: dict[int, str] = {}
    record_ids: dict[int, str] = {}
    current = execution_id or root.execution_id
    follows_user = False
    for came in incoming:
        one, raw = _filtered(desk, came)
        key = keys[one.number] if keys else None
        is_first = one.number not in ids
        if key is not None and (record := known.get(key)) is not None:
            if is_first:
                _check_same(book, record, one, key)
                ids[one.number], record_ids[one.number] = key, record.record_id
            continue
        kind, channel = place_of(one.message)
        is_external = kind == "external_message"
        if execution_id is None and (current is None or (is_external and not follows_user)):
            current = desk.new_id()
        follows_user = is_external
        told, refs = await _told(book, one, metadata)
        if raw is not None:
            entries.append(structs.replace(raw, execution_id=current))
        entry = Entry(
            kind=kind,
            channel=channel,
            record_id=desk.new_id(),
            role=one.message.role,
            content=one.content,
            key=key if is_first else None,
            refs=refs,
            execution_id=current,
            llm_call_id=llm_call_id,
            causation_id=None if raw is None else raw.record_id,
            context_candidate=visible,
            metadata=told,
        )
        if is_first:
            ids[one.number], record_ids[one.number] = key or entry.record_id, entry.record_id
        entries.append(entry)
        added.add(one.number)
        if one.redacted:
            entries.append(_secrets(desk, one, entry))
    if entries and home != home_in(root):
        root = with_metadata(root, dialect=home)
    if entries or more:
        root, _ = await book.append(root, [*entries, *more], now_ms=desk.now_ms())
    appended = Appended(
        message_ids=tuple(ids[number] for number in sorted(ids)),
        record_ids=tuple(record_ids[number] for number in sorted(ids)),
        sequence=root.journal_position,
        execution_id=current,
        added=len(added),
    )
    return root, appended


def _filtered(desk: Desk, one: Incoming) -> tuple[Incoming, Entry | None]:
    """A message as the filters let it through, and the record of what it was before, where they changed it.

    Raises:
        FilterBlockError: a filter refused it; nothing was stored.
    """
    stage, trust = _STAGES.get(place_of(one.message)[0], ("instruction", "operator"))
    message = filter_message(desk.habits.filters, one.message, FilterSource(stage=stage, trust=trust))
    if message is one.message:
        return one, None
    raw = Entry(
        kind="tool_result" if stage == "tool_result" else "input_received",
        channel="audit",
        record_id=desk.new_id(),
        role=one.message.role,
        content=one.content,
        visibility="operator",
    )
    return structs.replace(one, message=message, content=dump_bytes(message.wire)), raw


async def _told(
    book: Book, one: Incoming, metadata: Mapping[str, Any] | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a record says beside the message, and what else it names."""
    told: dict[str, Any] = {**(metadata or {}), "digest": digest_of(one.message.wire)}
    if one.message.origin != "conversation":
        told["origin"] = one.message.origin
    if one.original is None:
        return told, ()
    refs = tuple(await book.put([one.original]))
    return {**told, "original": refs[0], "source": one.source}, refs


def _secrets(desk: Desk, one: Incoming, entry: Entry) -> Entry:
    """A record of the secrets that were taken out of a message; they themselves are nowhere."""
    return Entry(
        kind="secret_found",
        channel="audit",
        record_id=desk.new_id(),
        execution_id=entry.execution_id,
        causation_id=entry.record_id,
        visibility="operator",
        metadata={"found": [{"kind": found.kind, "path": list(found.path)} for found in one.redacted]},
    )


def _check_same(book: Book, record: JournalRecord, one: Incoming, key: str) -> None:
    said = record.metadata.get("original", record.content_ref)
    if said is not None and book.naming(one.original or one.content) != said:
        same = record.metadata.get("digest") == digest_of(one.message.wire)
        if not same:
            raise ConflictError(f"message id {key!r} is taken by another message", key=key, final=True)


async def _decoder(book: Book, root: AgentRoot, home: Dialect) -> Decoder:
    """A decoder that has read the message at the end of the branch: what comes may answer it."""
    decoder = Decoder(home)
    if root.current.tip is not None:
        tip = await book.record(root.current.tip)
        if tip is not None and tip.content_ref is not None and tip.forgotten_by is None:
            contents = await book.contents([tip.content_ref])
            read_wire(load_bytes(contents[tip.content_ref]), decoder, tip.sequence)
    return decoder
