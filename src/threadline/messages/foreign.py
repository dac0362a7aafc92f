"""Messages as other tools store them: ShareGPT's `from` and `value`, LangChain's `type` and `data`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from threadline.messages.calls import OpenCalls, local_id
from threadline.messages.media import media_part, opaque_part
from threadline.messages.message import Message, Role
from threadline.messages.parts import Part, Path, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from threadline.messages.results import result_parts
from threadline.messages.shapes import array, is_array, is_object, missing, string, wrong
from threadline.messages.wire import dumps

__all__ = ["LANGCHAIN_ROLES", "SHAREGPT_ROLES", "LangChainReader", "ShareGptReader", "langchain_key"]

SHAREGPT_ROLES: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
}

LANGCHAIN_ROLES: dict[str, Role] = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
    "chat": "user",
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
    "ChatMessage": "user",
}


class ShareGptReader:
    """Reads ShareGPT turns in order; a `function_call` is paired with the `observation` that follows."""

    def __init__(self) -> None:
        self._calls = OpenCalls()

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message of one turn.

        Raises:
            InvalidInputError: `from` or `value` is missing or no string.
        """
        for key in ("from", "value"):
            if key not in inner:
                raise missing(index, key)
            if not isinstance(inner[key], str):
                raise wrong(index, key, "a string", inner[key])
        speaker, text, path = inner["from"], inner["value"], (*base, "value")
        role = SHAREGPT_ROLES.get(speaker, "user")
        part: Part = TextPart(text, path)
        if speaker == "function_call":
            part = self._call(text, index, path)
        elif role == "tool":
            call_id = self._calls.match(None) or local_id(index, 0)
            part = ToolResultPart(call_id, base, (TextPart(text, path),), local=True)
        return Message(role=role, parts=(part,), dialect="plain", wire=wire)

    def _call(self, text: str, index: int, path: Path) -> ToolCallPart:
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        name = string(value.get("name")) if is_object(value) else ""
        arguments = dumps(value.get("arguments", {})) if is_object(value) else text
        call_id = local_id(index, 0)
        self._calls.opened(call_id, name, index)
        return ToolCallPart(call_id, name, arguments, path, local=True)


def langchain_key(item: dict[str, Any]) -> str | None:
    """Where a LangChain message keeps its fields: `data` (`messages_to_dict`), `kwargs` (`dumpd`), or None for flat."""
    return next((key for key in ("data", "kwargs") if is_object(item.get(key))), None)


class LangChainReader:
    """Reads LangChain messages in order."""

    def __init__(self) -> None:
        self._calls = OpenCalls()

    def read(self, wire: Any, inner: dict[str, Any], index: int, base: Path) -> Message:
        """The message whose LangChain object is `inner`, found at `base` in `wire`.

        Raises:
            InvalidInputError: its type or content is missing or of another type.
        """
        kind = _kind(inner)
        if not kind:
            raise missing(index, "type")
        key = langchain_key(inner)
        path: Path = base if key is None else (*base, key)
        fields: dict[str, Any] = inner if key is None else inner[key]
        if "content" not in fields:
            raise missing(index, "content")
        role = LANGCHAIN_ROLES.get(kind, "user")
        if kind in ("chat", "ChatMessage") and fields.get("role") in ("system", "assistant"):
            role = fields["role"]
        calls = array(fields.get("tool_calls"))
        if role == "tool":
            parts: tuple[Part, ...] = (self._result(fields, index, path),)
        else:
            parts = (
                *self._content(fields["content"], index, (*path, "content"), calls=bool(calls)),
                *self._tool_calls(fields, calls, index, path),
            )
        return Message(
            role=role,
            parts=parts,
            dialect="plain",
            wire=wire,
            id=string(fields.get("id")) or None,
            name=string(fields.get("name")) or None,
        )

    def _content(self, content: Any, index: int, path: Path, *, calls: bool) -> Iterator[Part]:
        if isinstance(content, str):
            yield TextPart(content, path)
            return
        if not is_array(content):
            raise wrong(index, "content", "a string or an array", content)
        for number, block in enumerate(content):
            at = (*path, number)
            if isinstance(block, str):
                yield TextPart(block, at)
            elif not is_object(block):
                raise wrong(index, "content", "an array of objects", block)
            elif block.get("type") == "text" and isinstance(text := block.get("text"), str):
                yield TextPart(text, (*at, "text"))
            elif block.get("type") == "thinking":
                yield ThinkingPart(string(block.get("thinking")), at, signed=bool(block.get("signature")))
            elif not (calls and block.get("type") in ("tool_use", "function_call")):
                # A call that `tool_calls` tells again is read there.
                yield media_part(block, at) or opaque_part(block, at)

    def _tool_calls(self, fields: dict[str, Any], calls: list[Any], index: int, path: Path) -> Iterator[Part]:
        at = (*path, "tool_calls")
        extra = fields.get("additional_kwargs")
        if not calls and is_object(extra):
            calls, at = array(extra.get("tool_calls")), (*path, "additional_kwargs", "tool_calls")
        for number, call in enumerate(calls):
            if not is_object(call):
                raise wrong(index, "tool_calls", "an array of objects", call)
            function = call.get("function")
            body = function if is_object(function) else call
            given, name = string(call.get("id")), string(body.get("name"))
            arguments = body.get("args", body.get("arguments", {}))
            call_id = given or local_id(index, number)
            self._calls.opened(call_id, name, index)
            text = arguments if isinstance(arguments, str) else dumps(arguments)
            yield ToolCallPart(call_id, name, text, (*at, number), local=not given)

    def _result(self, fields: dict[str, Any], index: int, path: Path) -> ToolResultPart:
        given, name = string(fields.get("tool_call_id")), string(fields.get("name")) or None
        if given:
            call_id, called = given, self._calls.answered(given)
        else:
            call_id, called = self._calls.match(name) or local_id(index, 0), None
        parts = result_parts(fields["content"], (*path, "content"))
        is_error = fields.get("status") == "error"
        return ToolResultPart(call_id, path, parts, name or called, is_error, local=not given)


def _kind(item: dict[str, Any]) -> str:
    """`human`, `ai`, ... from `type`, or the class name at the end of a constructor's `id`."""
    if item.get("type") == "constructor" and (names := array(item.get("id"))):
        return string(names[-1])
    return string(item.get("type"))
