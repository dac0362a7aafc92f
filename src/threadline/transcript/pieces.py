"""A text as a row of pieces, which repeats are made of: lines, whole code fences, fragments of one-line JSON."""

from __future__ import annotations

import re
from itertools import accumulate

from threadline.text.fences import fence_spans

__all__ = ["Pieces", "split_pieces"]

_LONG_LINE = 160
"""Characters from which a line of JSON is split; shorter ones are matched whole (measured on tau-bench)."""

_FRAGMENT = re.compile(r".+?(?:\}, ?|, |$)")
_NUMBERED = re.compile(r"([ 0]*)(\d+)([:|\t\u2192] ?)")


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
    if len(lines) >= 4 and _looks_numbered(lines):
        return _numbered(text, lines)
    fences = fence_spans(text) if "```" in text or "~~~" in text else []
    if fences or ('":' in text and max(map(len, lines)) > _LONG_LINE):
        return _mixed(text, fences)
    return Pieces(text, lines)


def _looks_numbered(lines: list[str]) -> bool:
    quarter = len(lines) // 4
    found = 0
    for line in (lines[quarter], lines[2 * quarter], lines[3 * quarter]):
        found += line.lstrip(" 0")[:1].isdigit() and _NUMBERED.match(line) is not None
    return found >= 2


def _numbered(text: str, lines: list[str]) -> Pieces:
    keys: list[str] = []
    numbers: list[int | None] = []
    match_number = _NUMBERED.match
    for line in lines:
        match = match_number(line)
        if match is None:
            keys.append(line)
            numbers.append(None)
        else:
            pad, number, separator = match.groups()
            # pad width and separator belong to the key, or `13|` would come back as `13:`
            keys.append(f"\0{match.end(2) if pad else 0}{separator}{line[match.end() :]}")
            numbers.append(int(number))
    return Pieces(text, keys, numbers=numbers)


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
        if len(line) > _LONG_LINE and line.lstrip()[:1] in ("{", "["):
            for match in _FRAGMENT.finditer(line):
                keys.append(match.group())
                starts.append(offset + match.start())
                ends.append(offset + match.end())
        else:
            keys.append(line)
            starts.append(offset)
            ends.append(offset + len(line))
        offset += len(line) + 1
