"""Sync twins of coroutine functions, for callers without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(function: Callable[[], Coroutine[Any, Any, T]], *, instead: str) -> T:
    """Runs a coroutine function to its end in an event loop of its own.

    Args:
        function: what to run.
        instead: the coroutine function's name, for the error.

    Raises:
        RuntimeError: a loop is running in this thread, which would be blocked.
    """
    import anyio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(function)
    raise RuntimeError(f"an event loop is running in this thread: await {instead} instead")
