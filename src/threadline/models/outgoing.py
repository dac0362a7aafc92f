"""The body that is sent for a request: its own where the dialect is right, else converted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from threadline.errors import InvalidInputError
from threadline.messages import Dialect, Loss, MediaPart, Request, Tool, convert, decode, encode
from threadline.messages.bodies import MESSAGES_KEY, read_response_format, read_tools
from threadline.messages.shapes import is_object
from threadline.ports import ImagePart, LLMMessage

__all__ = ["Outgoing", "body_of_messages", "outgoing"]

_CHAT: frozenset[Dialect] = frozenset({"plain", "openai"})


class Outgoing(Struct, frozen=True, kw_only=True):
    """What is sent.

    Attributes:
        body: the provider's request body, without the model's name; the caller's own to change at its top.
        dialect: the dialect that the answer is read in.
        losses: what of the request could not be said.
    """

    body: dict[str, Any]
    dialect: Dialect
    losses: tuple[Loss, ...]


def outgoing(request: Request, dialect: Dialect) -> Outgoing:
    """The body for a request.

    Raises:
        InvalidInputError: it holds no message, or cannot be read.
    """
    if not request.messages:
        raise InvalidInputError("request: there is no message to answer", key="messages")
    framed = request if is_object(request.wire) else structs.replace(request, wire={})
    conversion = convert(framed, dialect)
    body = {key: value for key, value in encode(conversion.request).items() if value is not None}
    # What stands in the request is right, whatever body it was once read from.
    if request.dialect == dialect or {request.dialect, dialect} <= _CHAT:
        if not _same(request.tools, read_tools(body, dialect)):
            body.pop("functions", None)
            body["tools"] = _tools(request.tools, dialect)
            if not request.tools:
                del body["tools"]
        if request.response_format is not read_response_format(body, dialect):
            _put_response_format(body, request.response_format, dialect)
    for key in ("model", "stream", "stream_options"):
        body.pop(key, None)
    answered_in = request.dialect if {request.dialect, dialect} <= _CHAT else dialect
    return Outgoing(body=body, dialect=answered_in, losses=conversion.losses)


def _same(tools: Sequence[Tool], others: Sequence[Tool]) -> bool:
    return [tool.wire for tool in tools] == [other.wire for other in others]


def _tools(tools: Iterable[Tool], dialect: Dialect) -> list[Any]:
    wires = [tool.wire for tool in tools]
    if dialect != "google":
        return wires
    declared = [wire for wire in wires if "name" in wire]
    return [
        *([{"functionDeclarations": declared}] if declared else []),
        *(wire for wire in wires if "name" not in wire),
    ]


def _put_response_format(body: dict[str, Any], wanted: Any, dialect: Dialect) -> None:
    match dialect:
        case "plain" | "openai":
            body["response_format"] = wanted
        case "responses":
            body["text"] = {**(body.get("text") or {}), "format": wanted}
        case "anthropic":
            body.pop("output_format", None)
            body["output_config"] = {**(body.get("output_config") or {}), "format": wanted}
        case "google":
            held = body.pop("generation_config", None) or body.get("generationConfig")
            config = held if is_object(held) else {}
            kept = {key: value for key, value in config.items() if "schema" not in key.lower()}
            schema = {"responseMimeType": "application/json", "responseJsonSchema": wanted}
            body["generationConfig"] = {**kept, **(schema if wanted is not None else {})}


def body_of_messages(messages: Sequence[LLMMessage], dialect: Dialect) -> dict[str, Any]:
    """The body for an operator's messages.

    Raises:
        InvalidInputError: there is none, or one holds an image that the dialect cannot carry.
    """
    wires = [{"role": message.role, "content": _content(message.content)} for message in messages]
    request = decode({MESSAGES_KEY["openai"]: wires}, "openai")
    sent = outgoing(request, dialect)
    arrived = decode(sent.body, sent.dialect)
    if _images(request) != _images(arrived):
        raise InvalidInputError(f"an image cannot be carried in the {dialect} dialect", key="content")
    return sent.body


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [
        {"type": "image_url", "image_url": {"url": part.url}}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in content
    ]


def _images(request: Request) -> int:
    return sum(isinstance(part, MediaPart) for message in request.messages for part in message.parts)
