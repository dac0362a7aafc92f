"""Mailboxes and single mails as posts: threads by references, else by subject and by what is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from html.parser import HTMLParser

from threadline.boundary.workspace.posts import Post, plain_subject, without_quotes
from threadline.messages.times import parse_timestamp

__all__ = ["looks_like_mail", "mail_posts"]

_FROM_LINE = re.compile(rb"(?:\A|(?<=\n))From [^\n]*\d{2}:\d{2}[^\n]*\n")
"""What stands before each mail in an mbox file (RFC 4155); it holds a time, which a sentence hardly does."""

_ESCAPED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_ID = re.compile(r"<[^<>\s]+>")
_HEADER = re.compile(rb"\A(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+\r?\n", re.MULTILINE)
_TELLING_CHARS = 24
"""A quoted line as long as this tells which mail it is from; shorter ones ("Hi Ann,") occur in many."""


def looks_like_mail(content: bytes) -> bool:
    """True for an mbox file, or for text that begins with mail headers."""
    return _FROM_LINE.match(content) is not None or _HEADER.match(content.replace(b"\r\n", b"\n")) is not None


def mail_posts(content: bytes) -> list[Post]:
    """The mails of an mbox file, or the one mail that it is."""
    content = content.replace(b"\r\n", b"\n")
    marks = [*_FROM_LINE.finditer(content)]
    if not marks or marks[0].start() > 0:
        pieces = [content]
    else:
        ends = [mark.start() for mark in marks[1:]] + [len(content)]
        pieces = [_ESCAPED_FROM.sub(rb"\1", content[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    mails = [message_from_bytes(piece, policy=policy.default) for piece in pieces if piece.strip()]
    return _threaded([_Mail(mail, number) for number, mail in enumerate(mails)])


class _Mail:
    """What counts of a mail."""

    def __init__(self, mail: EmailMessage, number: int) -> None:
        ids = _ID.findall(_header(mail, "Message-ID"))
        self.id = ids[0] if ids else f"mail-{number}"
        self.parents = _ID.findall(f"{_header(mail, 'References')} {_header(mail, 'In-Reply-To')}")
        given = " ".join(_header(mail, "Subject").split())
        self.subject = plain_subject(given)
        self.is_reply = bool(self.parents) or self.subject != given
        self.name, self.address = parseaddr(_header(mail, "From"))
        self.timestamp = _date(_header(mail, "Date"))
        self.body = _body(mail)

    def quoted_lines(self) -> set[str]:
        lines = (line.lstrip("> ").strip() for line in self.body.splitlines() if line.lstrip().startswith(">"))
        return {line for line in lines if len(line) >= _TELLING_CHARS}

    def own_lines(self) -> set[str]:
        return {line.strip() for line in without_quotes(self.body).splitlines() if len(line.strip()) >= _TELLING_CHARS}


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return str(mail.get(name, ""))
    except (ValueError, TypeError, IndexError, AttributeError):  # the standard library stumbles over some broken ones
        return ""


def _date(text: str) -> int | None:
    try:
        return parse_timestamp(parsedate_to_datetime(text).isoformat())
    except (ValueError, TypeError, IndexError):
        return None


def _body(mail: EmailMessage) -> str:
    try:
        part = mail.get_body(("plain", "html"))
        if part is None:
            return ""
        text = str(part.get_content())
    except (LookupError, ValueError, AttributeError, TypeError):  # an unknown charset, a broken structure
        return ""
    return _plain(text) if part.get_content_subtype() == "html" else text


class _Reader(HTMLParser):
    """The text of an HTML mail, quotations marked as in plain mails."""

    _BLOCKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "blockquote"})
    _HIDDEN = frozenset({"style", "script", "head"})

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._depth = 0
        self._hidden = 0

    def _break(self) -> None:
        self.text += "\n" + "> " * self._depth

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 -- its signature
        self._hidden += tag in self._HIDDEN
        self._depth += tag == "blockquote"
        if tag in self._BLOCKS:
            self._break()

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self._HIDDEN and self._hidden > 0
        self._depth -= tag == "blockquote" and self._depth > 0
        if tag in self._BLOCKS:
            self._break()

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += re.sub(r"\s+", " ", data)


def _plain(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return re.sub(r"\n\s*\n+", "\n\n", reader.text).strip()


def _threaded(mails: Iterable[_Mail]) -> list[Post]:
    """Each mail with the thread it belongs to.

    A reply belongs to the mail that its headers name; without them to the one that it quotes, else to the last one
    with its subject. A subject that a reply changes begins another thread.
    """
    threads: dict[str, str] = {}
    subjects: dict[str, str] = {}
    lines: dict[str, str] = {}
    posts: list[Post] = []
    for mail in sorted(mails, key=lambda mail: mail.timestamp or 0):
        named = next((threads[parent] for parent in reversed(mail.parents) if parent in threads), None)
        quoted = next((lines[line] for line in mail.quoted_lines() if line in lines), None)
        found = named or quoted or (subjects.get(mail.subject.casefold()) if mail.is_reply else None)
        # Mails may be missing from the box: those that answer the same one are still together.
        root = found or (mail.parents[0] if mail.parents else mail.id)
        key = f"{root.partition(' ')[0]} {mail.subject.casefold()}"
        threads[mail.id] = key
        subjects[mail.subject.casefold()] = key
        lines.update(dict.fromkeys(mail.own_lines(), key))
        posts.append(
            Post(
                id=mail.id,
                thread=key,
                subject=mail.subject,
                text=without_quotes(mail.body),
                author_id=mail.address or "unknown",
                author_name=mail.name or None,
                timestamp=mail.timestamp,
            )
        )
    return posts
