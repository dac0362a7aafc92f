"""`Observer`: told of what is done and what it cost, never of what was said."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

__all__ = ["Attributes", "Observer", "Span"]

Attributes: TypeAlias = Mapping[str, str | int | float | bool]
"""Names as in OpenTelemetry's conventions (`gen_ai.request.model`), or with `threadline.` in front."""


class Span(Protocol):
    """A piece of work under way."""

    def note(self, attributes: Attributes) -> None:
        """Say more about it."""
        ...


class Observer(Protocol):
    """Sees spans and counts. An observer that fails is warned of once and does not disturb the work."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Span]:
        """A span from the block's beginning to its end; the error that ends it is known by its type alone."""
        ...

    def count(self, name: str, amount: int, attributes: Attributes) -> None:
        """Add to a counter, e.g. tokens that were left out."""
        ...
