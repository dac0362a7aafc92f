"""`explain`: what became of one message in the last call, and why."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from threadline.errors import NotFoundError
from threadline.journal import CONVERSATION, AgentRoot, Book, JournalRecord
from threadline.messages.elision import Elision
from threadline.messages.fate import Fate
from threadline.thread.window import Window, stretch_of

__all__ = ["Explanation", "explain", "find"]

_REASONS: dict[Fate, str] = {
    Fate.KEPT: "it is shown as it was said",
    Fate.DEDUPLICATED: "parts of it stand earlier in the same input, word for word; a reference stands in their place",
    Fate.SUPERSEDED: "a later result of the same tool made it stale",
    Fate.PRUNED: "it was longer than a tool result may be; head, tail and the lines that matter are shown",
    Fate.CLEARED: "the budget was short; a marker stands for what the tool gave back",
    Fate.SUMMARISED: "the budget was short; the summary stands for it",
    Fate.OMITTED: "it did not go into this call",
    Fate.HIDDEN: "the transcript was cleared after it",
    Fate.REDACTED: "secrets in it were taken out before it was stored",
    Fate.FORGOTTEN: "it was forgotten on request",
}


class Explanation(Struct, frozen=True, kw_only=True):
    """What became of a message.

    Attributes:
        fate: in the last call; `kept` for one that no call has looked at yet.
        reason: the same in words.
        tokens, tokens_shown: what it costs whole, and as it is shown; None where it is not in the window.
        left_out: the fate and size in characters of each part that was left out of it.
        manifest_ref: of the call; None when there was none.
        seen: False when no call has looked at the message yet.
    """

    message_id: str
    record_id: str
    sequence: int
    fate: Fate
    reason: str
    tokens: int | None = None
    tokens_shown: int | None = None
    left_out: tuple[tuple[str, int], ...] = ()
    manifest_ref: str | None = None
    seen: bool = True


async def find(book: Book, root: AgentRoot, message_id: str) -> JournalRecord:
    """The record of a message, by the caller's id or its own.

    Raises:
        NotFoundError: there is none.
    """
    found = (await book.keyed(root, [message_id])).get(message_id)
    found = found or next(iter(await book.recorded([message_id])), None)
    if found is None or found.kind not in (*CONVERSATION, "knowledge"):
        raise NotFoundError(f"there is no message {message_id!r}", message_id=message_id)
    return found


def explain(
    record: JournalRecord, root: AgentRoot, window: Window, manifest_ref: str | None, omitted: dict[str, str]
) -> Explanation:
    """What became of a message in the last call; `omitted` says by record id why the call's policy left it out."""
    told = Explanation(
        message_id=record.key or record.record_id,
        record_id=record.record_id,
        sequence=record.sequence,
        fate=Fate.KEPT,
        reason=_REASONS[Fate.KEPT],
        manifest_ref=manifest_ref,
    )
    at = next((n for n, seen in enumerate(window.seen) if seen.record_id == record.record_id), None)
    waits = any(seen.record_id == record.record_id for seen, _ in window.waiting)
    if record.forgotten_by is not None:
        return _told(told, Fate.FORGOTTEN)
    if record.sequence <= root.current.transcript_since:
        return _told(told, Fate.HIDDEN)
    if waits:
        return _told(told, Fate.KEPT, reason="no call has looked at it yet", seen=False)
    if at is None:
        gone = stretch_of(window.gone, record.sequence) is not None
        return _told(told, Fate.SUMMARISED if gone else Fate.OMITTED)
    ledger = window.ledger
    fate = window.fate(at)
    if fate is Fate.KEPT and record.record_id in omitted:
        return _told(told, Fate.OMITTED, reason=omitted[record.record_id], tokens=ledger.own[at])
    return _told(
        told,
        fate,
        tokens=ledger.own[at],
        tokens_shown=ledger.costs.get(at, 0),
        left_out=tuple((elision.fate.value, _size(elision)) for elision in ledger.elisions.get(at, ())),
    )


def _told(told: Explanation, fate: Fate, **more: Any) -> Explanation:
    return structs.replace(told, fate=fate, **{"reason": _REASONS[fate], **more})


def _size(elision: Elision) -> int:
    if elision.start is not None and elision.end is not None:
        return elision.end - elision.start
    return len(str(elision.original))
