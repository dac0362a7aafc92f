"""Which sentences stand for a text: those whose terms the whole text uses most, each adding what is not yet said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from threadline.text.stems import content_terms

__all__ = ["central"]

_SAID = 0.5
"""What a term still counts once a chosen sentence holds it."""

_FIRST = 0.35
"""How much more the first sentence counts than one far behind it: people open with what they are about."""

_LAST = 0.2
"""The same for the last one: they close with how it ended."""

_LENGTH = 0.75
"""Between 0, where the longest sentence wins, and 1, where a short one of common words does."""


def central(sentences: Sequence[tuple[str, str]], most: int, weights: Sequence[float] = ()) -> list[int]:
    """The numbers of the most central sentences, the most central first.

    A sentence's worth is the sum of its terms' counts in all sentences (damped, as in SumBasic by Nenkova and
    Vanderwende, 2005), over a power of its number of terms, so that neither long nor short ones win by length.

    Args:
        sentences: each with its language.
        most: how many at most.
        weights: how much else speaks for each; 1 where not given.
    """
    terms = [frozenset(content_terms(text, language)) for text, language in sentences]
    counts = Counter(term for held in terms for term in held)
    worth = {term: math.log1p(count) for term, count in counts.items()}
    places = [1.0 + _FIRST / (1.0 + at) + _LAST / (len(terms) - at) for at in range(len(terms))]
    left = [at for at in range(len(terms)) if terms[at]]
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(
            left,
            key=lambda at: (
                sum(worth[term] for term in terms[at])
                / (len(terms[at]) + 2) ** _LENGTH
                * places[at]
                * (weights[at] if weights else 1.0),
                -at,
            ),
        )
        left.remove(best)
        chosen.append(best)
        for term in terms[best]:
            worth[term] *= _SAID
    return chosen
