"""Learning from what the provider said a request cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from threadline.tokens.counter import TokenCounter
from threadline.tokens.estimator import CalibratedCounter
from threadline.tokens.measure import Measure

__all__ = ["ENOUGH_TO_LOWER", "FACTOR_RANGE", "calibrate", "calibration_factor"]

FACTOR_RANGE = (0.5, 2.0)
"""No factor leaves this range: what lies beyond is another model or a wrong field, not tokenization."""

ENOUGH_TO_LOWER = 8
"""Observations from which a factor may fall below 1. An estimate leans up; fewer do not show that it leans too far."""

_SMALLEST_TOLD = 50
"""Requests below this many tokens say more about frames and rounding than about texts."""


def calibration_factor(observations: Sequence[tuple[int, int]]) -> float:
    """The median of reported over estimated, kept within `FACTOR_RANGE`; 1.0 where nothing can be told.

    Args:
        observations: `(estimated, reported)` input tokens of whole requests. The reported figure includes tokens read
            from and written to a cache. Pairs below 50 tokens are left out.
    """
    from statistics import median  # slow to import, seldom needed

    ratios = [
        reported / estimated for estimated, reported in observations if estimated >= _SMALLEST_TOLD and reported > 0
    ]
    if not ratios:
        return 1.0
    factor = min(max(median(ratios), FACTOR_RANGE[0]), FACTOR_RANGE[1])
    return factor if factor > 1.0 or len(ratios) >= ENOUGH_TO_LOWER else 1.0


@overload
def calibrate(counter: Measure, observations: Sequence[tuple[int, int]]) -> Measure: ...
@overload
def calibrate(counter: TokenCounter, observations: Sequence[tuple[int, int]]) -> CalibratedCounter: ...
def calibrate(counter: Measure | TokenCounter, observations: Sequence[tuple[int, int]]) -> Measure | CalibratedCounter:
    """A measure or counter corrected by reported usage. Pure: the same observations always give the same factor.

    Args:
        counter: what the estimates were made with. A measure's own factor is part of its estimates, so the
            learnt one is multiplied on, within `FACTOR_RANGE`.
        observations: see `calibration_factor`.
    """
    factor = calibration_factor(observations)
    if isinstance(counter, Measure):
        return counter.with_factor(min(max(counter.factor * factor, FACTOR_RANGE[0]), FACTOR_RANGE[1]))
    return CalibratedCounter(counter, factor)
