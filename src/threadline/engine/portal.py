"""`Portal`: one background thread with an event loop, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import ParamSpec, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from threadline.errors import ConfigurationError

__all__ = ["Portal"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Portal:
    """Runs coroutines from any thread; the loop begins with the first and ends with `close`."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._context: AbstractContextManager[BlockingPortal] | None = None
        self._portal: BlockingPortal | None = None

    def run(self, function: Callable[_P, Awaitable[_R]], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Wait for a coroutine function's result.

        Raises:
            ConfigurationError: a loop runs in this thread: blocking it would stop everything in it.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._open().call(partial(function, *args, **kwargs))
        raise ConfigurationError(
            "this is the blocking form, and an event loop runs here (as in Jupyter): use Engine and await its methods"
        )

    def _open(self) -> BlockingPortal:
        with self._guard:
            if self._portal is None:
                self._context = start_blocking_portal("asyncio", name="threadline")
                self._portal = self._context.__enter__()
            return self._portal

    def close(self) -> None:
        """End the loop once everything in it is done. Closing twice does nothing."""
        with self._guard:
            context, self._context, self._portal = self._context, None, None
        if context is not None:
            context.__exit__(None, None, None)
