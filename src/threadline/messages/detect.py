"""`detect_dialect`: whose wire format a message list or a request body is written in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from threadline.messages.message import Dialect
from threadline.messages.shapes import array, is_array, is_object, string

__all__ = ["detect_dialect", "detect_items", "proved_dialect"]

_RESPONSES_TYPES = frozenset({"message", "reasoning", "compaction", "item_reference"})
_RESPONSES_SUFFIXES = ("_call", "_call_output", "_list_tools", "_approval_request", "_approval_response")
_OPENAI_KEYS = frozenset({"tool_calls", "tool_call_id", "tool_call_ids", "refusal", "function_call", "name", "audio"})
_OPENAI_ROLES = frozenset({"developer", "function"})
_ANTHROPIC_TYPES = frozenset(
    {"thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "search_result"}
)

_SERVER_TOOL = re.compile(r"_\d{8}$")
"""Anthropic dates the types of its own tools: `bash_20250124`."""

_Mark: TypeAlias = Dialect | Literal["text parts", "cache_control"] | None
"""A dialect that is proved, a mark that two dialects share (a weak one), or no mark."""


def detect_dialect(value: Any) -> Dialect:
    """The dialect of a message list or a whole request body; an empty list, and whatever has no marks, is plain."""
    return _body(value) if is_object(value) else detect_items(array(value))


def detect_items(items: Iterable[Any]) -> Dialect:
    """The dialect of messages, read as far as it takes to be sure."""
    proved, likely = _survey(items)
    return proved or likely


def proved_dialect(items: Iterable[Any]) -> Dialect | None:
    """The dialect of messages that no other could hold; None while several could."""
    return _survey(items)[0]


def _survey(items: Iterable[Any]) -> tuple[Dialect | None, Dialect]:
    """The dialect that is proved, and the one that is likely."""
    # OpenRouter and LiteLLM take `cache_control` in OpenAI's shape: with a system message it proves nothing.
    openai = cached = system = False
    for item in items:
        if not is_object(item):
            continue
        system = system or item.get("role") == "system"
        match _message(item):
            case None:
                pass
            case "cache_control":
                cached = True
            case "text parts":
                openai = True
            case dialect:
                return dialect, dialect
    if cached and not system:
        return None, "anthropic"
    return None, "openai" if openai or cached else "plain"


def _message(item: dict[str, Any]) -> _Mark:
    content = item.get("content")
    if "role" not in item:
        kind = string(item.get("type"))
        if "parts" in item:
            return "google"
        return "responses" if kind in _RESPONSES_TYPES or kind.endswith(_RESPONSES_SUFFIXES) else None
    if len(item) == 2 and isinstance(content, str):
        return "openai" if item["role"] in _OPENAI_ROLES else None
    if is_array(item.get("parts")) and "content" not in item:
        return "google"
    if item.get("type") == "message" and "model" not in item:
        return "responses"
    if not _OPENAI_KEYS.isdisjoint(item) or item["role"] in _OPENAI_ROLES:
        return "openai"
    return _blocks(content) if is_array(content) else None


def _blocks(blocks: list[Any]) -> _Mark:
    weak: _Mark = None
    for block in blocks:
        if not is_object(block):
            continue
        kind = string(block.get("type"))
        if kind in _ANTHROPIC_TYPES or "source" in block or (kind.endswith("_tool_result") and "tool_use_id" in block):
            return "anthropic"
        if kind in {"image_url", "input_audio", "file", "refusal"}:
            return "openai"
        if kind in {"input_text", "output_text", "input_image", "input_file"}:
            return "responses"
        if "cache_control" in block:
            weak = "cache_control"
        elif weak is None:
            weak = "text parts"
    return weak


def _body(body: dict[str, Any]) -> Dialect:
    if "contents" in body:
        return "google"
    if "input" in body:
        return "responses"
    if "system" in body or "anthropic_version" in body or "stop_sequences" in body:
        return "anthropic"
    proved, likely = _survey(array(body.get("messages")))
    found = proved or _of_tools(body)
    if found is not None:
        return found
    if likely != "plain":
        return likely
    if string(body.get("model")).startswith("claude") and "max_tokens" in body:
        return "anthropic"
    return "openai" if "model" in body else "plain"


def _of_tools(body: dict[str, Any]) -> Dialect | None:
    """Whose tool definitions these are, by the first that only one provider takes."""
    if array(body.get("functions")):
        return "openai"
    for tool in filter(is_object, array(body.get("tools"))):
        kind = string(tool.get("type"))
        if is_object(tool.get("function")) or is_object(tool.get("custom")):
            return "openai"
        if "input_schema" in tool or _SERVER_TOOL.search(kind) or kind == "mcp_toolset":
            return "anthropic"
    return None
