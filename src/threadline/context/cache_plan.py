"""`CachePlan`: what a provider's prompt cache can take from the call before, and where the two part."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

__all__ = ["CacheDifference", "CachePlan", "CompactionPrice", "DifferenceReason"]

DifferenceReason: TypeAlias = Literal[
    "extended", "model", "dialect", "tools", "response_format", "content", "entered", "left", "ended"
]
"""Why two requests part.

`extended`: they do not, new segments follow. `content`: the same item says something else. `entered`: an item stands
there that was not in the call before. `left`: one that was there is gone. `ended`: the request is a beginning of the
one before.
"""


class CacheDifference(Struct, frozen=True, kw_only=True):
    """Where a request begins to differ from the one before.

    Attributes:
        byte: offset of the first byte that differs, in the segments' wire objects as JSON one after the other, system
            first; where the earlier content is not at hand, the first byte of its segment.
        position: the segment of the new request it lies in; None for the model, the tools, or past its end.
        item_id: the item at fault: of the new request, or for `left` of the one before.
    """

    byte: int
    position: int | None
    item_id: str | None
    reason: DifferenceReason


class CompactionPrice(Struct, frozen=True, kw_only=True):
    """What a compaction costs once and saves from then on, in US dollars.

    Attributes:
        rebilled_tokens: what has to be read and written to the cache anew.
        cost: of the first call after it, above what the call would have cost without; negative when cheaper at once.
        gain_per_call: what each later call costs less.
        calls_to_break_even: later calls after which it has paid for itself; None when it never does.
    """

    rebilled_tokens: int
    cost: Decimal
    gain_per_call: Decimal
    calls_to_break_even: int | None


class CachePlan(Struct, frozen=True, kw_only=True):
    """What is expected of the cache; the provider's own figure is known only from the reply.

    Attributes:
        reusable_tokens: of the longest common beginning with the call before: tools, system, messages in this order.
        cached_tokens: what the provider is expected to read from its cache: `reusable_tokens` by its rules.
        difference: None for a first call.
        expired: the call before is longer ago than the provider keeps what it cached.
        breakpoints: positions of segments after which an Anthropic cache breakpoint belongs; -1 is after the tools.
        compaction: what a compaction made for this call costs and gains; None without one, or without a price.
    """

    reusable_tokens: int = 0
    cached_tokens: int = 0
    difference: CacheDifference | None = None
    breakpoints: tuple[int, ...] = ()
    expired: bool = False
    compaction: CompactionPrice | None = None
