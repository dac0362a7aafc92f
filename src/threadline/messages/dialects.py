"""Decode and encode: from any provider's wire objects to `Request` and `Message`, and back to the very same objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, assert_never

from msgspec import structs

from threadline.errors import InvalidInputError
from threadline.messages.anthropic import AnthropicReader
from threadline.messages.bodies import (
    MESSAGES_KEY,
    messages_of,
    read_response_format,
    read_system,
    read_tools,
    system_key,
    write_messages,
    write_system,
)
from threadline.messages.detect import detect_dialect
from threadline.messages.google import GoogleReader
from threadline.messages.message import Dialect, Message, Request, Role, known_dialect
from threadline.messages.openai import ChatReader
from threadline.messages.parts import Path, TextPart, ToolCallPart
from threadline.messages.responses import ResponsesReader, read_input_text
from threadline.messages.shapes import is_array, is_object, string, wrong
from threadline.messages.times import parse_timestamp
from threadline.messages.wire import get_at

__all__ = ["Decoder", "Reader", "decode", "detect_dialect", "encode", "result_message", "text_message"]


class Reader(Protocol):
    """What reads wire objects in the order of the conversation; each dialect has one."""

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose provider object is `inner`, found at `base` in `wire`.

        Raises:
            InvalidInputError: the object is malformed; names index and key.
        """
        ...


class Decoder:
    """Reads the messages of one conversation in order, each in constant time.

    It keeps what a later message needs of earlier ones: which calls are open, so that results without ids find theirs,
    and whether the last assistant turn acted, so that a trace's observations are told from a person's words.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect: Dialect = known_dialect(dialect)
        self._reader = _reader(dialect)

    def feed(self, wire: Any, index: int, *, base: Path = ()) -> Message:
        """The message of a wire object.

        Args:
            wire: the provider's object, or an envelope around it. It is held, not copied.
            index: the message's place in the conversation; errors name it and local ids are made of it.
            base: where in `wire` the provider's object is; every path of the message starts with it.

        Raises:
            InvalidInputError: the wire is no message of this dialect; names index and key.
        """
        inner = get_at(wire, base) if base else wire
        if not is_object(inner):
            raise wrong(index, None, "an object", inner)
        message = self._reader.read(wire, inner, index, base)
        if len(inner) == 2 and wire is inner:
            return message
        return _with_sender(message, wire, inner)


def _with_sender(message: Message, wire: Any, inner: dict[str, Any]) -> Message:
    """The message with the time and sender that its envelope or its object names."""
    outer = wire if is_object(wire) else inner
    if "timestamp" not in inner and "timestamp" not in outer and "sender_id" not in inner:
        return message
    return structs.replace(
        message,
        timestamp=parse_timestamp(inner.get("timestamp", outer.get("timestamp"))),
        sender_id=string(inner.get("sender_id")) or None,
        name=string(inner.get("sender_name")) or message.name,
    )


def _reader(dialect: Dialect) -> Reader:
    match dialect:
        case "plain" | "openai":
            return ChatReader(dialect)
        case "responses":
            return ResponsesReader()
        case "anthropic":
            return AnthropicReader()
        case "google":
            return GoogleReader()
        case _:
            assert_never(dialect)


def decode(value: Any, dialect: Dialect | None = None) -> Request:
    """Reads a message list or a whole request body.

    Args:
        value: a list of wire objects, a request body, a sequence of `Message`s, or a `Request`, which comes back as it
            is. It is held, not copied.
        dialect: the wire's dialect; None finds it out.

    Raises:
        InvalidInputError: a message is malformed (the error names its index and key), the value is none of these, or
            there is no such dialect.
    """
    if dialect is not None:
        known_dialect(dialect)
    if isinstance(value, Request):
        return value
    if isinstance(value, tuple):
        value = [*value]
    try:
        if is_array(value):
            if value and isinstance(value[0], Message):
                return _from_messages(value)
            found = dialect or detect_dialect(value)
            return Request(dialect=found, messages=_read_all(value, found), wire=value)
        if is_object(value):
            return _from_body(value, dialect or detect_dialect(value))
    except RecursionError as error:
        raise InvalidInputError("input: nested too deeply") from error
    raise wrong(None, None, "an array of messages or a request body", value, what="input")


def _from_body(body: dict[str, Any], dialect: Dialect) -> Request:
    wires = messages_of(body, dialect)
    bare = dialect == "responses" and isinstance(body["input"], str)
    return Request(
        dialect=dialect,
        messages=(read_input_text(body["input"]),) if bare else _read_all(wires, dialect),
        system=read_system(body, dialect),
        tools=read_tools(body, dialect),
        response_format=read_response_format(body, dialect),
        model=string(body.get("model")) or None,
        wire=body,
    )


def _read_all(wires: list[Any], dialect: Dialect) -> tuple[Message, ...]:
    feed = Decoder(dialect).feed
    return tuple([feed(wire, index) for index, wire in enumerate(wires)])


def _from_messages(messages: list[Any]) -> Request:
    dialect: Dialect = messages[0].dialect
    for index, message in enumerate(messages):
        if not isinstance(message, Message) or message.dialect != dialect:
            raise wrong(index, None, f"a Message of the {dialect} dialect like the first", message)
    return Request(dialect=dialect, messages=tuple(messages))


def encode(request: Request) -> Any:
    """The wire value of a request, in the shape it came in: a list for a list, a body for a body.

    Where nothing changed it is the very object that was decoded; otherwise a new container that shares every unchanged
    message and every key that Threadline does not own. A bare list whose request has a system of its own becomes a
    body, since the dialect has no other place for it.
    """
    wires = [message.wire for message in request.messages]
    original = request.wire
    if not is_object(original):
        if is_array(original) and _same(wires, original) and not request.system:
            return original
        if not request.system:
            return wires
        original = {}
    dialect = request.dialect
    changes: dict[str, Any] = {}
    if (key := system_key(original, dialect)) is not None:
        before = original.get(key)
        system = write_system(request.system, before, dialect)
        if system is not before:
            changes[key] = system
    if MESSAGES_KEY[dialect] not in original or not _same(wires, messages_of(original, dialect)):
        changes[MESSAGES_KEY[dialect]] = write_messages(wires, original, dialect)
    if not changes:
        return original
    removed = {key for key, value in changes.items() if value is None}
    return {key: value for key, value in {**original, **changes}.items() if key not in removed}


def _same(wires: Sequence[Any], originals: Sequence[Any]) -> bool:
    if len(wires) != len(originals):
        return False
    return all(wire is original for wire, original in zip(wires, originals, strict=True))


def text_message(role: Role, text: str, dialect: Dialect) -> Message:
    """A new message of plain text.

    In a dialect that keeps instructions apart (Anthropic, Google) a system or developer message is what
    `Request.system` holds; it does not belong among the messages.

    Raises:
        InvalidInputError: the role is `tool`: a result belongs to a call (`result_message`).
    """
    if role == "tool":
        raise InvalidInputError("a tool message answers a call: make it with result_message", key="role")
    instructs = role in ("system", "developer")
    match dialect:
        case "plain" | "openai":
            wire: Any = {"role": role, "content": text}
        case "responses":
            wire = {"type": "message", "role": role, "content": text}
        case "anthropic":
            if instructs:
                block = {"type": "text", "text": text}
                return Message(role="system", parts=(TextPart(text, ("text",)),), dialect=dialect, wire=block)
            wire = {"role": role, "content": text}
        case "google":
            if instructs:
                wire = {"parts": [{"text": text}]}
                part = TextPart(text, ("parts", 0, "text"))
                return Message(role="system", parts=(part,), dialect=dialect, wire=wire)
            wire = {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
        case _:
            assert_never(dialect)
    return Decoder(dialect).feed(wire, 0)


_OUTPUTS = frozenset({"custom_tool_call", "apply_patch_call", "local_shell_call"})
"""Responses calls besides `function_call` whose `*_output` item takes plain text."""


def result_message(call: ToolCallPart, text: str, dialect: Dialect, *, wire: Any = None) -> Message:
    """A new message that answers a call with text.

    A local id never reaches the wire: where the call has no id of its own, its name alone (or its place) pairs them.

    Args:
        call: the call to answer.
        text: what the result says.
        dialect: the dialect to write.
        wire: the wire object of the call's message; in the Responses dialect its type decides the type of the answer.
    """
    match dialect:
        case "plain" | "openai":
            answer = _chat_answer(call, text)
        case "responses":
            answer = _item_answer(call, text, wire)
        case "anthropic":
            named = {} if call.local else {"tool_use_id": call.id}
            answer = {"role": "user", "content": [{"type": "tool_result", **named, "content": text}]}
        case "google":
            named = {} if call.local else {"id": call.id}
            response = {**named, "name": call.name, "response": {"output": text}}
            answer = {"role": "user", "parts": [{"functionResponse": response}]}
        case _:
            assert_never(dialect)
    message = Decoder(dialect).feed(answer, 0)
    (part,) = message.tool_results
    return structs.replace(message, parts=(structs.replace(part, call_id=call.id, name=call.name or None),))


def _chat_answer(call: ToolCallPart, text: str) -> dict[str, Any]:
    if not call.local:
        return {"role": "tool", "tool_call_id": call.id, "content": text}
    return {"role": "function" if "function_call" in call.path else "tool", "name": call.name, "content": text}


def _item_answer(call: ToolCallPart, text: str, wire: Any) -> dict[str, Any]:
    item = get_at(wire, call.path) if wire is not None else None
    kind = string(item.get("type")) if is_object(item) else ""
    answer: dict[str, Any] = {"type": f"{kind}_output" if kind in _OUTPUTS else "function_call_output", "output": text}
    if not call.local:
        answer["call_id"] = call.id
    match kind:
        case "local_shell_call":
            return {**answer, "id": call.id}
        case "apply_patch_call":
            return {**answer, "status": "failed"}
        case _:
            return answer
