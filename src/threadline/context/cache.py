"""The cache plan: what a provider need not read again, where requests part, and what a compaction costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from threadline.context.cache_plan import CacheDifference, CachePlan, CompactionPrice, DifferenceReason
from threadline.context.cache_rules import CacheRule, rule_for
from threadline.context.layout import APART, SYSTEM_ROLES
from threadline.context.manifest import LLMInputManifest, Segment
from threadline.messages.message import Dialect
from threadline.messages.shapes import is_array, is_object
from threadline.tokens.prices import Price

__all__ = ["Compacted", "compaction_price", "plan_cache", "with_breakpoints"]


class Compacted(Struct, frozen=True, kw_only=True):
    """A compaction that was made for the call.

    Attributes:
        relieved_tokens: how much smaller it made the request.
        price: of the model's tokens.
    """

    relieved_tokens: int
    price: Price


def plan_cache(
    segments: Sequence[Segment],
    *,
    model: str | None,
    dialect: Dialect,
    tools_ref: str | None,
    schema_ref: str | None,
    tool_tokens: int,
    previous: LLMInputManifest | None,
    idle_ms: int | None = None,
    first_difference: Callable[[Segment, Segment], int] | None = None,
    compacted: Compacted | None = None,
) -> CachePlan:
    """What is expected of the cache for a request of these segments.

    Args:
        segments: of the new request, in order.
        model: the model of the call.
        dialect: of the call.
        tools_ref: its tool definitions.
        schema_ref: its response format, which providers put before everything else.
        tool_tokens: what those cost.
        previous: the manifest of the call before; None for a first call.
        idle_ms: milliseconds since the call before; None when not known, and the cache is taken to be warm.
        first_difference: the offset of the first byte in which two segments' contents differ, where both are at hand.
        compacted: when the request is smaller than what the call before grew to, because it was compacted.
    """
    rule = rule_for(model, dialect)
    marks = _marks(segments, rule, tool_tokens, previous) if rule.max_breakpoints else ()
    if previous is None:
        return CachePlan(breakpoints=marks)
    if reason := _void(previous, model, dialect, tools_ref, schema_ref):
        difference = CacheDifference(byte=0, position=None, item_id=None, reason=reason)
        return CachePlan(difference=difference, breakpoints=marks)
    shared = _shared(previous.segments, segments)
    reusable = tool_tokens + sum(segment.tokens for segment in segments[:shared])
    expired = idle_ms is not None and idle_ms > rule.ttl_s * 1000
    total = tool_tokens + sum(segment.tokens for segment in segments)
    price = compacted and compaction_price(
        before=total + compacted.relieved_tokens, after=total, reusable=reusable, price=compacted.price
    )
    return CachePlan(
        reusable_tokens=reusable,
        cached_tokens=0 if expired else _cached(previous, segments, shared, tool_tokens, rule),
        difference=_difference(previous.segments, segments, shared, first_difference),
        breakpoints=marks,
        expired=expired,
        compaction=price,
    )


def _void(
    previous: LLMInputManifest, model: str | None, dialect: Dialect, tools_ref: str | None, schema_ref: str | None
) -> DifferenceReason | None:
    """Why nothing at all can be reused."""
    if previous.dialect != dialect:
        return "dialect"
    if previous.model != model:
        return "model"
    if previous.tool_definitions_ref != tools_ref:
        return "tools"
    return "response_format" if previous.response_schema_ref != schema_ref else None


def _shown(segment: Segment) -> tuple[Any, ...]:
    """All that decides which bytes a segment becomes."""
    fence = (segment.label, segment.trust) if segment.category == "knowledge" else None
    is_system = segment.category == "instruction" and segment.role in SYSTEM_ROLES
    return segment.role, segment.content_ref, segment.content_format, segment.tool_call_id, fence, is_system


def _shared(before: Sequence[Segment], after: Sequence[Segment]) -> int:
    """How many segments the two begin with alike."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if _shown(old) != _shown(new):
            break
        count += 1
    return count


def _difference(
    before: Sequence[Segment],
    after: Sequence[Segment],
    shared: int,
    first_difference: Callable[[Segment, Segment], int] | None,
) -> CacheDifference:
    byte = sum(segment.bytes for segment in after[:shared])
    if shared == len(after):
        reason: DifferenceReason = "ended" if shared < len(before) else "extended"
        return CacheDifference(byte=byte, position=None, item_id=None, reason=reason)
    new = after[shared]
    if shared == len(before):
        return CacheDifference(byte=byte, position=shared, item_id=new.item_id, reason="extended")
    old = before[shared]
    if old.item_id == new.item_id:
        offset = 0 if first_difference is None else first_difference(old, new)
        return CacheDifference(byte=byte + offset, position=shared, item_id=new.item_id, reason="content")
    if all(segment.item_id != old.item_id for segment in after[shared:]):
        return CacheDifference(byte=byte, position=shared, item_id=old.item_id, reason="left")
    return CacheDifference(byte=byte, position=shared, item_id=new.item_id, reason="entered")


def _cached(
    previous: LLMInputManifest, segments: Sequence[Segment], shared: int, tool_tokens: int, rule: CacheRule
) -> int:
    """What the provider finds again: up to a place marked before, or in its own steps."""
    if rule.max_breakpoints:
        found = [place for place in previous.cache.breakpoints if place < shared]
        return tool_tokens + sum(segment.tokens for segment in segments[: found[-1] + 1]) if found else 0
    reusable = tool_tokens + sum(segment.tokens for segment in segments[:shared])
    if reusable < rule.min_tokens:
        return 0
    return rule.min_tokens + (reusable - rule.min_tokens) // rule.step * rule.step


def _marks(
    segments: Sequence[Segment], rule: CacheRule, tool_tokens: int, previous: LLMInputManifest | None
) -> tuple[int, ...]:
    """Where to mark: after the system text, after what the call before shares, before the run's data, and at the end.

    The second finds what the call before wrote, however many blocks came since; the third serves the next run, the last
    the next call.
    """
    system = -1
    while system + 1 < len(segments) and segments[system + 1].role in SYSTEM_ROLES:
        system += 1
    volatile = next((s.position for s in segments if s.category == "knowledge"), len(segments))
    places = {system, volatile - 1, len(segments) - 1}
    if previous is not None:
        shared = _shared(previous.segments, segments)
        places.add(max((place for place in previous.cache.breakpoints if place < shared), default=system))
    paid = [tool_tokens]
    for segment in segments:
        paid.append(paid[-1] + segment.tokens)
    worth = sorted(place for place in places if place >= -1 and paid[place + 1] >= rule.min_tokens)
    return tuple(worth[-rule.max_breakpoints :])


def with_breakpoints(body: dict[str, Any], manifest: LLMInputManifest, *, ttl: str | None = None) -> dict[str, Any]:
    """A copy of an Anthropic body with `cache_control` at the planned places; nothing else differs.

    Args:
        body: the request's body.
        manifest: of the same request.
        ttl: `5m` or `1h`; None leaves it to the provider.
    """
    mark = {"cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}}
    system = sum(
        1
        for s in manifest.segments
        if s.role in SYSTEM_ROLES and (s.category == "instruction" or manifest.dialect in APART)
    )
    marked = dict(body)
    for place in manifest.cache.breakpoints:
        if place >= system:
            messages = [*marked["messages"]]
            messages[place - system] = _marked_message(messages[place - system], mark)
            marked["messages"] = messages
        elif place == -1 and body.get("tools"):
            marked["tools"] = [*body["tools"][:-1], {**body["tools"][-1], **mark}]
        elif is_array(body.get("system")) and place == system - 1:
            marked["system"] = [*body["system"][:-1], {**body["system"][-1], **mark}]
    return marked


def _marked_message(message: dict[str, Any], mark: dict[str, Any]) -> dict[str, Any]:
    """The message with the mark on its last block that may carry one: thinking and empty text may not."""
    content: Any = message["content"]
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content, **mark}]} if content else message
    blocks: list[Any] = [*content] if is_array(content) else []
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if is_object(block) and "thinking" not in str(block.get("type")) and block.get("text") != "":
            blocks[index] = {**block, **mark}
            return {**message, "content": blocks}
    return message


def compaction_price(*, before: int, after: int, reusable: int, price: Price) -> CompactionPrice:
    """What compacting a request would cost against what it would gain, while the cache is warm.

    Args:
        before: tokens of the request as it is.
        after: tokens once it is compacted.
        reusable: tokens of the beginning that compaction leaves as it is.
        price: of the model; where no cache price is listed, reading and writing cost what input costs.
    """
    million = Decimal(1_000_000)
    fresh = price.input or Decimal(0)
    read = (fresh if price.cache_read is None else price.cache_read) / million
    write = (fresh if price.cache_write is None else price.cache_write) / million
    cost = reusable * read + (after - reusable) * write - before * read
    gain = (before - after) * read
    if cost <= 0:
        calls: int | None = 0
    else:
        calls = math.ceil(cost / gain) if gain > 0 else None
    return CompactionPrice(rebilled_tokens=after - reusable, cost=cost, gain_per_call=gain, calls_to_break_even=calls)
