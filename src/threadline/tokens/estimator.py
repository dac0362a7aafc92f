"""Estimates: a count by one vocabulary, turned into another's by what kinds of characters a text has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field

from threadline.text.scripts import weigher
from threadline.tokens.counter import TokenCounter

__all__ = ["CalibratedCounter", "EstimatingCounter", "Weights"]


class Weights(Struct, frozen=True, kw_only=True):
    """One linear rule: `base` times the count of the base vocabulary, plus a weight for each character of a class.

    Attributes:
        source: what the figures were fitted to.
        bound: see `TokenCounter.bound`; it does not hold for long runs of one character or for random bytes.
        base: 0.0 where there is no base vocabulary to count with.
        classes: tokens per character, by the names in `threadline.text.scripts.CLASSES`.
    """

    source: str
    bound: float
    base: float = 0.0
    classes: dict[str, float] = field(default_factory=dict[str, float])


class EstimatingCounter:
    """Estimates by `Weights`, rounded up; with a base counter, or from the characters alone.

    Args:
        name: the name of the rule.
        weights: the rule.
        base: counts the base vocabulary; None where none is to be had.
    """

    def __init__(self, name: str, weights: Weights, base: TokenCounter | None = None) -> None:
        self.name = name if base is None else f"{name} over {base.name}"
        self.exact = False
        self.bound = weights.bound if base is None else (1 + weights.bound) * (1 + base.bound) - 1
        self._base = base
        self._factor = weights.base
        self._weigh = weigher(weights.classes) if weights.classes else None

    def count(self, texts: Sequence[str]) -> list[int]:
        """See `TokenCounter.count`."""
        factor, weigh = self._factor, self._weigh
        counts = [0] * len(texts) if self._base is None else self._base.count(texts)
        if weigh is None:
            return [math.ceil(factor * count) for count in counts]
        return [math.ceil(factor * count + weigh(text)) for count, text in zip(counts, texts, strict=True)]


class CalibratedCounter:
    """Another counter times a factor learnt from reported usage, rounded up."""

    def __init__(self, counter: TokenCounter, factor: float) -> None:
        self.name = f"{counter.name} x {factor:.4g}"
        self.exact = False
        self.bound = counter.bound
        self.factor = factor
        self._counter = counter

    def count(self, texts: Sequence[str]) -> list[int]:
        """See `TokenCounter.count`."""
        return [math.ceil(self.factor * count) for count in self._counter.count(texts)]
