"""The laws of the design as properties over drawn conversations: nothing is lost, split, over budget or made larger."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import threadline
from threadline import transcript
from threadline.compat import nous
from threadline.compat.contextray import optimize_context
from threadline.errors import ContextBudgetExceededError, InvalidInputError, ThreadlineError

from .conversations import (
    LAW,
    POOL,
    ROOMY,
    drawn,
    fit_or_none,
    floor_of,
    inserted,
    json_copy,
    measure,
    reported,
    stored,
    violations,
    working_day,
)
from .dialects import Drawn
from .judge import DIALECTS, Dialect, frozen, loose_ends, signed_blocks

pressures = st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.9, 1.0, 2.0])
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def budget_of(conversation: Any, pressure: float, dialect: Dialect) -> int:
    """A budget between the least that is possible (0) and what the conversation costs (1)."""
    floor = floor_of(conversation, dialect)
    return floor + int(pressure * (measure(conversation, dialect) - floor))


# --- conservation


@LAW
@given(drawn(), pressures)
def test_every_list_is_restored_exactly_after_a_restart(conversation: Drawn, pressure: float):
    messages, dialect = conversation.messages, conversation.dialect
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, pressure, dialect), dialect=dialect)
    assert fitted.restore() == messages
    restored = threadline.restore(json_copy(fitted.messages), stored(fitted.elisions))
    assert frozen(restored) == frozen(messages)


@LAW
@given(drawn(), pressures)
def test_every_body_is_restored_exactly_after_a_restart(conversation: Drawn, pressure: float):
    body, dialect = conversation.body, conversation.dialect
    fitted = threadline.fit(body, max_input_tokens=budget_of(body, pressure, dialect), dialect=dialect)
    assert frozen(fitted.restore()) == frozen(body)
    assert frozen(threadline.restore(json_copy(fitted.body), stored(fitted.elisions))) == frozen(body)
    changed = {key for key in body if frozen(body[key]) != frozen(fitted.body[key])}
    assert changed <= {"messages", "input", "contents"}
    assert list(fitted.body) == list(body)


@LAW
@given(drawn(), pressures)
def test_what_is_handed_over_is_never_changed(conversation: Drawn, pressure: float):
    before = frozen(conversation)
    budget = budget_of(conversation.messages, pressure, conversation.dialect)
    threadline.fit(conversation.messages, max_input_tokens=budget, dialect=conversation.dialect)
    transcript.compact(conversation.messages, 2)
    transcript.repair(conversation.messages)
    transcript.prune_tool_results(conversation.messages, 50)
    assert frozen(conversation) == before


@every_dialect
def test_a_view_that_was_tampered_with_is_not_restored_into_something_else(dialect: Dialect):
    messages = working_day(dialect).messages * 2
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, 0.2, dialect), dialect=dialect)
    view = json_copy(fitted.messages)
    changed = [n for n, message in enumerate(view) if message not in messages]
    assert changed
    view[changed[-1]] = {"role": "user", "content": "forged"}
    with pytest.raises(ThreadlineError):
        threadline.restore(view, fitted.elisions)
    with pytest.raises(ThreadlineError):
        threadline.restore(fitted.messages[:1], fitted.elisions)


# --- atoms


@LAW
@given(drawn(dialects=["openai", "responses", "anthropic", "google"]), pressures)
def test_no_budget_parts_a_call_from_its_result(conversation: Drawn, pressure: float):
    messages, dialect = conversation.messages, conversation.dialect
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, pressure, dialect), dialect=dialect)
    assert loose_ends(fitted.messages, dialect) <= loose_ends(messages, dialect)


@LAW
@given(drawn(dialects=["openai", "responses", "anthropic", "google"]), st.integers(1, 12))
def test_no_keep_parts_a_call_from_its_result(conversation: Drawn, keep: int):
    messages, dialect = conversation.messages, conversation.dialect
    assert loose_ends(transcript.compact(messages, keep).messages, dialect) <= loose_ends(messages, dialect)


@LAW
@given(drawn(wild=False), pressures, st.integers(1, 12))
def test_a_conversation_a_provider_accepts_stays_one_it_accepts(conversation: Drawn, pressure: float, keep: int):
    messages, dialect = conversation.messages, conversation.dialect
    assume(not violations(messages, dialect))
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, pressure, dialect), dialect=dialect)
    assert not violations(fitted.messages, dialect)
    assert not violations(transcript.compact(messages, keep).messages, dialect)


@LAW
@given(drawn(dialects=["responses", "anthropic", "google"]), pressures, st.integers(1, 12))
def test_signed_thinking_leaves_unchanged_or_not_at_all(conversation: Drawn, pressure: float, keep: int):
    messages, dialect = conversation.messages, conversation.dialect
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, pressure, dialect), dialect=dialect)
    known = signed_blocks(messages)
    for view in (fitted.messages, transcript.compact(messages, keep).messages):
        left = iter(known)
        assert all(block in left for block in signed_blocks(view))


# --- budget


@LAW
@given(drawn(), st.integers(1, 4000))
def test_a_view_never_exceeds_its_budget_by_a_fresh_count(conversation: Drawn, budget: int):
    for value in (conversation.messages, conversation.body):
        fitted = fit_or_none(value, budget, conversation.dialect)
        if fitted is None:
            continue
        view = fitted.messages if value is conversation.messages else fitted.body
        assert fitted.tokens_after <= budget
        assert measure(view, conversation.dialect) == fitted.tokens_after


@LAW
@given(drawn(), st.integers(1, 400))
def test_a_refusal_says_what_is_needed_and_that_much_is_enough(conversation: Drawn, budget: int):
    messages, dialect = conversation.messages, conversation.dialect
    try:
        threadline.fit(messages, max_input_tokens=budget, dialect=dialect)
    except ContextBudgetExceededError as error:
        refusal = error
    else:
        return
    assert refusal.max_input_tokens == budget < refusal.required
    sizes = [tokens for _, tokens in refusal.parts]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == refusal.required
    assert threadline.fit(messages, max_input_tokens=refusal.required, dialect=dialect).tokens_after <= refusal.required


@LAW
@given(drawn())
def test_a_budget_that_all_fits_in_is_never_refused(conversation: Drawn):
    assume(not reported(transcript.repair(conversation.messages)))  # a mended conversation may cost more
    for value in (conversation.messages, conversation.body):
        cost = measure(value, conversation.dialect)
        assert threadline.fit(value, max_input_tokens=max(cost, 1), dialect=conversation.dialect).tokens_after <= cost


@pytest.mark.parametrize("budget", [0, -1, None, 1.5, "100"])
def test_a_budget_that_is_no_positive_whole_number_is_a_typed_error(budget: Any):
    with pytest.raises(InvalidInputError):
        threadline.fit([{"role": "user", "content": "hi"}], max_input_tokens=budget)


# --- never worse


@LAW
@given(drawn(), pressures)
def test_a_fit_is_never_larger_and_a_second_one_changes_nothing(conversation: Drawn, pressure: float):
    messages, dialect = conversation.messages, conversation.dialect
    budget = budget_of(messages, pressure, dialect)
    once = threadline.fit(messages, max_input_tokens=budget, dialect=dialect)
    # what a repair puts in is taken as it is; only a second fit sees it as any other message
    assume(not once.report.repairs)
    if not reported(transcript.repair(messages)):
        assert once.tokens_after <= once.tokens_before
    assert all(tokens >= 0 for tokens in once.by_fate.values())
    assert set(once.by_fate) <= set(threadline.Fate)
    twice = threadline.fit(once.messages, max_input_tokens=budget, dialect=dialect)
    assert frozen(twice.messages) == frozen(once.messages)
    assert all(x is y for x, y in zip(twice.messages, once.messages, strict=True))


@LAW
@given(drawn(), pressures)
def test_what_was_not_changed_is_the_very_same_object(conversation: Drawn, pressure: float):
    messages, dialect = conversation.messages, conversation.dialect
    fitted = threadline.fit(messages, max_input_tokens=budget_of(messages, pressure, dialect), dialect=dialect)
    known = {frozen(message) for message in messages}
    assert not [message for message in inserted(fitted.messages, messages) if frozen(message) in known]
    if not fitted.elisions:
        assert len(fitted.messages) == len(messages)


@every_dialect
def test_a_conversation_that_needs_nothing_comes_back_as_it_is(dialect: Dialect):
    day = working_day(dialect)
    fitted = threadline.fit(day.messages, max_input_tokens=ROOMY, dialect=dialect)
    assert all(x is y for x, y in zip(fitted.messages, day.messages, strict=True))
    assert not fitted.elisions
    assert fitted.tokens_after == fitted.tokens_before
    whole = threadline.fit(day.body, max_input_tokens=ROOMY, dialect=dialect)
    assert whole.body is day.body
    assert threadline.fit(day.messages, max_input_tokens=ROOMY, dialect=dialect).body is None


@LAW
@given(drawn(), st.integers(1, 10))
def test_compaction_never_grows_and_a_second_one_changes_nothing(conversation: Drawn, keep: int):
    messages, dialect = conversation.messages, conversation.dialect
    once = transcript.compact(messages, keep).messages
    assert measure(once, dialect) <= measure(messages, dialect)
    assert transcript.compact(once, keep).messages is once
    rules = [message for message in messages if message.get("role") in {"system", "developer"}]
    assert [message for message in once if message.get("role") in {"system", "developer"}] == rules
    assert len(inserted(once, messages)) <= 1


@LAW
@given(drawn(), st.sampled_from(["drop", "text"]))
def test_repair_leaves_no_loose_end_and_can_be_taken_back(conversation: Drawn, orphans: Any):
    dialect = conversation.dialect
    after = (
        {"role": "user", "parts": [{"text": "next"}]} if dialect == "google" else {"role": "user", "content": "next"}
    )
    messages = [*conversation.messages, after]  # so that no call is still waiting
    result = transcript.repair(messages, orphans=orphans)
    assert not loose_ends(result.messages, dialect)
    assert frozen(threadline.restore(json_copy(list(result.messages)), stored(result.decisions))) == frozen(messages)
    again = transcript.repair(result.messages, orphans=orphans)
    assert frozen(again.messages) == frozen(result.messages)
    assert not again.decisions


# --- the compatible face


OPTIONS: list[dict[str, Any]] = [
    {},
    {"marker": "silent"},
    {"keep": "latest"},
    {"fold": "edges"},
    {"min_chars": 8},
    {"marker": lambda _: "[*]", "min_chars": 4, "keep": "latest"},
]


_turns = st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.lists(st.sampled_from(POOL[:5])))


@LAW
@given(drawn(dialects=["plain", "openai"]), st.sampled_from(OPTIONS))
def test_optimize_context_keeps_every_message_and_only_shortens(conversation: Drawn, options: dict[str, Any]):
    messages = conversation.messages
    result = optimize_context(messages, **options)
    view, metrics = result["optimized_context"], result["metrics"]
    assert len(view) == len(messages)
    for out, message in zip(view, messages, strict=True):
        assert {**out, "content": 0} == {**message, "content": 0}
        assert len(frozen(out["content"])) <= len(frozen(message["content"]))
        assert out is message or frozen(out) != frozen(message)
    assert metrics["chars_saved"] == metrics["total_chars_in"] - metrics["total_chars_out"] >= 0
    assert bool(metrics["chars_saved"]) is (frozen(view) != frozen(messages))
    assert frozen(optimize_context(view, **options)["optimized_context"]) == frozen(view)


@LAW
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.lists(st.sampled_from(POOL[:5]))), max_size=9)
)
def test_every_paragraph_still_stands_once_in_its_role(turns: list[tuple[str, list[str]]]):
    messages = [{"role": role, "content": "\n\n".join(pieces)} for role, pieces in turns]
    for options in OPTIONS:
        view = optimize_context(messages, **options)["optimized_context"]
        for role, pieces in turns:
            said = "\n".join(message["content"] for message in view if message["role"] == role)
            assert all(piece in said for piece in pieces)


# --- determinism


_SCRIPT = """
import json, sys, threadline
from threadline import transcript
from threadline.compat import nous
from threadline.compat.contextray import optimize_context
out = []
for dialect, messages in json.load(open(sys.argv[1])):
    for share in (2, 4, 10**6):
        try:
            fitted = threadline.fit(messages, max_input_tokens=20_000 // share + 1500, dialect=dialect)
            out.append([fitted.messages, fitted.tokens_after, str(fitted.report), fitted.elisions.to_builtins()])
        except threadline.ContextBudgetExceededError as error:
            out.append(str(error))
    out.append(transcript.compact(messages, 3).messages)
    out.append(list(transcript.repair(messages).messages))
    if dialect in ("plain", "openai"):
        out.append(optimize_context(messages))
        out.append(nous.patch_dangling_tool_calls(messages))
sys.stdout.write(json.dumps(out))
"""


def test_another_hash_seed_gives_the_same_bytes(tmp_path: Path):  # row 73
    dice = random.Random(7)
    days: list[Any] = []
    for dialect in DIALECTS:
        messages = working_day(dialect, rounds=4, size=900).messages
        lost = dice.sample(range(len(messages)), 2)
        days.append([dialect, [message for n, message in enumerate(messages * 2) if n not in lost]])
    script, data = tmp_path / "run.py", tmp_path / "days.json"
    script.write_text(_SCRIPT)
    data.write_text(frozen(days))
    source = str(Path(threadline.__file__).parents[1])
    outputs: set[bytes] = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source}
        run = subprocess.run([sys.executable, script, data], env=environment, capture_output=True, check=False)
        assert run.returncode == 0, run.stderr.decode()
        outputs.add(run.stdout)
    assert len(outputs) == 1


@LAW
@given(drawn(), pressures)
def test_equal_input_gives_equal_output(conversation: Drawn, pressure: float):
    messages, dialect = conversation.messages, conversation.dialect
    budget = budget_of(messages, pressure, dialect)
    one = threadline.fit(messages, max_input_tokens=budget, dialect=dialect)
    other = threadline.fit(json_copy(messages), max_input_tokens=budget, dialect=dialect)
    assert frozen(one.messages) == frozen(other.messages)
    assert one.elisions.to_builtins() == other.elisions.to_builtins()
    assert nous.estimate_messages_tokens(messages) == nous.estimate_messages_tokens(json_copy(messages))
