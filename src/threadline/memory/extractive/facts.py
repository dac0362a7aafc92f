"""Facts without a model: statements, word for word, with their speaker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from threadline.boundary import MemCell
from threadline.memory.extractive.quotes import Quote, is_said_by, quotes
from threadline.memory.extractive.statements import ENOUGH, weight
from threadline.memory.fact import AtomicFact
from threadline.memory.product import folded, merged_sources

__all__ = ["extract_facts", "merge_equal", "speaks_of"]

_LONGEST = 400
"""Characters: a longer sentence states more than one thing."""


def extract_facts(cell: MemCell, *, owner_id: str | None = None, language: str | None = None) -> list[AtomicFact]:
    """What people say of themselves in an episode, and the named and numbered things they tell one another.

    Args:
        cell: the episode.
        owner_id: whose memory it is: what they say, and what others say who name them; None takes everybody's.
        language: of all messages; None reads it from each.
    """
    found = (quote for quote in quotes(cell, language=language) if _counts(quote, owner_id))
    return merge_equal(
        AtomicFact(
            owner_id=owner_id,
            content=quote.text,
            timestamp=cell.timestamp or 0,
            valid_from_ms=quote.timestamp,
            sources=(quote.source,),
            method="extractive",
        )
        for quote in found
    )


def _counts(quote: Quote, owner_id: str | None) -> bool:
    if len(quote.text) > _LONGEST or weight(quote) < ENOUGH:
        return False
    if owner_id is None or is_said_by(quote.message, owner_id):
        return True
    return quote.message.role == "assistant" or speaks_of(quote.text, owner_id)


def speaks_of(text: str, name: str) -> bool:
    """True where all words of a name stand in a text, side by side and whole: `Ann` is not in `Anna`."""
    said, wanted = _words(text), _words(name)
    size = len(wanted)
    return size > 0 and any(said[at : at + size] == wanted for at in range(len(said) - size + 1))


def _words(text: str) -> Sequence[str]:
    spaced = "".join(char if char.isalnum() else " " for char in text.casefold().replace("'s ", " "))
    return spaced.split()


def merge_equal(facts: Iterable[AtomicFact]) -> list[AtomicFact]:
    """The facts in order, each said once: one that repeats another of the same owner lends it its sources."""
    kept: dict[tuple[str | None, str], AtomicFact] = {}
    for fact in facts:
        key = (fact.owner_id, folded(fact.content).rstrip(".!\u3002\uff01 "))
        if (first := kept.get(key)) is None:
            kept[key] = fact
        else:
            kept[key] = structs.replace(first, sources=merged_sources(first.sources, fact.sources))
    return [*kept.values()]
