"""Request bodies: where each dialect keeps its messages, system, tools and response format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from threadline.messages import anthropic, google
from threadline.messages.message import Dialect, Message, Tool
from threadline.messages.parts import TextPart
from threadline.messages.shapes import array, is_array, is_object, missing, string, wrong

__all__ = [
    "MESSAGES_KEY",
    "messages_of",
    "read_response_format",
    "read_system",
    "read_tools",
    "system_key",
    "write_messages",
    "write_system",
]

MESSAGES_KEY: dict[Dialect, str] = {
    "plain": "messages",
    "openai": "messages",
    "anthropic": "messages",
    "responses": "input",
    "google": "contents",
}


def messages_of(body: dict[str, Any], dialect: Dialect) -> list[Any]:
    """The body's message list itself; a Responses `input` that is a bare string counts as a list of one.

    Raises:
        InvalidInputError: there is none, or it is no array.
    """
    key = MESSAGES_KEY[dialect]
    if key not in body:
        raise missing(None, key, what="body")
    found = body[key]
    if dialect == "responses" and isinstance(found, str):
        return [found]
    if not is_array(found):
        raise wrong(None, key, "an array", found, what="body")
    return found


def write_messages(wires: list[Any], body: dict[str, Any], dialect: Dialect) -> Any:
    """The value of the body's message key for these wire objects."""
    if dialect != "responses" or not any(isinstance(wire, str) for wire in wires):
        return wires
    if len(wires) == 1 and isinstance(body.get("input"), str):
        return wires[0]
    return [{"role": "user", "content": wire} if isinstance(wire, str) else wire for wire in wires]


def system_key(body: dict[str, Any], dialect: Dialect) -> str | None:
    """The key under which this body keeps (or would keep) its instructions; None where they are messages."""
    match dialect:
        case "plain" | "openai":
            return None
        case "anthropic":
            return "system"
        case "responses":
            return "instructions"
        case "google":
            return "system_instruction" if "system_instruction" in body else "systemInstruction"


def read_system(body: dict[str, Any], dialect: Dialect) -> tuple[Message, ...]:
    """The instructions that the dialect keeps apart from the messages.

    Raises:
        InvalidInputError: they are of another type than the dialect has.
    """
    key = system_key(body, dialect)
    value = body.get(key) if key else None
    match dialect:
        case "plain" | "openai":
            return ()
        case "anthropic":
            return anthropic.read_system(value)
        case "google":
            return google.read_system(value)
        case "responses":
            if value is None:
                return ()
            if not isinstance(value, str):
                raise wrong(None, "instructions", "a string", value, what="body")
            return (Message(role="system", parts=(TextPart(value, ()),), dialect="responses", wire=value),)


def write_system(system: Sequence[Message], original: Any, dialect: Dialect) -> Any:
    """The system value for a body; the original itself where nothing changed, None where there is none."""
    match dialect:
        case "plain" | "openai":
            return None
        case "anthropic":
            return anthropic.write_system(system, original)
        case "google":
            return google.write_system(system, original)
        case "responses":
            if len(system) == 1 and system[0].wire is original:
                return original
            return "\n\n".join(message.content for message in system) if system else None


def read_tools(body: dict[str, Any], dialect: Dialect) -> tuple[Tool, ...]:
    """The body's tool definitions, each with its name and its own wire object."""
    return tuple(_google_tools(body) if dialect == "google" else _tools(body))


def _tools(body: dict[str, Any]) -> Iterator[Tool]:
    for tool in array(body.get("tools")):
        if is_object(tool):
            inner = tool.get("function") or tool.get("custom")
            named = inner if is_object(inner) else tool
            yield Tool(name=string(named.get("name")) or string(tool.get("type")), wire=tool)
    for tool in array(body.get("functions")):
        if is_object(tool):
            yield Tool(name=string(tool.get("name")), wire=tool)


def _google_tools(body: dict[str, Any]) -> Iterator[Tool]:
    for tool in array(body.get("tools")):
        if not is_object(tool):
            continue
        declarations = array(tool.get("functionDeclarations") or tool.get("function_declarations"))
        for declaration in declarations:
            if is_object(declaration):
                yield Tool(name=string(declaration.get("name")), wire=declaration)
        if not declarations:
            yield Tool(name=next(iter(tool), ""), wire=tool)


def read_response_format(body: dict[str, Any], dialect: Dialect) -> Any:
    """The wire object that constrains the reply, or None."""
    match dialect:
        case "plain" | "openai":
            return body.get("response_format")
        case "responses":
            return _at(body, "text", "format")
        case "anthropic":
            return _at(body, "output_config", "format") or body.get("output_format")
        case "google":
            config = "generationConfig" if "generationConfig" in body else "generation_config"
            for key in ("responseJsonSchema", "responseSchema", "response_json_schema", "response_schema"):
                if (found := _at(body, config, key)) is not None:
                    return found
            return None


def _at(body: dict[str, Any], outer: str, inner: str) -> Any:
    value = body.get(outer)
    return value.get(inner) if is_object(value) else None
