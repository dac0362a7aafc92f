"""`Ledger`: a conversation, what is shown of it and what that costs; the state under `fit` and `Fitter`."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from msgspec import Struct, structs

from threadline.messages.elision import Decisions, Elision, Insertion, edited
from threadline.messages.fate import Fate
from threadline.messages.groups import Grouper
from threadline.messages.message import Dialect, Message
from threadline.tokens import Measure
from threadline.transcript.arrival import Arrivals, ResultState
from threadline.transcript.policy import FitPolicy
from threadline.transcript.repair import Repair, Repairer
from threadline.transcript.summary import mark_summaries

__all__ = ["Ledger", "Mark", "Rendering"]


class Rendering(Struct, kw_only=True):
    """One way to show a set of messages: the text left out of each, what each then is and costs."""

    arrivals: Arrivals
    elisions: dict[int, list[Elision]]
    views: dict[int, Message]
    costs: dict[int, int]
    total: int = 0


class Mark(Struct, frozen=True, kw_only=True):
    """How far a ledger was at some moment."""

    messages: int
    batches: int
    repairs: int
    repaired: int
    total: int
    taken_out: int


class Ledger:
    """What was said, and what of it is shown.

    Attributes:
        messages: the originals; `own` what each costs.
        shown: places of the originals in view, ascending.
        elisions, views, costs: of those in view, what is left out of them, what they then are, what they then cost.
        states: how much of a message's results is shown, where not all.
        fates: of those out of view.
        settled: elisions that repairs made in a message.
        batches: where each batch of messages began.
        arrivals: what of the messages is known to be visible.
        repairs: inserted messages but the summary, with what each costs.
        summary: the rolling summary in view and what it costs.
        fixed: tokens of system, tools, format and overhead.

    Args:
        goes_on: whether messages are admitted more than once.
    """

    def __init__(
        self, policy: FitPolicy, measure: Measure, *, fixed: int, cap: int | None, goes_on: bool = True
    ) -> None:
        self.policy = policy
        self.measure = measure
        self.fixed = fixed
        self.cap = cap
        self._goes_on = goes_on
        self.messages: list[Message] = []
        self.own: list[int] = []
        self.shown: list[int] = []
        self.elisions: dict[int, list[Elision]] = {}
        self.views: dict[int, Message] = {}
        self.costs: dict[int, int] = {}
        self.states: dict[int, ResultState] = {}
        self.fates: dict[int, Fate] = {}
        self.settled: dict[int, list[Elision]] = {}
        self.repairs: list[tuple[Insertion, int]] = []
        self.summary: tuple[Insertion, int] | None = None
        self.batches: list[int] = []
        self._taken_out: list[tuple[int, int, list[Elision], Message | None]] = []
        self._repairer = Repairer(Grouper(policy.dead_after), policy.orphans)
        self.arrivals = Arrivals(policy, measure, cap)
        self.total = fixed

    @property
    def grouper(self) -> Grouper:
        """Which messages belong together."""
        return self._repairer.grouper

    @property
    def repaired(self) -> Sequence[Repair]:
        """Everything that was put right, in order."""
        return self._repairer.repairs

    def mark(self) -> Mark:
        """A point to come back to with `rewind`, as long as nothing is committed."""
        return Mark(
            messages=len(self.messages),
            batches=len(self.batches),
            repairs=len(self.repairs),
            repaired=len(self._repairer.repairs),
            total=self.total,
            taken_out=len(self._taken_out),
        )

    def rewind(self, mark: Mark) -> None:
        """Forget all that was admitted since the mark. Costs as much as reading everything again; failure is rare."""
        del self.messages[mark.messages :], self.own[mark.messages :]
        self.shown = [index for index in self.shown if index < mark.messages]
        del self.repairs[mark.repairs :], self._repairer.repairs[mark.repaired :], self.batches[mark.batches :]
        for of_message in (self.elisions, self.views, self.costs, self.fates, self.settled):
            for index in [index for index in of_message if index >= mark.messages]:
                del of_message[index]
        while len(self._taken_out) > mark.taken_out:
            index, cost, elisions, view = self._taken_out.pop()
            insort(self.shown, index)
            del self.fates[index], self.settled[index]
            self.costs[index] = cost
            if view is not None:
                self.elisions[index], self.views[index] = elisions, view
        self.total = mark.total
        seen = sorted({*self.shown, *(index for index, *_ in self._taken_out)})
        self.arrivals = self.render(seen).arrivals
        self._repairer.grouper = grouper = Grouper(self.policy.dead_after)
        for start, end in pairwise([*self.batches, mark.messages]):
            for message in self.messages[start:end]:
                grouper.feed(message)
            if self.policy.repair:
                grouper.dead_calls()

    def admit(self, messages: Sequence[Message], *, keep_latest: bool = False) -> None:
        """Take new messages: pair them, put right what is broken, leave out what stood before."""
        since = len(self.messages)
        messages = mark_summaries(messages, self.messages)
        self.batches.append(since)
        self.messages += messages
        self.own += self.measure.messages(messages)
        for message in messages:
            self.grouper.feed(message)
        new = range(since, len(self.messages))
        if self.policy.repair:
            self._settle(since)
        incoming = [index for index in new if index not in self.fates]
        rendering = self.render(incoming, arrivals=self.arrivals, keep_latest=keep_latest)
        self.shown += incoming
        self.elisions.update(rendering.elisions)
        self.views.update(rendering.views)
        self.costs.update(rendering.costs)
        self.total += rendering.total

    def _settle(self, since: int) -> None:
        elisions, insertions = self._repairer.settle(self.messages, since)
        for elision in elisions:
            self.settled.setdefault(elision.message, []).append(elision)
            if not elision.path:
                self.fates[elision.message] = elision.fate
                if elision.message < since:
                    self._take_out(elision.message)
        costs = self.measure.messages([insertion.message for insertion in insertions])
        self.repairs += zip(insertions, costs, strict=True)
        self.total += sum(costs)

    def _take_out(self, index: int) -> None:
        """A message shown before is replaced by a repair."""
        self.total -= self.costs[index]
        self._taken_out.append(
            (index, self.costs.pop(index), self.elisions.pop(index, []), self.views.pop(index, None))
        )
        self.shown.remove(index)

    def render(
        self,
        indices: Sequence[int],
        *,
        arrivals: Arrivals | None = None,
        states: Mapping[int, ResultState] | None = None,
        keep_latest: bool = False,
    ) -> Rendering:
        """Show the messages at `indices` (ascending) in this order, none shown before unless `arrivals` knows of it."""
        arrivals = Arrivals(self.policy, self.measure, self.cap) if arrivals is None else arrivals
        states = self.states if states is None else states
        arrivals.deduper.below = keep_latest
        elisions: dict[int, list[Elision]] = {}
        for index in reversed(indices) if keep_latest else indices:
            found = arrivals.admit(
                index, self.messages[index], tokens=self.own[index], state=states.get(index, "whole")
            )
            settled = self.settled.get(index)
            if settled:
                found = [e for e in found if not any(e.path[: len(s.path)] == s.path for s in settled)] + settled
            if found:
                elisions[index] = found
        arrivals.deduper.below = False
        if not self._goes_on:
            arrivals.close()
        views = {index: edited(self.messages[index], of_message) for index, of_message in elisions.items()}
        costs = {index: self.own[index] for index in indices}
        costs.update(zip(views, self.measure.messages(list(views.values())), strict=True))
        return Rendering(arrivals=arrivals, elisions=elisions, views=views, costs=costs, total=sum(costs.values()))

    def rendering(self) -> Rendering:
        """What is shown now."""
        total = sum(self.costs.values())
        return Rendering(
            arrivals=self.arrivals, elisions=self.elisions, views=self.views, costs=self.costs, total=total
        )

    def commit(
        self,
        dropped: AbstractSet[int],
        rendering: Rendering,
        states: Mapping[int, ResultState],
        summary: tuple[Insertion, int] | None,
    ) -> None:
        """Make a rendering what is shown; what is `dropped` went into the summary."""
        self.total = self.total_of(rendering, dropped, summary)
        self.repairs = self._staying(dropped)
        self.fates.update(dict.fromkeys(dropped, Fate.SUMMARISED))
        for index in self.settled:  # results that stood by a call, or for one, that is gone now
            links = self.grouper.links(index)
            if self.fates.get(index) is Fate.KEPT and all(
                link in dropped if link is not None else index < max(dropped, default=-1) for link in links
            ):
                self.fates[index] = Fate.SUMMARISED
        self.shown = [index for index in self.shown if index not in dropped]
        self.elisions, self.views, self.costs = rendering.elisions, rendering.views, rendering.costs
        self.arrivals = rendering.arrivals
        self._taken_out.clear()
        self.states = dict(states)
        self.summary = summary

    def adopt(self, dialect: Dialect) -> None:
        """Say of messages that any dialect could hold which one it is."""
        self.messages[:] = (structs.replace(message, dialect=dialect) for message in self.messages)
        self.views = {index: structs.replace(view, dialect=dialect) for index, view in self.views.items()}

    def bridge(self, bridges: Sequence[tuple[Insertion, int]]) -> None:
        """Put in what a provider needs between messages that a compaction brought together."""
        self.repairs = [*self.repairs, *bridges]
        self.total += sum(cost for _, cost in bridges)

    def total_of(self, rendering: Rendering, dropped: AbstractSet[int], summary: tuple[Insertion, int] | None) -> int:
        """What the request costs with this rendering."""
        repairs = sum(cost for _, cost in self._staying(dropped))
        return self.fixed + rendering.total + repairs + (summary[1] if summary else 0)

    def _staying(self, dropped: AbstractSet[int]) -> list[tuple[Insertion, int]]:
        """The inserted messages that stay: a call's with it, an orphan's text while nothing after it is dropped."""
        if not dropped:
            return self.repairs
        last = max(dropped)
        shown = set(self.shown)
        return [
            (insertion, cost)
            for insertion, cost in self.repairs
            if insertion.owner not in dropped and (insertion.owner in shown or (insertion.owner or 0) > last)
        ]

    def view(self) -> list[Message]:
        """What is shown, in order."""
        placed: dict[int, list[Message]] = {}
        for insertion in self.insertions():
            placed.setdefault(insertion.before, []).append(insertion.message)
        out: list[Message] = []
        places = sorted(placed)
        at = 0
        for index in self.shown:
            while at < len(places) and places[at] <= index:
                out += placed[places[at]]
                at += 1
            out.append(self.views.get(index) or self.messages[index])
        for place in places[at:]:
            out += placed[place]
        return out

    def insertions(self) -> tuple[Insertion, ...]:
        """All that was put in, by place."""
        inserted = [insertion for insertion, _ in self.repairs]
        if self.summary is not None:
            inserted.insert(0, self.summary[0])
        return tuple(sorted(inserted, key=lambda insertion: insertion.before))

    def decisions(self) -> Decisions:
        """All that was left out and put in, as data."""
        return Decisions(elisions=tuple(self.left_out()), insertions=self.insertions())

    def left_out(self) -> Iterator[Elision]:
        """All that was left out, by place, each with its original."""
        for index, message in enumerate(self.messages):
            fate = self.fates.get(index)
            if fate is not None:
                yield Elision(message=index, fate=fate, original=message.wire)
                continue
            for elision in sorted(self.elisions.get(index, ()), key=_place):
                yield elision.with_original(message.wire)


def _place(elision: Elision) -> tuple[tuple[str, ...], int]:
    return tuple(map(str, elision.path)), elision.start or 0
