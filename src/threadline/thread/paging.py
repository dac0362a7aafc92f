"""`history` and `branches`: what was said, page by page, hidden or not."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from threadline.errors import InvalidInputError, NotFoundError
from threadline.journal import CONVERSATION, AgentRoot, JournalRecord
from threadline.messages.fate import Fate
from threadline.messages.wire import load_bytes
from threadline.thread.desk import Desk

__all__ = ["BranchInfo", "HistoryPage", "Said", "branches", "checked_branch", "history", "said_of"]

_MOST = 10_000


class Said(Struct, frozen=True, kw_only=True):
    """One message as it was said.

    Attributes:
        message_id: the caller's where there is one, else the record's.
        wire: the wire object; None where it was forgotten.
        original: what was handed over, where that was in another dialect.
        fate: `kept`, `hidden` behind a clearing, or `forgotten`; what a call shows of it is `explain`'s to say.
        partial: True for a reply that was cut off.
    """

    message_id: str
    record_id: str
    sequence: int
    branch: int
    kind: str
    role: str | None
    wire: Any
    original: Any = None
    execution_id: str | None = None
    llm_call_id: str | None = None
    occurred_at_ms: int
    fate: Fate = Fate.KEPT
    partial: bool = False
    metadata: Any = {}


class HistoryPage(Struct, frozen=True, kw_only=True):
    """Some messages in order; `next_after` asks for the next page, None when there is none."""

    messages: tuple[Said, ...]
    next_after: int | None


class BranchInfo(Struct, frozen=True, kw_only=True):
    """A line of the conversation: where it left which other, and whether appends go to it."""

    branch: int
    parent: int | None
    forked_after: int
    head: int
    is_current: bool


async def history(desk: Desk, *, after: int, limit: int, branch: int | None) -> HistoryPage:
    """A page of what was said; see `Thread.history`."""
    for name, value, least in (("after", after, 0), ("limit", limit, 1)):
        if value < least:
            raise InvalidInputError(f"{name} must be an integer of at least {least}", key=name)
    limit = min(limit, _MOST)
    async with desk.book(write=False) as book:
        root = await book.root()
        if root is None:
            return HistoryPage(messages=(), next_after=None)
        checked_branch(root, branch)
        records = await book.records(root, branch=branch, kinds=CONVERSATION, after=after, limit=limit + 1)
        page = records[:limit]
        standing = [record for record in page if record.forgotten_by is None]
        refs = [ref for record in standing for ref in (record.content_ref, record.metadata.get("original")) if ref]
        contents = await book.contents(refs)
    since = root.branches[root.branch if branch is None else branch].transcript_since
    return HistoryPage(
        messages=tuple(said_of(record, contents, since) for record in page),
        next_after=page[-1].sequence if len(records) > limit else None,
    )


def said_of(record: JournalRecord, contents: dict[str, bytes], since: int) -> Said:
    """A message's record with its contents."""
    told: Any = record.metadata
    original = told.get("original")
    fate = Fate.FORGOTTEN if record.forgotten_by is not None else Fate.HIDDEN if record.sequence <= since else Fate.KEPT
    own = {"digest", "origin", "original", "source", "partial"}
    return Said(
        message_id=record.key or record.record_id,
        record_id=record.record_id,
        sequence=record.sequence,
        branch=record.branch,
        kind=record.kind,
        role=record.role,
        wire=None if record.content_ref not in contents else load_bytes(contents[record.content_ref]),
        original=None if original is None or original not in contents else load_bytes(contents[original]),
        execution_id=record.execution_id,
        llm_call_id=record.llm_call_id,
        occurred_at_ms=record.occurred_at_ms,
        fate=fate,
        partial=bool(told.get("partial")),
        metadata={key: value for key, value in told.items() if key not in own},
    )


def checked_branch(root: AgentRoot, branch: int | None) -> int:
    """The number of a branch that there is.

    Raises:
        NotFoundError: there is none of that number.
    """
    number = root.branch if branch is None else branch
    if not 0 <= number < len(root.branches):
        raise NotFoundError(f"there is no branch {number!r}", branch=number, agent_id=root.agent_id)
    return number


async def branches(desk: Desk) -> list[BranchInfo]:
    """All branches, by number."""
    async with desk.book(write=False) as book:
        root = await book.root()
    if root is None:
        return []
    return [
        BranchInfo(
            branch=one.branch,
            parent=one.parent,
            forked_after=one.forked_after,
            head=one.head,
            is_current=one.branch == root.branch,
        )
        for one in root.branches
    ]
