"""`Cut`: a span of a text and what stands in its place; and the arithmetic of cuts upon cuts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from threadline.messages.elision import Source
from threadline.messages.fate import Fate

__all__ = ["Cut", "compose", "span_in_original", "splice"]


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

    A cut of `second` that touches a replacement of `first` takes it in: its own fate wins, what it left of the
    replacement stays.
    """
    if not first or not second:
        return list(first or second)
    out: list[Cut] = []
    index = 0
    shift = 0  # position in the original minus position in the view, behind the cuts passed so far
    for new in second:
        while index < len(first) and first[index].start - shift + len(first[index].replacement) <= new.start:
            out.append(first[index])
            shift += _growth(first[index])
            index += 1
        start, prefix = new.start + shift, ""
        end, suffix = new.end + shift, ""
        while index < len(first) and first[index].start - shift < new.end:
            old = first[index]
            view_start = old.start - shift
            view_end = view_start + len(old.replacement)
            if new.start > view_start:
                start, prefix = old.start, old.replacement[: new.start - view_start]
            shift += _growth(old)
            end, suffix = new.end + shift, ""
            if new.end < view_end:
                end, suffix = old.end, old.replacement[new.end - view_start :]
            index += 1
        out.append(
            Cut(start=start, end=end, replacement=prefix + new.replacement + suffix, fate=new.fate, sources=new.sources)
        )
    return out + list(first[index:])


def span_in_original(cuts: Sequence[Cut], start: int, end: int) -> tuple[int, int]:
    """Where a span of the outcome of `cuts` came from; a replacement it touches counts as all that it replaced."""
    return _in_original(cuts, start, is_end=False), _in_original(cuts, end, is_end=True)


def _in_original(cuts: Sequence[Cut], position: int, *, is_end: bool) -> int:
    shift = 0
    for cut in cuts:
        view_start = cut.start - shift
        if position < view_start + is_end:
            break
        if position < view_start + len(cut.replacement):
            return cut.end if is_end else cut.start
        shift += _growth(cut)
    return position + shift


def _growth(cut: Cut) -> int:
    return cut.end - cut.start - len(cut.replacement)
