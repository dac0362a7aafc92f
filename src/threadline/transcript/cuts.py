"""`Cut`: a span of a text and what stands in its place; and the arithmetic of cuts upon cuts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct, structs

from threadline.messages.elision import Source
from threadline.messages.fate import Fate

__all__ = ["Cut", "Origins", "compose", "splice"]


class Cut(Struct, frozen=True, kw_only=True, gc=False):
    """Replace `text[start:end]` (code points) by `replacement`. Cuts of one text are sorted and do not overlap."""

    start: int
    end: int
    replacement: str
    fate: Fate
    sources: tuple[Source, ...] = ()


def splice(text: str, cuts: Sequence[Cut]) -> str:
    """The text with every cut made."""
    if not cuts:
        return text
    out: list[str] = []
    at = 0
    for cut in cuts:
        out += (text[at : cut.start], cut.replacement)
        at = cut.end
    out.append(text[at:])
    return "".join(out)


def compose(first: Sequence[Cut], second: Sequence[Cut]) -> list[Cut]:
    """One list of cuts on the original for `second` made on the outcome of `first`.

    Cuts of `second` that touch a replacement of `first` become one cut with it: what they left of it stays. Such a cut
    names no sources, since what it replaces stands nowhere else as it is.
    """
    if not first or not second:
        return list(first or second)
    out: list[Cut] = []
    shift = 0  # a position in the original minus the same in the view
    at = number = 0
    while at < len(first) or number < len(second):
        old = first[at] if at < len(first) else None
        new = second[number] if number < len(second) else None
        if old is not None and (new is None or old.start - shift + len(old.replacement) <= new.start):
            out.append(old)
            shift += _growth(old)
            at += 1
        elif new is not None and (old is None or new.end <= old.start - shift):
            out.append(structs.replace(new, start=new.start + shift, end=new.end + shift))
            number += 1
        elif old is not None and new is not None:
            cluster = _Cluster(shift, min(old.start - shift, new.start))
            at, number = cluster.gather(first, at, second, number)
            out.append(cluster.cut())
            shift = cluster.shift
    return out


class _Cluster:
    """Cuts of both lists that overlap one another, in the coordinates of the view between them."""

    def __init__(self, shift: int, start: int) -> None:
        self.shift = shift
        self._original_start = start + shift
        self._start = self._end = start
        self._old: list[tuple[int, str]] = []
        self._new: list[Cut] = []

    def gather(self, first: Sequence[Cut], at: int, second: Sequence[Cut], number: int) -> tuple[int, int]:
        while True:
            if at < len(first) and (first[at].start - self.shift < self._end or not self._old):
                start = first[at].start - self.shift
                self._old.append((start, first[at].replacement))
                self._end = max(self._end, start + len(first[at].replacement))
                self.shift += _growth(first[at])
                at += 1
            elif number < len(second) and (second[number].start < self._end or not self._new):
                self._new.append(second[number])
                self._end = max(self._end, second[number].end)
                number += 1
            else:
                return at, number

    def cut(self) -> Cut:
        left: list[str] = []
        at = self._start
        for new in self._new:
            left += (self._view(at, new.start), new.replacement)
            at = new.end
        left.append(self._view(at, self._end))
        end = self._end + self.shift
        return Cut(start=self._original_start, end=end, replacement="".join(left), fate=self._new[0].fate)

    def _view(self, start: int, end: int) -> str:
        """What the view shows in a span that no cut of the second list covers: replacements of the first."""
        return "".join(text[max(0, start - place) : max(0, end - place)] for place, text in self._old)


class Origins:
    """Where spans of the outcome of cuts came from; each look-up takes the logarithm of their number."""

    def __init__(self, cuts: Sequence[Cut]) -> None:
        self._cuts = cuts
        self._starts: list[int] = []  # of the replacements, in the outcome
        self._shifts = [0]  # before each cut, a position in the original minus the same in the outcome
        for cut in cuts:
            self._starts.append(cut.start - self._shifts[-1])
            self._shifts.append(self._shifts[-1] + _growth(cut))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span in the original; a replacement it touches counts as all that it replaced."""
        first = bisect_right(self._starts, start)
        last = bisect_left(self._starts, end)
        return self._place(start, first, is_end=False), self._place(end, last, is_end=True)

    def _place(self, position: int, cut: int, *, is_end: bool) -> int:
        """`cut` is how many cuts begin before the position."""
        if cut and position < self._starts[cut - 1] + len(self._cuts[cut - 1].replacement):
            return self._cuts[cut - 1].end if is_end else self._cuts[cut - 1].start
        return position + self._shifts[cut]


def _growth(cut: Cut) -> int:
    return cut.end - cut.start - len(cut.replacement)
