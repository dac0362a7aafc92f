"""Threadline: a context and memory engine for LLM agents.

The names below are all that most programs need. Each is loaded from its room when it is first used, so
`import threadline` is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadline.engine import Engine, SyncEngine
    from threadline.errors import ConflictError, ContextBudgetExceededError, InvalidInputError, ThreadlineError
    from threadline.messages import Fate, Group, Message, Request, check_conversation, detect_dialect, restore
    from threadline.thread import Call, Thread
    from threadline.tokens import count_request, count_tokens, estimate_messages_tokens, estimate_tokens
    from threadline.transcript import (
        FitPolicy,
        FitResult,
        Fitter,
        balance_tool_call_boundary,
        compact,
        compact_async,
        fit,
        maybe_compact,
        maybe_compact_async,
        prune_tool_results,
        repair,
        should_compact,
    )

__all__ = [
    "Call",
    "ConflictError",
    "ContextBudgetExceededError",
    "Engine",
    "Fate",
    "FitPolicy",
    "FitResult",
    "Fitter",
    "Group",
    "InvalidInputError",
    "Message",
    "Request",
    "SyncEngine",
    "Thread",
    "ThreadlineError",
    "balance_tool_call_boundary",
    "check_conversation",
    "compact",
    "compact_async",
    "count_request",
    "count_tokens",
    "detect_dialect",
    "estimate_messages_tokens",
    "estimate_tokens",
    "fit",
    "maybe_compact",
    "maybe_compact_async",
    "prune_tool_results",
    "repair",
    "restore",
    "should_compact",
]

_ROOMS = {
    "threadline.engine": ("Engine", "SyncEngine"),
    "threadline.errors": ("ConflictError", "ContextBudgetExceededError", "InvalidInputError", "ThreadlineError"),
    "threadline.messages": (
        "Fate",
        "Group",
        "Message",
        "Request",
        "check_conversation",
        "detect_dialect",
        "restore",
    ),
    "threadline.thread": ("Call", "Thread"),
    "threadline.tokens": ("count_request", "count_tokens", "estimate_messages_tokens", "estimate_tokens"),
    "threadline.transcript": (
        "FitPolicy",
        "FitResult",
        "Fitter",
        "balance_tool_call_boundary",
        "compact",
        "compact_async",
        "fit",
        "maybe_compact",
        "maybe_compact_async",
        "prune_tool_results",
        "repair",
        "should_compact",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a root export from its room at first use (PEP 562) and keep it here."""
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value: object = getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
