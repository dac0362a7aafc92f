"""`Narratives`: what a profile is drawn from, each with its time and its messages."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from threadline.memory.attribution import Origins
from threadline.memory.product import Source, merged_sources
from threadline.memory.told import Told

__all__ = ["Narrative", "Narratives", "Origin"]


class Narrative(Struct, frozen=True, kw_only=True):
    """An account or a conversation.

    Attributes:
        text: what it says.
        timestamp: when what it tells of was over, milliseconds since the epoch, UTC; 0 where nobody said.
        sources: its messages.
        told: the messages themselves, for a conversation.
        sender_id: whose words count in it.
    """

    text: str
    timestamp: int
    sources: tuple[Source, ...] = ()
    told: Told | None = None
    sender_id: str = ""

    def sources_of(self, statement: str) -> tuple[Source, ...]:
        """The messages that a statement comes from; all of the sender's, where none shares its words."""
        if self.told is None:
            return self.sources
        labels = self.told.by(self.sender_id)
        found = Origins([self.told.texts[label] for label in labels]).of(statement)
        return self.told.sources([labels[place] for place in found] or labels)


class Origin(Struct, frozen=True):
    """When something was said, and in which messages."""

    timestamp: int
    sources: tuple[Source, ...]


class Narratives:
    """The narratives of one pass, the oldest first."""

    def __init__(self, several: Sequence[Narrative]) -> None:
        self.all = sorted(several, key=lambda narrative: narrative.timestamp)
        self.newest = self.all[-1].timestamp
        self._origins = Origins([narrative.text for narrative in self.all])

    def origin(self, statement: str, label: int | None) -> Origin:
        """When and where a statement was made.

        It was made in the narrative the model names, else in those that share most of its words, of which the newest
        counts; where none does, when the newest narrative of all was told.
        """
        if label is not None and 0 <= label < len(self.all):
            chosen = [self.all[label]]
        else:
            chosen = [self.all[place] for place in self._origins.of(statement)] or [self.all[-1]]
        sources = merged_sources(*(narrative.sources_of(statement) for narrative in chosen))
        return Origin(chosen[-1].timestamp, sources)
