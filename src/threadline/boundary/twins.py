"""Sync twins of coroutine functions, for callers without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["run_sync", "sync_twin"]

P = ParamSpec("P")
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


def sync_twin(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """A coroutine function for callers without an event loop; its name lacks the leading `a`.

    Inside a running loop it raises `RuntimeError`.
    """

    @wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_sync(partial(function, *args, **kwargs), instead=function.__name__)

    twin.__name__ = function.__name__.removeprefix("a")
    twin.__doc__ = f"`{function.__name__}` for callers without an event loop; raises `RuntimeError` inside one."
    return twin
