"""`WorkspaceMemCellExtractor`: episodes out of mailboxes, issue trackers and page histories."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, TypeAlias

import msgspec

from threadline.boundary.cells import MemCell
from threadline.boundary.limits import Limits
from threadline.boundary.twins import run_sync
from threadline.boundary.workspace.mail import looks_like_mail, mail_posts
from threadline.boundary.workspace.posts import DAY_MS, Post, cells_of
from threadline.boundary.workspace.trackers import issue_posts, page_posts
from threadline.errors import InvalidInputError
from threadline.messages.shapes import is_array, is_object

__all__ = ["SourceKind", "WorkspaceMemCellExtractor"]

SourceKind: TypeAlias = Literal["mail", "issues", "pages"]

_WEEK_MS = 7 * DAY_MS
"""A thread of mails or comments that rested for a week is taken up again: the window that clustering uses too."""

_SITTING_MS = 4 * 3_600_000
"""Revisions of one author that lie closer together are one sitting; a longer silence parts conversations too."""


class WorkspaceMemCellExtractor:
    """Cuts what people write at work into episodes: by thread, subject, author, quotation and time; no model is asked.

    Quoted replies, signatures and unchanged text are not new: they are left out.

    Args:
        hard_token_limit: a longer episode is cut in any case.
        hard_msg_limit: the same for the number of posts.

    Raises:
        InvalidInputError: a limit is too small to cut by.
    """

    def __init__(self, *, hard_token_limit: int = 65_536, hard_msg_limit: int = 500) -> None:
        self._limits = Limits(tokens=hard_token_limit, messages=hard_msg_limit)

    async def aextract(self, content: bytes | str, *, kind: SourceKind | None = None) -> list[MemCell]:
        """The episodes of a file.

        Args:
            content: an mbox file, a mail (eml), or JSON: an issue or a list of them, a page with its revisions or a
                list of them.
            kind: what it is; found out where it is not said.

        Raises:
            InvalidInputError: it is none of these.
        """
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        if kind == "mail" or (kind is None and looks_like_mail(data)):
            return self._cells(mail_posts(data), "mail")
        try:
            value: Any = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            value = None
        entries: list[Any] = value if is_array(value) else [value]
        if not all(is_object(entry) for entry in entries):
            raise InvalidInputError("holds no mail, no issues and no pages", key="content")
        if kind is None:
            kind = "pages" if any("revisions" in entry or "versions" in entry for entry in entries) else "issues"
        return self._cells(page_posts(entries) if kind == "pages" else issue_posts(entries), kind)

    def extract(self, content: bytes | str, *, kind: SourceKind | None = None) -> list[MemCell]:
        """`aextract` for callers without an event loop.

        Raises:
            RuntimeError: an event loop is running in this thread.
        """
        return run_sync(partial(self.aextract, content, kind=kind), instead="aextract")

    def _cells(self, posts: Iterable[Post], kind: SourceKind) -> list[MemCell]:
        return cells_of(posts, _page_parts if kind == "pages" else _thread_parts, limits=self._limits)


def _silence(before: Post, now: Post) -> int:
    return 0 if before.timestamp is None or now.timestamp is None else now.timestamp - before.timestamp


def _thread_parts(before: Post, now: Post) -> bool:
    return _silence(before, now) > _WEEK_MS


def _page_parts(before: Post, now: Post) -> bool:
    return before.author_id != now.author_id or _silence(before, now) > _SITTING_MS
