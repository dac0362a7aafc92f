"""`LedgerState`: a ledger as data. With the messages it is all it takes to go on as if it had never stopped."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, structs

from threadline.messages.elision import Elision, Insertion, by_message, edited
from threadline.messages.fate import Fate
from threadline.messages.message import Message
from threadline.messages.wire import get_at
from threadline.tokens import Measure
from threadline.transcript.arrival import ResultState
from threadline.transcript.ledger import Ledger
from threadline.transcript.policy import FitPolicy

__all__ = ["LedgerState", "ledger_of", "state_of", "staying"]


class LedgerState(Struct, frozen=True, kw_only=True):
    """What was decided about the messages of a ledger, each named by its place among them.

    Attributes:
        batches: where each batch began: a call that died between two is answered, whatever came later.
        elisions: what is left out of messages in view; `original` is None, it stands in the message.
        settled: those of them, and of messages out of view, that repairs made.
        states: how much of a message's results is shown, where not all.
        fates: of the messages out of view.
        repairs, summary: what was put in.
        compacted: how many messages, from the first, the last compaction showed.
    """

    batches: tuple[int, ...] = ()
    elisions: tuple[Elision, ...] = ()
    settled: tuple[Elision, ...] = ()
    states: dict[int, ResultState] = {}
    fates: dict[int, Fate] = {}
    repairs: tuple[Insertion, ...] = ()
    summary: Insertion | None = None
    compacted: int = 0


def staying(ledger: Ledger) -> list[int]:
    """The places of the messages that a ledger still needs: all but what went into the summary or was dropped."""
    owners = {insertion.owner for insertion, _ in ledger.repairs}
    return [
        index
        for index in range(len(ledger.messages))
        if index not in ledger.fates
        or index in owners
        or (ledger.fates[index] is Fate.KEPT)  # said elsewhere in the view
    ]


def state_of(ledger: Ledger, keep: Sequence[int], *, compacted: int) -> LedgerState:
    """A ledger as data, with its messages counted anew: those at `keep` (ascending) become 0, 1, 2..."""
    places = {index: place for place, index in enumerate(keep)}

    def moved(elision: Elision) -> Elision:
        sources = tuple(structs.replace(s, message=places[s.message]) for s in elision.sources if s.message in places)
        return structs.replace(elision, message=places[elision.message], sources=sources, original=None)

    def put(insertion: Insertion) -> Insertion:
        owner = None if insertion.owner is None else places.get(insertion.owner)
        return structs.replace(insertion, before=bisect_left(keep, insertion.before), owner=owner)

    return LedgerState(
        batches=tuple(dict.fromkeys(bisect_left(keep, start) for start in ledger.batches)),
        elisions=tuple(moved(e) for index in ledger.shown for e in ledger.elisions.get(index, ())),
        settled=tuple(moved(e) for index, of in ledger.settled.items() if index in places for e in of),
        states={places[index]: state for index, state in ledger.states.items() if index in places},
        fates={places[index]: fate for index, fate in ledger.fates.items() if index in places},
        repairs=tuple(put(insertion) for insertion, _ in ledger.repairs),
        summary=None if ledger.summary is None else put(ledger.summary[0]),
        compacted=bisect_left(keep, compacted),
    )


def ledger_of(
    state: LedgerState,
    messages: Sequence[Message],
    policy: FitPolicy,
    measure: Measure,
    *,
    fixed: int,
    cap: int | None,
) -> Ledger:
    """The ledger of a state; the view is the one that the state was taken of, whatever policy and measure are now."""
    ledger = Ledger(policy, measure, fixed=fixed, cap=cap)
    ledger.messages = list(messages)
    ledger.own = measure.messages(ledger.messages)
    ledger.batches = list(state.batches)
    for start, end in pairwise([*state.batches, len(messages)]):
        for message in messages[start:end]:
            ledger.grouper.feed(message)
        if policy.repair:
            ledger.grouper.dead_calls()
    ledger.fates = dict(state.fates)
    ledger.shown = [index for index in range(len(messages)) if index not in ledger.fates]
    ledger.states = dict(state.states)
    ledger.settled = {index: list(of) for index, of in by_message(_whole(state.settled, messages)).items()}
    ledger.elisions = {index: list(of) for index, of in by_message(_whole(state.elisions, messages)).items()}
    ledger.views = {index: edited(messages[index], of) for index, of in ledger.elisions.items()}
    ledger.costs = {index: ledger.own[index] for index in ledger.shown}
    ledger.costs.update(zip(ledger.views, measure.messages(list(ledger.views.values())), strict=True))
    ledger.repairs = _priced(state.repairs, measure)
    ledger.summary = None if state.summary is None else _priced([state.summary], measure)[0]
    added = sum(cost for _, cost in ledger.repairs) + (ledger.summary[1] if ledger.summary else 0)
    ledger.total = fixed + sum(ledger.costs.values()) + added
    _recall(ledger, state.compacted)
    return ledger


def _recall(ledger: Ledger, compacted: int) -> None:
    """Index what is visible, in the order in which it was."""
    latest = ledger.policy.keep == "latest"
    first = [index for index in ledger.shown if index < compacted]
    order = [*(reversed(first) if latest else first), *(index for index in ledger.shown if index >= compacted)]
    for index in order:
        ledger.arrivals.recall(index, ledger.messages[index], ledger.elisions.get(index, ()))


def _priced(insertions: Sequence[Insertion], measure: Measure) -> list[tuple[Insertion, int]]:
    costs = measure.messages([insertion.message for insertion in insertions])
    return list(zip(insertions, costs, strict=True))


def _whole(elisions: Sequence[Elision], messages: Sequence[Message]) -> list[Elision]:
    """The elisions with what they left out, read from the messages."""
    return [structs.replace(elision, original=_original(elision, messages[elision.message])) for elision in elisions]


def _original(elision: Elision, message: Message) -> Any:
    there = get_at(message.wire, elision.path) if elision.path else message.wire
    return there if elision.start is None else there[elision.start : elision.end]
