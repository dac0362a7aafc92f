"""A profile without a model: what the owner says of themselves that is true for long."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from threadline.boundary import MemCell
from threadline.memory.extractive.cues import categories, cues_of
from threadline.memory.extractive.quotes import Quote, is_said_by, quotes
from threadline.memory.extractive.statements import is_question
from threadline.memory.product import folded, merged_sources
from threadline.memory.profile import ExplicitInfoItem, Profile

__all__ = ["MOST", "extract_profile"]

MOST = 30
"""Items a profile holds; the latest stay."""

_LONGEST = 300


def extract_profile(
    cells: Sequence[MemCell], *, owner_id: str, old_profile: Profile | None = None, language: str | None = None
) -> Profile:
    """The owner's lasting statements of themselves, in order, each with the day it was last said on.

    Args:
        cells: the episodes.
        owner_id: whose profile it is.
        old_profile: what was known before; its items and keys are kept, oldest items go where there are too many.
        language: of all messages; None reads it from each.
    """
    items = {folded(item.description): item for item in (old_profile.explicit_info if old_profile else ())}
    timestamps = [old_profile.timestamp if old_profile else 0, *(cell.timestamp or 0 for cell in cells)]
    for cell in cells:
        for quote in quotes(cell, language=language):
            if is_said_by(quote.message, owner_id) and _lasts(quote):
                _add(items, quote)
    explicit = tuple(items.values())[-MOST:]
    made = Profile(
        owner_id=owner_id,
        timestamp=max(timestamps),
        explicit_info=explicit,
        sources=merged_sources(*(item.sources for item in explicit)),
        method="extractive",
    )
    if old_profile is None:
        return made
    return structs.replace(made, implicit_traits=old_profile.implicit_traits, extras=old_profile.extras)


def _lasts(quote: Quote) -> bool:
    cues = cues_of(quote.language)
    text = quote.text
    return (
        len(text) <= _LONGEST
        and not quote.is_note
        and not is_question(text)
        and cues.stable.search(text) is not None
        and not any(pattern.search(text) for pattern in (cues.courtesy, cues.passing, cues.doubt))
    )


def _add(items: dict[str, ExplicitInfoItem], quote: Quote) -> None:
    """The statement at the end; one that was made before is dated anew and keeps what it had."""
    said = folded(quote.text)
    before = items.pop(said, None)
    items[said] = (
        ExplicitInfoItem(
            description=quote.text,
            category=_category(quote.text),
            evidence=quote.text,
            observed_at=quote.timestamp,
            sources=(quote.source,),
            method="extractive",
        )
        if before is None
        else structs.replace(
            before,
            observed_at=max((one for one in (before.observed_at, quote.timestamp) if one), default=None),
            sources=merged_sources(before.sources, (quote.source,)),
        )
    )


def _category(text: str) -> str | None:
    return next((name for name, pattern in categories().items() if pattern.search(text)), None)
