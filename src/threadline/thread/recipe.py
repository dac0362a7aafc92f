"""`Recipe`: what a call was asked for; with the journal at its watermark it gives the same manifest again."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from threadline.journal.envelope import Schema
from threadline.tokens.prices import Price

__all__ = ["RECIPE", "Recipe"]

RECIPE = Schema("recipe", version=1)


class Recipe(Struct, frozen=True, kw_only=True):
    """The arguments of `assemble`, and what hooks gave.

    Attributes:
        model: whose tokens are counted.
        max_input_tokens: the budget.
        factor: what the measure multiplies its counts by.
        instructions, tools, response_format, config: as given; objects inside with their keys in one order.
        candidates: what hooks proposed, as JSON.
        idle_ms: milliseconds since the call before on the branch; None for a first one.
        price: of the model as it was listed then; None where nobody lists one.
    """

    model: str | None
    max_input_tokens: int
    factor: float
    instructions: tuple[str, ...] = ()
    tools: Any = ()
    response_format: Any = None
    config: Any = {}
    candidates: Any = ()
    idle_ms: int | None = None
    price: Price | None = None
