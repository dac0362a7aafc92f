"""`Episode`: what happened in a stretch of conversation, told once."""

from __future__ import annotations

from typing import ClassVar

from threadline.memory.product import Product

__all__ = ["Episode"]


class Episode(Product, frozen=True, kw_only=True):
    """A narrative.

    Attributes:
        owner_id: whose memory it is; None for one that is told of nobody in particular.
        episode: the narrative.
        subject: its title.
        summary: its gist.
        timestamp: when the last message of it was said, milliseconds since the epoch, UTC; 0 where nobody said.
        cell_id: the cell it tells of; "" where it tells of several, or of none.
    """

    PREFIX: ClassVar[str] = "episode"

    owner_id: str | None
    episode: str
    subject: str = ""
    summary: str
    timestamp: int
    cell_id: str = ""

    def identity(self) -> tuple[object, ...]:
        """Whose it is, what it says and when."""
        return (self.owner_id, self.timestamp, self.subject, self.episode)
