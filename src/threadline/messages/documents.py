"""`Document`: a stored conversation, read as a `Request` and written back in its own format, to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from msgspec import Struct, structs

from threadline.errors import InvalidInputError
from threadline.messages.dialects import decode, encode
from threadline.messages.envelopes import feed_of, inner_of, is_message, lasting_key, wrapped
from threadline.messages.importers import Format, Source, recognise
from threadline.messages.layout import Layout, json_layout, jsonl_layout, parse_json, parse_lines
from threadline.messages.message import Message, Request
from threadline.messages.shapes import is_object, wrong
from threadline.messages.wire import get_at, replace_at

__all__ = ["Document", "Format", "read_document"]


class Document(Struct, frozen=True, kw_only=True):
    """A stored conversation.

    Attributes:
        format: what it is stored as.
        request: its conversation. A message's wire is the whole stored item, envelope included.
        value: the whole parsed value; for JSONL the list of its lines.
        layout: how it is laid out in bytes.
        places: for each message, the position of its item in the stored list; other items stand between them.
    """

    format: Format
    request: Request
    value: Any
    layout: Layout
    places: tuple[int, ...]
    source: Source

    @property
    def layout_exact(self) -> bool:
        """True when an unchanged document is written back to the very byte."""
        return self.layout.exact

    def rebuild(self, messages: Sequence[Message], *, places: Sequence[int] | None = None) -> Any:
        """The document's value with these messages in place of its own; everything else stays.

        Items that are no messages keep their place: those before the first message stay first, and each of the others
        stays behind the message it stood behind, as far as that one is still there. Messages without the format's
        envelope are wrapped.

        Args:
            messages: the new messages.
            places: where each stood in the list of another document (its `places`), to restore that one exactly.
        """
        own = tuple(self.wrap(message) for message in messages)
        if self.format == "body":
            return encode(structs.replace(self.request, messages=own))
        wires = [message.wire for message in own]
        if self.format == "message":
            return wires[0] if len(wires) == 1 else wires
        items: list[Any] = get_at(self.value, self.source.path)
        arranged = self._arranged(wires, items, places)
        if len(arranged) == len(items) and all(new is old for new, old in zip(arranged, items, strict=True)):
            return self.value
        return replace_at(self.value, self.source.path, arranged)

    def dump(self, value: Any) -> bytes:
        """The bytes of a value of this document, laid out as the document was."""
        return self.layout.dump(value)

    def stream(self, value: Any) -> Iterator[bytes]:
        """The same bytes in pieces of about 64 kB, so that no copy of the whole need be held."""
        return self.layout.stream(value)

    def wrap(self, message: Message) -> Message:
        """The message with its wire in the format's own envelope; as it is where it has one already."""
        sample = self.request.messages[0].wire if self.request.messages else None
        wire = wrapped(message, self.source.envelope, sample)
        if wire is message.wire:
            return message
        return structs.replace(feed_of(self.source.envelope, ())(wire, 0), origin=message.origin)

    def unwrapped(self) -> Request:
        """The request whose messages are the provider's own objects, without the format's envelopes."""
        if self.source.envelope not in ("claude-code", "codex"):
            return self.request
        inner = [inner_of(message.wire, self.source.envelope) for message in self.request.messages]
        bare = decode(inner, self.request.dialect)
        messages = tuple(
            structs.replace(message, origin=own.origin)
            for message, own in zip(bare.messages, self.request.messages, strict=True)
        )
        return structs.replace(bare, messages=messages)

    def _arranged(self, wires: list[Any], items: list[Any], places: Sequence[int] | None) -> list[Any]:
        taken = set(self.places)
        others = [(place, item) for place, item in enumerate(items) if place not in taken]
        if not others:
            return wires
        if places is None:
            places = self.places if len(wires) == len(self.places) else None
        if places is not None:
            return _filled(wires, places, [item for _, item in others])
        return self._anchored(wires, others)

    def _anchored(self, wires: list[Any], others: list[tuple[int, Any]]) -> list[Any]:
        """Every other item goes in front of the first message that stood behind it."""
        known: dict[int | str, int] = {}
        for message, place in zip(self.request.messages, self.places, strict=True):
            known[id(message.wire)] = place
            if (key := lasting_key(message.wire, self.source.envelope)) is not None:
                known[key] = place
        first = self.places[0] if self.places else len(others)
        arranged: list[Any] = [item for place, item in others if place < first]
        waiting = [(place, item) for place, item in others if place >= first]
        for wire in wires:
            place = known.get(id(wire))
            if place is None and (key := lasting_key(wire, self.source.envelope)) is not None:
                place = known.get(key)
            while place is not None and waiting and waiting[0][0] < place:
                arranged.append(waiting.pop(0)[1])
            arranged.append(wire)
        return arranged + [item for _, item in waiting]


def _filled(wires: Sequence[Any], places: Sequence[int], others: list[Any]) -> list[Any]:
    at = dict(zip(places, wires, strict=True))
    rest = iter(others)
    return [at[place] if place in at else next(rest) for place in range(len(wires) + len(others))]


def read_document(data: bytes, *, name: str = "input", format: str | None = None) -> Document:
    """Reads a stored conversation: a JSON array, a request body, JSONL, or the log of a known tool.

    Args:
        data: the file's bytes (UTF-8, with or without a byte order mark).
        name: what errors call it, usually the file's name.
        format: one of `Format`; None finds it out.

    Raises:
        InvalidInputError: it is no such thing, or a message in it is malformed. The text names `name`, the message's
            index (and the line of a JSONL file), and the key.
    """
    if format is not None and format not in get_args(Format):
        raise InvalidInputError(f"unknown format {format!r}: one of {', '.join(get_args(Format))}", key="format")
    try:
        value, lines = _parsed(data, format)
        source = recognise(value, lines=lines)
        _agree(source.format, format, lines=lines)
        request, places = _read(value, source, lines=lines)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error}", **error.fields) from error
    except RecursionError as error:
        raise InvalidInputError(f"{name}: nested too deeply") from error
    layout = jsonl_layout(data, value) if lines else json_layout(data, value)
    return Document(format=source.format, request=request, value=value, layout=layout, places=places, source=source)


def _agree(found: Format, wanted: str | None, *, lines: bool) -> None:
    """Any lines pass for `jsonl`, any other JSON for `json`."""
    if wanted not in (None, found, "jsonl" if lines else "json"):
        raise InvalidInputError(f"is {found}, not {wanted}", key="format")


def _parsed(data: bytes, format: str | None) -> tuple[Any, bool]:
    """The value, and whether it is one value a line."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    if format in ("jsonl", "codex") or _begins_with_a_line(text):
        return parse_lines(data), True
    value = parse_json(text)
    if is_object(value) and value.get("type") in _LOG_TYPES and ("message" in value or "payload" in value):
        return [value], True
    return value, False


def _begins_with_a_line(text: bytes) -> bool:
    """True for an object that ends where its line ends, with something behind it: JSONL, not a JSON document."""
    end = text.find(b"\n")
    if end < 0 or text.lstrip()[:1] != b"{" or not text[end : end + 65_536].strip():
        return False
    try:
        parse_json(text[:end])
    except InvalidInputError:
        return False
    return True


_LOG_TYPES = ("user", "assistant", "response_item", "session_meta")
"""What the only line of a log may be, so that it is not taken for a JSON document."""


def _read(value: Any, source: Source, *, lines: bool) -> tuple[Request, tuple[int, ...]]:
    if source.format == "body":
        request = decode(value)
        return request, tuple(range(len(request.messages)))
    items: list[Any] = [value] if source.format == "message" else get_at(value, source.path)
    places = tuple(place for place, item in enumerate(items) if is_message(item, source.envelope))
    for index, place in enumerate(places):
        if not is_object(items[place]):
            raise _at_line(wrong(index, None, "an object", items[place]), place, lines=lines)
    feed = feed_of(source.envelope, [items[place] for place in places])
    messages: list[Message] = []
    for index, place in enumerate(places):
        try:
            messages.append(feed(items[place], index))
        except InvalidInputError as error:
            raise _at_line(error, place, lines=lines) from error
    dialect = messages[0].dialect if messages else "plain"
    whole = source.path == () and len(places) == len(items) and source.format == "json"
    return Request(dialect=dialect, messages=tuple(messages), wire=value if whole else None), places


def _at_line(error: InvalidInputError, place: int, *, lines: bool) -> InvalidInputError:
    if not lines:
        return error
    return InvalidInputError(f"line {place + 1}: {error}", **{**error.fields, "line": place + 1})
