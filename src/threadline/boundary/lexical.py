"""Where episodes end, without a model: read from left to right, each cut is decided once and stays."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from threadline.boundary.evidence import LOOKAHEAD, Weights, log_odds
from threadline.boundary.layout import Layout
from threadline.boundary.limits import Limits
from threadline.boundary.turns import Turn, TurnReader

if TYPE_CHECKING:
    from threadline.boundary.vectors import Scale
    from threadline.ports.embedder import Vectors

__all__ = ["Judge", "lexical_cuts"]

Judge: TypeAlias = "Callable[[int, int, float], Awaitable[bool]]"
"""Decides a candidate: the number of the episode's first chat message, that of the candidate, and its log odds."""

_SHORTEST = 2
"""An episode has at least a message and an answer, unless a session is marked or the first message fills the limit."""


async def lexical_cuts(
    layout: Layout,
    tokens: Sequence[int],
    *,
    final: bool,
    limits: Limits,
    weights: Weights,
    judge: Judge,
    vectors: Sequence[Vectors] | None = None,
    scale: Scale | None = None,
) -> list[int]:
    """The cuts of a conversation whose first message begins an episode.

    A cut depends on nothing but its own episode and the `LOOKAHEAD + 1` messages from the candidate on: hence it is the
    same whether messages come one by one (the tail is handed in again with what is new) or all at once.

    Args:
        layout: the conversation.
        tokens: of each chat message.
        final: nothing follows. Otherwise a candidate waits for the messages that have a say in it.
        limits: the size at which an episode is cut in any case.
        weights: what the cues are worth.
        judge: decides a candidate by its log odds.
        vectors: of each chat message, with an embedder.
        scale: how to read them.
    """
    cuts: list[int] = []
    start = 0
    while True:
        episode = _Episode(layout, start, weights, vectors, scale)
        cut = await _next_cut(episode, tokens, final=final, limits=limits, judge=judge)
        if cut is None:
            return cuts
        cuts.append(cut)
        start = cut


class _Episode:
    """A conversation from chat message `start` on, read as far as it is asked for."""

    def __init__(
        self,
        layout: Layout,
        start: int,
        weights: Weights,
        vectors: Sequence[Vectors] | None,
        scale: Scale | None,
    ) -> None:
        self.layout = layout
        self.start = start
        self._weights = weights
        self._vectors = vectors
        self._scale = scale
        self._reader = TurnReader()
        self._turns: list[Turn] = []
        self._odds: dict[int, float] = {}

    def opens_session(self, number: int) -> bool:
        """True where chat message `number` is the mark of a new session."""
        return self._read(number + 1)[-1].opens_session

    def odds(self, number: int) -> float:
        """The log odds that chat message `number` opens another episode."""
        if number not in self._odds:
            turns = self._read(number + LOOKAHEAD + 1)
            self._odds[number] = log_odds(turns, number - self.start, self._weights, self._scale)
        return self._odds[number]

    def _read(self, end: int) -> Sequence[Turn]:
        """The turns up to chat message `end`, which is not among them."""
        for number in range(self.start + len(self._turns), min(end, len(self.layout))):
            vector = None if self._vectors is None else self._vectors[number]
            message = self.layout.chat[number]
            self._turns.append(self._reader.read(message, self.layout.traffic_before(number), vector))
        return self._turns[: end - self.start]


async def _next_cut(
    episode: _Episode, tokens: Sequence[int], *, final: bool, limits: Limits, judge: Judge
) -> int | None:
    """The first chat message that opens another episode; None where there is none, or it cannot be told yet."""
    layout, start = episode.layout, episode.start
    size = tokens[start] if start < len(layout) else 0
    for number in range(start + 1, len(layout)):
        if not layout.is_settled(number):
            return None
        size += tokens[number]
        if layout.allows(number) and episode.opens_session(number):
            return number
        if limits.reached(size, number - start + 1):
            forced = layout.nearest(number, after=start)
            if forced is not None and forced <= number:
                return forced
        elif number - start >= _SHORTEST and layout.allows(number):
            if number + LOOKAHEAD + 1 >= len(layout) and not final:
                return None
            is_peak = number + 1 == len(layout) or episode.odds(number) >= episode.odds(number + 1)
            if is_peak and await judge(start, number, episode.odds(number)):
                return number
    return None
