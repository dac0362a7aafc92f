"""What new facts do to those that are known: the same is said once, and what no longer holds ends but stays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from threadline.memory.fact import AtomicFact
from threadline.memory.product import folded, merged_sources

__all__ = ["merge_facts"]

_Key: TypeAlias = tuple[str | None, str, str]


def merge_facts(known: Iterable[AtomicFact], new: Iterable[AtomicFact]) -> list[AtomicFact]:
    """All facts, the known ones first, none deleted.

    Equal facts of one owner (case and white space aside) become one: the id, the host's keys and the first time of the
    older, the sources of both. Of facts of one owner that name the same subject and the same relation, each ends where
    the next that says otherwise begins, in the order in which they were said, whatever order they come in. What was
    said at the same moment holds together; what is said again after it ended is a fact of its own. Facts that name no
    relation contradict nothing. Merging the same facts again changes nothing.
    """
    facts = [*known, *new]
    named = {(fact.owner_id, folded(fact.content)): fact for fact in facts if fact.relation}
    groups: dict[_Key, list[int]] = {}
    for place, fact in enumerate(facts):
        like = named.get((fact.owner_id, folded(fact.content)), fact)
        facts[place] = replace(fact, subject=like.subject, relation=like.relation)
        matter = (folded(like.subject), folded(like.relation)) if like.relation else ("", folded(fact.content))
        groups.setdefault((fact.owner_id, matter[0], matter[1]), []).append(place)
    merged: dict[int, AtomicFact] = {}
    for places in groups.values():
        runs = _runs(facts, sorted(places, key=lambda place: (_since(facts[place]), folded(facts[place].content))))
        for number, run in enumerate(runs):
            fact = _merged([facts[place] for place in sorted(run)])
            begins = _since(facts[run[0]])
            later = next((other for other in runs[number:] if _since(facts[other[0]]) > begins), None)
            if later is not None:
                fact = replace(fact, valid_to_ms=_since(facts[later[0]]), superseded_by=facts[min(later)].id)
            merged[min(run)] = fact
    return [merged[place] for place in sorted(merged)]


def _since(fact: AtomicFact) -> int:
    return fact.timestamp if fact.valid_from_ms is None else fact.valid_from_ms


def _runs(facts: list[AtomicFact], places: list[int]) -> list[list[int]]:
    """Facts of one matter that say the same in a row."""
    runs: list[list[int]] = []
    said = ""
    for place in places:
        text = folded(facts[place].content)
        if runs and text == said:
            runs[-1].append(place)
        else:
            runs.append([place])
        said = text
    return runs


def _merged(equal: list[AtomicFact]) -> AtomicFact:
    """One fact for all that say the same; the first is the one that was known first."""
    starts = [fact.valid_from_ms for fact in equal if fact.valid_from_ms is not None]
    extras = {key: value for fact in reversed(equal) for key, value in fact.extras.items()}
    return replace(
        equal[0],
        valid_from_ms=min(starts, default=None),
        sources=merged_sources(*(fact.sources for fact in equal)),
        extras=extras,
    )
