"""`Quote`: a sentence that a person said, with the place it stands at; and which sentences nobody said."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from threadline.boundary import MemCell, is_chat
from threadline.memory.extractive.cues import language_in
from threadline.memory.product import Source
from threadline.messages import Message, TextPart, message_id, speaker
from threadline.text.sentences import sentence_spans
from threadline.transcript.markers import holds_marker

__all__ = ["Quote", "is_said_by", "quotes"]

_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]{2,63})\b[^<>]{0,512}>")
_OWN_ELEMENTS = frozenset({"quoted_data"})
"""What Threadline writes around data; without its end it reaches to the end of the message."""

_HEARTBEAT = re.compile(r"\W*(?:ping|pong|keep[ -]?alive|no[_ ]reply|heartbeat)\W*", re.IGNORECASE)
_HEARTBEAT_WORD = re.compile(r"\bHEARTBEAT(?:_OK|\.md)?\b|^\s*\[heartbeat\]")
_HEARTBEAT_LENGTH = 400

_SIGNED = re.compile(r"[{}]|[=<>\\|`]{2}|^(?:File|Traceback)\b|(?:^|\s)--?\w+=|[!-~]{80}")
"""Signs of code, paths and logs."""

_NOTE = re.compile(r"[^\W\d_][^\n.!?:]{0,30}:\s")
"""A label before a note: `Tuesday: `, `Work-related: `."""

_NOTE_LENGTH = 500
"""Characters; what is longer under a label is a text."""

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
        is_note = message.role == "user" and len(text) <= _NOTE_LENGTH and _NOTE.match(text) is not None
        silent = _elements(text) + _unsaid(message)
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


def _elements(text: str) -> list[tuple[int, int]]:
    """Elements and what is in them: fenced data, reminders, recalled memories, markup. Nobody speaks in elements."""
    ends: dict[str, list[int]] = {}
    begun: list[tuple[int, str]] = []
    for tag in _TAG.finditer(text):
        if tag[1]:
            ends.setdefault(tag[2].casefold(), []).append(tag.end())
        else:
            begun.append((tag.start(), tag[2].casefold()))
    spans: list[tuple[int, int]] = []
    for start, name in begun:
        later = ends.get(name, [])
        at = bisect_right(later, start)
        if at < len(later):
            spans.append((start, later[at]))
        elif name in _OWN_ELEMENTS:
            spans.append((start, len(text)))
    return spans


def _is_heartbeat(text: str) -> bool:
    short = len(text) <= _HEARTBEAT_LENGTH
    return short and (_HEARTBEAT.fullmatch(text) or _HEARTBEAT_WORD.search(text)) is not None


def _is_prose(text: str, start: int, end: int) -> bool:
    quote = text[start:end]
    if end - start > _LONGEST or _SIGNED.search(quote) or holds_marker(quote):
        return False
    if text[text.rfind("\n", 0, start) + 1 : start].lstrip().startswith(">"):
        return False  # another's words
    letters = sum(map(str.isalpha, quote))
    return letters * 2 > sum(not char.isspace() and not char.isdigit() for char in quote)
