"""A token for every four bytes: the coarse count that Nous uses for its thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from threadline.messages.message import Message
from threadline.messages.parts import TextPart, ToolResultPart
from threadline.messages.shapes import is_array, is_object, string

__all__ = ["estimate_messages_tokens", "estimate_tokens"]

_BYTES_PER_TOKEN = 4


def estimate_tokens(text: str | None) -> int:
    """A quarter of the UTF-8 bytes, rounded down; 0 for None and for the empty string."""
    return _size(text) // _BYTES_PER_TOKEN


def estimate_messages_tokens(messages: Iterable[Message | Mapping[str, Any]]) -> int:
    """A quarter of the UTF-8 bytes of all texts together, rounded down once.

    Only text counts: a string content or the text parts of a list; not calls, thinking, media, roles or tools.

    Args:
        messages: wire objects with `content`, or `Message`s.
    """
    return sum(_message_size(message) for message in messages) // _BYTES_PER_TOKEN


def _size(text: Any) -> int:
    text = string(text)
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _message_size(message: Message | Mapping[str, Any]) -> int:
    if isinstance(message, Message):
        return sum(_size(text) for text in _texts(message))
    content = message.get("content")
    if is_array(content):
        return sum(_size(part.get("text")) for part in content if is_object(part))
    return _size(content)


def _texts(message: Message) -> Iterable[str]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ToolResultPart):
            yield from (inner.text for inner in part.parts if isinstance(inner, TextPart))
