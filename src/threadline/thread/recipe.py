"""`Recipe`: what a call was asked for; with the journal at its watermark it gives the same manifest again."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from threadline.journal.envelope import Schema

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
    """

    model: str | None
    max_input_tokens: int
    factor: float
    instructions: tuple[str, ...] = ()
    tools: Any = ()
    response_format: Any = None
    config: Any = {}
    candidates: Any = ()
