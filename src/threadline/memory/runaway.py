"""Texts of a model that got stuck: what repeats without end is cut, and so is what is longer than it can mean."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

from threadline.text.graphemes import boundary_at_or_before

__all__ = ["MAX_NARRATIVE", "MAX_STATEMENT", "sober"]

MAX_NARRATIVE = 20_000
"""Characters of a narrative: more than an episode of the hard token limit can honestly fill."""

MAX_STATEMENT = 2_000
"""Characters of a fact, a description or its grounding."""

_WINDOW = 256
_LEAST_BITS = 5.0
"""Entropy of the pairs of characters in a window. Prose of any script has more than 6 bits; a cycle of n characters has
at most log2(n), so that up to 32 count as stuck."""

_PIECE = re.compile(r"[^\n.!?\u3002\uff01\uff1f;]+[\n.!?\u3002\uff01\uff1f;]*")
_MOST_REPEATS = 3
"""How often the same sentence may stand in a row."""

ELLIPSIS = "\u2026"


def sober(text: str, max_chars: int) -> str:
    """The text with each endless repetition cut to its beginning, and no longer than `max_chars`.

    What follows a repetition stays. A text without one comes back as it is.
    """
    text = _without_cycles(_without_rows(text))
    if len(text) <= max_chars:
        return text
    return text[: boundary_at_or_before(text, max_chars - 1)].rstrip() + ELLIPSIS


def _without_rows(text: str) -> str:
    """Without the fourth and further times a sentence or line is said in a row."""
    pieces = _PIECE.findall(text)
    if len(pieces) <= _MOST_REPEATS:
        return text
    kept: list[str] = []
    times, before = 0, None
    for piece in pieces:
        said = piece.strip()
        times = times + 1 if said == before else 1
        before = said
        if times <= _MOST_REPEATS:
            kept.append(piece)
        elif times == _MOST_REPEATS + 1:
            kept.append(f" {ELLIPSIS} ")
    return "".join(kept).strip() if len(kept) < len(pieces) else text


def _without_cycles(text: str) -> str:
    """Without the second and further windows in a row that hardly say anything new."""
    if len(text) < 2 * _WINDOW:
        return text
    kept: list[str] = []
    stuck = cut = False
    for start in range(0, len(text), _WINDOW):
        window = text[start : start + _WINDOW]
        low = len(window) >= _WINDOW // 4 and _bits(window) < min(_LEAST_BITS, math.log2(len(window)) - 1)
        if not (low and stuck):
            kept.append(window)
        elif kept[-1] != ELLIPSIS:
            kept.append(ELLIPSIS)
            cut = True
        stuck = low
    return "".join(kept) if cut else text


def _bits(window: str) -> float:
    """The entropy of its pairs of characters."""
    pairs = Counter(pairwise(window))
    total = len(window) - 1
    return math.log2(total) - sum(count * math.log2(count) for count in pairs.values()) / total
