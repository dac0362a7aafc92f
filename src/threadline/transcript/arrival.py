"""What happens to a message once, on arrival: its results are cut to their cap and what stood before is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from threadline.messages.elision import Elision, by_path
from threadline.messages.fate import Fate
from threadline.messages.message import Message
from threadline.messages.parts import Path, TextPart, ToolResultPart
from threadline.messages.wire import get_at
from threadline.transcript.cuts import Cut, compose, splice
from threadline.transcript.dedupe import Deduper, TextMeasure
from threadline.transcript.markers import cleared_marker
from threadline.transcript.policy import FitPolicy
from threadline.transcript.prune import prune_cuts
from threadline.transcript.repair import is_orphan_text
from threadline.transcript.summary import is_summary
from threadline.transcript.tables import table_cuts

__all__ = ["Arrivals", "ResultState", "holds_results"]

ResultState: TypeAlias = Literal["whole", "pressed", "cleared", "superseded"]
"""How much of a message's tool results is shown."""


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
        deduper: what is visible so far.
    """

    def __init__(self, policy: FitPolicy, measure: TextMeasure | None, cap: int | None = None) -> None:
        self._policy = policy
        self._measure = measure
        self._cap = cap
        self.deduper = Deduper(policy, measure)

    def close(self) -> None:
        """Forget what is visible, which is a lot: nothing more will arrive."""
        self.deduper = Deduper(self._policy, self._measure)

    def admit(self, index: int, message: Message, *, tokens: int, state: ResultState = "whole") -> list[Elision]:
        """What to leave out of a message.

        Args:
            index: its place in the original list.
            message: the original.
            tokens: what it costs; a message below the cap needs no closer look.
            state: how much of its results to show.
        """
        if message.role in ("system", "developer") or is_summary(message) or is_orphan_text(message):
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
                    texts = [inner for inner in part.parts if isinstance(inner, TextPart)]
                    for text, share in zip(texts, self._shares(texts, tokens, cap), strict=True):
                        elisions += self._text(index, "tool", text, tokens, share, pinned=held)
                case _:
                    pass
        return elisions

    def recall(self, index: int, message: Message, elisions: Sequence[Elision]) -> None:
        """Know a message again that was admitted before, by what was left out of it then."""
        if message.role in ("system", "developer") or is_summary(message) or is_orphan_text(message):
            return
        at_path = by_path(elisions)
        for part in message.parts:
            match part:
                case TextPart():
                    self._recall(index, message.role, part, at_path)
                case ToolResultPart(server=False):
                    for inner in part.parts:
                        if isinstance(inner, TextPart):
                            self._recall(index, "tool", inner, at_path)
                case _:
                    pass

    def _recall(self, index: int, scope: str, part: TextPart, at_path: dict[Path, list[Elision]]) -> None:
        if any(path and path == part.path[: len(path)] and of[0].start is None for path, of in at_path.items()):
            return  # went with its block
        cuts = [
            Cut(start=e.start or 0, end=e.end or 0, replacement=e.replacement, fate=e.fate, sources=e.sources)
            for e in at_path.get(part.path, ())
        ]
        if not any(cut.fate in (Fate.CLEARED, Fate.SUPERSEDED) for cut in cuts):
            self.deduper.recall(index, part.path, scope, part.text, cuts)

    def _is_pinned(self, message: Message) -> bool:
        return self._policy.pinned is not None and self._policy.pinned(message)

    def _cap_of(self, tool: str | None, state: ResultState) -> int | None:
        cap = self._policy.result_tokens.get(tool, self._cap) if tool is not None else self._cap
        if state == "pressed":
            return self._policy.pressed_tokens if cap is None else min(self._policy.pressed_tokens, cap)
        return cap

    def _shares(self, texts: Sequence[TextPart], tokens: int, cap: int | None) -> list[int | None]:
        """The cap of each text of one result: short ones stay whole, the longer ones share what those leave."""
        if cap is None or len(texts) < 2 or tokens <= cap or self._measure is None:
            return [cap] * len(texts)
        costs = self._measure.texts([part.text for part in texts])
        shares: dict[int, int] = {}
        for waiting, at in enumerate(sorted(range(len(texts)), key=costs.__getitem__)):
            shares[at] = min(costs[at], max(1, (cap - sum(shares.values())) // (len(texts) - waiting)))
        return [shares[at] for at in range(len(texts))]

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
        found = self.deduper.cuts(index, part.path, scope, text, cuts)
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


def _text_elisions(index: int, part: TextPart, cuts: Sequence[Cut]) -> list[Elision]:
    return [
        Elision(
            message=index,
            fate=cut.fate,
            path=part.path,
            start=cut.start,
            end=cut.end,
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
            elisions.append(Elision(message=index, fate=fate, path=block, original=get_at(message.wire, block)))
    return elisions


def _block_path(part: ToolResultPart, path: Path) -> Path | None:
    """The list element of the result's own content that holds `path`, if it is one."""
    for depth in range(len(part.path) + 1, len(path) + 1):
        if isinstance(path[depth - 1], int):
            return path[:depth]
    return None
