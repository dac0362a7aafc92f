"""What was made from messages that are to be forgotten: the calls that showed them, or a summary of them."""

from __future__ import annotations

from collections.abc import Collection

from threadline.context.manifest import LLMInputManifest, decode_manifest
from threadline.journal import Book, JournalRecord
from threadline.journal.forgetting import Derived
from threadline.journal.rows import record_of
from threadline.thread.schemas import WINDOW
from threadline.thread.window import WindowState, stretch_of

__all__ = ["derived_from"]

_PAGE = 200


async def derived_from(book: Book, records: Collection[JournalRecord]) -> Derived:
    """The calls of all branches that showed one of the records, whole, in part or in a summary, and what they stored.

    Reads every call of the agent, a page at a time: forgetting is rare, and must miss none.
    """
    asked = {record.record_id: record.sequence for record in records}
    decided: list[str] = []
    contents: set[str] = set()
    manifests: set[str] = set()
    after = 0
    while page := await book.transaction.rows(book.agent_id, kinds=("decided",), after=after, limit=_PAGE):
        after = page[-1].sequence
        for row in page:
            record = record_of(book.agent_id, row)
            if record.forgotten_by is not None or record.content_ref is None:
                continue
            ref = str(record.metadata["manifest_ref"])
            held = await book.contents([record.content_ref, ref])
            state = WINDOW.decode(held[record.content_ref], WindowState)
            manifest = decode_manifest(held[ref], ref=ref, naming=book.naming)
            if _shows(manifest, asked) or _remembers(state, asked):
                decided.append(record.record_id)
                contents |= {ref, *_told(manifest, asked)}
                manifests.add(ref)
    return Derived(record_ids=(*decided, *await _outcomes_of(book, manifests)), contents=tuple(sorted(contents)))


async def _outcomes_of(book: Book, manifests: set[str]) -> list[str]:
    """What was recorded of these calls: while it names a manifest, that stays, with the hashes of what it showed."""
    found: list[str] = []
    after = 0
    while page := await book.transaction.rows(book.agent_id, kinds=("llm_call_recorded",), after=after, limit=_PAGE):
        after = page[-1].sequence
        found += (row.record_id for row in page if not manifests.isdisjoint(row.refs))
    return found


def _shows(manifest: LLMInputManifest, asked: dict[str, int]) -> bool:
    return any(segment.record_id in asked for segment in manifest.segments)


def _told(manifest: LLMInputManifest, asked: dict[str, int]) -> set[str]:
    """What the call stored to show a record, and what it put in: a summary, a repair."""
    return {
        segment.content_ref
        for segment in manifest.segments
        if segment.record_id in asked or segment.metadata.get("inserted") is not None
    }


def _remembers(state: WindowState, asked: dict[str, int]) -> bool:
    """Whether a window holds a record, or its summary stands for it."""
    held = not asked.keys().isdisjoint(state.record_ids)
    return held or any(stretch_of(state.gone, sequence) is not None for sequence in asked.values())
