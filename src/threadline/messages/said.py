"""Who said a message and when: messages made with a sender and a time, and how one is shown on a line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from threadline.errors import InvalidInputError
from threadline.messages.dialects import Decoder
from threadline.messages.message import Message
from threadline.messages.times import format_utc_time
from threadline.messages.wire import dumps

__all__ = ["chat_message", "message_id", "render_line", "speaker", "tool_request", "tool_result"]

_ID_BYTES = 12
"""Of a derived id: 2^48 messages until two of them are expected to agree."""


def chat_message(
    role: Literal["user", "assistant"],
    content: str,
    *,
    id: str | None = None,
    timestamp: int | None = None,
    sender_id: str | None = None,
    sender_name: str | None = None,
) -> Message:
    """A message of plain text with its sender and its time, which stay beside the wire object.

    Args:
        role: whose turn it is.
        content: what was said.
        id: the host's id of it.
        timestamp: milliseconds since the epoch, UTC.
        sender_id: who said it.
        sender_name: what they are called.

    Raises:
        InvalidInputError: the role is neither `user` nor `assistant`.
    """
    if role not in ("user", "assistant"):
        raise InvalidInputError("role must be user or assistant", key="role")
    return structs.replace(
        Decoder("openai").feed({"role": role, "content": content}, 0),
        id=id,
        timestamp=timestamp,
        sender_id=sender_id,
        name=sender_name,
    )


def tool_request(
    tool_calls: Sequence[Mapping[str, Any]],
    *,
    content: str | None = None,
    id: str | None = None,
    timestamp: int | None = None,
    sender_id: str | None = None,
    sender_name: str | None = None,
) -> Message:
    """An assistant's turn that calls tools.

    Args:
        tool_calls: in the wire form of OpenAI: `{"id", "type": "function", "function": {"name", "arguments"}}`.
        content: what was said besides.
        id: the host's id of it.
        timestamp: milliseconds since the epoch, UTC.
        sender_id: who said it.
        sender_name: what they are called.

    Raises:
        InvalidInputError: a call is malformed.
    """
    wire = {"role": "assistant", "content": content, "tool_calls": [dict(call) for call in tool_calls]}
    made = Decoder("openai").feed(wire, 0)
    return structs.replace(made, id=id, timestamp=timestamp, sender_id=sender_id, name=sender_name)


def tool_result(tool_call_id: str, content: str, *, id: str | None = None, timestamp: int | None = None) -> Message:
    """The result of a call.

    Args:
        tool_call_id: the id of the call it answers.
        content: what the tool gave back.
        id: the host's id of it.
        timestamp: milliseconds since the epoch, UTC.
    """
    made = Decoder("openai").feed({"role": "tool", "tool_call_id": tool_call_id, "content": content}, 0)
    return structs.replace(made, id=id, timestamp=timestamp)


def message_id(message: Message) -> str:
    """The message's own id, else one made of what it says, who said it and when: the same wherever it is computed."""
    if message.id is not None:
        return message.id
    said = dumps([message.role, message.sender_id, message.name, message.timestamp, message.dialect, message.wire])
    return f"msg_{hashlib.blake2b(said.encode('utf-8', 'surrogatepass'), digest_size=_ID_BYTES).hexdigest()}"


def speaker(message: Message) -> str:
    """The sender's name, else their id; the role only where nobody said who it was."""
    return message.name or message.sender_id or message.role


def render_line(message: Message) -> str:
    """`[2023-11-14 22:13 UTC (Tuesday)] Ann: what she said`; without the brackets where no time is known.

    Raises:
        InvalidInputError: the timestamp is 0, which is an unset one, or out of range; names the message's id.
    """
    said = f"{speaker(message)}: {message.content}"
    if message.timestamp is None:
        return said
    if message.timestamp == 0:
        named = message_id(message)
        raise InvalidInputError(f"message {named!r}: timestamp is 0, that is unset", id=named, key="timestamp")
    return f"[{format_utc_time(message.timestamp, weekday=True)}] {said}"
