"""`Loss`: what a conversion could not carry over."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Loss"]


class Loss(Struct, frozen=True, kw_only=True):
    """One thing that could not be carried over as it was.

    Attributes:
        index: the message it stood in, None for the request around the messages.
        part: what it was: a block type, a key, a part's kind.
        reason: why, and what was done instead if anything.
    """

    index: int | None
    part: str
    reason: str
