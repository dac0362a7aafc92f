"""What happens to a message once, on arrival: its results are cut to their cap and what stood before is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from threadline.messages.elision import Elision, Source
from threadline.messages.fate import Fate
from threadline.messages.message import Message
from threadline.messages.parts import Path, TextPart, ToolResultPart
from threadline.transcript.cuts import Cut, compose, span_in_original, splice
from threadline.transcript.markers import Marker, cleared_marker, reference_marker
from threadline.transcript.policy import FitPolicy
from threadline.transcript.prune import prune_cuts
from threadline.transcript.repeats import Repeat, RepeatIndex
from threadline.transcript.summary import is_summary
from threadline.transcript.tables import table_cuts

__all__ = ["Arrivals", "ResultState", "TextMeasure", "holds_results"]

ResultState: TypeAlias = Literal["whole", "pressed", "cleared", "superseded"]
"""How much of a message's tool results is shown."""

_MIN_TOKENS_SAVED = 4
"""A repeat must save this much: joining text at both ends of a marker may cost a token or two."""

_SURELY_WORTH_CHARS = 2000


class TextMeasure(Protocol):
    """The one token measure, as far as texts go."""

    def texts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        ...


def holds_results(message: Message) -> bool:
    """True when the message shows what a tool gave back, in whatever role."""
    return message.origin == "observation" or any(isinstance(p, ToolResultPart) and not p.server for p in message.parts)


class Arrivals:
    """Admits messages in order, each once, against all that is visible so far.

    Args:
        policy: what to leave out.
        measure: counts tokens; None trusts characters (a marker is always shorter than what it stands for).
        cap: most tokens of one tool result; None for no cap.

    Attributes:
        below: True while messages are admitted from the last to the first, so that copies that stay come later.
    """

    def __init__(self, policy: FitPolicy, measure: TextMeasure | None, cap: int | None = None) -> None:
        self._policy = policy
        self._measure = measure
        self._cap = cap
        self.below = False
        self._indexes: dict[str, RepeatIndex] = {}
        self._earlier_cuts: dict[tuple[int, Path], list[Cut]] = {}

    def mark(self) -> dict[str, int]:
        """A point to come back to with `rewind`."""
        return {scope: len(index) for scope, index in self._indexes.items()}

    def rewind(self, mark: Mapping[str, int]) -> None:
        """Forget every message admitted since the mark."""
        for scope, index in self._indexes.items():
            while len(index) > mark.get(scope, 0):
                index.withdraw()

    def admit(self, index: int, message: Message, *, tokens: int, state: ResultState = "whole") -> list[Elision]:
        """What to leave out of a message.

        Args:
            index: its place in the original list.
            message: the original.
            tokens: what it costs; a message below the cap needs no closer look.
            state: how much of its results to show.
        """
        if message.role in ("system", "developer") or message.origin in ("summary", "repair") or is_summary(message):
            return []
        pinned = self._is_pinned(message)
        elisions: list[Elision] = []
        for part in message.parts:
            match part:
                case TextPart():
                    is_result = message.origin == "observation"
                    if is_result and not pinned and state in ("cleared", "superseded"):
                        elisions += _text_elisions(index, part, _clear(part.text, None, state))
                    else:
                        cap = self._cap_of(None, state) if is_result and not pinned else None
                        elisions += self._text(index, message.role, part, tokens, cap, pinned=pinned)
                case ToolResultPart(server=False):
                    held = pinned or part.name in self._policy.pinned_tools
                    if not held and state in ("cleared", "superseded"):
                        elisions += _cleared_result(index, message, part, state)
                        continue
                    cap = None if held else self._cap_of(part.name, state)
                    for text in part.parts:
                        if isinstance(text, TextPart):
                            elisions += self._text(index, "tool", text, tokens, cap, pinned=held)
                case _:
                    pass
        return elisions

    def _is_pinned(self, message: Message) -> bool:
        return self._policy.pinned is not None and self._policy.pinned(message)

    def _cap_of(self, tool: str | None, state: ResultState) -> int | None:
        if state == "pressed":
            return self._policy.pressed_tokens
        return self._policy.result_tokens.get(tool, self._cap) if tool is not None else self._cap

    def _text(
        self, index: int, scope: str, part: TextPart, tokens: int, cap: int | None, *, pinned: bool
    ) -> list[Elision]:
        policy = self._policy
        text = part.text
        cuts: list[Cut] = []
        if cap is not None and tokens > cap:
            cuts = self._capped(text, cap)
        if policy.tables and not pinned:
            cuts = compose(cuts, table_cuts(splice(text, cuts)))
        if policy.dedupe and scope in policy.dedupe_roles:
            found = self._without_repeats((index, part.path), scope, text, cuts)
            cuts = cuts if pinned else found
        if cuts and not splice(text, cuts).strip():
            return []  # blank text is refused by providers
        return _text_elisions(index, part, cuts)

    def _capped(self, text: str, cap: int) -> list[Cut]:
        if self._measure is None:
            return []
        (tokens,) = self._measure.texts([text])
        chars = len(text)
        cuts: list[Cut] = []
        while tokens > cap and chars > 1:  # characters per token differ along a text
            chars = min(chars - 1, int(chars * cap / tokens))
            cuts = prune_cuts(text, max(chars, 1), self._policy.keep_lines)
            (tokens,) = self._measure.texts([splice(text, cuts)])
        return cuts

    def _without_repeats(self, place: tuple[int, Path], scope: str, text: str, cuts: list[Cut]) -> list[Cut]:
        index = self._index(scope)
        view = splice(text, cuts)
        while True:
            edge = len(view) - len(view.lstrip()) if self._policy.fold == "edges" else 0
            fed = view.strip() if self._policy.fold == "edges" else view
            if cuts or edge:
                self._earlier_cuts[place] = compose(cuts, _edge_cut(edge))
            repeats, settled = index.feed(place, fed)
            found = self._cuts_for(repeats, fed, edge)
            if not found or (settled and self._policy.marker == "reference"):
                return compose(cuts, found)
            index.withdraw()  # what is left may form new repeats: look again
            cuts = compose(cuts, found)
            view = splice(text, cuts)

    def _index(self, scope: str) -> RepeatIndex:
        name = "all" if self._policy.across_roles else scope
        index = self._indexes.get(name)
        if index is None:
            index = self._indexes[name] = RepeatIndex(self._policy.min_chars)
        return index

    def _cuts_for(self, repeats: Sequence[Repeat], text: str, edge: int) -> list[Cut]:
        spans = [text[repeat.start : repeat.end] for repeat in repeats]
        markers = [
            reference_marker(
                Marker(text=span, lines=repeat.lines, numbers=repeat.numbers, below=self.below), self._policy.marker
            )
            for span, repeat in zip(spans, repeats, strict=True)
        ]
        worth = self._worth(spans, markers)
        return [
            Cut(
                start=repeat.start + edge,
                end=repeat.end + edge,
                replacement=marker,
                fate=Fate.DEDUPLICATED,
                sources=tuple(self._source(copy) for copy in repeat.copies),
            )
            for repeat, marker, is_worth in zip(repeats, markers, worth, strict=True)
            if is_worth
        ]

    def _worth(self, spans: Sequence[str], markers: Sequence[str]) -> list[bool]:
        shorter = [len(marker) < len(span) for span, marker in zip(spans, markers, strict=True)]
        if self._measure is None or not spans:
            return shorter
        tokens = self._measure.texts([*(span[:_SURELY_WORTH_CHARS] for span in spans), *markers])
        return [
            ok and before - after >= _MIN_TOKENS_SAVED
            for ok, before, after in zip(shorter, tokens, tokens[len(spans) :], strict=False)
        ]

    def _source(self, copy: Any) -> Source:
        message, path = copy.place
        start, end = span_in_original(self._earlier_cuts.get(copy.place, ()), copy.start, copy.end)
        return Source(message=message, path=path, start=start, end=end, shift=copy.shift)


def _edge_cut(edge: int) -> list[Cut]:
    return [Cut(start=0, end=edge, replacement="", fate=Fate.KEPT)] if edge else []


def _text_elisions(index: int, part: TextPart, cuts: Sequence[Cut]) -> list[Elision]:
    return [
        Elision(
            message=index,
            fate=cut.fate,
            path=part.path,
            start=cut.start,
            end=cut.end,
            original=part.text[cut.start : cut.end],
            replacement=cut.replacement,
            sources=cut.sources,
        )
        for cut in cuts
    ]


def _clear(text: str, tool: str | None, state: ResultState) -> list[Cut]:
    marker = cleared_marker(tool, superseded=state == "superseded")
    if len(marker) >= len(text):
        return []
    fate = Fate.SUPERSEDED if state == "superseded" else Fate.CLEARED
    return [Cut(start=0, end=len(text), replacement=marker, fate=fate)]


def _cleared_result(index: int, message: Message, part: ToolResultPart, state: ResultState) -> list[Elision]:
    """The first text becomes a marker; blocks behind it go, media too."""
    texts = [inner for inner in part.parts if isinstance(inner, TextPart)]
    if not texts:
        return []
    elisions = _text_elisions(index, texts[0], _clear(texts[0].text, part.name, state))
    fate = Fate.SUPERSEDED if state == "superseded" else Fate.CLEARED
    for inner in part.parts:
        block = _block_path(part, inner.path)
        if inner is not texts[0] and block is not None:
            original = message.wire
            for step in block:
                original = original[step]
            elisions.append(Elision(message=index, fate=fate, path=block, original=original))
    return elisions


def _block_path(part: ToolResultPart, path: Path) -> Path | None:
    """The list element of the result's own content that holds `path`, if it is one."""
    for depth in range(len(part.path) + 1, len(path) + 1):
        if isinstance(path[depth - 1], int):
            return path[:depth]
    return None
