"""From blocks to a `Request`: the one way a request is written, for the call itself and for its replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from threadline.context.fence import fenced
from threadline.context.items import tool_name
from threadline.context.layout import Block, is_system
from threadline.errors import ConfigurationError, InvalidInputError
from threadline.journal.frozen import thaw
from threadline.messages.bodies import MESSAGES_KEY, system_key
from threadline.messages.dialects import Decoder, result_message, text_message
from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Message, Request, Tool
from threadline.messages.parameters import convert_parameters
from threadline.messages.parts import TextPart, ToolCallPart
from threadline.messages.wire import dumps

__all__ = ["Rendered", "render", "request_of", "system_message", "tools_of"]

_KNOWN = {
    **{name: name for name in ("model", "temperature", "top_p", "stop", "stream")},
    "max_output_tokens": "max_tokens",
}
_OURS = frozenset({"provider", "cache_instructions", "context_window"})
"""Configuration that says something to us and nothing to the provider."""


class Rendered(Struct, frozen=True, kw_only=True):
    """What blocks become.

    Attributes:
        system: the texts of the system message, in order, and the block each is from.
        messages: the messages, and the block each is from.
    """

    system: tuple[tuple[int, str], ...]
    messages: tuple[tuple[int, Message], ...]


def render(blocks: Sequence[Block], dialect: Dialect) -> Rendered:
    """What the blocks say, in a dialect.

    Raises:
        InvalidInputError: a block's content is no message of the dialect; `fields["item"]` names it.
    """
    decoder = Decoder(dialect)
    calls: dict[str, tuple[ToolCallPart, Any]] = {}
    system: list[tuple[int, str]] = []
    messages: list[tuple[int, Message]] = []
    for number, block in enumerate(blocks):
        if is_system(block, dialect):
            if text := _system_text(block, dialect):
                system.append((number, text))
            continue
        try:
            message = decoder.feed(_wire(block, dialect, calls), len(messages))
        except InvalidInputError as error:
            raise InvalidInputError(
                f"item {block.item_id}: {error}", **{**error.fields, "item": block.item_id}
            ) from error
        calls.update({call.id: (call, message.wire) for call in message.tool_calls})
        messages.append((number, message))
    return Rendered(system=tuple(system), messages=tuple(messages))


def _system_text(block: Block, dialect: Dialect) -> str:
    if block.content_format == "text":
        return block.content
    if block.category == "conversation":  # a system message in the wire of its dialect: a block, a content
        wire = thaw(block.content)
        if dialect == "anthropic" and "content" not in wire:
            return str(wire.get("text", ""))
        return Decoder(dialect).feed(wire, 0).content
    return dumps(block.content)


def _wire(block: Block, dialect: Dialect, calls: Mapping[str, tuple[ToolCallPart, Any]]) -> Any:
    text = block.content if block.content_format == "text" else None
    if block.category == "knowledge":
        said = dumps(block.content) if text is None else text
        return text_message("user", fenced(said, label=block.label or "unknown", trust=block.trust), dialect).wire
    if text is None:
        if block.category == "instruction":
            return text_message(block.role, dumps(block.content), dialect).wire
        return thaw(block.content)
    if block.role != "tool":
        return text_message(block.role, text, dialect).wire
    if not block.tool_call_id:
        raise InvalidInputError("a tool message names no call", key="tool_call_id")
    call, wire = calls.get(block.tool_call_id, (ToolCallPart(block.tool_call_id, "", "{}", ()), None))
    return result_message(call, text, dialect, wire=wire).wire


def system_message(text: str, dialect: Dialect) -> Message:
    """The system text as the dialect has it: a message of its own, a block, a content, or a bare string."""
    if dialect == "responses":
        return Message(role="system", parts=(TextPart(text, ()),), dialect=dialect, wire=text)
    return text_message("system", text, dialect)


def request_of(
    rendered: Rendered,
    *,
    dialect: Dialect,
    tools: Sequence[Tool] = (),
    model_config: Mapping[str, Any] | None = None,
    response_format: Any = None,
) -> Request:
    """The whole request; its `wire` is the body to be sent, and `encode` gives back that very object.

    Raises:
        ConfigurationError: the dialect has no place for a setting; `fields["key"]` names it.
    """
    config = model_config or {}
    body = _parameters(config, dialect)
    joined = "\n\n".join(text for _, text in rendered.system)
    messages = tuple(message for _, message in rendered.messages)
    system: tuple[Message, ...] = ()
    if joined:
        first = system_message(joined, dialect)
        if (key := system_key(body, dialect)) is None:
            messages = (first, *messages)
        else:
            system = (first,)
            body[key] = [first.wire] if dialect == "anthropic" else first.wire
    body[MESSAGES_KEY[dialect]] = [message.wire for message in messages]
    if tools:
        wires = [tool.wire for tool in tools]
        body["tools"] = _google_tools(tools) if dialect == "google" else wires
    if response_format is not None:
        response_format = thaw(response_format)
        _put_response_format(body, response_format, dialect)
    model: object = config.get("model")
    return Request(
        dialect=dialect,
        messages=messages,
        system=system,
        tools=tuple(tools),
        response_format=response_format,
        model=model if isinstance(model, str) else None,
        wire=body,
    )


def _google_tools(tools: Sequence[Tool]) -> list[Any]:
    """Functions share one list; a tool of the provider stands by itself."""
    declared = [tool.wire for tool in tools if "name" in tool.wire]
    own = [tool.wire for tool in tools if "name" not in tool.wire]
    return ([{"functionDeclarations": declared}] if declared else []) + own


def _parameters(config: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    settings = {_KNOWN[key]: thaw(value) for key, value in config.items() if key in _KNOWN and value is not None}
    losses: list[Loss] = []
    body = convert_parameters(Request(dialect="plain", messages=(), wire=settings), dialect, losses)
    if losses:
        raise ConfigurationError(f"the {dialect} dialect has no place for {losses[0].part!r}", key=losses[0].part)
    others = {key: thaw(value) for key, value in config.items() if key not in _KNOWN and key not in _OURS}
    return {**body, **{key: value for key, value in others.items() if value is not None}}


def _put_response_format(body: dict[str, Any], wire: Any, dialect: Dialect) -> None:
    match dialect:
        case "plain" | "openai":
            body["response_format"] = wire
        case "responses":
            body["text"] = {**body.get("text", {}), "format": wire}
        case "anthropic":
            body["output_config"] = {**body.get("output_config", {}), "format": wire}
        case "google":
            config = {**body.get("generationConfig", {}), "responseMimeType": "application/json"}
            body["generationConfig"] = {**config, "responseJsonSchema": wire}


def tools_of(definitions: Sequence[Any], dialect: Dialect) -> tuple[Tool, ...]:
    """Tool definitions in the dialect; one that is written in it already is left as it is.

    Raises:
        ConfigurationError: a definition cannot be said in the dialect, or two have one name.
    """
    tools: dict[str, Tool] = {}
    for definition in definitions:
        name = tool_name(definition)
        if name in tools:
            raise ConfigurationError(f"two tools are named {name!r}", key="tools", tool=name, rule="V24")
        wire = thaw(definition)
        tools[name] = Tool(name=name, wire=wire if _is_of(wire, dialect) else _converted(name, wire, dialect))
    return tuple(tools.values())


def _is_of(wire: dict[str, Any], dialect: Dialect) -> bool:
    match dialect:
        case "plain" | "openai":
            return "type" in wire
        case "responses":
            return "type" in wire and "function" not in wire
        case "anthropic":
            return "input_schema" in wire or ("type" in wire and wire["type"] != "function")
        case "google":
            return "parametersJsonSchema" in wire or "parameters_json_schema" in wire


def _converted(name: str, wire: dict[str, Any], dialect: Dialect) -> Any:
    losses: list[Loss] = []
    source = Request(dialect="plain", messages=(), tools=(Tool(name=name, wire=wire),), wire={})
    body = convert_parameters(source, dialect, losses)
    if losses:
        raise ConfigurationError(f"tool {name!r} cannot be said in the {dialect} dialect", key="tools", tool=name)
    (tool,) = body["tools"]
    return cast("dict[str, Any]", tool)["functionDeclarations"][0] if dialect == "google" else tool
