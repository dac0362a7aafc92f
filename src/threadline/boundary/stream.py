"""`EpisodeStream`: a conversation as it comes in, its episodes as they end; nothing is forgotten at its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from threadline.boundary.cells import MemCell, is_chat
from threadline.boundary.detector import BoundaryDetector
from threadline.messages import Message

__all__ = ["IDLE_MS", "EpisodeStream"]

IDLE_MS = 3_600_000
"""One hour: from there on a silence counts as evidence for another episode (`threadline.boundary.evidence`)."""


class EpisodeStream:
    """Keeps the open end of one conversation and gives episodes as they are over.

    It starts no timer and reads no clock: the host says what time it is and calls `aflush_idle` when `due_ms` has come.
    Tasks may share it; what they add is taken in one after the other.

    Args:
        detector: finds where episodes end.
        idle_ms: how long nothing may be said before the open episode is over.
        tail: the open end of an earlier stream.
        last_ms: when the last of it came in.
        options: passed on to `BoundaryDetector.adetect`: limits and instructions.
    """

    def __init__(
        self,
        detector: BoundaryDetector,
        *,
        idle_ms: int = IDLE_MS,
        tail: Sequence[Message] = (),
        last_ms: int | None = None,
        **options: Any,
    ) -> None:
        import anyio

        self._lock = anyio.Lock()
        self._detect = partial(detector.adetect, **options)
        self._idle_ms = idle_ms
        self._tail = [*tail]
        self._last_ms = last_ms
        self._ended: list[MemCell] = []

    @property
    def tail(self) -> tuple[Message, ...]:
        """What has not ended yet; together with `last_ms` all there is to keep over a restart."""
        return tuple(self._tail)

    @property
    def last_ms(self) -> int | None:
        """When something was last added."""
        return self._last_ms

    @property
    def due_ms(self) -> int | None:
        """When the open episode ends if nothing comes; None where nothing is open."""
        if self._last_ms is None or not any(is_chat(item) for item in self._tail):
            return None
        return self._last_ms + self._idle_ms

    async def aadd(self, items: Sequence[Message], *, now_ms: int) -> list[MemCell]:
        """The episodes that ended with these items; a silence before them ends the one that was open.

        Where a model fails, the items are kept and looked at again with the next ones; no episode is lost.

        Args:
            items: what was said and done, in order.
            now_ms: the time it came in, milliseconds since the epoch.
        """
        async with self._lock:
            try:
                if self._is_idle(now_ms):
                    await self._take(is_final=True)
            finally:
                self._tail += items
                self._last_ms = now_ms
            await self._take()
            return self._given()

    async def aflush_idle(self, *, now_ms: int) -> list[MemCell]:
        """The open episode, if nothing was added for `idle_ms`; tool traffic without a message is kept."""
        async with self._lock:
            if self._is_idle(now_ms):
                await self._take(is_final=True)
            return self._given()

    async def aclose(self) -> list[MemCell]:
        """The episodes in what is open, since the session is at its end."""
        async with self._lock:
            await self._take(is_final=True)
            return self._given()

    def _is_idle(self, now_ms: int) -> bool:
        return self.due_ms is not None and now_ms >= self.due_ms

    async def _take(self, *, is_final: bool = False) -> None:
        cells, self._tail = await self._detect(self._tail, is_final=is_final)
        self._ended += cells

    def _given(self) -> list[MemCell]:
        given, self._ended = self._ended, []
        return given
