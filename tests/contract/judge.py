"""An independent judge of conversations: pairs calls with results by its own reading of the dialects.

It knows nothing of how the library reads them, so that it can disagree with `check_conversation`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

Dialect: TypeAlias = Literal["plain", "openai", "responses", "anthropic", "google"]
DIALECTS: tuple[Dialect, ...] = ("plain", "openai", "responses", "anthropic", "google")


def frozen(value: Any) -> str:
    """A spelling of a JSON value in which any change shows."""
    return json.dumps(value)


class Mark(NamedTuple):
    """One call or one result on the wire."""

    what: Literal["call", "result"]
    id: str


def _pieces(message: dict[str, Any], dialect: Dialect) -> Iterator[tuple[str, str]]:
    """`(kind, id)` of everything in a wire object that may be a call or a result."""
    match dialect:
        case "plain":
            return
        case "openai":
            yield from (("tool_call", entry["id"]) for entry in message.get("tool_calls") or ())
            yield str(message.get("role")), str(message.get("tool_call_id"))
        case "responses":
            yield str(message.get("type")), str(message.get("call_id"))
        case "anthropic":
            content = message.get("content")
            for block in content if isinstance(content, list) else ():
                yield block["type"], str(block.get("id") or block.get("tool_use_id"))
        case "google":
            for part in message["parts"]:
                yield from ((k, v.get("id") or v["name"]) for k, v in part.items() if k in _CALLS | _RESULTS)


_CALLS = {"tool_call", "function_call", "tool_use", "functionCall"}
_RESULTS = {"tool", "function_call_output", "tool_result", "functionResponse"}


def marks(message: dict[str, Any], dialect: Dialect) -> list[Mark]:
    """The calls and results of one wire object, in order."""
    found = [(kind, name) for kind, name in _pieces(message, dialect) if kind in _CALLS | _RESULTS]
    return [Mark("call" if kind in _CALLS else "result", name) for kind, name in found]


def loose_ends(messages: Sequence[Any], dialect: Dialect) -> Counter[Mark]:
    """Results with no call before them, calls with no result after them; a result closes the nearest open call."""
    open_calls: Counter[str] = Counter()
    loose: Counter[Mark] = Counter()
    for message in messages:
        for mark in marks(message, dialect):
            if mark.what == "call":
                open_calls[mark.id] += 1
            elif open_calls[mark.id]:
                open_calls[mark.id] -= 1
            else:
                loose[mark] += 1
    for call_id, count in open_calls.items():
        if count:
            loose[Mark("call", call_id)] = count
    return loose


def strings(value: Any) -> Iterator[str]:
    """Every string value inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def text_of(value: Any) -> str:
    return "\n".join(strings(value))


def signed_blocks(messages: Sequence[Any]) -> list[str]:
    """Every thinking block, reasoning item or signed part, spelt out."""
    blocks: list[Any] = []
    for message in messages:
        content = message.get("content")
        blocks += [message, *(content if isinstance(content, list) else ()), *(message.get("parts") or ())]
    sealed = {"reasoning", "thinking", "redacted_thinking"}
    return [frozen(block) for block in blocks if block.get("type") in sealed or "thoughtSignature" in block]
