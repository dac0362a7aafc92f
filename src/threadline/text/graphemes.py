"""Cutting a string only between grapheme clusters (what a reader sees as one character)."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["boundary_at_or_after", "boundary_at_or_before"]

_CONTEXT = 64
"""Code points looked at on each side of a cut; UAX #29 clusters are shorter, but for made-up runs of marks."""

_MAX_CONTEXT = 4096
"""How far back a certain boundary is looked for: runs of flags pair up from their start."""

_JOINING = "\u0300"
"""Below this no character joins another, but for CR and LF (UAX #29, table 2)."""


@cache
def _cluster() -> Any:
    import regex

    return regex.compile(r"\X")


def _boundaries(text: str, start: int, end: int) -> list[int]:
    return [start + match.start() for match in _cluster().finditer(text[start:end])] + [end]


def _certain_boundary(text: str, position: int) -> int:
    """A boundary before `position` that needs no context: between two characters that join with nothing."""
    for start in range(position - 1, max(0, position - _MAX_CONTEXT), -1):
        if text[start - 1] < _JOINING and text[start] < _JOINING and text[start - 1] != "\r":
            return start
    return max(0, position - _MAX_CONTEXT)


def boundary_at_or_before(text: str, position: int) -> int:
    """The last cluster boundary at or before `position` (code points); never less than 0."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    if text[position - 1] < _JOINING and text[position] < _JOINING and text[position - 1 : position + 1] != "\r\n":
        return position
    start = _certain_boundary(text, position)
    inside = [b for b in _boundaries(text, start, min(len(text), position + _CONTEXT)) if start <= b <= position]
    return inside[-1] if inside else start


def boundary_at_or_after(text: str, position: int) -> int:
    """The first cluster boundary at or after `position` (code points); never more than the length."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    before = boundary_at_or_before(text, position)
    if before == position:
        return position
    end = position
    while end < len(text):
        end = min(len(text), end + _CONTEXT)
        inside = [b for b in _boundaries(text, before, end) if position <= b and (b < end or end == len(text))]
        if inside:
            return inside[0]
    return len(text)
