"""A text as a row of pieces, which repeats are made of: lines, whole code fences, fragments of one-line JSON."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate, repeat
from operator import add, is_
from sys import maxsize

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


class Pieces:
    """Keys and places of the pieces of one text.

    Attributes:
        keys: what is compared: the piece itself, or for a numbered line what stands behind its number.
        numbered: the lines that are numbered; None for a text without line numbers.
    """

    __slots__ = ("_ends", "_starts", "keys", "numbered", "text")

    def __init__(
        self,
        text: str,
        keys: list[str],
        starts: array[int],
        ends: array[int] | None = None,
        numbered: Numbered | None = None,
    ) -> None:
        self.text = text
        self.keys = keys
        self.numbered = numbered
        self._starts = starts
        self._ends = ends

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where the pieces from `first` up to `last` begin and end, in code points; without the last line break."""
        if self._ends is not None:
            return self._starts[first], self._ends[last - 1]
        return self._starts[first] + first, self._starts[last] + last - 1  # a line break before each but the first


class Numbered:
    """Runs of lines that are numbered one by one."""

    __slots__ = ("_firsts", "_lasts", "_shifts")

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._shifts: list[int] = []  # a line's number minus its place

    def add(self, first: int, last: int, number: int) -> None:
        """The lines from `first` up to `last` are numbered from `number` on."""
        if self.ends_before(first, number):
            self._lasts[-1] = last
        else:
            self._firsts.append(first)
            self._lasts.append(last)
            self._shifts.append(number - first)

    def ends_before(self, line: int, number: int) -> bool:
        """Whether a line with this number goes on from the last one."""
        return bool(self._lasts) and self._lasts[-1] == line and self._shifts[-1] == number - line

    def number(self, line: int) -> tuple[int | None, int]:
        """The number of a line, None where it has none, and the line up to which that goes on."""
        at = bisect_right(self._lasts, line)
        if at == len(self._lasts):
            return None, maxsize
        first = self._firsts[at]
        return (None, first) if line < first else (line + self._shifts[at], self._lasts[at])

    def within(self, first: int, last: int) -> tuple[int, int] | None:
        """The first and the last number that stand in the lines from `first` up to `last`."""
        low, high = bisect_right(self._lasts, first), bisect_left(self._firsts, last) - 1
        if low > high:
            return None
        return (
            max(first, self._firsts[low]) + self._shifts[low],
            min(last, self._lasts[high]) - 1 + self._shifts[high],
        )


def split_pieces(text: str) -> Pieces:
    """Cut a text into pieces; joined with the line breaks between them they are the text again."""
    lines = text.split("\n")
    starts = array("I", accumulate(map(len, lines), initial=0))
    if _NUMBERED_PAIR.search(text) is not None:
        return _numbered(text, lines, starts)
    fences = fence_spans(text) if "```" in text or "~~~" in text else []
    if fences or ('":' in text and max(map(len, lines)) >= LONG_LINE):
        return _mixed(text, fences)
    return Pieces(text, lines, starts)


def _numbered(text: str, lines: list[str], starts: array[int]) -> Pieces:
    """Lines whose number goes on from the line before, or to the line behind, are compared without it.

    What a line is depends on its neighbours alone, so leaving out other parts of the text does not change it.
    """
    numbered = Numbered()
    at = 0
    while at < len(lines):
        head = _NUMBER.match(lines[at])
        if head is None:
            at += 1
            continue
        pad, digits, separator = head.groups()
        number, behind = int(digits), _behind(lines, at, head)
        end = at + len(behind)
        goes_on = len(behind) > 1 or (end < len(lines) and _number_of(lines[end]) == number + 1)
        if not goes_on and not numbered.ends_before(at, number):
            at += 1
            continue
        numbered.add(at, end, number)
        # pad width and separator belong to the key, or `13|` would come back as `13:`
        style = f"\0{len(pad) + len(digits) if pad else 0}{separator}"
        lines[at:end] = map(add, repeat(style), behind)
        at = end
    return Pieces(text, lines, starts, numbered=numbered)


def _number_of(line: str) -> int | None:
    head = _NUMBER.match(line)
    return None if head is None else int(head[2])


def _behind(lines: list[str], at: int, head: re.Match[str]) -> list[str]:
    """What stands behind the numbers of the lines from `at` on, as far as they go on in the same style and width."""
    pad, digits, separator = head.groups()
    number = int(digits)
    behind = [lines[at][head.end() :]]
    fill = pad[:1] or " "
    left = 0 if pad.strip(fill) else min(len(lines) - at, 10 ** len(digits) - number) - 1
    step = 8
    while left:
        block, offset = divmod(number + len(behind), _BLOCK)
        step = min(4 * step, _BLOCK - offset, left)
        heads = _heads(block, fill, len(pad) + len(digits), separator)[offset : offset + step]
        some = lines[at + len(behind) : at + len(behind) + step]
        rest = list(map(str.removeprefix, some, heads))
        same = list(map(is_, rest, some))
        if True in same:
            return behind + rest[: same.index(True)]
        behind += rest
        left -= step
    return behind


@lru_cache(maxsize=16)
def _heads(block: int, fill: str, width: int, separator: str) -> list[str]:
    """The beginnings of a block of numbered lines."""
    return [str(number).rjust(width, fill) + separator for number in range(block * _BLOCK, (block + 1) * _BLOCK)]


def _mixed(text: str, fences: list[tuple[int, int]]) -> Pieces:
    keys: list[str] = []
    starts, ends = array("I"), array("I")
    at = 0
    for start, end in [*fences, (len(text) + 1, len(text) + 1)]:
        if at < start:
            _split_lines(text[at : start - 1], at, keys, starts, ends)
        if start <= len(text):
            keys.append(text[start:end])
            starts.append(start)
            ends.append(end)
        at = end + 1
    return Pieces(text, keys, starts, ends)


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
