"""`FixedClock`: the time is what a test says."""

from __future__ import annotations

__all__ = ["FixedClock"]


class FixedClock:
    """Called, it gives the time that was set, in milliseconds since the epoch, UTC; it goes on only when told to.

    Args:
        now_ms: the time to begin with, 2024-01-01 at midnight.
    """

    def __init__(self, now_ms: int = 1_704_067_200_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        """The time."""
        return self.now_ms

    def advance(self, ms: int) -> int:
        """Goes on by so many milliseconds (back, where negative) and gives the time."""
        self.now_ms += ms
        return self.now_ms
