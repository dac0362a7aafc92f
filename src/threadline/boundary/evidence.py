"""The evidence that a message opens another episode, as log odds: each cue adds or takes what it is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.boundary.turns import Turn

if TYPE_CHECKING:
    from threadline.boundary.vectors import Scale
    from threadline.ports.embedder import Vectors

__all__ = ["LOOKAHEAD", "Weights", "log_odds"]

LOOKAHEAD = 1
"""How many messages after a candidate have a say: the answer to it shows what it was about."""

_BLOCK = 2
"""Messages on each side whose mean vectors are compared; one alone says little, with more short episodes blur."""

_REACH = 4
"""Messages before a candidate whose terms count as known: two exchanges."""

_MOST_SHARED, _MOST_RETURNED = 3, 2
"""Terms beyond these add nothing: long messages share some by chance."""

_LEAST_MASS = math.log1p(2)
"""Two terms, a thing and what is said of it: among messages that say less, a single word is not news but noise."""

_HOUR_MS = 3_600_000


class Weights(Struct, frozen=True, kw_only=True):
    """What each cue is worth, in nats: 1 makes a boundary 2.7 times as likely, or as unlikely.

    Words and vectors are weighed by what a regression over spliced conversations gave them, halved; the other cues are
    a weak hint (0.5), a clear one (1) or a strong one (2) by what the literature says of them. None is fitted to the
    sets that `make eval` measures: see `docs/decisions/0023-boundaries-without-a-model.md`.

    Attributes:
        prior: for a message of average length that shares nothing with what came before: even odds, and the evidence
            has to say the rest. Lower it for fewer cuts.
        across: nearness in meaning of the two messages before and the two from the candidate on.
        beside: nearness of the candidate and the message before it.
        inside: nearness within each side, against which `across` is a valley (depth score, Hearst 1997).
        shared: each term it shares with the last messages (lexical cohesion, Halliday and Hasan 1976).
        returns: each such term of the next message: the topic goes on after an aside.
        novelty: the logarithm of how many new terms it brings, against what its neighbours say (vocabulary
            introduction, Youmans 1991).
        answers: another speaker asked just before (adjacency pairs, Schegloff and Sacks 1973).
        initiative: it asks where nobody had asked.
        assistant: an assistant answers more often than it opens.
        closing: it thanks or takes leave.
        after_closing: the message before did, or asked whether there is anything else.
        greeting: it begins with a greeting (openings, Schegloff 1968).
        refers: it points back with a pronoun.
        after_task: the assistant has handed in its work.
        hours: each doubling of a silence beyond one hour.
    """

    prior: float = 0.0
    across: float = 1.5
    beside: float = 0.75
    inside: float = 0.75
    shared: float = 0.75
    returns: float = 0.5
    novelty: float = 1.0
    answers: float = 1.0
    initiative: float = 1.0
    assistant: float = 0.5
    closing: float = 2.0
    after_closing: float = 1.0
    greeting: float = 1.0
    refers: float = 0.5
    after_task: float = 2.0
    hours: float = 1.0


def log_odds(turns: Sequence[Turn], at: int, weights: Weights, scale: Scale | None = None) -> float:
    """The log odds that turn `at` opens another episode.

    Args:
        turns: the episode's turns so far, and `LOOKAHEAD` turns after `at` where they are known.
        at: the candidate, at least 1.
        weights: what each cue is worth.
        scale: how to read cosines; None where the turns have no vectors.
    """
    turn, before = turns[at], turns[at - 1]
    recent = frozenset[str]().union(*(earlier.terms for earlier in turns[max(0, at - _REACH) : at]))
    odds = weights.prior
    odds -= weights.shared * min(_MOST_SHARED, len(turn.terms & recent))
    if at + 1 < len(turns):
        odds -= weights.returns * min(_MOST_RETURNED, len((turns[at + 1].terms - turn.terms) & recent))
    near = [turns[i].mass for i in range(max(0, at - _REACH), min(len(turns), at + LOOKAHEAD + 1)) if i != at]
    odds += weights.novelty * (math.log1p(len(turn.terms - recent)) - max(_LEAST_MASS, sum(near) / len(near)))
    if before.asks:
        one_voice = len({earlier.speaker for earlier in turns}) == 1  # nobody wrote down who speaks
        odds -= weights.answers * (one_voice or before.speaker != turn.speaker)
    else:
        odds += weights.initiative * turn.asks
    odds -= weights.assistant * turn.assistant
    odds += weights.greeting * turn.greets
    odds -= weights.refers * turn.refers
    if turn.closes:
        odds -= weights.closing
    else:
        odds += weights.after_closing * before.closes
    odds += weights.after_task * turn.after_task
    odds += weights.hours * _doublings(before.timestamp, turn.timestamp)
    if scale is not None:
        odds -= _nearness(turns, at, weights, scale)
    return odds


def _doublings(before: int | None, now: int | None) -> float:
    """How often a silence doubles one hour; 0 where a time is unknown."""
    if not before or not now or now - before <= _HOUR_MS:
        return 0.0
    return math.log2((now - before) / _HOUR_MS)


def _nearness(turns: Sequence[Turn], at: int, weights: Weights, scale: Scale) -> float:
    """What nearness in meaning takes off the odds; 0 at a nearness half-way between unrelated and related."""
    vectors = [turn.vector for turn in turns[max(0, at - _BLOCK) : at + _BLOCK] if turn.vector is not None]
    middle = min(at, _BLOCK)
    across = scale.nearness(_total(vectors[:middle]), _total(vectors[middle:]))
    beside = scale.nearness(vectors[middle - 1], vectors[middle])
    pairs = [(i, i + 1) for i in range(len(vectors) - 1) if i + 1 != middle]
    inside = sum(scale.nearness(vectors[i], vectors[j]) for i, j in pairs) / len(pairs) if pairs else across
    return weights.across * across + weights.beside * beside - weights.inside * inside


def _total(vectors: Sequence[Vectors]) -> Vectors:
    total = vectors[0]
    for vector in vectors[1:]:
        total = total + vector
    return total
