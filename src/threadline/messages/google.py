"""Google `generateContent`: contents with parts, function calls and responses, thought signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from threadline.messages.calls import OpenCalls, local_id
from threadline.messages.media import media_part, opaque_part
from threadline.messages.message import Message, Role
from threadline.messages.parts import Part, Path, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from threadline.messages.results import result_parts
from threadline.messages.shapes import is_array, is_object, missing, string, wrong
from threadline.messages.wire import dumps

__all__ = ["GoogleReader", "read_system", "write_system"]

_ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "tool", "system": "system"}

_SPELLINGS = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "thoughtSignature": "thought_signature",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
}
"""REST spells the keys the first way, Python dicts for `google-genai` the second."""


def _spelt(part: dict[str, Any], name: str) -> str | None:
    """The spelling of a key that a part uses, or None where it has neither."""
    if name in part:
        return name
    snake = _SPELLINGS[name]
    return snake if snake in part else None


class GoogleReader:
    """Reads contents in order; pairs responses without ids with calls by name."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._server = OpenCalls()

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose content is `inner`, found at `base` in `wire`.

        Raises:
            InvalidInputError: `parts` is missing, or a key is of another type.
        """
        name = inner.get("role")
        if name is not None and not isinstance(name, str):
            raise wrong(index, "role", "a string", name)
        if "parts" not in inner:
            raise missing(index, "parts")
        blocks = inner["parts"]
        if blocks is not None and not is_array(blocks):
            raise wrong(index, "parts", "an array", blocks)
        parts: list[Part] = []
        for number, block in enumerate(blocks or ()):
            path = (*base, "parts", number)
            if not is_object(block):
                raise wrong(index, f"parts.{number}", "an object", block)
            if (key := _spelt(block, "thoughtSignature")) and block[key] and not block.get("thought"):
                parts.append(ThinkingPart("", (*path, key), signed=True))
            parts.append(self._part(block, index, number, path))
        return Message(role=_ROLES.get(name or "user", "user"), parts=tuple(parts), dialect="google", wire=wire)

    def _part(self, block: dict[str, Any], index: int, number: int, path: Path) -> Part:
        if isinstance(text := block.get("text"), str):
            if block.get("thought"):
                return ThinkingPart(text, path, signed=_spelt(block, "thoughtSignature") is not None)
            return TextPart(text, (*path, "text"))
        for name in ("functionCall", "toolCall", "executableCode"):
            if (key := _spelt(block, name)) and is_object(call := block[key]):
                return self._call(call, index, number, path, server=name != "functionCall")
        for name in ("functionResponse", "toolResponse", "codeExecutionResult"):
            if (key := _spelt(block, name)) and is_object(response := block[key]):
                return self._result(response, index, number, (*path, key), server=name != "functionResponse")
        return media_part(block, path) or opaque_part(block, path, next(iter(block), "empty"))

    def _call(self, call: dict[str, Any], index: int, number: int, path: Path, *, server: bool) -> ToolCallPart:
        given = string(call.get("id"))
        call_id = given or local_id(index, number)
        if server:
            name = string(call.get("toolType") or call.get("tool_type")) or "code_execution"
            arguments = string(call.get("code")) or dumps(call.get("args") or {})
            self._server.opened(call_id, name, index)
        else:
            name, arguments = string(call.get("name")), dumps(call.get("args") or {})
            self._calls.opened(call_id, name, index)
        return ToolCallPart(call_id, name, arguments, path, server=server, local=not given)

    def _result(self, response: dict[str, Any], index: int, number: int, path: Path, *, server: bool) -> ToolResultPart:
        given = string(response.get("id"))
        name = string(response.get("name")) or None
        calls = self._server if server else self._calls
        if given:
            call_id, called = given, calls.answered(given)
        else:
            call_id, called = calls.match(name) or local_id(index, number), None
        parts = tuple(
            part
            for key in ("response", "output", "parts")
            if key in response
            for part in result_parts(response[key], (*path, key))
        )
        content = response.get("response")
        is_error = is_object(content) and "error" in content and "output" not in content
        return ToolResultPart(call_id, path[:-1], parts, name or called, is_error, server=server, local=not given)


def read_system(system: Any) -> tuple[Message, ...]:
    """The message of a body's `systemInstruction`: a content, or a bare string.

    Raises:
        InvalidInputError: it is neither.
    """
    if system is None:
        return ()
    if isinstance(system, str):
        return (Message(role="system", parts=(TextPart(system, ()),), dialect="google", wire=system),)
    if not is_object(system):
        raise wrong(None, "systemInstruction", "an object", system, what="body")
    return (Message(role="system", parts=tuple(_system_parts(system)), dialect="google", wire=system),)


def _system_parts(system: dict[str, Any]) -> Iterator[Part]:
    parts = system.get("parts")
    for number, block in enumerate(parts if is_array(parts) else [parts]):
        path: Path = ("parts", number) if is_array(parts) else ("parts",)
        if is_object(block) and isinstance(text := block.get("text"), str):
            yield TextPart(text, (*path, "text"))
        elif block is not None:
            yield opaque_part(block, path, "part")


def write_system(system: Sequence[Message], original: Any) -> Any:
    """The value of a body's `systemInstruction` for these messages; the original itself where nothing changed."""
    if not system:
        return None
    if len(system) == 1:
        return original if system[0].wire is original else system[0].wire
    parts: list[Any] = []
    for message in system:
        parts.extend([{"text": message.wire}] if isinstance(message.wire, str) else message.wire["parts"])
    return {"parts": parts}
