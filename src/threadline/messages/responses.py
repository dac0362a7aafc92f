"""OpenAI Responses items: messages, calls and outputs as items of their own, reasoning, compaction."""

from __future__ import annotations

from typing import Any

from threadline.messages.calls import OpenCalls, local_id
from threadline.messages.media import media_part, opaque_part, without_base64
from threadline.messages.message import Message, Role
from threadline.messages.parts import (
    MediaPart,
    Part,
    Path,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.results import result_parts
from threadline.messages.shapes import array, is_array, is_object, missing, string, wrong
from threadline.messages.wire import dumps

__all__ = ["ResponsesReader", "read_input_text"]

_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
}

_TEXT_TYPES = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})

_CLIENT_CALLS = frozenset(
    {"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call", "custom_tool_call"}
)
"""Calls besides `function_call` that wait for an `*_output` item with the same `call_id`."""

_SERVER_CALLS = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}
)
"""Run by OpenAI; the item holds call and result."""

_CALL_FRAME = frozenset({"type", "id", "call_id", "status", "name", "caller", "namespace"})


class ResponsesReader:
    """Reads items in order; keeps the open calls so that an output can name its tool."""

    def __init__(self) -> None:
        self._calls = OpenCalls()

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose item is `inner`, found at `base` in `wire`; every item is a message of its own.

        Raises:
            InvalidInputError: a required key is missing or of another type.
        """
        kind = string(inner.get("type")) or "message"
        role: Role = "assistant"
        parts: tuple[Part, ...]
        if kind == "message":
            role = self._role(inner, index)
            parts = self._content(inner, index, base)
        elif kind == "function_call" or kind in _CLIENT_CALLS:
            parts = (self._call(inner, kind, index, base),)
        elif kind.endswith("_output") and kind != "program_output":
            role = "tool"
            parts = (self._result(inner, index, base),)
        elif kind == "reasoning":
            parts = (ThinkingPart(_reasoning(inner), base, signed=True),)
        elif kind in _SERVER_CALLS:
            parts = _server_call(inner, kind, index, base)
        else:
            role = _ROLES.get(string(inner.get("role")), "assistant")
            parts = (opaque_part(inner, base, kind),)
        return Message(role=role, parts=parts, dialect="responses", wire=wire, id=string(inner.get("id")) or None)

    def _role(self, inner: dict[str, Any], index: int) -> Role:
        name = inner.get("role")
        if not isinstance(name, str):
            raise wrong(index, "role", "a string", name) if "role" in inner else missing(index, "role")
        return _ROLES.get(name, "user")

    def _content(self, inner: dict[str, Any], index: int, base: Path) -> tuple[Part, ...]:
        if "content" not in inner:
            raise missing(index, "content")
        content, path = inner["content"], (*base, "content")
        if isinstance(content, str):
            return (TextPart(content, path),)
        if content is None:
            return ()
        if not is_array(content):
            raise wrong(index, "content", "a string or an array", content)
        return tuple(_block(block, (*path, number), index) for number, block in enumerate(content))

    def _call(self, inner: dict[str, Any], kind: str, index: int, base: Path) -> ToolCallPart:
        name = string(inner.get("name")) or kind.removesuffix("_call")
        given = string(inner.get("call_id")) or (string(inner.get("id")) if kind == "local_shell_call" else "")
        call_id = given or local_id(index, 0)
        self._calls.opened(call_id, name, index)
        return ToolCallPart(call_id, name, _arguments(inner), base, local=not given)

    def _result(self, inner: dict[str, Any], index: int, base: Path) -> ToolResultPart:
        given = string(inner.get("call_id")) or (
            string(inner.get("id")) if inner["type"] == "local_shell_call_output" else ""
        )
        if given:
            call_id, name = given, self._calls.answered(given)
        else:
            call_id, name = self._calls.match(None) or local_id(index, 0), None
        key = "tools" if "output" not in inner and "tools" in inner else "output"
        parts = result_parts(inner.get(key), (*base, key))
        return ToolResultPart(call_id, base, parts, string(inner.get("name")) or name, local=not given)


def read_input_text(text: str) -> Message:
    """The message of an `input` that is a bare string."""
    return Message(role="user", parts=(TextPart(text, ()),), dialect="responses", wire=text)


def _block(block: Any, path: Path, index: int) -> Part:
    if isinstance(block, str):
        return TextPart(block, path)
    if not is_object(block):
        raise wrong(index, "content", "an array of objects", block)
    if block.get("type") in _TEXT_TYPES and isinstance(text := block.get("text"), str):
        return TextPart(text, (*path, "text"))
    if block.get("type") == "refusal" and isinstance(text := block.get("refusal"), str):
        return RefusalPart(text, (*path, "refusal"))
    return media_part(block, path) or opaque_part(block, path)


def _arguments(inner: dict[str, Any]) -> str:
    for key in ("arguments", "input"):
        if isinstance(text := inner.get(key), str):
            return text
    return dumps(without_base64({key: value for key, value in inner.items() if key not in _CALL_FRAME}))


def _reasoning(inner: dict[str, Any]) -> str:
    blocks = [*array(inner.get("summary")), *array(inner.get("content"))]
    return "\n".join(string(block.get("text")) for block in blocks if is_object(block))


def _server_call(inner: dict[str, Any], kind: str, index: int, base: Path) -> tuple[Part, ...]:
    given = string(inner.get("id"))
    call_id = given or local_id(index, 0)
    name = string(inner.get("name")) or kind.removesuffix("_call")
    shown = {key: value for key, value in inner.items() if key not in {"output", "result"}}
    call = ToolCallPart(call_id, name, _arguments(shown), base, server=True, local=not given)
    if kind == "image_generation_call" and isinstance(inner.get("result"), str):
        image = MediaPart("image", base, mime=f"image/{string(inner.get('output_format')) or 'png'}")
        return (call, ToolResultPart(call_id, base, (image,), name, server=True, local=not given))
    content = result_parts(inner.get("output"), (*base, "output"))
    return (call, ToolResultPart(call_id, base, content, name, server=True, local=not given))
