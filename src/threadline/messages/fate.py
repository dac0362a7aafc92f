"""`Fate`: what became of a byte of the conversation."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Fate"]


class Fate(StrEnum):
    """What became of a span; every byte of a branch has exactly one. Only the last two cannot be restored."""

    KEPT = "kept"
    DEDUPLICATED = "deduplicated"
    SUPERSEDED = "superseded"
    PRUNED = "pruned"
    CLEARED = "cleared"
    SUMMARISED = "summarised"
    OMITTED = "omitted"
    HIDDEN = "hidden"
    REDACTED = "redacted"
    FORGOTTEN = "forgotten"
