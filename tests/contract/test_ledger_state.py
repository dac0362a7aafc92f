"""A ledger taken down as data and set up again shows the same and decides the same from then on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.errors import ContextBudgetExceededError
from threadline.messages import Message, decode
from threadline.tokens import Measure
from threadline.transcript import FitPolicy
from threadline.transcript.compaction import relieve
from threadline.transcript.ledger import Ledger
from threadline.transcript.ledger_state import LedgerState, ledger_of, state_of, staying

from .conversations import LAW, drawn
from .dialects import Drawn

MEASURE = Measure()

policies = st.sampled_from(
    [
        FitPolicy(),
        FitPolicy(min_chars=16, tables=True),
        FitPolicy(marker="silent", min_chars=16),
        FitPolicy(fold="edges", across_roles=True),
        FitPolicy(keep="latest"),
        FitPolicy(orphans="drop", dead_after=2),
        FitPolicy(pinned_tools=frozenset({"look_up"})),
    ]
)


def through_json(state: LedgerState) -> LedgerState:
    return msgspec.convert(
        msgspec.json.decode(msgspec.json.encode(msgspec.to_builtins(state))), LedgerState, strict=False
    )


def step(ledger: Ledger, new: list[Message], budget: int) -> tuple[LedgerState, list[Message]] | None:
    """Admit and, where need be, compact: the state after it and the messages it is about; None when nothing fits."""
    ledger.admit(new)
    compacted = ledger.total > budget
    if compacted:
        try:
            relieve(ledger, budget)
        except ContextBudgetExceededError:
            return None
    keep = staying(ledger) if compacted else range(len(ledger.messages))
    state = state_of(ledger, list(keep), compacted=len(ledger.messages) if compacted else 0)
    return state, [ledger.messages[index] for index in keep]


def set_up(state: LedgerState, messages: list[Message], policy: FitPolicy, budget: int) -> Ledger:
    return ledger_of(state, messages, policy, MEASURE, fixed=10, cap=budget // 4)


def wires(ledger: Ledger) -> list[Any]:
    return [message.wire for message in ledger.view()]


@LAW
@given(drawn(), policies, st.integers(150, 1500), st.data())
def test_a_ledger_that_is_set_up_anew_before_each_batch_shows_what_one_shows_that_goes_on(
    conversation: Drawn, policy: FitPolicy, budget: int, data: Any
):
    messages = list(decode(conversation.messages, conversation.dialect).messages)
    warm = Ledger(policy, MEASURE, fixed=10, cap=budget // 4)
    state, held = LedgerState(), []
    while messages:
        size = data.draw(st.integers(1, len(messages)))
        batch, messages = messages[:size], messages[size:]
        cold = set_up(through_json(state), held, policy, budget)
        stepped = step(cold, batch, budget)
        same = step(warm, batch, budget)
        assert (stepped is None) == (same is None)
        if stepped is None or same is None:
            return
        state, held = stepped
        if same[0].compacted:
            warm = set_up(*same, policy, budget)
        assert wires(warm) == wires(cold) == wires(set_up(state, held, policy, budget))
        assert warm.total == cold.total == set_up(state, held, policy, budget).total


@pytest.mark.parametrize("change", [FitPolicy(dedupe=False), FitPolicy(min_chars=2000), FitPolicy(repair=False)])
@LAW
@given(conversation=drawn())
def test_a_view_does_not_change_when_it_is_set_up_under_another_policy(conversation: Drawn, change: FitPolicy):
    ledger = Ledger(FitPolicy(), MEASURE, fixed=10, cap=200)
    ledger.admit(decode(conversation.messages, conversation.dialect).messages)

    state = state_of(ledger, range(len(ledger.messages)), compacted=0)

    again = ledger_of(state, ledger.messages, change, MEASURE, fixed=10, cap=50)
    assert wires(again) == wires(ledger)
