"""Which sentences stand for a text: those whose terms the whole text uses most, each adding what is not yet said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Sentence", "central"]

_SAID = 0.5
"""What a term still counts once a chosen sentence holds it."""

_FIRST = 0.35
"""How much more the first sentence counts than one far behind it: people open with what they are about."""

_LAST = 0.2
"""The same for the last one: they close with how it ended."""

_LENGTH = 0.75
"""Between 0, where the longest sentence wins, and 1, where a short one of common words does."""


_SAME_MESSAGE = 0.7
"""What a further sentence of one message counts: a long message is not the whole talk."""


class Sentence(Struct, frozen=True, kw_only=True):
    """What counts of a sentence.

    Attributes:
        terms: its content terms.
        message: the number of the message it is in.
        standing: how much its form speaks for it; 1 is neither for nor against.
    """

    terms: frozenset[str]
    message: int
    standing: float = 1.0


def central(sentences: Sequence[Sentence], most: int) -> list[int]:
    """The numbers of the most central sentences, the most central first; none that has no terms.

    A sentence's worth is the sum of its terms' counts (damped, as in SumBasic by Nenkova and Vanderwende, 2005), over a
    power of its number of terms, so that neither long nor short ones win by length. A term counts once a message.

    Args:
        sentences: in the order they were said.
        most: how many at most.
    """
    held: dict[int, set[str]] = {}
    for one in sentences:
        held.setdefault(one.message, set()).update(one.terms)
    counts = Counter(term for terms in held.values() for term in terms)
    worth = {term: math.log1p(count) for term, count in counts.items()}
    last = len(sentences)
    standing = [
        one.standing * (1.0 + _FIRST / (1.0 + at) + _LAST / (last - at)) / (len(one.terms) + 2) ** _LENGTH
        for at, one in enumerate(sentences)
    ]
    left = [at for at, one in enumerate(sentences) if one.terms]
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda at: (standing[at] * sum(worth[term] for term in sentences[at].terms), -at))
        left.remove(best)
        chosen.append(best)
        for term in sentences[best].terms:
            worth[term] *= _SAID
        for at in left:
            if sentences[at].message == sentences[best].message:
                standing[at] *= _SAME_MESSAGE
    return chosen
