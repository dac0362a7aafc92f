"""What a caller hands to `append`, read: the messages in the thread's dialect and the bytes to store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct, structs

from threadline.errors import InvalidInputError
from threadline.journal import Channel, Kind
from threadline.messages.convert import convert
from threadline.messages.detect import detect_items, proved_dialect
from threadline.messages.dialects import Decoder, text_message
from threadline.messages.message import Dialect, Message, Request, known_dialect
from threadline.messages.shapes import is_array, is_object, wrong
from threadline.messages.wire import dump_bytes, load_bytes
from threadline.ports.redaction import Redactor
from threadline.thread.gate import Redacted, redact_wire

__all__ = ["Incoming", "home_of", "place_of", "read_incoming", "read_wire"]

_HOMES: frozenset[Dialect] = frozenset({"openai", "anthropic", "responses"})
"""Dialects in which a bare `{"role", "content"}` is right as it stands: a thread of such may become one of them."""


class Incoming(Struct, frozen=True, kw_only=True):
    """One message to store.

    Attributes:
        message: in the thread's dialect.
        content: its wire object as bytes, verbatim where it came as bytes.
        original: the bytes of what was handed over, where that was in another dialect.
        source: the dialect of `original`.
        number: which of the things handed over it came from.
        redacted: the secrets that were taken out of it.
    """

    message: Message
    content: bytes
    original: bytes | None = None
    source: Dialect | None = None
    number: int
    redacted: tuple[Redacted, ...] = ()


def read_incoming(
    value: Any,
    home: Dialect,
    decoder: Decoder,
    *,
    dialect: Dialect | None,
    at: int,
    redactor: Redactor | None = None,
) -> list[Incoming]:
    """The messages of whatever was handed over.

    Args:
        value: a text (a user turn), a wire object, a `Message`, JSON as bytes, or a list of such.
        home: the thread's dialect.
        decoder: has read the messages that stand before.
        dialect: what the value is written in; None finds it out.
        at: the place of the first of them in the thread.
        redactor: finds secrets; they are replaced before anything else is done.

    Raises:
        InvalidInputError: one is malformed; names its index and the key.
    """
    given = _spread(value)
    foreign = _foreign(given, home, dialect)
    out: list[Incoming] = []
    for number, (one, verbatim) in enumerate(given):
        raw = verbatim
        wire, source = one, foreign
        if isinstance(one, Message):
            wire, source = one.wire, one.dialect if one.dialect != home and not _is_bare(one, home) else None
        elif isinstance(one, str):
            wire, source = text_message("user", one, home).wire, None
        redacted: tuple[Redacted, ...] = ()
        if redactor is not None:
            clean, found = redact_wire(wire, redactor)
            if found:
                wire, raw, redacted = clean, None, tuple(found)
        data = dump_bytes(wire) if raw is None else raw
        if source is None:
            message = _read(load_bytes(data), decoder, at + len(out), number)
            if isinstance(one, Message) and one.origin != message.origin:
                message = structs.replace(message, origin=one.origin)
            out.append(Incoming(message=message, content=data, number=number, redacted=redacted))
            continue
        for place, turned in enumerate(_converted(wire, source, home, number)):
            content = dump_bytes(turned)
            message = _read(load_bytes(content), decoder, at + len(out), number)
            original = data if place == 0 else None
            out.append(
                Incoming(
                    message=message,
                    content=content,
                    original=original,
                    source=source if original else None,
                    number=number,
                )
            )
    return out


def _read(wire: Any, decoder: Decoder, at: int, number: int) -> Message:
    try:
        return read_wire(wire, decoder, at)
    except InvalidInputError as error:
        raise _at(error, at, number) from error


def _at(error: InvalidInputError, place: int, number: int) -> InvalidInputError:
    """The error with the place among what the caller handed over."""
    told = str(error).replace(f"message {place}", f"message {number}", 1)
    return InvalidInputError(told, **{**error.fields, "index": number})


def read_wire(wire: Any, decoder: Decoder, at: int) -> Message:
    """The message of a stored wire object; instructions stay messages also where the dialect keeps them apart.

    Args:
        wire: the wire object.
        decoder: has read the messages that stand before.
        at: the message's place; ids made up for calls without one are made of it.
    """
    if decoder.dialect in ("anthropic", "google") and is_object(wire) and wire.get("role") in ("system", "developer"):
        said = Decoder("openai").feed(wire, at)
        return structs.replace(text_message("system", said.content, decoder.dialect), name=said.name)
    return decoder.feed(wire, at)


def home_of(value: Any, home: Dialect, dialect: Dialect | None) -> Dialect:
    """The dialect of a thread once these messages are in it: a thread of bare texts becomes what comes to it."""
    if home != "plain":
        return home
    given = [one for one, _ in _spread(value)]
    found = dialect or next((one.dialect for one in given if isinstance(one, Message) and one.dialect != "plain"), None)
    found = found or proved_dialect([one for one in given if is_object(one)])
    if found is None and dialect is None:
        likely = detect_items([one for one in given if is_object(one)])
        found = likely if likely in _HOMES else None
    return found if found in _HOMES else home


def place_of(message: Message) -> tuple[Kind, Channel]:
    """The kind and channel of the record that a message becomes."""
    if message.role in ("system", "developer"):
        return "instruction", "external"
    if message.tool_results or message.origin == "observation":
        return ("tool_message", "tool") if not message.is_user_turn else ("external_message", "external")
    if message.role == "assistant":
        return "assistant_message", "llm"
    return ("tool_message", "tool") if message.role == "tool" else ("external_message", "external")


def _spread(value: Any) -> list[tuple[Any, bytes | None]]:
    """Each thing handed over, with its own bytes where it came as such."""
    if isinstance(value, (bytes, bytearray)):
        data = bytes(value)
        read = load_bytes(data)
        return [(one, None) for one in read] if is_array(read) else [(read, data)]
    if isinstance(value, Request):
        return [(message, None) for message in (*value.system, *value.messages)]
    many = list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]
    out: list[tuple[Any, bytes | None]] = []
    for index, one in enumerate(many):
        if isinstance(one, (bytes, bytearray)):
            out.append((load_bytes(bytes(one)), bytes(one)))
        elif isinstance(one, (Message, str)) or is_object(one):
            out.append((one, None))
        else:
            raise wrong(index, None, "an object, a text or a Message", one)
    return out


def _foreign(given: Sequence[tuple[Any, bytes | None]], home: Dialect, dialect: Dialect | None) -> Dialect | None:
    """The dialect that wire objects have to be converted from; None when they are right as they are."""
    if dialect is not None:
        source: Dialect | None = known_dialect(dialect)
    else:
        source = proved_dialect([one for one, _ in given if is_object(one)])
        if source is None and home == "google":
            source = "plain"
    if source is None or source == home or (source == "plain" and home in _HOMES):
        return None
    return source if not {source, home} <= {"plain", "openai"} else None


def _is_bare(message: Message, home: Dialect) -> bool:
    return message.dialect == "plain" and home in _HOMES


def _converted(wire: Any, source: Dialect, home: Dialect, number: int) -> list[Any]:
    """The wire objects in the thread's dialect; instructions that it keeps apart stay messages of a thread."""
    try:
        request = convert([wire], home, source=source).request
    except InvalidInputError as error:
        raise _at(error, 0, number) from error
    instructions = [{"role": "system", "content": message.content} for message in request.system]
    return [*instructions, *(message.wire for message in request.messages)]
