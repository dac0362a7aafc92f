"""Anthropic Messages: content blocks, `tool_use` and `tool_result`, server tools, signed thinking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from threadline.messages.calls import OpenCalls, local_id
from threadline.messages.media import media_part, opaque_part
from threadline.messages.message import Message, Role
from threadline.messages.parts import Part, Path, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from threadline.messages.results import result_parts
from threadline.messages.shapes import is_array, is_object, missing, string, wrong
from threadline.messages.wire import dumps

__all__ = ["AnthropicReader", "read_system", "write_system"]

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}

_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
"""Run by the provider: their results are `*_tool_result` blocks of the same assistant turn."""

_CONTENT: Path = ("content",)


class AnthropicReader:
    """Reads Anthropic messages in order; keeps the open calls so that a result can name its tool."""

    def __init__(self) -> None:
        self._calls = OpenCalls()

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose Anthropic object is `inner`, found at `base` in `wire`.

        Raises:
            InvalidInputError: `role` or `content` is missing or of another type.
        """
        name = inner.get("role")
        if not isinstance(name, str):
            raise wrong(index, "role", "a string", name) if "role" in inner else missing(index, "role")
        if "content" not in inner:
            raise missing(index, "content")
        content, path = inner["content"], (*base, "content") if base else _CONTENT
        parts: tuple[Part, ...]
        if isinstance(content, str):
            parts = (TextPart(content, path),)
        elif is_array(content):
            read: list[Part] = []
            for number, block in enumerate(content):
                read.append(self._block(block, index, number, (*path, number)))
            parts = tuple(read)
        elif content is None:
            parts = ()
        else:
            raise wrong(index, "content", "a string or an array", content)
        return Message(
            role=_ROLES.get(name, "user"),
            parts=parts,
            dialect="anthropic",
            wire=wire,
            id=string(inner.get("id")) or None,
        )

    def _block(self, block: Any, index: int, number: int, path: Path) -> Part:
        if isinstance(block, str):
            return TextPart(block, path)
        if not is_object(block):
            raise wrong(index, f"content.{number}", "an object", block)
        match string(block.get("type")):
            case "text" if isinstance(text := block.get("text"), str):
                return TextPart(text, (*path, "text"))
            case "thinking":
                return ThinkingPart(string(block.get("thinking")), path, signed=bool(block.get("signature")))
            case "redacted_thinking":
                return ThinkingPart("", path, signed=True)
            case "tool_use" | "server_tool_use" | "mcp_tool_use" as type:
                return self._call(block, index, number, path, server=type in _SERVER_CALLS)
            case type if type.endswith("tool_result"):
                return self._result(block, index, number, path, server=type != "tool_result")
            case _:
                return media_part(block, path) or opaque_part(block, path)

    def _call(self, block: dict[str, Any], index: int, number: int, path: Path, *, server: bool) -> ToolCallPart:
        name, given = string(block.get("name")), string(block.get("id"))
        call_id = given or local_id(index, number)
        arguments = dumps(block.get("input", {}))
        self._calls.opened(call_id, name, index)
        return ToolCallPart(call_id, name, arguments, path, server=server, local=not given)

    def _result(self, block: dict[str, Any], index: int, number: int, path: Path, *, server: bool) -> ToolResultPart:
        given = string(block.get("tool_use_id"))
        if given:
            call_id, name = given, self._calls.answered(given)
        else:
            call_id, name = self._calls.match(None) or local_id(index, number), None
        parts = result_parts(block.get("content"), (*path, "content"))
        is_error = bool(block.get("is_error"))
        return ToolResultPart(call_id, path, parts, name, is_error, server=server, local=not given)


def read_system(system: Any) -> tuple[Message, ...]:
    """The messages of a body's `system`: one for a string, one for each block of an array.

    Raises:
        InvalidInputError: it is neither.
    """
    if system is None:
        return ()
    if isinstance(system, str):
        return (Message(role="system", parts=(TextPart(system, ()),), dialect="anthropic", wire=system),)
    if not is_array(system):
        raise wrong(None, "system", "a string or an array", system, what="body")
    return tuple(_system_block(block) for block in system)


def _system_block(block: Any) -> Message:
    part: Part
    if is_object(block) and isinstance(text := block.get("text"), str):
        part = TextPart(text, ("text",))
    else:
        part = opaque_part(block, ())
    return Message(role="system", parts=(part,), dialect="anthropic", wire=block)


def write_system(system: Sequence[Message], original: Any) -> Any:
    """The value of a body's `system` for these messages; the original itself where nothing changed."""
    if not system:
        return None if not is_array(original) or original else original
    if len(system) == 1 and isinstance(system[0].wire, str):
        return system[0].wire
    blocks = original if is_array(original) else []
    if len(blocks) == len(system) and all(m.wire is block for m, block in zip(system, blocks, strict=True)):
        return original
    return [{"type": "text", "text": m.wire} if isinstance(m.wire, str) else m.wire for m in system]
