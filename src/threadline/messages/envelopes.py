"""Envelopes: what a stored conversation puts around each message, and how a new message is put into one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol, TypeAlias, assert_never

from msgspec import structs

from threadline.messages.detect import detect_items
from threadline.messages.dialects import Decoder, Reader
from threadline.messages.foreign import LangChainReader, ShareGptReader, langchain_key
from threadline.messages.layout import BLANK
from threadline.messages.message import Message, Origin, Role
from threadline.messages.parts import Path
from threadline.messages.shapes import is_object, string
from threadline.messages.wire import get_at

__all__ = ["Envelope", "Feed", "feed_of", "inner_of", "is_message", "lasting_key", "wrapped"]

Envelope: TypeAlias = Literal["bare", "claude-code", "codex", "codex-items", "sharegpt", "langchain"]
"""`bare`: the provider's own object. `claude-code`: an Anthropic message under `message`. `codex`: a Responses item
under `payload`; `codex-items`: rollouts before October 2025, items without an envelope among lines of state.
`sharegpt`: `from` and `value`. `langchain`: `messages_to_dict`, `dumpd` or a flat dump."""

_CLAUDE_APART = ("isSidechain", "isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly")
"""Claude Code's marks of lines that are no turns: sub-agents, notes to the tool itself, errors, things only shown."""

_CLAUDE_SHARED = ("userType", "cwd", "sessionId", "version", "gitBranch", "entrypoint")

_SHAREGPT_NAMES: dict[Role, str] = {
    "system": "system",
    "developer": "system",
    "user": "human",
    "assistant": "gpt",
    "tool": "observation",
}

_LANGCHAIN_NAMES: dict[Role, tuple[str, str]] = {
    "system": ("system", "SystemMessage"),
    "developer": ("system", "SystemMessage"),
    "user": ("human", "HumanMessage"),
    "assistant": ("ai", "AIMessage"),
    "tool": ("tool", "ToolMessage"),
}


class Feed(Protocol):
    """Reads the items of one conversation in order."""

    def __call__(self, item: Any, index: int, /) -> Message:
        """The message of an item.

        Raises:
            InvalidInputError: it is malformed; names index and key.
        """
        ...


def _inner_path(envelope: Envelope) -> Path:
    """Where in an item the provider's own object is."""
    match envelope:
        case "claude-code":
            return ("message",)
        case "codex":
            return ("payload",)
        case "bare" | "codex-items" | "sharegpt" | "langchain":
            return ()
        case _:
            assert_never(envelope)


def is_message(item: Any, envelope: Envelope) -> bool:
    """True for an item that is a turn of the main conversation; the others stay in place unread."""
    match envelope:
        case "bare" | "sharegpt" | "langchain":
            return item != BLANK
        case "claude-code":
            if not is_object(item) or item.get("type") not in ("user", "assistant") or "message" not in item:
                return False
            return not any(item.get(key) for key in _CLAUDE_APART)
        case "codex":
            if not is_object(item) or item.get("type") != "response_item" or not is_object(item.get("payload")):
                return False
            return item["payload"].get("type") != "ghost_snapshot"  # a commit kept for undoing, never sent
        case "codex-items":
            return is_object(item) and "record_type" not in item and ("type" in item or "role" in item)
        case _:
            assert_never(envelope)


def feed_of(envelope: Envelope, items: Iterable[Any]) -> Feed:
    """What reads the items that are messages; for bare ones their dialect is found out from `items`."""
    match envelope:
        case "bare":
            return Decoder(detect_items(items)).feed
        case "codex-items":
            return Decoder("responses").feed
        case "codex":
            decoder = Decoder("responses")
            return lambda item, index, /: decoder.feed(item, index, base=_inner_path("codex"))
        case "claude-code":
            return _claude_feed()
        case "sharegpt":
            return _foreign_feed(ShareGptReader())
        case "langchain":
            return _foreign_feed(LangChainReader())
        case _:
            assert_never(envelope)


def _claude_feed() -> Feed:
    decoder = Decoder("anthropic")

    def feed(item: Any, index: int, /) -> Message:
        message = decoder.feed(item, index, base=_inner_path("claude-code"))
        origin: Origin = "conversation"
        if item.get("isCompactSummary"):
            origin = "summary"
        elif "toolUseResult" in item and message.role == "user":
            origin = "observation"
        return message if origin == "conversation" else structs.replace(message, origin=origin)

    return feed


def _foreign_feed(reader: Reader) -> Feed:
    return lambda item, index, /: reader.read(item, item, index, ())


def lasting_key(item: Any, envelope: Envelope) -> str | None:
    """What stays the same in an item when its message's text is changed; None where there is no such thing."""
    if not is_object(item):
        return None
    match envelope:
        case "claude-code":
            return string(item.get("uuid")) or None
        case "codex":
            payload = item.get("payload")
            ids = [string(payload.get(key)) for key in ("type", "id", "call_id")] if is_object(payload) else []
            return "|".join([item["timestamp"], *ids]) if item.get("timestamp") else None
        case "bare" | "codex-items" | "sharegpt" | "langchain":
            return None
        case _:
            assert_never(envelope)


def wrapped(message: Message, envelope: Envelope, sample: Any) -> Any:
    """The item for a message: its wire as it is where it has the envelope already, else a new one.

    Args:
        message: the message.
        envelope: what to put it in.
        sample: an item of the same conversation, to take the session's own fields and the flavour from; or None.
    """
    wire = message.wire
    match envelope:
        case "bare" | "codex-items":
            return wire
        case "claude-code" if not _has(wire, "message"):
            shared = {key: sample[key] for key in _CLAUDE_SHARED if _has(sample, key)}
            kind = "assistant" if message.role == "assistant" else "user"
            return {"type": kind, "isSidechain": False, **shared, "message": wire}
        case "codex" if not _has(wire, "payload"):
            stamp = {"timestamp": sample["timestamp"]} if _has(sample, "timestamp") else {}
            return {**stamp, "type": "response_item", "payload": wire}
        case "sharegpt" if not _has(wire, "from"):
            return {"from": _SHAREGPT_NAMES[message.role], "value": message.content}
        case "langchain" if _has(wire, "role"):
            return _langchain(message, sample)
        case "claude-code" | "codex" | "sharegpt" | "langchain":
            return wire
        case _:
            assert_never(envelope)


def _has(value: Any, key: str) -> bool:
    return is_object(value) and key in value


def _langchain(message: Message, sample: Any) -> dict[str, Any]:
    kind, class_name = _LANGCHAIN_NAMES[message.role]
    fields: dict[str, Any] = {"content": message.content, "type": kind}
    if message.tool_results:
        fields["tool_call_id"] = message.tool_results[0].call_id
    match langchain_key(sample) if is_object(sample) else None:
        case "data":
            return {"type": kind, "data": fields}
        case "kwargs":
            names = ["langchain", "schema", "messages", class_name]
            return {"lc": 1, "type": "constructor", "id": names, "kwargs": fields}
        case _:
            return fields


def inner_of(item: Any, envelope: Envelope) -> Any:
    """The provider's own object inside an item."""
    return get_at(item, _inner_path(envelope))
