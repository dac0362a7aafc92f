"""`Quote`: a sentence that a person said, with the place it stands at; and which sentences nobody said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from threadline.boundary import MemCell, is_chat
from threadline.memory.extractive.cues import language_in
from threadline.memory.product import Source
from threadline.messages import Message, TextPart, message_id, speaker
from threadline.text.sentences import sentence_spans
from threadline.transcript.markers import holds_marker

__all__ = ["Quote", "is_said_by", "quotes"]

_BLOCK = re.compile(r"<([A-Za-z][\w:.-]{2,})\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL)
"""An element and what is in it: fenced data, reminders, recalled memories, pasted markup. Nobody speaks in elements."""

_HEARTBEAT = re.compile(
    r"\s*\W*(?:ping|pong|keep[ -]?alive|no[_ ]reply|heartbeat\b.*)\W*\s*", re.IGNORECASE | re.DOTALL
)
_HEARTBEAT_WORD = re.compile(r"\bHEARTBEAT(?:_OK|\.md)?\b")
_SIGNED = re.compile(r"[{}=<>\\|`$/]{2}|[{}]|\w\(\)|^\s*(?:File|Traceback)\b|(?:^|\s)--?\w+=|\S{60}")
"""Signs of code, paths and logs."""

_NOTE = re.compile(r"[^\W\d_][^\n.!?:]{0,30}:\s")
"""A label before a note: `Tuesday: `, `Work-related: `."""

_LONGEST = 700
"""Characters of a sentence; longer runs without an end are pasted."""


class Quote(Struct, frozen=True, kw_only=True):
    """A sentence somebody said.

    Attributes:
        text: it, word for word.
        message: where it stands.
        start, end: its span, in code points of the message's `content`.
        language: of the message.
        is_note: the message is a note under a label, not speech: its sentences have no subject.
    """

    text: str
    message: Message
    start: int
    end: int
    language: str
    is_note: bool = False

    @property
    def source(self) -> Source:
        """Its place and its speaker."""
        return Source(
            message_id=message_id(self.message), speaker=speaker(self.message), start=self.start, end=self.end
        )

    @property
    def timestamp(self) -> int | None:
        """When it was said; None where nobody said."""
        return self.message.timestamp or None


def is_said_by(message: Message, owner_id: str | None) -> bool:
    """True where the owner speaks: their id or name, or, where nobody is named, the user; None is any person's.

    Names are compared whole, without regard to case: `Ann` is not `Anna`.
    """
    if owner_id is None:
        return message.role == "user"
    named = [name.casefold() for name in (message.sender_id, message.name) if name]
    return owner_id.casefold() in named if named else message.role == "user"


def quotes(cell: MemCell, *, language: str | None = None) -> Iterator[Quote]:
    """Every sentence of an episode that a person or the assistant said, in order.

    Left out: instructions, tool traffic, what Threadline inserted, elements and what is in them, code, quoted lines,
    heartbeats.

    Args:
        cell: the episode.
        language: of all messages; None reads it from each.
    """
    before = "english"
    for message in cell.items:
        if not _speaks(message) or _is_heartbeat(message.content):
            continue
        text = message.content
        spoken = language or language_in(text, before)
        before = spoken
        is_note = message.role == "user" and _NOTE.match(text) is not None
        silent = [match.span() for match in _BLOCK.finditer(text)] + _unsaid(message)
        for start, end in sentence_spans(text):
            if _is_prose(text, start, end) and not any(a < end and start < b for a, b in silent):
                quote = text[start:end]
                yield Quote(text=quote, message=message, start=start, end=end, language=spoken, is_note=is_note)


def _speaks(message: Message) -> bool:
    """True for chat, and for what the assistant says beside a tool call."""
    beside_call = message.kind == "tool_call" and message.role == "assistant" and message.origin == "conversation"
    return beside_call or is_chat(message)


def _unsaid(message: Message) -> list[tuple[int, int]]:
    """Where `content` holds refusals and summaries."""
    spans: list[tuple[int, int]] = []
    at = 0
    for text in message.texts():
        if not isinstance(text, TextPart):
            spans.append((at, at + len(text.text)))
        at += len(text.text) + 1
    return spans


def _is_heartbeat(text: str) -> bool:
    return len(text) < 400 and (_HEARTBEAT.fullmatch(text) or _HEARTBEAT_WORD.search(text)) is not None


def _is_prose(text: str, start: int, end: int) -> bool:
    quote = text[start:end]
    if end - start > _LONGEST or _SIGNED.search(quote) or holds_marker(quote):
        return False
    if text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">"):
        return False  # another's words
    letters = sum(map(str.isalpha, quote))
    return letters * 2 > sum(not char.isspace() and not char.isdigit() for char in quote)
