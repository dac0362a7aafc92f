"""`MemCell`: an episode of a conversation; and the results of looking for where episodes end."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.messages import Message, message_id

__all__ = ["BoundaryDecision", "DetectionResult", "MemCell", "is_chat"]

_ID_BYTES = 12
"""As for messages: 2^48 cells until two ids are expected to agree."""


def is_chat(message: Message) -> bool:
    """True for what people and the assistant say to each other: no tool traffic, no instructions."""
    return message.kind == "text" and message.origin == "conversation" and message.role in ("user", "assistant")


class MemCell(Struct, frozen=True, kw_only=True):
    """One episode: messages and tool traffic, in order.

    Attributes:
        items: everything that was said and done in it.
        timestamp: when its last chat message was said, milliseconds since the epoch, UTC; None where nobody said.
        id: made of the items' ids where none is given, so that the same episode always has the same one.
    """

    items: tuple[Message, ...]
    timestamp: int | None = None
    id: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "items", tuple(self.items))  # a list is welcome
        if not self.id:
            said = "\n".join(self.message_ids).encode("utf-8", "surrogatepass")
            force_setattr(self, "id", f"cell_{hashlib.blake2b(said, digest_size=_ID_BYTES).hexdigest()}")

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of its items, in order."""
        return tuple(message_id(item) for item in self.items)

    @classmethod
    def of(cls, items: Sequence[Message]) -> MemCell:
        """The cell of these items, dated by the last chat message among them (by the last item, if there is none)."""
        dated = [item for item in items if is_chat(item)] or [*items]
        return cls(items=tuple(items), timestamp=dated[-1].timestamp if dated else None)


class DetectionResult(NamedTuple):
    """`cells, tail = result`: the episodes that are over, and what may still go on."""

    cells: list[MemCell]
    tail: list[Message]


class BoundaryDecision(NamedTuple):
    """What a model said of one new message; only `should_end` decides anything.

    Attributes:
        should_end: the new message opens another episode.
        reasoning: why.
        confidence: in [0, 1].
        topic_summary: what the episode that ends was about.
    """

    should_end: bool
    reasoning: str
    confidence: float
    topic_summary: str
