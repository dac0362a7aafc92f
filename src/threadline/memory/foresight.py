"""`Foresight`: what can be expected, and from when to when."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from threadline.memory.product import Product, folded

__all__ = ["DateOrigin", "Foresight"]

DateOrigin: TypeAlias = Literal["stated", "inferred"]
"""`stated`: the reply, or the text itself, names the day; `inferred`: for want of one, it is the conversation's."""


class Foresight(Product, frozen=True, kw_only=True):
    """An expectation.

    Attributes:
        owner_id: whose memory it is.
        foresight: what can be expected.
        evidence: what was said that lets one expect it.
        timestamp: when the last message of its cell was said, milliseconds since the epoch, UTC; 0 where nobody said.
        start_time, end_time: the first and the last day, `YYYY-MM-DD` in `time_zone`; None where it has none.
        duration_days: days from the first to the last, never negative.
        start_origin: where the first day is from.
        time_zone: the IANA name of the zone that the days are meant in.
        valid_from_ms: the beginning of the first day.
        valid_to_ms: the end of the last one (the beginning of the next).
    """

    PREFIX: ClassVar[str] = "foresight"

    owner_id: str
    foresight: str
    evidence: str
    timestamp: int
    start_time: str | None = None
    end_time: str | None = None
    duration_days: int | None = None
    start_origin: DateOrigin = "stated"
    time_zone: str = "UTC"
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None

    def identity(self) -> tuple[object, ...]:
        """Whose it is, what it says and when."""
        return (self.owner_id, folded(self.foresight), self.timestamp)
