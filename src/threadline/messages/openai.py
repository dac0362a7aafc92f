"""OpenAI Chat Completions messages, and the plain `{"role", "content"}` shape that is their common core."""

from __future__ import annotations

from typing import Any, Literal

from threadline.messages.calls import OpenCalls, local_id
from threadline.messages.media import media_part, opaque_part
from threadline.messages.message import Message, Origin, Role
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

__all__ = ["ChatReader"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}

_CONTENT: Path = ("content",)

_CONTENT_MAY_BE_MISSING = frozenset({"tool_calls", "function_call", "refusal", "audio"})
"""OpenAI asks for content unless there are `tool_calls` or a `function_call`; a refusal or audio stands for it too."""

_THINKING_TEXTS = ("reasoning_content", "reasoning")
"""DeepSeek, Qwen and vLLM write the first, OpenRouter and newer vLLM the second; OpenAI itself has neither."""

_THINKING_BLOCKS = ("reasoning_details", "thinking_blocks")
"""OpenRouter and LiteLLM: arrays of signed blocks that must come back unchanged."""


class ChatReader:
    """Reads chat messages in order; keeps the open calls and whether the last assistant turn acted on the world."""

    def __init__(self, dialect: Literal["plain", "openai"]) -> None:
        self._dialect: Literal["plain", "openai"] = dialect
        self._calls = OpenCalls()
        self._acted = False
        self._answered = False

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose chat object is `inner`, found at `base` in `wire`.

        Raises:
            InvalidInputError: `role` or `content` is missing or of another type.
        """
        name = inner.get("role")
        if not isinstance(name, str):
            raise wrong(index, "role", "a string", name) if "role" in inner else missing(index, "role")
        role = _ROLES.get(name, "user")
        content = inner.get("content")
        path = (*base, "content") if base else _CONTENT
        if len(inner) == 2 and isinstance(content, str) and role != "tool":
            origin = self._origin(role, inner)
            return Message(role=role, parts=(TextPart(content, path),), dialect=self._dialect, wire=wire, origin=origin)
        if content is None and "content" not in inner and not _CONTENT_MAY_BE_MISSING.intersection(inner):
            raise missing(index, "content")
        parts: tuple[Part, ...]
        if role == "tool":
            parts = self._results(inner, content, index, base, path)
        else:
            parts = tuple(self._parts(inner, content, index, base, path))
        return Message(
            role=role,
            parts=parts,
            dialect=self._dialect,
            wire=wire,
            id=string(inner.get("id")) or None,
            name=string(inner.get("name")) or None,
            origin=self._origin(role, inner),
        )

    def _origin(self, role: Role, inner: dict[str, Any]) -> Origin:
        """Traces in SWE-agent's style say in `message_type`, or by the `action` before it, that a user turn is output.

        The task itself may bear `message_type` "observation" too; before an assistant's turn there is nothing to see.
        """
        if role == "assistant":
            self._acted = bool(inner.get("action"))
            self._answered = True
        elif role == "user":
            acted, self._acted = self._acted, False
            if acted or (self._answered and inner.get("message_type") == "observation"):
                return "observation"
        return "conversation"

    def _parts(self, inner: dict[str, Any], content: Any, index: int, base: Path, path: Path) -> list[Part]:
        parts = _thinking(inner, base)
        if isinstance(content, str):
            parts.append(TextPart(content, path))
        elif is_array(content):
            parts.extend(_block(block, (*path, number), index) for number, block in enumerate(content))
        elif content is not None:
            raise wrong(index, "content", "a string, an array or null", content)
        if isinstance(refusal := inner.get("refusal"), str):
            parts.append(RefusalPart(refusal, (*base, "refusal")))
        if is_object(inner.get("audio")):
            parts.append(MediaPart("audio", (*base, "audio")))
        for number, call in enumerate(array(inner.get("tool_calls"))):
            parts.append(self._call(call, index, number, (*base, "tool_calls", number)))
        if is_object(call := inner.get("function_call")):
            call_id = self._opened(None, string(call.get("name")), index, 0)
            parts.append(_call_part(call_id, call, "arguments", (*base, "function_call"), local=True))
        return parts

    def _call(self, call: Any, index: int, number: int, path: Path) -> ToolCallPart:
        if not is_object(call):
            raise wrong(index, "tool_calls", "an array of objects", call)
        kind, key = ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")
        body = call.get(kind)
        if not is_object(body):
            raise missing(index, f"tool_calls.{number}.{kind}")
        given = string(call.get("id"))
        call_id = self._opened(given, string(body.get("name")), index, number)
        return _call_part(call_id, body, key, path, local=not given)

    def _opened(self, given: str | None, name: str, index: int, number: int) -> str:
        call_id = given or local_id(index, number)
        self._calls.opened(call_id, name, index)
        return call_id

    def _results(self, inner: dict[str, Any], content: Any, index: int, base: Path, path: Path) -> tuple[Part, ...]:
        if not (content is None or isinstance(content, str | list)):
            raise wrong(index, "content", "a string, an array or null", content)
        ids = [inner["tool_call_id"]] if inner.get("tool_call_id") else array(inner.get("tool_call_ids"))
        ids = [call_id for call_id in ids if isinstance(call_id, str) and call_id]
        given = string(inner.get("name")) or None
        if not ids:
            found = self._calls.match(given)
            call_id = local_id(index, 0) if found is None else found
            return (ToolResultPart(call_id, base, result_parts(content, path), given, local=True),)
        # One message may answer several calls (SWE-agent's `tool_call_ids`): its text belongs to the first of them.
        parts = result_parts(content, path)
        results: list[Part] = []
        for call_id in ids:
            called = self._calls.answered(call_id)
            results.append(ToolResultPart(call_id, base, () if results else parts, given or called))
        return tuple(results)


def _call_part(call_id: str, body: dict[str, Any], key: str, path: Path, *, local: bool) -> ToolCallPart:
    arguments = body.get(key)
    text = arguments if isinstance(arguments, str) else "" if arguments is None else dumps(arguments)
    return ToolCallPart(call_id, string(body.get("name")), text, path, local=local)


def _thinking(inner: dict[str, Any], base: Path) -> list[Part]:
    for key in _THINKING_BLOCKS:
        if blocks := array(inner.get(key)):
            return [
                ThinkingPart(_thought(block), (*base, key, number), signed=True) for number, block in enumerate(blocks)
            ]
    for key in _THINKING_TEXTS:
        if isinstance(text := inner.get(key), str) and text:
            return [ThinkingPart(text, (*base, key))]
    return []


def _thought(block: Any) -> str:
    if not is_object(block):
        return ""
    return string(block.get("text")) or string(block.get("thinking")) or string(block.get("summary"))


def _block(block: Any, path: Path, index: int) -> Part:
    if isinstance(block, str):
        return TextPart(block, path)
    if not is_object(block):
        raise wrong(index, "content", "an array of objects", block)
    if block.get("type") == "text" and isinstance(text := block.get("text"), str):
        return TextPart(text, (*path, "text"))
    if block.get("type") == "refusal" and isinstance(text := block.get("refusal"), str):
        return RefusalPart(text, (*path, "refusal"))
    return media_part(block, path) or opaque_part(block, path)
