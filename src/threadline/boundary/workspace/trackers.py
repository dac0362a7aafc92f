"""Issue trackers and page histories, in JSON, as posts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from threadline.boundary.workspace.posts import Post, plain_subject, without_quotes
from threadline.errors import InvalidInputError
from threadline.messages.shapes import array, is_object, string
from threadline.messages.times import parse_timestamp

__all__ = ["issue_posts", "page_posts"]

_COMMENTS = ("comments", "comments_list", "notes", "timeline", "discussion")
_NONE: list[Any] = []
_REVISIONS = ("revisions", "history", "versions")


def _first(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)


def _author(value: Mapping[str, Any]) -> tuple[str, str | None]:
    who = _first(value, "user", "author", "by", "contributor")
    if is_object(who):
        login = _first(who, "login", "username", "id", "name")
        return str(login) if login is not None else "unknown", string(who.get("name")) or None
    return (str(who) if who is not None else "unknown"), None


def _post(value: Mapping[str, Any], *, id: str, thread: str, subject: str, text: str) -> Post:
    login, name = _author(value)
    return Post(
        id=id,
        thread=thread,
        subject=subject,
        text=text,
        author_id=login,
        author_name=name,
        timestamp=parse_timestamp(_first(value, "created_at", "timestamp", "date", "created")),
    )


def issue_posts(issues: list[Any]) -> Iterator[Post]:
    """Issues with their comments, in the shape GitHub gives them (`comments` holding the comments themselves).

    Raises:
        InvalidInputError: an entry is no object; names its index.
    """
    for index, issue in enumerate(issues):
        if not is_object(issue):
            raise InvalidInputError(f"issue {index}: must be an object", index=index)
        number = _first(issue, "number", "id", "key")
        thread = f"issue {index if number is None else number}"
        subject = plain_subject(string(_first(issue, "title", "summary", "subject")))
        text = without_quotes(string(_first(issue, "body", "description")))
        yield _post(issue, id=thread, thread=thread, subject=subject, text=text or subject)
        comments = next((listed for key in _COMMENTS if (listed := array(issue.get(key)))), _NONE)
        for place, comment in enumerate(comments):
            if is_object(comment):
                said = without_quotes(string(_first(comment, "body", "text", "content")))
                own = f"{thread} comment {comment.get('id', place)}"
                yield _post(comment, id=own, thread=thread, subject=subject, text=said)


def page_posts(pages: list[Any]) -> Iterator[Post]:
    """Pages with their revisions; a post is the comment on a revision and the lines that it added.

    Raises:
        InvalidInputError: an entry is no object; names its index.
    """
    for index, page in enumerate(pages):
        if not is_object(page):
            raise InvalidInputError(f"page {index}: must be an object", index=index)
        title = string(_first(page, "title", "name", "path"))
        thread = f"page {_first(page, 'id', 'title', 'name', 'path') or index}"
        before: list[str] = []
        revisions = [entry for key in _REVISIONS for entry in array(page.get(key)) if is_object(entry)]
        dated = [
            (parse_timestamp(_first(entry, "timestamp", "created_at", "date")) or 0, place)
            for place, entry in enumerate(revisions)
        ]
        for _, place in sorted(dated):
            revision = revisions[place]
            now = string(_first(revision, "content", "text", "body", "*")).splitlines()
            added = [line[2:] for line in difflib.ndiff(before, now) if line.startswith("+ ")]
            before = now
            comment = string(_first(revision, "comment", "message", "summary"))
            text = "\n".join([*([comment] if comment else []), *added]).strip()
            own = f"{thread} revision {_first(revision, 'id', 'revid', 'version') or place}"
            yield _post(revision, id=own, thread=thread, subject=title, text=text)
