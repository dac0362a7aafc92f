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
        judge: decides where the evidence alone shall not.
        vectors: of each chat message, with an embedder.
        scale: how to read them.
    """
    cuts: list[int] = []
    start = 0
    while True:
        episode = _Episode(layout, start, vectors)
        cut = await _next_cut(episode, tokens, final=final, limits=limits, weights=weights, judge=judge, scale=scale)
        if cut is None:
            return cuts
        start += cut
        cuts.append(start)


class _Episode:
    """The turns of a conversation from `start` on, read as far as they are asked for."""

    def __init__(self, layout: Layout, start: int, vectors: Sequence[Vectors] | None) -> None:
        self.layout = layout
        self.start = start
        self._vectors = vectors
        self._reader = TurnReader()
        self._turns: list[Turn] = []

    def __len__(self) -> int:
        return len(self.layout) - self.start

    def first(self, count: int) -> Sequence[Turn]:
        """The first `count` turns; all, where there are fewer."""
        for number in range(self.start + len(self._turns), min(self.start + count, len(self.layout))):
            vector = None if self._vectors is None else self._vectors[number]
            message = self.layout.chat[number]
            self._turns.append(self._reader.read(message, self.layout.traffic_before(number), vector))
        return self._turns[:count]


async def _next_cut(
    episode: _Episode,
    tokens: Sequence[int],
    *,
    final: bool,
    limits: Limits,
    weights: Weights,
    judge: Judge,
    scale: Scale | None,
) -> int | None:
    start, layout = episode.start, episode.layout
    size = tokens[start] if len(episode) else 0
    odds: dict[int, float] = {}

    def odds_at(at: int) -> float:
        if at not in odds:
            odds[at] = log_odds(episode.first(at + LOOKAHEAD + 1), at, weights, scale)
        return odds[at]

    for at in range(1, len(episode)):
        size += tokens[start + at]
        if episode.first(at + 1)[at].opens_session and layout.allows(start + at):
            return at
        if limits.reached(size, at + 1):
            forced = layout.nearest(start + at, after=start)
            if forced is not None and forced <= start + at:
                return forced - start
            continue
        if at < _SHORTEST or not layout.allows(start + at):
            continue
        if at + LOOKAHEAD + 1 >= len(episode) and not final:
            return None
        peak = at + 1 >= len(episode) or odds_at(at) >= odds_at(at + 1)
        if peak and await judge(start, start + at, odds_at(at)):
            return at
    return None
