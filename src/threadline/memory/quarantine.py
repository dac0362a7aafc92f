"""What becomes of a cell when a model's reply about it cannot be used: it waits, and is tried again later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from threadline.errors import LLMOutputError

__all__ = ["Done", "Failed", "attempt"]

T = TypeVar("T")

_TOLERATED = 1
"""Failures in a row before a cell is put aside."""

_FIRST_WAIT_MS = 60_000
_LONGEST_WAIT_MS = 24 * 3_600_000


class Done(Struct, Generic[T], frozen=True):
    """What an operator made."""

    value: T


class Failed(Struct, frozen=True, kw_only=True, tag=True):
    """An operator's reply could not be used. The cell is as it was; nothing was made of it, nothing is lost.

    Attributes:
        cell_id: of the cell.
        operator: that failed on it.
        failures: how often in a row.
        reason: the last error; it quotes nothing.
        first_failed_ms, last_failed_ms: when, milliseconds since the epoch.
    """

    cell_id: str
    operator: str
    failures: int
    reason: str
    first_failed_ms: int
    last_failed_ms: int

    @property
    def state(self) -> Literal["retry", "quarantined"]:
        """`retry`: once more soon; `quarantined`: it failed twice, and waits longer each time."""
        return "retry" if self.failures <= _TOLERATED else "quarantined"

    @property
    def retry_at_ms(self) -> int:
        """When to try again: a minute after the first failure, twice as long after each further one, a day at most."""
        wait = min(_FIRST_WAIT_MS << min(self.failures - 1, 20), _LONGEST_WAIT_MS)
        return self.last_failed_ms + wait


Outcome: TypeAlias = Done[T] | Failed


async def attempt(
    run: Callable[[], Awaitable[T]], *, cell_id: str, operator: str, now_ms: int, before: Failed | None = None
) -> Outcome[T]:
    """One try of one operator on one cell.

    Args:
        run: calls the operator.
        cell_id: of the cell.
        operator: its name.
        now_ms: milliseconds since the epoch.
        before: what an earlier try on the same cell ended with.

    Raises:
        Exception: what `run` raises, but for a reply that cannot be used: the cell is not to blame for anything else.
    """
    try:
        return Done(await run())
    except LLMOutputError as error:
        return Failed(
            cell_id=cell_id,
            operator=operator,
            failures=1 if before is None else before.failures + 1,
            reason=str(error),
            first_failed_ms=now_ms if before is None else before.first_failed_ms,
            last_failed_ms=now_ms,
        )
