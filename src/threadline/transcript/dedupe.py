"""Leaving out text that stands before, word for word; the same for every caller."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from typing import Any, Protocol, cast

from msgspec.structs import replace

from threadline.messages.elision import Source
from threadline.messages.fate import Fate
from threadline.messages.parts import Path
from threadline.transcript.cuts import Cut, Origins, compose, splice
from threadline.transcript.markers import Marker, holds_marker, reference_marker
from threadline.transcript.policy import FitPolicy
from threadline.transcript.repeats import Copy, Repeat, RepeatIndex, is_solid, numbers_of

__all__ = ["Deduper", "TextMeasure"]

_MIN_TOKENS_SAVED = 4
"""A repeat must save this much: joining text at both ends of a marker may cost a token or two."""

_UNKNOWN = "?"
_SURELY_WORTH_CHARS = 500
"""More of a repeat need not be counted, nor remembered by a counter."""


class TextMeasure(Protocol):
    """The one token measure, as far as texts go."""

    def texts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        ...


class Deduper:
    """Remembers what is visible and finds it again.

    Args:
        policy: whose text, how long, and what stands in its place.
        measure: counts tokens; None trusts characters (a marker is always shorter than what it stands for).

    Attributes:
        below: True while texts are given from the last to the first, so that copies that stay come later.
    """

    def __init__(self, policy: FitPolicy, measure: TextMeasure | None = None) -> None:
        self._policy = policy
        self._measure = measure
        self._roles = policy.dedupe_roles if policy.dedupe else frozenset[str]()
        self._looks_again = policy.fold == "edges" or policy.marker != "reference"
        self.below = False
        self._indexes: dict[str, RepeatIndex] = {}
        self._whole: defaultdict[str, dict[str, tuple[int, Path]]] = defaultdict(dict)
        self._markers: defaultdict[bool, dict[str, str | None]] = defaultdict(dict)
        self._origins: dict[tuple[int, Path], Origins] = {}

    def cuts(self, message: int, path: Path, scope: str, text: str, cuts: list[Cut]) -> list[Cut]:
        """Cuts of a text with its repeats cut out too.

        Args:
            message: the place of the text, which references name,
            path: down to the string.
            scope: whose text it is; only the same scope is searched, unless the policy looks across roles.
            text: the original.
            cuts: those made already.
        """
        if scope not in self._roles:
            return cuts
        scope = "all" if self._policy.across_roles else scope
        if not cuts and (place := self._whole[scope].get(text)) is not None:
            marker = self.marker_of(text)
            if marker is None:
                return []
            return [_whole_cut(text, marker, self._source(Copy(place=place, start=0, end=len(text))))]
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = RepeatIndex(self._policy.min_chars)
        place = (message, path)
        if cuts or self._looks_again:
            found = self._search(index, place, text, cuts)
        else:
            found = self._cuts_for(repeats, text, 0) if (repeats := index.feed(place, text)) else []
        if not found and len(text) >= self._policy.min_chars and not holds_marker(text):
            self._whole[scope][text] = place
        return found

    def recall(self, message: int, path: Path, scope: str, text: str, cuts: Sequence[Cut]) -> None:
        """Know a text again that was searched before, by the cuts that were made in it then."""
        if not self._policy.dedupe or scope not in self._policy.dedupe_roles:
            return
        scope = "all" if self._policy.across_roles else scope
        is_linked = self._policy.marker != "silent"  # a silent cut joins what is around it: only the rest was indexed
        before = [cut for cut in cuts if not (is_linked and cut.fate is Fate.DEDUPLICATED)]
        if not before and text in self._whole[scope]:
            return
        index = self._indexes.get(scope)
        if index is None:
            index = self._indexes[scope] = RepeatIndex(self._policy.min_chars)
        place = (message, path)
        index.feed(place, self._fed(place, splice(text, before), before)[0])
        if not cuts and len(text) >= self._policy.min_chars and not holds_marker(text):
            self._whole[scope][text] = place

    def known(self, scope: str) -> Container[str]:
        """The texts that stand as a whole, now and as more of them come."""
        return self._whole["all" if self._policy.across_roles else scope]

    def marker_of(self, text: str) -> str | None:
        """What stands for a text that is known as a whole; None when a marker is no gain."""
        markers = self._markers[self.below]
        marker = markers.get(text, _UNKNOWN)
        if marker is _UNKNOWN:
            marker = None
            if is_solid(text, self._policy.min_chars):
                about = Marker(text=text, lines=1, below=self.below)
                if "\n" in text:
                    about = replace(about, lines=text.count("\n") + 1, numbers=numbers_of(text))
                written = reference_marker(about, self._policy.marker)
                if len(written) < len(text) and (self._measure is None or self._worth([text], [written])[0]):
                    marker = written
            markers[text] = marker
        return marker

    def _search(self, index: RepeatIndex, place: tuple[int, Path], text: str, cuts: list[Cut]) -> list[Cut]:
        view = splice(text, cuts)
        while True:
            fed, edge = self._fed(place, view, cuts)
            repeats = index.feed(place, fed)
            found = self._cuts_for(repeats, fed, edge) if repeats else []
            if not found or self._policy.marker == "reference":
                return compose(cuts, found)
            index.withdraw()  # what is left may form new repeats: look again
            cuts = compose(cuts, found)
            view = splice(text, cuts)

    def _fed(self, place: tuple[int, Path], view: str, cuts: Sequence[Cut]) -> tuple[str, int]:
        """What is indexed of a text with cuts, and how many characters before it are not."""
        edge = len(view) - len(view.lstrip()) if self._policy.fold == "edges" else 0
        if cuts or edge:
            self._origins[place] = Origins(compose(list(cuts), _edge_cut(edge)))
        return (view.strip() if self._policy.fold == "edges" else view), edge

    def _cuts_for(self, repeats: Sequence[Repeat], text: str, edge: int) -> list[Cut]:
        spans = [text[repeat.start : repeat.end] for repeat in repeats]
        markers = [
            reference_marker(
                Marker(text=span, lines=repeat.lines, numbers=repeat.numbers, below=self.below), self._policy.marker
            )
            for span, repeat in zip(spans, repeats, strict=True)
        ]
        return [
            Cut(
                start=repeat.start + edge,
                end=repeat.end + edge,
                replacement=marker,
                fate=Fate.DEDUPLICATED,
                sources=tuple(self._source(copy) for copy in repeat.copies),
            )
            for repeat, marker, is_worth in zip(repeats, markers, self._worth(spans, markers), strict=True)
            if is_worth
        ]

    def _worth(self, spans: Sequence[str], markers: Sequence[str]) -> list[bool]:
        shorter = [len(marker) < len(span) for span, marker in zip(spans, markers, strict=True)]
        if self._measure is None:
            return shorter
        tokens = self._measure.texts([*(span[:_SURELY_WORTH_CHARS] for span in spans), *markers])
        return [
            ok and before - after >= _MIN_TOKENS_SAVED
            for ok, before, after in zip(shorter, tokens, tokens[len(spans) :], strict=False)
        ]

    def _source(self, copy: Copy) -> Source:
        place = cast("tuple[int, Any]", copy.place)
        origins = self._origins.get(place)
        start, end = origins.span(copy.start, copy.end) if origins else (copy.start, copy.end)
        return Source(message=place[0], path=place[1], start=start, end=end, shift=copy.shift)


def _whole_cut(text: str, marker: str, source: Source) -> Cut:
    return Cut(start=0, end=len(text), replacement=marker, fate=Fate.DEDUPLICATED, sources=(source,))


def _edge_cut(edge: int) -> list[Cut]:
    return [Cut(start=0, end=edge, replacement="", fate=Fate.KEPT)] if edge else []
