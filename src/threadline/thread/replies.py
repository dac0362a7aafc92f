"""What a provider answered, read: the messages, the usage, why it stopped."""

from __future__ import annotations

from typing import Any, Protocol, cast, runtime_checkable

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.message import Dialect, Message
from threadline.messages.shapes import array, is_array, is_object, string
from threadline.ports import TokenUsage

__all__ = ["Reply", "read_reply", "read_usage"]


class Reply(Struct, frozen=True, kw_only=True):
    """One reply.

    Attributes:
        messages: its wire objects, or `Message`s.
        dialect: what the wires are written in; None leaves it to whoever reads them.
        stop_reason: why it ended, in the provider's word.
        response_id: the provider's id of it, where state is kept on that side.
    """

    messages: list[Any]
    dialect: Dialect | None = None
    usage: TokenUsage | None = None
    stop_reason: str | None = None
    response_id: str | None = None
    model: str | None = None


@runtime_checkable
class _Dumps(Protocol):
    """An object of a vendor's SDK."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_unset: bool) -> Any: ...


def read_reply(reply: Any) -> Reply:
    """A reply in any provider's shape: a response body, an SDK's object, a message, a list of them, or a text.

    Raises:
        InvalidInputError: it is none of these, or holds no message.
    """
    if isinstance(reply, _Dumps):
        reply = reply.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(reply, str):
        return Reply(messages=[{"role": "assistant", "content": reply}])
    if isinstance(reply, Message):
        return Reply(messages=[reply], dialect=reply.dialect)
    if isinstance(reply, (list, tuple)):
        return Reply(messages=[*cast("list[Any]", reply)])
    if not is_object(reply):
        raise InvalidInputError("a reply is a response body, a message, a list of messages or a text", key="reply")
    for key, read in (("choices", _chat), ("output", _responses), ("candidates", _google)):
        if is_array(reply.get(key)):
            return read(reply)
    if reply.get("type") == "message" and is_array(reply.get("content")) and "stop_reason" in reply:
        return _anthropic(reply)
    return Reply(messages=[reply])


def _chat(body: dict[str, Any]) -> Reply:
    first = next(filter(is_object, array(body.get("choices"))), None)
    message = first.get("message") if first is not None else None
    if first is None or not is_object(message):
        raise InvalidInputError("the reply holds no choice with a message", key="choices")
    return Reply(
        messages=[message],
        dialect="openai",
        usage=read_usage(body.get("usage")),
        stop_reason=string(first.get("finish_reason")) or None,
        response_id=string(body.get("id")) or None,
        model=string(body.get("model")) or None,
    )


def _responses(body: dict[str, Any]) -> Reply:
    details = body.get("incomplete_details")
    reason = string(details.get("reason")) if is_object(details) else ""
    return Reply(
        messages=array(body.get("output")),
        dialect="responses",
        usage=read_usage(body.get("usage")),
        stop_reason=reason or string(body.get("status")) or None,
        response_id=string(body.get("id")) or None,
        model=string(body.get("model")) or None,
    )


def _anthropic(body: dict[str, Any]) -> Reply:
    return Reply(
        messages=[{"role": "assistant", "content": body["content"]}],
        dialect="anthropic",
        usage=read_usage(body.get("usage")),
        stop_reason=string(body.get("stop_reason")) or None,
        response_id=string(body.get("id")) or None,
        model=string(body.get("model")) or None,
    )


def _google(body: dict[str, Any]) -> Reply:
    first = next(filter(is_object, array(body.get("candidates"))), None)
    content = first.get("content") if first is not None else None
    if first is None or not is_object(content):
        raise InvalidInputError("the reply holds no candidate with content", key="candidates")
    return Reply(
        messages=[{"role": "model", **content}],
        dialect="google",
        usage=read_usage(body.get("usageMetadata")),
        stop_reason=string(first.get("finishReason")) or None,
        response_id=string(body.get("responseId")) or None,
        model=string(body.get("modelVersion")) or None,
    )


def read_usage(usage: Any) -> TokenUsage | None:
    """Usage in any provider's spelling, or as it was read before; None where nothing is said.

    Raises:
        InvalidInputError: a figure is no count of tokens.
    """
    if usage is None or isinstance(usage, TokenUsage):
        return usage
    if isinstance(usage, _Dumps):
        usage = usage.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if not is_object(usage):
        raise InvalidInputError("usage is an object of token counts", key="usage")
    read = _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    for details in ("prompt_tokens_details", "input_tokens_details"):
        inner = usage.get(details)
        if is_object(inner):
            read += _count(inner, "cached_tokens")
            written += _count(inner, "cache_write_tokens")
    if "promptTokenCount" in usage:
        output = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
        cached = _count(usage, "cachedContentTokenCount")
        return TokenUsage(
            input_tokens=_count(usage, "promptTokenCount"), output_tokens=output, cache_read_tokens=cached
        )
    if "prompt_tokens" in usage:
        counts = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        return TokenUsage(
            input_tokens=counts[0], output_tokens=counts[1], cache_read_tokens=read, cache_write_tokens=written
        )
    apart = "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage  # Anthropic counts those apart
    total = _count(usage, "input_tokens") + (read + written if apart else 0)
    return TokenUsage(
        input_tokens=total,
        output_tokens=_count(usage, "output_tokens"),
        cache_read_tokens=read + _count(usage, "cache_read_tokens"),
        cache_write_tokens=written + _count(usage, "cache_write_tokens"),
    )


def _count(usage: dict[str, Any], key: str) -> int:
    value = usage.get(key)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"usage: {key} must be a number of tokens", key=key)
    return value
