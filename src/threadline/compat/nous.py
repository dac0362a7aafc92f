"""Nous.Transcript's function names. Where they differ from `threadline.transcript` is said in each docstring."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from threadline.transcript import (
    balance_tool_call_boundary,
    compact,
    compact_async,
    estimate_messages_tokens,
    estimate_tokens,
    maybe_compact_async,
    prune_tool_results,
    repair,
    should_compact,
)
from threadline.transcript import maybe_compact as _maybe_compact

__all__ = [
    "balance_tool_call_boundary",
    "compact",
    "compact_async",
    "estimate_messages_tokens",
    "estimate_tokens",
    "maybe_compact",
    "maybe_compact_async",
    "patch_dangling_tool_calls",
    "prune_tool_results",
    "should_compact",
]


def maybe_compact(
    messages: Any,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
) -> tuple[Literal["compacted", "unchanged"], Any]:
    """`compact` when a trigger fires; the token trigger counts as `estimate_messages_tokens` does.

    Returns:
        `compacted` only when something was left out, and the messages.

    Raises:
        InvalidInputError: `keep_last` is no positive integer, or a message is malformed.
    """
    is_over = token_budget is not None and (estimate_messages_tokens(messages) > Decimal(str(threshold)) * token_budget)
    result = _maybe_compact(messages, keep_last=keep_last, every=0 if is_over else every)
    return ("unchanged", messages) if result.messages is messages else ("compacted", result.messages)


def patch_dangling_tool_calls(messages: Any) -> Any:
    """`repair`, its messages only: a result right after each dead call; results without a call become text."""
    return repair(messages).messages
