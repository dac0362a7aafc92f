"""Every rule of every provider, broken once; and what a provider takes is not complained about."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given

from threadline.messages import Dialect, Rule, check_conversation, decode, detect_dialect

from .conversations import DIALECTS, body_of, conversations, written


def chat_call(*ids, **more):
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def chat_result(one="a"):
    return {"role": "tool", "tool_call_id": one, "content": "x"}


def use(*ids):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ids]}


def results(*ids, before=(), after=()):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "x"} for one in ids]
    return {"role": "user", "content": [*before, *blocks, *after]}


def text(value):
    return {"type": "text", "text": value}


def item_call(one="a", **more):
    return {"type": "function_call", "call_id": one, "name": "f", "arguments": "{}", **more}


def item_output(one="a"):
    return {"type": "function_call_output", "call_id": one, "output": "x"}


def google_call(*names):
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}} for name in names]}


def google_answer(*names):
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


HI = {"role": "user", "content": "hi"}
HO = {"role": "assistant", "content": "ho"}
G_HI = {"role": "user", "parts": [{"text": "hi"}]}
G_HO = {"role": "model", "parts": [{"text": "ho"}]}
REASONING = {"type": "reasoning", "id": "rs", "summary": []}

BROKEN: list[tuple[Dialect, list[dict], Rule, int | None]] = [
    ("openai", [HI, chat_result()], "orphan_result", 1),
    ("openai", [HI, chat_call("a")], "unanswered_call", 1),
    ("openai", [HI, chat_call("a"), HI, chat_result()], "result_not_adjacent", 3),
    ("openai", [HI, chat_call("a"), chat_result(), chat_result()], "duplicate_result", 3),
    ("openai", [HI, chat_call("a", "a"), chat_result(), chat_result()], "duplicate_call_id", 1),
    ("openai", [HI, {"role": "user", "content": None}], "empty_content", 1),
    ("openai", [HI, {"role": "assistant", "content": None}], "empty_content", 1),
    ("openai", [HI, {"role": "user", "content": []}], "empty_content", 1),
    ("openai", [HI, {"role": "assistant", "content": "x", "tool_calls": []}], "empty_content", 1),
    ("openai", [HI, chat_call("a"), {**chat_result(), "content": None}], "empty_content", 2),
    ("openai", [HI, {"role": "narrator", "content": "x"}], "unknown_role", 1),
    ("openai", [HI, chat_call("a"), {**chat_result(), "tool_call_id": ""}], "missing_id", 2),
    ("openai", [HI, chat_call(""), chat_result("")], "missing_id", 1),
    ("openai", [HI, {"role": "function", "content": "x"}], "missing_id", 1),
    ("plain", [HI, chat_result()], "orphan_result", 1),
    ("plain", [HI, {"role": "narrator", "content": "x"}], "unknown_role", 1),
    ("anthropic", [HI, results("a")], "orphan_result", 1),
    ("anthropic", [HI, use("a")], "unanswered_call", 1),
    ("anthropic", [HI, use("a"), HI, HO, results("a")], "result_not_adjacent", 4),
    ("anthropic", [HI, use("a"), results("a", before=[text("wait")])], "result_not_adjacent", 2),
    ("anthropic", [HI, use("a"), HI, results("a")], "result_not_adjacent", 3),
    ("anthropic", [HI, use("a"), results("a", "a")], "duplicate_result", 2),
    ("anthropic", [HI, use("a", "a"), results("a", "a")], "duplicate_call_id", 1),
    ("anthropic", [HI, use("a"), results("a"), use("a"), results("a")], "duplicate_call_id", 3),
    ("anthropic", [HI, {"role": "user", "content": ""}], "empty_content", 1),
    ("anthropic", [HI, {"role": "user", "content": []}], "empty_content", 1),
    ("anthropic", [HI, {"role": "assistant", "content": ""}, HI], "empty_content", 1),
    ("anthropic", [HI, {"role": "assistant", "content": " \n"}], "empty_content", 1),
    ("anthropic", [HI, {"role": "user", "content": [text("a"), text("")]}], "empty_content", 1),
    ("anthropic", [HO, HI], "first_message", 0),
    ("anthropic", [], "no_user_turn", None),
    ("anthropic", [HI, {"role": "tool", "content": "x"}], "unknown_role", 1),
    ("anthropic", [HI, use(""), results("")], "missing_id", 1),
    ("responses", [HI, item_output()], "orphan_result", 1),
    ("responses", [HI, item_call()], "unanswered_call", 1),
    ("responses", [HI, item_call(), item_output(), item_output()], "duplicate_result", 3),
    ("responses", [HI, item_call(), item_call(), item_output(), item_output()], "duplicate_call_id", 2),
    ("responses", [HI, item_call(""), item_output("")], "missing_id", 1),
    ("responses", [HI, {"role": "narrator", "content": "x"}], "unknown_role", 1),
    ("responses", [HI, REASONING], "reasoning_pair", 1),
    ("responses", [HI, REASONING, HI], "reasoning_pair", 1),
    ("responses", [HI, item_call(), REASONING, item_output()], "reasoning_pair", 2),
    ("google", [G_HI, google_answer("f")], "orphan_result", 1),
    ("google", [G_HI, google_call("f", "g"), google_answer("f")], "unanswered_call", 1),
    ("google", [G_HI, google_call("f"), G_HI, google_answer("f")], "result_not_adjacent", 3),
    ("google", [G_HI, {"role": "model", "parts": []}], "empty_content", 1),
    ("google", [G_HI, {"role": "model", "parts": [{"text": ""}]}], "empty_content", 1),
    ("google", [G_HO, G_HI], "first_message", 0),
    ("google", [G_HI, G_HO, google_call("f"), google_answer("f")], "alternation", 2),
    ("google", [], "no_user_turn", None),
    ("google", [G_HI, {"role": "function", "parts": [{"text": "x"}]}], "unknown_role", 1),
    ("google", [G_HI, google_call(""), google_answer("")], "missing_id", 1),
]


@pytest.mark.parametrize(("dialect", "wires", "rule", "index"), BROKEN)
def test_a_broken_rule_is_told_with_its_place(dialect, wires, rule, index):
    violations = check_conversation(decode(wires, dialect))

    assert (rule, index) in {(violation.rule, violation.index) for violation in violations}
    assert all(violation.reason for violation in violations)


@pytest.mark.parametrize(
    ("dialect", "wires", "rule", "index"),
    [case for case in BROKEN if case[2] not in ("missing_id", "unknown_role")],
)
def test_one_fault_is_told_once(dialect, wires, rule, index):
    found = check_conversation(decode(wires, dialect))

    assert {(violation.rule, violation.index) for violation in found} == {(rule, index)}


def test_every_rule_is_broken_here_once():
    assert {rule for _, _, rule, _ in BROKEN} == set(get_args(Rule))


@pytest.mark.parametrize(
    ("dialect", "wires"),
    [
        ("openai", []),
        ("openai", [HO]),
        ("openai", [{"role": "system", "content": ""}]),
        ("openai", [HI, HI, HO, HO]),
        ("openai", [HI, chat_call("a", "b"), chat_result("b"), chat_result("a")]),
        ("openai", [HI, chat_call("a"), chat_result(), chat_call("a"), chat_result()]),
        ("openai", [HI, {"role": "assistant", "content": None, "refusal": "no"}]),
        ("openai", [HI, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}]),
        ("openai", [{"role": "function", "name": "f", "content": "x"}]),
        ("anthropic", [HI, HI, HO, HO, HI]),
        ("anthropic", [HI, use("a"), results("a", after=[text("so?")])]),
        ("anthropic", [HI, use("a", "b"), results("a"), results("b")]),
        ("anthropic", [HI, use("a"), HO, results("a")]),
        ("anthropic", [HI, {"role": "assistant", "content": [text("\n"), *use("a")["content"]]}, results("a")]),
        ("anthropic", [HI, {"role": "assistant", "content": ""}]),
        ("anthropic", [HI, {"role": "system", "content": "from here on"}, HO]),
        ("anthropic", [HI, use("a"), {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]),
        ("responses", [HI, item_call(), HI, HO, item_output()]),
        ("responses", [HI, REASONING, item_call(), item_output()]),
        ("responses", [HI, REASONING, {"type": "message", "role": "assistant", "content": "ho"}]),
        ("responses", [{"type": "item_reference", "id": "fc_1"}, item_output()]),
        ("google", [G_HI, G_HI, G_HO, G_HO]),
        ("google", [{"parts": [{"text": "hi"}]}]),
        ("google", [G_HI, google_call("f", "f"), google_answer("f", "f")]),
        ("google", [G_HI, google_call("f"), google_answer("f"), google_call("f"), google_answer("f")]),
    ],
)
def test_what_a_provider_takes_is_no_violation(dialect, wires):
    assert check_conversation(decode(wires, dialect)) == ()


def test_a_stored_response_may_hold_the_call():
    body = {"model": "gpt-5", "previous_response_id": "resp_1", "input": [item_output()]}

    assert check_conversation(body) == ()


def test_a_result_before_its_call_is_none():
    found = check_conversation([HI, item_output(), item_call()])

    assert [(one.index, one.rule) for one in found] == [(1, "orphan_result"), (2, "unanswered_call")]


def test_blank_instructions_are_told_without_a_place():
    for system in ("  ", [text("")]):
        [violation] = check_conversation({"system": system, "messages": [HI]})
        assert (violation.index, violation.rule) == (None, "empty_content")


def test_another_provider_s_rules_can_be_asked_for():
    wires = [{"role": "system", "content": "s"}, HO, HI]

    assert check_conversation(wires) == ()
    assert [violation.rule for violation in check_conversation(wires, "anthropic")] == ["first_message"]


@given(conversations())
def test_a_sound_conversation_has_no_violations(events):
    for dialect in DIALECTS:
        wires = written(events, dialect)
        assert check_conversation(decode(wires, dialect)) == ()
        assert check_conversation(body_of(wires, dialect)) == ()


@given(conversations(min_size=2))
def test_a_call_without_its_results_is_always_told(events):
    for dialect in DIALECTS:
        kept = [
            message.wire for message in decode(written(events, dialect), dialect).messages if not message.tool_results
        ]
        calls = sum(len(event.calls) for event in events if hasattr(event, "calls"))
        found = check_conversation(decode(kept, dialect))
        assert sum(violation.rule == "unanswered_call" for violation in found) == calls


def test_the_dialect_is_found_out():
    assert detect_dialect([HI, use("a")]) == "anthropic"
    assert [violation.rule for violation in check_conversation([HI, use("a")])] == ["unanswered_call"]
