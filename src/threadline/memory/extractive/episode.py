"""An episode without a model: its most central sentences, each with its speaker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from threadline.boundary import MemCell
from threadline.memory.episode import Episode
from threadline.memory.extractive.centrality import central
from threadline.memory.extractive.quotes import Quote, quotes
from threadline.memory.extractive.statements import is_question, weight
from threadline.memory.product import merged_sources
from threadline.messages import message_id, speaker
from threadline.text.graphemes import boundary_at_or_before

__all__ = ["extract_episode", "title_of"]

_MOST = 8
_PER_QUOTE = 8
"""One sentence is told, and one more of so many that were said."""

_TITLE = 72
"""Characters; a title fits a line with something beside it."""

_SUMMARY = 400
_CLAUSE = re.compile(r"[,;:\u2014\u2013(\uff0c\uff1b\uff1a\u3001]\s*|\s+-\s+")
_OPENING = re.compile(
    r"^(?:(?:and|but|so|well|okay|ok|oh|yes|no|hi|hey|hello|thanks|sure|also|plus|anyway|now|then|actually|honestly|finally"
    r"|as for|by the way)\b[\s,!.\u2014-]*)+",
    re.IGNORECASE,
)


def extract_episode(cell: MemCell, *, owner_id: str | None = None, language: str | None = None) -> Episode | None:
    """The episode in quotes, in the order they were said, one line a message; None where nobody says a sentence.

    The title is a clause of the most central sentence, the summary that sentence and the next one as far as they fit.

    Args:
        cell: the episode.
        owner_id: whose memory it is.
        language: of all messages; None reads it from each.
    """
    said = [*quotes(cell, language=language)]
    if not said:
        return None
    most = min(_MOST, 1 + len(said) // _PER_QUOTE)
    chosen = central([(quote.text, quote.language) for quote in said], most, [_standing(quote) for quote in said])
    chosen = chosen or [0]  # nothing but words without a subject
    told = [said[at] for at in sorted(chosen)]
    best = said[chosen[0]]
    return Episode(
        owner_id=owner_id,
        episode=_lines(told),
        subject=title_of(best.text),
        summary=_summary([said[at].text for at in chosen]),
        timestamp=cell.timestamp or 0,
        cell_id=cell.id,
        sources=merged_sources(quote.source for quote in told),
        method="extractive",
    )


def _standing(quote: Quote) -> float:
    """How much a sentence's form speaks for it: statements over questions, a person over the assistant."""
    form = 0.7 if is_question(quote.text) else 1.0 + min(weight(quote), 4.0) / 10 if weight(quote) > 0 else 0.8
    return form * (1.0 if quote.message.role == "user" else 0.8)


def _lines(told: Sequence[Quote]) -> str:
    by_message = groupby(told, key=lambda quote: (message_id(quote.message), speaker(quote.message)))
    return "\n".join(f"{name}: {' '.join(quote.text for quote in group)}" for (_, name), group in by_message)


def _summary(texts: Sequence[str]) -> str:
    """The first text and as many more as fit."""
    summary = texts[0] if len(texts[0]) <= _SUMMARY else _cut(texts[0], _SUMMARY)
    for text in texts[1:]:
        if len(summary) + 1 + len(text) <= _SUMMARY:
            summary = f"{summary} {text}"
    return summary


def title_of(sentence: str) -> str:
    """As many leading clauses of a sentence as fit a line, without its opening words and its full stop."""
    text = _OPENING.sub("", sentence) or sentence
    if len(text) > _TITLE:
        ends = [match.start() for match in _CLAUSE.finditer(text) if 16 <= match.start() <= _TITLE]
        text = text[: ends[-1]] if ends else _cut(text, _TITLE)
    text = text.strip().rstrip(".\u3002!\uff01")
    return text[:1].upper() + text[1:]


def _cut(text: str, most: int) -> str:
    """The text up to the last space that leaves room for an ellipsis."""
    end = boundary_at_or_before(text, most - 1)
    space = text.rfind(" ", most // 2, end)
    return text[: space if space > 0 else end] + "\u2026"
