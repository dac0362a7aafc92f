"""`Memories`: everything that episodes leave behind, made without a model."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from threadline.boundary import MemCell
from threadline.memory.episode import Episode
from threadline.memory.extractive.episode import extract_episode
from threadline.memory.extractive.facts import extract_facts, merge_equal
from threadline.memory.extractive.foresight import extract_foresight
from threadline.memory.extractive.profile import extract_profile
from threadline.memory.fact import AtomicFact
from threadline.memory.foresight import Foresight
from threadline.memory.profile import Profile

__all__ = ["Memories", "extract_memories"]


class Memories(Struct, frozen=True, kw_only=True):
    """What there is to remember of some episodes."""

    episodes: tuple[Episode, ...]
    facts: tuple[AtomicFact, ...]
    foresights: tuple[Foresight, ...]
    profile: Profile


def extract_memories(
    cells: Iterable[MemCell], *, owner_id: str, time_zone: str = "UTC", language: str | None = None
) -> Memories:
    """The episodes, facts, foresight and profile of an owner, all of them quotes.

    Args:
        cells: the episodes, in order.
        owner_id: whose memory it is.
        time_zone: the IANA name of the zone that days are meant in.
        language: of all messages; None reads it from each.

    Raises:
        InvalidInputError: there is no such time zone, or a timestamp is out of range.
    """
    cells = [*cells]
    told = (extract_episode(cell, owner_id=owner_id, language=language) for cell in cells)
    facts = (fact for cell in cells for fact in extract_facts(cell, owner_id=owner_id, language=language))
    return Memories(
        episodes=tuple(episode for episode in told if episode is not None),
        facts=tuple(merge_equal(facts)),
        foresights=tuple(
            one
            for cell in cells
            for one in extract_foresight(cell, owner_id=owner_id, time_zone=time_zone, language=language)
        ),
        profile=extract_profile(cells, owner_id=owner_id, language=language),
    )
