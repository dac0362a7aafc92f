"""A text as a row of pieces, which repeats are made of: lines, whole code fences, fragments of one-line JSON."""

from __future__ import annotations

import re
from itertools import accumulate

from threadline.text.fences import fence_spans

__all__ = ["LONG_LINE", "Pieces", "split_pieces"]

LONG_LINE = 160
"""Characters from which a line of JSON is split; shorter ones are matched whole (measured on tau-bench)."""

_FRAGMENT = re.compile(r"\[[^\[\]{}]{1,400}\](?:, ?)?|.+?(?:\}, ?|, |$)")
"""One member or item of JSON, or a flat array as a whole (a row of a table)."""

_ROW = re.compile(r"(?m)^(?:([ 0]*)(\d{1,9})([:|\t\u2192] ?))?(.*)$")
"""A line: padding, number and separator where it has them, and the rest."""

_NUMBERED_PAIR = re.compile(r"\n[ 0]*\d{1,9}[:|\t\u2192][^\n]*\n[ 0]*\d{1,9}[:|\t\u2192]")
"""Two numbered lines in a row; starts with a character that is searched for fast."""

_UNNUMBERED = -9
"""Next to no line number."""


class Pieces:
    """Keys and places of the pieces of one text.

    Attributes:
        keys: what is compared: the piece itself, or for a numbered line what stands behind its number.
        numbers: the line number of each piece, None where it has none; None as a whole for unnumbered text.
    """

    __slots__ = ("_starts", "ends", "keys", "numbers", "text")

    def __init__(
        self,
        text: str,
        keys: list[str],
        starts: list[int] | None = None,
        ends: list[int] | None = None,
        numbers: list[int | None] | None = None,
    ) -> None:
        self.text = text
        self.keys = keys
        self.numbers = numbers
        self._starts = starts
        self.ends = ends

    @property
    def starts(self) -> list[int]:
        """Where each piece begins, in code points."""
        if self._starts is None:  # most texts are never asked
            self._starts = [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]
            self._starts.pop()
        return self._starts

    def end(self, piece: int) -> int:
        """Where a piece ends, its line break not included."""
        if self.ends is not None:
            return self.ends[piece]
        starts = self.starts
        return starts[piece + 1] - 1 if piece + 1 < len(starts) else len(self.text)

    def is_line(self, piece: int) -> bool:
        """True when the piece starts a line."""
        start = self.starts[piece]
        return start == 0 or self.text[start - 1] == "\n"


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
    rows = _ROW.findall(text)
    numbers = [int(row[1]) if row[1] else _UNNUMBERED for row in rows]
    keys = lines
    kept: list[int | None] = [None] * len(lines)
    before = _UNNUMBERED
    for at, (number, behind) in enumerate(zip(numbers, [*numbers[1:], _UNNUMBERED], strict=True)):
        if number >= 0 and (before == number - 1 or behind == number + 1):
            # pad width and separator belong to the key, or `13|` would come back as `13:`
            pad, digits, separator, rest = rows[at]
            keys[at] = f"\0{len(pad) + len(digits) if pad else 0}{separator}{rest}"
            kept[at] = number
        before = number
    return Pieces(text, keys, numbers=kept)


def _mixed(text: str, fences: list[tuple[int, int]]) -> Pieces:
    keys: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
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


def _split_lines(chunk: str, offset: int, keys: list[str], starts: list[int], ends: list[int]) -> None:
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
