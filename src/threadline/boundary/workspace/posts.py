"""`Post`: what somebody wrote at a workplace; and threads of posts, cut into episodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from threadline.boundary.cells import MemCell
from threadline.boundary.limits import Limits, message_tokens
from threadline.messages import Message, chat_message

__all__ = ["DAY_MS", "Post", "cells_of", "plain_subject", "without_quotes"]

DAY_MS = 86_400_000


class Post(Struct, frozen=True, kw_only=True):
    """One mail, comment or revision.

    Attributes:
        id: the source's id of it.
        thread: names what it belongs to.
        subject: its title, without marks of replies; blank where it has none.
        text: what is new in it.
        author_id: an address or a login.
        author_name: what the author is called.
        timestamp: milliseconds since the epoch, UTC; None where it is not known.
    """

    id: str
    thread: str
    subject: str
    text: str
    author_id: str
    author_name: str | None = None
    timestamp: int | None = None


_REPLY = re.compile(
    r"^\s*(?:re|aw|sv|antw|fwd?|wg|rv|tr|enc|回复|答复|转发|返信)\s*(?:\[\d+\])?\s*[:\uff1a]\s*", re.IGNORECASE
)


def plain_subject(subject: str) -> str:
    """A subject without the marks of replies and forwards, on one line."""
    subject = " ".join(subject.split())
    while (shorter := _REPLY.sub("", subject)) != subject:
        subject = shorter
    return subject


_ATTRIBUTION = re.compile(
    r"^\s*(?:on\b.*\bwrote|am\b.*\bschrieb.*|le\b.*\ba \u00e9crit|el\b.*\bescribi\u00f3|il\b.*\bha scritto"
    r"|em\b.*\bescreveu|op\b.*\bschreef.*|.*\u043f\u0438\u0448\u0435\u0442|.*\u5199\u9053)\s*[:\uff1a]\s*$",
    re.IGNORECASE,
)
"""The line over a quotation, in the languages of the boundary cues."""

_REST = re.compile(
    r"^\s*-{2,}\s*(?:original message|forwarded message|urspr\u00fcngliche nachricht|message d'origine)"
    r"|^-- $|^_{10,}\s*$",
    re.IGNORECASE,
)
"""From such a line on a mail holds an older mail, or a signature."""


def without_quotes(text: str) -> str:
    """What the author wrote: without quoted lines, the lines over them, older mails below, and the signature."""
    lines: list[str] = []
    source = text.splitlines()
    before_quote = _before_quotes(source)
    for line, quoted in zip(source, before_quote, strict=True):
        if _REST.match(line):
            break
        if line.lstrip().startswith(">") or (quoted and _ATTRIBUTION.match(line)):
            continue
        # A long attribution is wrapped by the mail program: read it together with the line before.
        if quoted and lines and _ATTRIBUTION.match(f"{lines[-1]} {line}"):
            lines.pop()
            continue
        lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _before_quotes(lines: Sequence[str]) -> list[bool]:
    """For each line, whether the next line that is not blank is quoted."""
    out: list[bool] = []
    quoted = False
    for line in reversed(lines):
        out.append(quoted)
        if line.strip():
            quoted = line.lstrip().startswith(">")
    return out[::-1]


def cells_of(posts: Iterable[Post], parts: Callable[[Post, Post], bool], *, limits: Limits) -> list[MemCell]:
    """The episodes of each thread, in the order in which threads began.

    Posts of a thread are put in order of time; those that say nothing new are left out, those without a time stay put.

    Args:
        posts: in any order.
        parts: whether the second of two neighbours in a thread begins another episode.
        limits: the size at which an episode is cut in any case.
    """
    threads: dict[str, list[Post]] = {}
    for post in posts:
        if post.text.strip():
            threads.setdefault(post.thread, []).append(post)
    cells: list[MemCell] = []
    for thread in map(_by_time, threads.values()):
        start = 0
        for number in range(1, len(thread) + 1):
            if number == len(thread) or parts(thread[number - 1], thread[number]):
                cells += _cut(thread[start:number], limits)
                start = number
    return cells


def _by_time(posts: Sequence[Post]) -> list[Post]:
    """The posts in order of time; one without a time stays behind the one before it."""
    times: list[int] = []
    for post in posts:
        times.append(post.timestamp if post.timestamp is not None else times[-1] if times else 0)
    return [post for _, post in sorted(zip(times, posts, strict=True), key=lambda pair: pair[0])]


def _cut(posts: Sequence[Post], limits: Limits) -> list[MemCell]:
    """The posts as one episode, or several where they are too many; the subject stands over the first."""
    messages = [_message(post, titled=number == 0) for number, post in enumerate(posts)]
    cuts = [0, *limits.forced_cuts(message_tokens(messages)), len(messages)]
    return [MemCell.of(messages[start:end]) for start, end in pairwise(cuts)]


def _message(post: Post, *, titled: bool) -> Message:
    return chat_message(
        "user",
        f"{post.subject}\n\n{post.text}" if titled and post.subject else post.text,
        id=post.id,
        timestamp=post.timestamp,
        sender_id=post.author_id,
        sender_name=post.author_name,
    )
