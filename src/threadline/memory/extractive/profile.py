"""A profile without a model: what the owner says of themselves that is true for long."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from threadline.boundary import MemCell
from threadline.memory.extractive.cues import cues_of
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


_CATEGORIES = (
    ("health", r"allerg|vegan|vegetarian|glasses|diabet|asthma|过敏|不吃|аллерг|alérg|アレルギー|알레르기"),
    ("family", r"wife|husband|partner|sons?|daughter|kids?|child|mother|mom|father|dad|brother|sister|married|老婆|老公"
     r"|丈夫|妻子|儿子|女儿|孩子|爸|妈|Frau|Mann|Kinder|espos[oa]|hij[oa]|жена|муж|сын|дочь|妻|夫|息子|娘"),
    ("work", r"work|job|company|career|manage|lead|director|engineer|designer|teacher|firm|工作|公司|上班|arbeite|Beruf"
     r"|trabajo|работа|仕事|会社|働|일해|회사"),
    ("home", r"live|home|house|apartment|from|grew up|hometown|住|来自|wohne|lebe|vivo|живу|살"),
    ("identity", r"name|call me|\d+ years|i['\u2019]?m \d|born|叫|今年|heiße|llamo|зовут|мне \d"),
    ("preference", r"prefer|like|love|hate|enjoy|dislike|avoid|favou?rite|trust|喜欢|爱|讨厌|mag|liebe|gusta|encanta|люблю"
     r"|нрав|好き|嫌い|좋아|싫어"),
    ("goal", r"goal|aim|plan"),
)  # fmt: skip
"""The first that matches is the label; the word may be a part of another."""

_COMPILED = tuple((name, re.compile(rf"(?<![a-z])(?:{words})", re.IGNORECASE)) for name, words in _CATEGORIES)


def _category(text: str) -> str | None:
    return next((name for name, pattern in _COMPILED if pattern.search(text)), None)
