"""`sync`: a client that resends everything is aligned with what is stored; where it differs, a branch begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.journal import CONVERSATION, AgentRoot, Book, JournalRecord
from threadline.messages.dialects import Decoder
from threadline.messages.message import Dialect
from threadline.thread.appending import Appended, write
from threadline.thread.desk import Desk
from threadline.thread.digests import digest_of
from threadline.thread.incoming import home_of, read_incoming
from threadline.thread.warm import home_in

__all__ = ["Synced", "sync"]

_PAGE = 1000


class Synced(Struct, frozen=True, kw_only=True):
    """What `sync` did.

    Attributes:
        matched: how many of the messages handed over were there already.
        appended: what was new.
        forked: True when a branch began, or another one was gone back to.
        branch: the branch that is now current.
    """

    matched: int
    appended: Appended | None
    forked: bool
    branch: int


async def sync(desk: Desk, history: Any, *, dialect: Dialect | None, shown: Sequence[str]) -> Synced:
    """Align a whole history (see `Thread.sync`) with what is stored, or with `shown`, the digests of the last view."""
    if not isinstance(history, (list, tuple)) or not history:
        raise InvalidInputError("sync takes the whole history, a list of at least one message", key="history")
    given = list(cast("Sequence[Any]", history))

    async def attempt(book: Book) -> Synced:
        root = await desk.root(book)
        home = home_of(given, home_in(root), dialect)
        read = read_incoming(given, home, Decoder(home), dialect=dialect, at=1)
        digests = [digest_of(one.message.wire) for one in read]
        if shown and digests[: len(shown)] == list(shown):
            return await _go_on(desk, book, root, given, len(shown), dialect=dialect, forked=False)
        branch, line, matched = await _closest(book, root, digests)
        forked = branch != root.branch
        if forked:
            root = await book.switch(root, branch, now_ms=desk.now_ms())
        if matched < len(line):
            after = line[matched - 1].sequence if matched else 0
            root, _ = await book.fork(root, after=after, now_ms=desk.now_ms(), record_id=desk.new_id())
            forked = True
        whole = [one.number for one in read[:matched]]
        start = whole[-1] + 1 if whole else 0
        return await _go_on(desk, book, root, given, start, dialect=dialect, forked=forked)

    return await desk.retried(attempt)


async def _go_on(
    desk: Desk, book: Book, root: AgentRoot, given: list[Any], start: int, *, dialect: Dialect | None, forked: bool
) -> Synced:
    appended = None
    if start < len(given):
        root, appended = await write(desk, book, root, given[start:], dialect=dialect)
    return Synced(matched=start, appended=appended, forked=forked, branch=root.branch)


async def _closest(book: Book, root: AgentRoot, digests: Sequence[str]) -> tuple[int, list[JournalRecord], int]:
    """The branch that shares the most with a history, its messages, and how many are shared."""
    best: tuple[int, list[JournalRecord], int] | None = None
    others = [one.branch for one in root.branches if one.branch != root.branch]
    for branch in (root.branch, *others):
        line = await _line(book, root, branch)
        matched = 0
        while matched < min(len(line), len(digests)) and line[matched].metadata.get("digest") == digests[matched]:
            matched += 1
        if (
            best is None
            or matched > best[2]
            or (matched == best[2] and best[2] < len(best[1]) and matched == len(line))
        ):
            best = branch, line, matched
        if matched == len(line) and (matched == len(digests) or branch == root.branch):
            break
    assert best is not None  # noqa: S101 - a root has a branch
    return best


async def _line(book: Book, root: AgentRoot, branch: int) -> list[JournalRecord]:
    """The messages of a branch that a client can know of: those not hidden by a clearing."""
    after = root.branches[branch].transcript_since
    line: list[JournalRecord] = []
    while True:
        page = await book.records(root, branch=branch, kinds=CONVERSATION, after=after, limit=_PAGE)
        line += page
        if len(page) < _PAGE:
            return line
        after = page[-1].sequence
