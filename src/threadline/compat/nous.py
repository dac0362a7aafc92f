"""Nous.Transcript's function names. Where they differ from `threadline.transcript` is said in each docstring."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Literal

from threadline import transcript
from threadline.messages.dialects import decode
from threadline.messages.shapes import is_array
from threadline.transcript import (
    History,
    balance_tool_call_boundary,
    estimate_messages_tokens,
    estimate_tokens,
    prune_tool_results,
    repair,
    should_compact,
)
from threadline.transcript.compact import CompactResult, check_keep, compact_when, token_limit

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


def compact(messages: Any, keep_last: int) -> Any:
    """`threadline.transcript.compact`, its messages only.

    Raises:
        InvalidInputError: `keep_last` is no positive integer, or a message is malformed.
    """
    return transcript.compact(messages, keep_last).messages


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
        limit=token_limit(token_budget, threshold),
        count=_estimate,
        write=lambda keep: transcript.compact(messages, keep),
    )
    return ("compacted", result.messages) if result.decisions else ("unchanged", messages)


def _estimate(messages: Any) -> int:
    return estimate_messages_tokens(messages if is_array(messages) else decode(messages).messages)


def compact_async(history: History, keep_last: int) -> Awaitable[list[Any]]:
    """`threadline.transcript.compact_async`, its messages only.

    Raises:
        InvalidInputError: at the call, for a `keep_last` that is no positive integer.
    """
    return _messages(transcript.compact_async(history, keep_last))


def maybe_compact_async(
    history: History,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
) -> Awaitable[list[Any]]:
    """`threadline.transcript.maybe_compact_async`, its messages only.

    Raises:
        InvalidInputError: at the call, for a `keep_last` that is no positive integer.
    """
    return _messages(
        transcript.maybe_compact_async(
            history, keep_last=keep_last, every=every, token_budget=token_budget, threshold=threshold
        )
    )


async def _messages(running: Awaitable[CompactResult]) -> list[Any]:
    return (await running).messages


def patch_dangling_tool_calls(messages: Any) -> Any:
    """`repair`, its messages only: a result right after each dead call; results without a call become text."""
    return repair(messages).messages
