"""How wide a text is: one for a character, two for an East Asian wide one."""

from __future__ import annotations

import unicodedata

__all__ = ["ascii_width", "cut_at_width"]


def ascii_width(text: str) -> int:
    """The width of a text in ASCII characters; wide and full-width ones (UAX #11) count as two."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_at_width(text: str, width: int) -> str:
    """The longest beginning that is no wider."""
    if text.isascii():
        return text[:width]
    taken = 0
    for index, char in enumerate(text):
        taken += _width(char)
        if taken > width:
            return text[:index]
    return text
