"""`Layout`: where the chat messages of a conversation are, and between which of them it may be cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from threadline.boundary.cells import DetectionResult, MemCell, is_chat
from threadline.messages import Message, group_messages

__all__ = ["Layout"]

_PATIENCE = 3
"""Turns that may pass before an unanswered call counts as dead: until then nothing is cut off behind it."""


class Layout:
    """The chat messages among the items of a conversation.

    A cut is the number of a chat message, from 1: that message opens the next episode. Tool traffic between two chat
    messages stays with the first of them; instructions (system messages) go with the message they stand before.

    Args:
        items: messages and tool traffic, in order.
        final: nothing follows: an unanswered call waits for nothing.

    Attributes:
        chat: the chat messages.
    """

    def __init__(self, items: Sequence[Message], *, final: bool) -> None:
        self.items = [*items]
        places = [index for index, item in enumerate(self.items) if is_chat(item)]
        self.chat = [self.items[index] for index in places]
        self._starts = [self._before_notices(place) for place in places]
        self._closed = [False] * (len(self.items) + 1)
        self._waiting = len(self.items)
        for group in group_messages(self.items, dead_after=_PATIENCE):
            for index in range(group.indices[0] + 1, group.indices[-1] + 1):
                self._closed[index] = True
            if group.state == "pending" and not final:
                self._waiting = min(self._waiting, group.indices[0])
        self._places = places

    def __len__(self) -> int:
        return len(self.chat)

    def _before_notices(self, place: int) -> int:
        while place > 0 and self.items[place - 1].role in ("system", "developer"):
            place -= 1
        return place

    def is_settled(self, cut: int) -> bool:
        """True where no call before the cut still waits for its result."""
        return self._starts[cut] <= self._waiting

    def allows(self, cut: int) -> bool:
        """True where a cut parts no call from its results, nor from those that may come."""
        return not self._closed[self._starts[cut]] and self.is_settled(cut)

    def nearest(self, cut: int, *, after: int = 0) -> int | None:
        """The nearest cut that parts no call from its results: at or before `cut`, else behind it, else None.

        Args:
            cut: the cut that is wanted.
            after: the cut before it; the one that is found is greater.
        """
        candidates = (*range(cut, after, -1), *range(max(cut, after) + 1, len(self.chat)))
        return next((candidate for candidate in candidates if self.allows(candidate)), None)

    def traffic_before(self, number: int) -> Sequence[Message]:
        """The items between chat message `number` and the one before it."""
        start = self._places[number - 1] + 1 if number else 0
        return self.items[start : self._places[number]]

    def divided(self, cuts: Iterable[int], *, final: bool) -> DetectionResult:
        """The episodes between these cuts, ascending; with `final` the rest is an episode too.

        Without a chat message there is no episode: everything is tail.
        """
        cells: list[MemCell] = []
        start = 0
        for cut in cuts:
            end = self._starts[cut]
            cells.append(MemCell.of(self.items[start:end]))
            start = end
        if final and self.chat:
            cells.append(MemCell.of(self.items[start:]))
            return DetectionResult(cells, [])
        return DetectionResult(cells, self.items[start:])
