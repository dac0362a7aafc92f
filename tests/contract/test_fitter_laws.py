"""The laws for a conversation that grows: a stable prefix, hysteresis, references that resolve, harmless errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import threadline
from threadline.errors import ContextBudgetExceededError
from threadline.messages import decode

from .conversations import (
    LAW,
    ROOMY,
    P,
    Q,
    a,
    call,
    drawn,
    measure,
    prose,
    s,
    t,
    taken_back,
    u,
    users,
    working_day,
)
from .dialects import Drawn
from .judge import Dialect, frozen, loose_ends

every_dialect = pytest.mark.parametrize("dialect", ["plain", "openai", "responses", "anthropic", "google"])


def views(fitter: Any, messages: list[Any]) -> Iterator[list[str]]:
    """What the model would see after each message, spelt out."""
    for message in messages:
        fitter.append([message])
        yield [frozen(shown) for shown in fitter.messages]


def prefix_breaks(seen: list[list[str]]) -> list[int]:
    """The turns after which the view no longer extends the one before."""
    return [turn for turn, (before, after) in enumerate(pairwise(seen)) if after[: len(before)] != before]


def agent_day(rounds: int) -> list[dict[str, Any]]:
    """A user's task and many rounds of one call and one result, all texts unique."""
    messages: list[dict[str, Any]] = [s(prose(200, "rules")), u(prose(200, "task"))]
    for n in range(rounds):
        messages += [call(f"call_{n}", content=prose(100, f"plan-{n}")), t(prose(900, f"out-{n}"), f"call_{n}")]
    return messages


@LAW
@given(drawn(wild=False))
def test_without_pressure_every_view_extends_the_one_before(conversation: Drawn):
    fitter = threadline.Fitter(max_input_tokens=ROOMY, dialect=conversation.dialect)
    assert not prefix_breaks(list(views(fitter, conversation.messages)))
    assert len(fitter.messages) == len(conversation.messages)


@LAW
@given(drawn())
def test_a_view_that_does_not_extend_the_one_before_says_so(conversation: Drawn):
    fitter = threadline.Fitter(max_input_tokens=ROOMY, dialect=conversation.dialect)
    before: list[str] = []
    for message in conversation.messages:
        turn = fitter.append([message])
        shown = [frozen(shown) for shown in fitter.messages]
        assert turn.compacted or shown[: len(before)] == before
        before = shown


@LAW
@given(drawn(), st.integers(1, 4))
def test_every_turn_can_be_taken_back_to_everything_that_was_said(conversation: Drawn, step: int):
    fitter = threadline.Fitter(max_input_tokens=ROOMY, dialect=conversation.dialect)
    messages = conversation.messages
    for start in range(0, len(messages), step):
        fitter.append(messages[start : start + step])
        assert frozen(taken_back(fitter)) == frozen(messages[: start + step])


@LAW
@given(drawn(), st.integers(300, 6000))
def test_under_pressure_every_turn_is_within_budget_whole_and_restorable(conversation: Drawn, budget: int):
    messages, dialect = conversation.messages, conversation.dialect
    fitter = threadline.Fitter(max_input_tokens=budget, dialect=dialect)
    told: list[Any] = []
    before: list[str] = []
    for message in messages:
        try:
            turn = fitter.append([message])
        except ContextBudgetExceededError as error:
            refusal = error
            break
        told.append(message)
        assert fitter.tokens <= budget
        assert measure(fitter.messages, dialect) == fitter.tokens
        if dialect != "plain":
            assert loose_ends(fitter.messages, dialect) <= loose_ends(told, dialect)
        assert frozen(taken_back(fitter)) == frozen(told)
        shown = [frozen(message) for message in fitter.messages]
        assert turn.compacted or shown[: len(before)] == before
        before = shown
    else:
        return
    assert refusal.required > budget


@every_dialect
def test_a_fitter_that_fits_one_by_one_shows_what_one_fit_shows(dialect: Dialect):
    messages = working_day(dialect).messages
    fitter = threadline.Fitter(max_input_tokens=ROOMY, dialect=dialect)
    for message in messages:
        fitter.append([message])
    assert list(fitter.messages) == threadline.fit(messages, max_input_tokens=ROOMY, dialect=dialect).messages


def test_the_prefix_is_byte_identical_between_rare_compactions():  # D38, B22
    fitter = threadline.Fitter(max_input_tokens=6000)
    messages = agent_day(120)
    seen: list[list[str]] = []
    for start in range(2, len(messages), 2):
        fitter.append(messages[:4] if start == 2 else messages[start : start + 2])
        seen.append([frozen(shown) for shown in fitter.messages])
        assert fitter.tokens <= 6000
    breaks = prefix_breaks(seen)
    assert breaks, "the budget was never under pressure"
    assert len(breaks) <= len(seen) // 5, f"{len(breaks)} compactions in {len(seen)} turns"


def test_each_compaction_reclaims_something_worth_its_cost():  # B21
    fitter = threadline.Fitter(max_input_tokens=6000)
    messages = agent_day(120)
    fitter.append(messages[:2])
    before: list[str] = []
    for start in range(2, len(messages), 2):
        tokens = fitter.tokens
        fitter.append(messages[start : start + 2])
        after = [frozen(shown) for shown in fitter.messages]
        if after[: len(before)] != before:
            assert fitter.tokens < 0.9 * tokens
        before = after


def test_the_rules_and_the_task_stand_word_for_word_after_every_compaction():  # F53, F54
    fitter = threadline.Fitter(max_input_tokens=5000)
    messages = agent_day(120)
    fitter.append(messages[:2])
    for start in range(2, len(messages), 2):
        fitter.append(messages[start : start + 2])
        assert any(message is messages[0] for message in fitter.messages)
        assert any(message is messages[1] for message in fitter.messages)
        assert fitter.messages[-1]["tool_call_id"] == messages[start + 1]["tool_call_id"]


def test_a_reference_always_resolves_in_the_prompt_it_stands_in():  # E42, E43
    fitter = threadline.Fitter(max_input_tokens=4000)
    for n in range(80):
        result = "\n".join([prose(300, f"fresh-{n}"), P, prose(300, f"more-{n}")])
        task = [u(prose(150, "task"))] if n == 0 else []
        fitter.append([*task, call(f"call_{n}"), t(result, f"call_{n}")])
        shown = [message["content"] for message in fitter.messages if message["role"] == "tool"]
        if any(prose(300, f"fresh-{n}") in text and P not in text for text in shown):
            assert any(P in text for text in shown), f"turn {n} refers to text that is not there"


def test_a_pending_call_waits_through_every_compaction():  # A6, A8
    fitter = threadline.Fitter(max_input_tokens=4000)
    pending = call("late", "b", name="pay")
    fitter.append([*agent_day(10), pending, t(prose(12_000), "b")])
    assert any(message is pending for message in fitter.messages)
    fitter.append([t("paid", "late")])
    assert not loose_ends(fitter.messages, "openai")
    assert fitter.messages[-1]["content"] == "paid"


def test_a_message_that_cannot_fit_is_refused_once_and_the_past_stays():  # B19
    fitter = threadline.Fitter(max_input_tokens=2000)
    fitter.append(agent_day(2))
    before, tokens = frozen(list(fitter.messages)), fitter.tokens
    for _ in range(2):
        with pytest.raises(ContextBudgetExceededError) as raised:
            fitter.append([u(prose(60_000))])
        assert raised.value.required > 2000
        assert frozen(list(fitter.messages)) == before
        assert fitter.tokens == tokens
    fitter.append([a("still here")])
    assert fitter.messages[-1]["content"] == "still here"


def test_a_bad_message_is_refused_and_the_past_stays():
    fitter = threadline.Fitter(max_input_tokens=2000)
    fitter.append([u(P), a(Q)])
    with pytest.raises(threadline.InvalidInputError):
        fitter.append([u("fine"), {"role": "user", "content": 5}])
    assert [message["content"] for message in fitter.messages] == [P, Q]


BAD = [[5], [{"role": "user", "content": 5}], [u(prose(300_000, "huge"))], [call("x"), t(prose(300_000), "x"), 7]]


@LAW
@given(drawn(), st.lists(st.tuples(st.integers(0, 40), st.sampled_from(BAD)), min_size=1, max_size=4))
def test_a_refused_append_leaves_no_trace(conversation: Drawn, bad: list[Any]):
    quiet, bothered = (threadline.Fitter(max_input_tokens=40_000, dialect=conversation.dialect) for _ in range(2))
    for turn, message in enumerate(conversation.messages):
        for at, wrong in bad:
            if at == turn:
                with pytest.raises(threadline.ThreadlineError):
                    bothered.append([*conversation.messages[turn : turn + 2], *wrong])
        quiet.append([message])
        bothered.append([message])
    assert frozen(bothered.messages) == frozen(quiet.messages)
    assert bothered.tokens == quiet.tokens
    assert bothered.decisions.to_builtins() == quiet.decisions.to_builtins()


@LAW
@given(drawn())
def test_a_fitter_finds_out_the_dialect_as_one_fit_does(conversation: Drawn):
    if conversation.dialect == "google" or conversation.messages[:1] == []:
        return
    told = threadline.Fitter(max_input_tokens=ROOMY, dialect=threadline.detect_dialect(conversation.messages))
    finding = threadline.Fitter(max_input_tokens=ROOMY)
    for message in conversation.messages:
        told.append([message])
        finding.append([message])
    assert frozen(finding.messages) == frozen(told.messages)
    assert finding.tokens == told.tokens
    assert frozen(taken_back(finding)) == frozen(conversation.messages)


@every_dialect
def test_a_fitter_goes_on_where_a_body_ends(dialect: Dialect):
    day = working_day(dialect)
    key = next(key for key in ("messages", "input", "contents") if key in day.body)
    for cut in range(1, len(day.messages), 3):
        whole = threadline.Fitter(max_input_tokens=ROOMY, body={**day.body, key: []})
        parted = threadline.Fitter(max_input_tokens=ROOMY, body={**day.body, key: day.messages[:cut]})
        for message in day.messages:
            whole.append([message])
        for message in day.messages[cut:]:
            parted.append([message])
        assert frozen(parted.messages) == frozen(whole.messages)
        assert parted.tokens == whole.tokens


def test_messages_and_wire_objects_are_not_mixed():
    fitter = threadline.Fitter(max_input_tokens=ROOMY)
    fitter.append(list(decode([u(P)]).messages))
    with pytest.raises(threadline.InvalidInputError, match="one kind"):
        fitter.append([u(Q)])
    other = threadline.Fitter(max_input_tokens=ROOMY)
    other.append([u(P)])
    with pytest.raises(threadline.InvalidInputError, match="one kind"):
        other.append(list(decode([u(Q)]).messages))


def test_appending_costs_the_same_late_as_early():  # Fitter: O(new messages)
    def cost(fitter: Any, start: int) -> float:
        best = 1.0
        for n in range(start, start + 40):
            new = [u(prose(400, f"timed-{n}"))]
            began = time.process_time()
            fitter.append(new)
            best = min(best, time.process_time() - began)
        return best

    early = threadline.Fitter(max_input_tokens=ROOMY)
    early.append(users(200))
    late = threadline.Fitter(max_input_tokens=ROOMY)
    late.append(users(8000))
    assert cost(late, 10_000) < 4 * cost(early, 10_000) + 0.0005
