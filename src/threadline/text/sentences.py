"""Where the sentences of a text begin and end, in any script."""

from __future__ import annotations

import re

from threadline.text.fences import fence_spans

__all__ = ["sentence_spans"]

_CLOSERS = "\"'\u2019\u201d\u00bb)\\]}*_\u300d\u300f\u3011\uff09\u300b"
_WIDE = "\u3002\uff01\uff1f\uff0e\uff61\u0964\u0965\u104b\u1362\u06d4\u061f"
"""Terminators that end a sentence whatever follows: ideographic, Devanagari, Myanmar, Ethiopic, Arabic."""

_END = re.compile(rf"[{_WIDE}]+[{_CLOSERS}]*|[.!?\u2026]+[{_CLOSERS}]*(?=\s|$)|\n+")
_ABBREVIATION = re.compile(
    # titles, Latin, companies, streets, times of day, months; and one letter alone: an initial, "e.g", "U.S"
    r"(?:\b(?:mr|mrs|ms|dr|prof|sr|jr|st|rev|hon|gen|col|sgt|capt|lt|vs|etc|cf|ca|approx|resp|inc|ltd|co|corp|nos|vol"
    r"|fig|eq|eds|dept|tel|ext|ave|blvd|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
    r"|bzw|usw|ggf|evtl|inkl|zzgl|nr|str|sra|srta|ud|uds|pág|г|гг|ул|д|кв|т|см|стр|руб|млн|млрд)"  # noqa: RUF001 - Cyrillic
    r"|(?:^|[^\w'\u2019])[^\W\d_]|\.[^\W\d_])$",
    re.IGNORECASE,
)
_ENDING = frozenset({"etc", "inc", "ltd", "corp", "usw", "a.m", "p.m"})
"""Abbreviations that often end a sentence: they do, before a capital letter."""

_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2013\u25cf>|#]+|\(?\d{1,3}[.)]|\(?[a-z]\))(?=\s)")
_WRAPPED_AT = 50
"""A line as long as this may have been broken by an editor; shorter ones were ended by the writer."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """`(start, end)` in code points of every sentence, in order, without white space and list marks around it.

    A line break ends a sentence, but for one inside a paragraph that was wrapped. Fenced code is none. A dot ends
    none after an abbreviation, after an initial, or before a lower-case letter.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for opened, closed in fence_spans(text):
        spans += _prose_spans(text, start, opened)
        start = closed
    return spans + _prose_spans(text, start, len(text))


def _prose_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = start
    for mark in _END.finditer(text, start, end):
        if _ends(text, at, mark, end):
            spans.append((at, mark.end()))
            at = mark.end()
    spans.append((at, end))
    trimmed = (_trimmed(text, *span) for span in spans)
    return [span for span in trimmed if any(map(str.isalnum, text[span[0] : span[1]]))]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while (item := _ITEM.match(text, start, end)) is not None:
        start = item.end()
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _ends(text: str, start: int, mark: re.Match[str], limit: int) -> bool:
    """True where a mark ends the sentence that began at `start`."""
    found = mark.group()
    following = text[mark.end() : limit].lstrip(" \t")[:1]
    if found[0] == "\n":
        line = text.rfind("\n", 0, mark.start()) + 1
        return len(found) > 1 or not following.islower() or mark.start() - line < _WRAPPED_AT
    if found[0] in _WIDE:
        return True
    if following.islower() and (found[0] in ".\u2026" or len(found) > 1 or found[-1] not in "!?"):
        return False
    if found[0] != "." or found.startswith(".."):
        return True
    before = text[max(start, mark.start() - 16) : mark.start()]
    if re.fullmatch(r"\s*[-*+(]?\s*\d{1,3}", text[start : mark.start()]):
        return False  # the number of a list item
    abbreviation = _ABBREVIATION.search(before)
    return abbreviation is None or (
        following.isupper() and before.casefold().endswith(tuple(_ENDING)) and not before.endswith(".")
    )
