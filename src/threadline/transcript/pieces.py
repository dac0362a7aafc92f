"""A text as a row of pieces, which repeats are made of: lines, whole code fences, fragments of one-line JSON."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter, itemgetter
from sys import maxsize

from msgspec import Struct

from threadline.text.fences import fence_spans

__all__ = ["LONG_LINE", "Numbered", "Pieces", "split_pieces"]

LONG_LINE = 160
"""Characters from which a line of JSON is split; shorter ones are matched whole (measured on tau-bench)."""

_FRAGMENT = re.compile(r"\[[^\[\]{}]{1,400}\](?:, ?)?|.+?(?:\}, ?|, |$)")
"""One member or item of JSON, or a flat array as a whole (a row of a table)."""

_NUMBER = re.compile(r"([ 0]*)(\d{1,9})([:|\t\u2192])")
"""Padding, number and separator at the beginning of a line."""

_NUMBERED_PAIR = re.compile(r"\n[ 0]*\d{1,9}[:|\t\u2192][^\n]*\n[ 0]*\d{1,9}[:|\t\u2192]")
"""Two numbered lines in a row; starts with a character that is searched for fast."""

_BLOCK = 512
"""Line numbers written out at a time."""


class Numbered(Struct, frozen=True, gc=False):
    """Pieces in a row that are numbered one by one."""

    first: int
    last: int
    number: int


class Pieces:
    """Keys and places of the pieces of one text.

    Attributes:
        keys: what is compared: the piece itself, or for a numbered line what stands behind its number.
        numbered: the pieces that are numbered, in order; None for a text without line numbers.
    """

    __slots__ = ("_ends", "_starts", "keys", "numbered", "text")

    def __init__(
        self,
        text: str,
        keys: list[str],
        places: tuple[array[int], array[int]] | None = None,
        numbered: list[Numbered] | None = None,
    ) -> None:
        self.text = text
        self.keys = keys
        self.numbered = numbered
        self._starts, self._ends = places or (None, None)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where the pieces from `first` up to `last` begin and end, in code points; without the last line break."""
        if self._starts is not None and self._ends is not None:
            return self._starts[first], self._ends[last - 1]
        if self._starts is None:  # most texts are never asked
            self._starts = array("Q", accumulate(map(len, self.text.split("\n")), initial=0))
        return self._starts[first] + first, self._starts[last] + last - 1

    def number(self, piece: int) -> tuple[int | None, int]:
        """The line number of a piece, None where it has none, and the piece up to which that goes on."""
        numbered = self.numbered or []
        at = bisect_right(numbered, piece, key=attrgetter("first")) - 1
        if at >= 0 and piece < numbered[at].last:
            return numbered[at].number + piece - numbered[at].first, numbered[at].last
        return None, numbered[at + 1].first if at + 1 < len(numbered) else maxsize

    def numbers(self, first: int, last: int) -> tuple[int, int] | None:
        """The first and the last line number that stand in the pieces from `first` up to `last`."""
        inside = [run for run in self.numbered or () if run.first < last and run.last > first]
        if not inside:
            return None
        low, high = inside[0], inside[-1]
        return low.number + max(first - low.first, 0), high.number + min(last, high.last) - 1 - high.first


def split_pieces(text: str) -> Pieces:
    """Cut a text into pieces; joined with the line breaks between them they are the text again."""
    lines = text.split("\n")
    if _NUMBERED_PAIR.search(text) is not None:
        return _numbered(text, lines)
    fences = fence_spans(text) if "```" in text or "~~~" in text else []
    if fences or ('":' in text and max(map(len, lines)) >= LONG_LINE):
        return _mixed(text, fences)
    return Pieces(text, lines)


def _numbered(text: str, lines: list[str]) -> Pieces:
    """Lines whose number goes on from the line before, or to the line behind, are compared without it.

    What a line is depends on its neighbours alone, so leaving out other parts of the text does not change it.
    """
    numbered: list[Numbered] = []
    at = 0
    while at < len(lines):
        head = _NUMBER.match(lines[at])
        if head is None:
            at += 1
            continue
        pad, digits, _ = head.groups()
        number, end = int(digits), _alike(lines, at, head)
        before = numbered[-1] if numbered else None
        if before is not None and before.last == at and before.number + at - before.first == number:
            numbered[-1] = Numbered(before.first, end, before.number)
        elif end > at + 1 or (end < len(lines) and _number_of(lines[end]) == number + 1):
            numbered.append(Numbered(at, end, number))
        else:
            at += 1
            continue
        # pad width and separator belong to the key, or `13|` would come back as `13:`
        width = len(pad) + len(digits)
        behind = map(itemgetter(slice(width, None)), lines[at:end])
        lines[at:end] = map(f"\0{width if pad else 0}".__add__, behind)
        at = end
    return Pieces(text, lines, numbered=numbered)


def _number_of(line: str) -> int | None:
    head = _NUMBER.match(line)
    return None if head is None else int(head[2])


def _alike(lines: list[str], at: int, head: re.Match[str]) -> int:
    """The line up to which those from `at` on are numbered one by one, with as many digits, in the same style."""
    pad, digits, separator = head.groups()
    number = int(digits)
    fill = pad[:1] or " "
    end = at + 1 if pad.strip(fill) else min(len(lines), at + 10 ** len(digits) - number)
    step = 8
    at += 1
    while at < end:
        number += 1
        block, offset = divmod(number, _BLOCK)
        heads = _heads(block, fill, len(pad) + len(digits), separator)
        step = min(4 * step, _BLOCK - offset, end - at)
        right = list(map(str.startswith, lines[at : at + step], heads[offset : offset + step]))
        if False in right:
            return at + right.index(False)
        at += step
        number += step - 1
    return end


@lru_cache(maxsize=16)
def _heads(block: int, fill: str, width: int, separator: str) -> list[str]:
    """The beginnings of a block of numbered lines."""
    return [str(number).rjust(width, fill) + separator for number in range(block * _BLOCK, (block + 1) * _BLOCK)]


def _mixed(text: str, fences: list[tuple[int, int]]) -> Pieces:
    keys: list[str] = []
    starts, ends = array("Q"), array("Q")
    at = 0
    for start, end in [*fences, (len(text) + 1, len(text) + 1)]:
        if at < start:
            _split_lines(text[at : start - 1], at, keys, starts, ends)
        if start <= len(text):
            keys.append(text[start:end])
            starts.append(start)
            ends.append(end)
        at = end + 1
    return Pieces(text, keys, (starts, ends))


def _split_lines(chunk: str, offset: int, keys: list[str], starts: array[int], ends: array[int]) -> None:
    for line in chunk.split("\n"):
        if len(line) >= LONG_LINE and line.lstrip()[:1] in ("{", "["):
            for match in _FRAGMENT.finditer(line):
                keys.append(match.group())
                starts.append(offset + match.start())
                ends.append(offset + match.end())
        else:
            keys.append(line)
            starts.append(offset)
            ends.append(offset + len(line))
        offset += len(line) + 1
