"""Importers: where a stored conversation keeps its messages, and what is around each of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.envelopes import Envelope
from threadline.messages.foreign import LANGCHAIN_ROLES
from threadline.messages.parts import Path
from threadline.messages.shapes import array, is_array, is_object
from threadline.messages.wire import get_at

__all__ = ["Format", "Source", "envelope_of", "recognise", "record_key"]

Format: TypeAlias = Literal[
    "message", "json", "jsonl", "body", "claude-code", "codex", "swe-agent", "tau-bench", "sharegpt", "langchain"
]


class Source(Struct, frozen=True, kw_only=True):
    """Where the messages of a document are: `path` leads to their list, `envelope` says what is around each."""

    format: Format
    path: Path
    envelope: Envelope


_LISTS: dict[str, Format] = {
    "history": "swe-agent",
    "traj": "tau-bench",
    "conversations": "sharegpt",
    "conversation": "sharegpt",
    "loglines": "claude-code",
}
_BODIES = ("messages", "contents", "input")

_FORMATS: dict[Envelope, Format | None] = {
    "bare": None,
    "claude-code": "claude-code",
    "codex": "codex",
    "codex-items": "codex",
    "sharegpt": "sharegpt",
    "langchain": "langchain",
}


def recognise(value: Any, *, lines: bool) -> Source:
    """Where a document's value keeps its messages.

    Raises:
        InvalidInputError: it holds no conversation, or several.
    """
    if is_array(value):
        records = [key for item in value if (key := record_key(item)) is not None]
        if records and len(records) == len(value):
            if len(records) > 1:
                raise InvalidInputError(f"holds {len(records)} conversations: give one of them")
            return _listed(value, (0, records[0]), _LISTS.get(records[0], "json"))
        return _listed(value, (), "jsonl" if lines else "json")
    if is_object(value):
        key = record_key(value)
        if key is not None and key in _LISTS:
            return _listed(value, (key,), _LISTS[key])
        for name in _BODIES:
            if name in value:
                envelope = envelope_of(array(value[name]))
                return Source(format=_FORMATS[envelope] or "body", path=(name,), envelope=envelope)
        if "role" in value:
            return Source(format="message", path=(), envelope="bare")
    raise InvalidInputError("holds no messages: an array, a request body or a known log was expected")


def _listed(value: Any, path: Path, format: Format) -> Source:
    envelope = envelope_of(get_at(value, path))
    return Source(format=_FORMATS[envelope] or format, path=path, envelope=envelope)


def record_key(item: Any) -> str | None:
    """The key under which an object keeps a whole conversation."""
    if not is_object(item) or "role" in item:
        return None
    return next((key for key in (*_BODIES[:1], *_LISTS) if is_array(item.get(key))), None)


def envelope_of(items: Iterable[Any]) -> Envelope:
    """What stands around each message, read as far as it takes to be sure."""
    for item in items:
        if not is_object(item):
            continue
        kind = item.get("type")
        if "role" in item or "parts" in item:
            return "bare"
        if kind in ("user", "assistant") and is_object(item.get("message")):
            return "claude-code"
        if kind in ("response_item", "session_meta", "turn_context") and is_object(item.get("payload")):
            return "codex"
        if "record_type" in item:
            return "codex-items"
        if "from" in item and "value" in item:
            return "sharegpt"
        if kind == "constructor" or (kind in LANGCHAIN_ROLES and ("content" in item or "data" in item)):
            return "langchain"
    return "bare"
