"""`completed`: waits for something that must not be left half done."""

from __future__ import annotations

import asyncio
from typing import TypeVar

import anyio

__all__ = ["completed"]

T = TypeVar("T")


async def completed(future: asyncio.Future[T]) -> T:
    """The future's result, or its error. Cancelling waits for it first, however often it comes.

    A scope of anyio repeats a cancellation until it is heard, so the wait is shielded from it; asyncio's own
    (`task.cancel`, `asyncio.timeout`) knows no shields, so what it interrupts is taken up again.

    Raises:
        CancelledError: the task was cancelled meanwhile.
    """
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        if not future.cancelled():
            future.exception()  # looked at, so that nobody reports it as never retrieved
        raise cancelled
    return future.result()
