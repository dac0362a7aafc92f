"""`detect_dialect`: whose wire format a message list or a request body is written in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from threadline.messages.message import Dialect
from threadline.messages.shapes import array, is_array, is_object, string

__all__ = ["detect_dialect", "detect_items"]

_RESPONSES_TYPES = frozenset({"message", "reasoning", "compaction", "item_reference"})
_RESPONSES_SUFFIXES = ("_call", "_call_output", "_list_tools", "_approval_request", "_approval_response")
_OPENAI_KEYS = frozenset({"tool_calls", "tool_call_id", "tool_call_ids", "refusal", "function_call", "name", "audio"})
_OPENAI_ROLES = frozenset({"developer", "function"})
_ANTHROPIC_TYPES = frozenset(
    {"thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "search_result"}
)

_Mark: TypeAlias = Dialect | Literal["text parts", "cache_control"] | None
"""A dialect that is proved, a mark that two dialects share (a weak one), or no mark."""


def detect_dialect(value: Any) -> Dialect:
    """The dialect of a message list or a whole request body; an empty list, and whatever has no marks, is plain."""
    return _body(value) if is_object(value) else detect_items(array(value))


def detect_items(items: Iterable[Any]) -> Dialect:
    """The dialect of messages, read as far as it takes to be sure."""
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
                return dialect
    if cached and not system:
        return "anthropic"
    return "openai" if openai or cached else "plain"


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
    for tool in array(body.get("tools")):
        if is_object(tool):
            return "anthropic" if "function" not in tool and "input_schema" in tool else "openai"
    found = detect_dialect(body.get("messages"))
    if found != "plain":
        return found
    if string(body.get("model")).startswith("claude") and "max_tokens" in body:
        return "anthropic"
    return "openai" if "model" in body else "plain"
