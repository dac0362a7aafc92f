"""Finding text that stands before, exactly, at any offset: the index behind deduplication."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from itertools import compress
from operator import ne

from msgspec import Struct

from threadline.transcript.markers import holds_marker
from threadline.transcript.pieces import LONG_LINE, Pieces, split_pieces

__all__ = ["Copy", "Repeat", "RepeatIndex", "is_solid", "numbers_of"]

_ANCHOR_CHARS = 16
"""A repeated piece starts a match only from this length on: shorter ones repeat by chance (`}`, blank lines)."""

_MIN_SOLID = 38 / 64
"""Share of `min_chars` that must not be white space; below it a marker costs as much as the text (measured on code)."""

_HIDDEN = -1


class Copy(Struct, frozen=True, kw_only=True, gc=False):
    """An earlier span in the text that was added under `place`; `shift` is to be added to its line numbers."""

    place: Hashable
    start: int
    end: int
    shift: int = 0


class Repeat(Struct, frozen=True, kw_only=True, gc=False):
    """A span of a text that equals earlier spans, one after the other (`copies`).

    `lines` counts its whole lines, 0 for fragments; `numbers` are the first and last line number it carries itself.
    """

    start: int
    end: int
    copies: tuple[Copy, ...]
    lines: int
    numbers: tuple[int, int] | None = None


class RepeatIndex:
    """All visible text of one scope (a role, as a rule), and a search for what comes again.

    Cost is linear in the text fed, whatever the size of the index. Text found to repeat is not indexed: no copy is
    itself a repeat.

    Args:
        min_chars: shortest repeat worth finding, in code points.
    """

    def __init__(self, min_chars: int) -> None:
        self._min_chars = min_chars
        self._first: dict[str, int] = {}
        self._ids: list[int] = []
        self._bases: list[int] = []
        self._texts: list[tuple[Hashable, Pieces]] = []
        self._deferred: dict[str, Hashable] = {}

    def feed(self, place: Hashable, text: str) -> list[Repeat]:
        """Index a text and return its repeats, in order, not overlapping; it may refer to itself."""
        is_line = "\n" not in text and (len(text) < LONG_LINE or '":' not in text)
        if is_line and not self._texts and text not in self._deferred:
            self._deferred[text] = place  # of use only to a text of several pieces, which many chats never have
            return []
        if self._deferred:
            self._add_lines()
        pieces = split_pieces(text)
        keys = pieces.keys
        base = len(self._ids)
        known = len(self._first)
        row = list(map(self._first.setdefault, keys, range(base, base + len(keys))))
        is_new = len(self._first) - known == len(keys)
        self._bases.append(base)
        self._texts.append((place, pieces))
        self._ids += row
        self._ids.append(_HIDDEN)  # no run crosses the end of a text
        repeats = [] if is_new else self._match(pieces, row, base)
        pieces.keys = []
        return repeats

    def _add_lines(self) -> None:
        """Index the single lines that were put off."""
        for text, place in self._deferred.items():
            base = len(self._ids)
            self._bases.append(base)
            self._texts.append((place, Pieces(text, [])))
            self._ids += (self._first.setdefault(text, base), _HIDDEN)
        self._deferred.clear()

    def withdraw(self) -> None:
        """Take the text fed last out of the index again."""
        if self._deferred:
            self._deferred.popitem()
            return
        base = self._bases.pop()
        _, pieces = self._texts.pop()
        del self._ids[base:]
        for key in split_pieces(pieces.text).keys:
            if self._first.get(key, -1) >= base:
                del self._first[key]

    def _match(self, pieces: Pieces, row: list[int], base: int) -> list[Repeat]:
        keys = pieces.keys
        ids = self._ids
        marked = holds_marker(pieces.text)
        repeats: list[Repeat] = []
        floor = reached = 0
        for at in compress(range(len(row)), map(ne, row, range(base, base + len(row)))):
            if at < reached or len(keys[at]) < _ANCHOR_CHARS:
                continue
            source = row[at]
            length = self._run(row, at, source, base)
            back = 0
            while at - back > floor and source > back and ids[source - back - 1] == row[at - back - 1]:
                back += 1
            if marked:
                first = next((n for n in range(at, at - back - 1, -1) if holds_marker(keys[n])), at - back - 1) + 1
                last = next((n for n in range(at, at + length) if holds_marker(keys[n])), at + length)
            else:
                first, last = at - back, at + length
            reached = at + length
            if last - first < 4 and sum(map(len, keys[first:last])) + 4 < self._min_chars:
                continue
            repeat = self._repeat(pieces, first, last, source + first - at)
            if repeat is not None:
                repeats.append(repeat)
                floor = reached
                ids[base + first : base + last] = [_HIDDEN] * (last - first)
        return _joined(repeats, pieces.text)

    def _run(self, row: list[int], at: int, source: int, base: int) -> int:
        """How many pieces from `at` on equal those from `source` on: looks ahead in doubling steps, stops at itself."""
        limit = min(len(row) - at, base + at - source)
        ids = self._ids
        length = step = 1
        while length < limit:
            step = min(2 * step, limit - length)
            if ids[source + length : source + length + step] == row[at + length : at + length + step]:
                length += step
                continue
            while ids[source + length] == row[at + length]:
                length += 1
            break
        return length

    def _repeat(self, pieces: Pieces, first: int, last: int, source: int) -> Repeat | None:
        owner = bisect_right(self._bases, source) - 1
        place, earlier = self._texts[owner]
        source -= self._bases[owner]
        shift = 0
        if pieces.numbered is not None or earlier.numbered is not None:
            shift, length = _common_shift(earlier, source, pieces, first, last - first)
            last = first + length
        text = pieces.text
        start, end = pieces.span(first, last)
        if end - start < self._min_chars:
            return None
        earlier_start, earlier_end = earlier.span(source, source + last - first)
        span = text[start:end]
        if not shift and span != earlier.text[earlier_start:earlier_end]:
            return None  # same pieces, other separators: not the same text
        if not is_solid(span, self._min_chars):
            return None
        is_line = start == 0 or text[start - 1] == "\n"
        return Repeat(
            start=start,
            end=end,
            copies=(Copy(place=place, start=earlier_start, end=earlier_end, shift=shift),),
            lines=span.count("\n") + 1 if is_line else 0,
            numbers=pieces.numbers(first, last),
        )


def is_solid(text: str, min_chars: int) -> bool:
    """Whether a text has enough in it, besides white space, to be worth a marker."""
    blank = text.count(" ") + text.count("\n") + text.count("\t") + text.count("\r")
    return len(text) - blank >= _MIN_SOLID * min_chars


def numbers_of(text: str) -> tuple[int, int] | None:
    """The first and last line number that a text carries."""
    pieces = split_pieces(text)
    return pieces.numbers(0, len(pieces.keys))


def _joined(repeats: list[Repeat], text: str) -> list[Repeat]:
    """Repeats that follow one another without anything visible between them become one."""
    out: list[Repeat] = []
    for repeat in repeats:
        gap = repeat.start - out[-1].end if out else 2
        if gap == 0 or (gap == 1 and text[repeat.start - 1] == "\n"):
            last = out.pop()
            numbers = last.numbers and repeat.numbers and (last.numbers[0], repeat.numbers[1])
            lines = last.lines + repeat.lines if gap else max(last.lines, repeat.lines)
            out.append(
                Repeat(
                    start=last.start, end=repeat.end, copies=last.copies + repeat.copies, lines=lines, numbers=numbers
                )
            )
        else:
            out.append(repeat)
    return out


def _common_shift(earlier: Pieces, at: int, later: Pieces, first: int, length: int) -> tuple[int, int]:
    """The shift of line numbers that holds from the first piece on, and for how many pieces it does."""
    if earlier.numbered is None or later.numbered is None:
        return 0, length  # the text comparison decides
    shift: int | None = None
    step = 0
    while step < length:
        old, old_end = earlier.number(at + step)
        new, new_end = later.number(first + step)
        if old is None or new is None:
            if old is not new:
                return shift or 0, max(step, 1)
        elif shift is None:
            shift = new - old
        elif new - old != shift:
            return shift, step
        step = min(old_end - at, new_end - first)
    return shift or 0, length
