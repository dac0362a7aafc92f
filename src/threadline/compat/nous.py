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
from threadline.transcript.compact import check_keep, compact_when, compacted

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
    check_keep(keep_last)
    result = compact_when(
        messages,
        keep_last=keep_last,
        is_due=every is not None and should_compact(messages, every),
        limit=None if token_budget is None else Decimal(str(threshold)) * token_budget,
        count=estimate_messages_tokens,
        write=lambda keep: compacted(messages, keep),
    )
    return ("compacted", result.messages) if result.decisions else ("unchanged", messages)


def patch_dangling_tool_calls(messages: Any) -> Any:
    """`repair`, its messages only: a result right after each dead call; results without a call become text."""
    return repair(messages).messages
