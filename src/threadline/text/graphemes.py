"""Cutting a string only between grapheme clusters (what a reader sees as one character)."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["boundary_at_or_after", "boundary_at_or_before"]

_CONTEXT = 64
"""Code points looked at on each side of a cut; UAX #29 clusters are shorter, but for made-up runs of marks."""


@cache
def _cluster() -> Any:
    import regex

    return regex.compile(r"\X")


def _boundaries(text: str, start: int, end: int) -> list[int]:
    return [start + match.start() for match in _cluster().finditer(text[start:end])] + [end]


def boundary_at_or_before(text: str, position: int) -> int:
    """The last cluster boundary at or before `position` (code points); never less than 0."""
    if position <= 0 or position >= len(text):
        return max(0, min(position, len(text)))
    if text[position - 1] < "\u0300" and text[position] < "\u0300" and text[position - 1 : position + 1] != "\r\n":
        return position
    start = position
    while start > 0:
        start = max(0, start - _CONTEXT)
        inside = [b for b in _boundaries(text, start, min(len(text), position + _CONTEXT)) if start < b <= position]
        if inside or start == 0:
            return inside[-1] if inside else 0
    return 0


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
