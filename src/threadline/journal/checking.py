"""`check`: whether what is stored of an agent is what was written, down to the bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from threadline.errors import IntegrityError, NotFoundError, SerializationError
from threadline.journal.audit import Audit, Finding
from threadline.journal.book import Book
from threadline.journal.projection import SNAPSHOT_KIND, Projection, decode_snapshot, fold
from threadline.journal.root import AgentRoot
from threadline.journal.rows import record_of
from threadline.ports import Document, Row

__all__ = ["CONTENTS_AT_ONCE", "check", "check_parents"]

CONTENTS_AT_ONCE = 32
"""Contents in memory at a time: one may be 50 MB."""


async def check(book: Book) -> AsyncIterator[Finding]:
    """Everything that is wrong with an agent's journal; nothing where all is well.

    Reads each row once and each content at least once, a batch at a time, and holds no more than a batch. Derives anew
    the names of contents, the numbering, the chain of messages, the root, and the view of each snapshot.

    Args:
        book: of the agent, in a transaction that may only read.

    Raises:
        StoreError: the place cannot be read at all.
    """
    root: AgentRoot | None = None
    try:
        root = await book.root()
        if root is None:
            yield Finding(place="root", sentence="is missing")
    except SerializationError as error:
        yield Finding(place="root", sentence=f"cannot be read: {error}")
    audit = Audit(book.agent_id)
    async for page in book.pages():
        records = [finding for row in page for finding in _taken(audit, row)]
        for finding in [*records, *await check_parents(book, audit), *await _contents(book, page)]:
            yield finding
    if root is None:
        return
    for finding in audit.end(root):
        yield finding
    if not audit.is_lost:
        async for finding in _snapshots(book, root):
            yield finding


def _taken(audit: Audit, row: Row) -> list[Finding]:
    try:
        return audit.take(record_of(audit.root.agent_id, row))
    except SerializationError as error:
        audit.is_lost = True
        return [Finding(place=f"record {row.sequence}", sentence=f"cannot be read: {error}")]


async def check_parents(book: Book, audit: Audit) -> list[Finding]:
    """Look up the parents that an audit could not know; takes them away from it."""
    strangers, audit.strangers = audit.strangers, []
    if not strangers:
        return []
    wanted = sorted({stranger.parent_id for stranger in strangers})
    found: dict[str, Row] = {}
    for start in range(0, len(wanted), book.batch):
        rows = await book.transaction.recorded(book.agent_id, wanted[start : start + book.batch])
        found |= {row.record_id: row for row in rows}
    return [
        Finding(
            place=f"record {stranger.sequence}",
            sentence=f"names {stranger.parent_id!r} as the message before it, which is none",
        )
        for stranger in strangers
        if not audit.is_parent(stranger, found.get(stranger.parent_id))
    ]


async def _contents(book: Book, page: Sequence[Row]) -> list[Finding]:
    named = {ref: row.sequence for row in reversed(page) for ref in row.refs}
    refs = list(named)
    found: list[Finding] = []
    for start in range(0, len(refs), CONTENTS_AT_ONCE):
        some = refs[start : start + CONTENTS_AT_ONCE]
        if not await _are_sound(book, some):
            bad = [ref for ref in some if not await _are_sound(book, [ref])]
            found += (
                Finding(place=f"content {ref}", sentence=f"of record {named[ref]} is missing or was changed")
                for ref in bad
            )
    return found


async def _are_sound(book: Book, refs: Sequence[str]) -> bool:
    try:
        contents = await book.transaction.get(refs)
    except (IntegrityError, NotFoundError):
        return False
    return all(book.naming(content) == ref for ref, content in contents.items())


async def _snapshots(book: Book, root: AgentRoot) -> AsyncIterator[Finding]:
    after = ""
    while found := await book.transaction.documents(SNAPSHOT_KIND, agent_id=book.agent_id, after=after, limit=1):
        after = found[-1].id
        sentence = await _wrong(book, root, found[-1])
        if sentence:
            yield Finding(place=f"snapshot {after}", sentence=sentence)


async def _wrong(book: Book, root: AgentRoot, document: Document) -> str:
    try:
        snapshot = decode_snapshot(document.body)
        if not 0 <= snapshot.branch < len(root.branches) or snapshot.position > root.journal_position:
            return "is of a branch or a position that there is not"
        return "" if await _anew(book, root, snapshot) == snapshot else "shows another view than its records"
    except SerializationError as error:
        return f"cannot be read, or a record before it: {error}"


async def _anew(book: Book, root: AgentRoot, snapshot: Projection) -> Projection:
    view = Projection(branch=snapshot.branch)
    while view.position < snapshot.position:
        page = await book.fresh(root, branch=snapshot.branch, after=view.position, limit=book.batch)
        upto = [record for record in page if record.sequence <= snapshot.position]
        view = fold(view, upto)
        if len(upto) < len(page) or not page:
            break
    return view
