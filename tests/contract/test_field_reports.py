"""What users of other tools ran into, groups A to F of the field reports: each row as a test of its whole kind."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import threadline
from threadline import FitPolicy, transcript
from threadline.errors import ContextBudgetExceededError, LLMOutputError

from .conversations import (
    ROOMY,
    P,
    a,
    call,
    fit_or_none,
    floor_of,
    inserted,
    json_copy,
    measure,
    prose,
    s,
    stored,
    t,
    u,
    users,
    violations,
    working_day,
)
from .dialects import TOOL_SCHEMA, png
from .judge import Dialect, frozen, loose_ends, marks, signed_blocks, strings, text_of

every_dialect = pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "google"])


def views(messages: list[Any], dialect: Dialect, steps: int = 12) -> list[list[Any]]:
    """The conversation at budgets from the least possible to all of it, and at every keep."""
    floor, all_of_it = floor_of(messages, dialect), measure(messages, dialect)
    budgets = sorted({floor + (all_of_it - floor) * n // steps for n in range(steps + 1)})
    fitted = [fit_or_none(messages, budget, dialect) for budget in budgets]
    compacted = [transcript.compact(messages, keep).messages for keep in range(1, len(messages) + 1)]
    return [*(list(result.messages) for result in fitted if result), *compacted]


# --- A: pairs and shapes


def test_a_block_with_a_live_and_an_orphan_result_is_one_unit_at_every_cut():  # A1
    def use(i: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": i, "name": "look_up", "input": {}}

    def result(i: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": i, "content": prose(400, i)}

    messages = [
        *users(2),
        a([use("live_1")]),
        u([result("orphan"), result("live_1")]),
        a(prose(300, 1)),
        u(prose(300, 2)),
        a([use("live_2")]),
        u([result("live_2"), result("lost")]),
        a("ok"),
        u("and now?"),
    ]
    known = loose_ends(messages, "anthropic")
    for view in views(messages, "anthropic"):
        assert loose_ends(view, "anthropic") <= known
        holders = [message for message in view if any(mark.id == "orphan" for mark in marks(message, "anthropic"))]
        assert all(any(mark.id == "live_1" for mark in marks(holder, "anthropic")) for holder in holders)


@every_dialect
def test_no_tail_begins_with_a_result(dialect: Dialect):  # A2, A3, A4, A7
    day = working_day(dialect)
    for view in views(day.messages, dialect):
        assert not loose_ends(view, dialect)
        assert not violations(view, dialect)


@every_dialect
def test_a_cut_in_the_middle_of_a_run_keeps_the_open_exchange(dialect: Dialect):  # A8, A10
    day = working_day(dialect).messages
    first_result = next(n for n, m in enumerate(day) if any(mark.what == "result" for mark in marks(m, dialect)))
    last = {"openai": 1, "responses": 1, "anthropic": 0, "google": 0}[dialect]
    messages = [*day, *day[first_result - (2 if dialect == "responses" else 1) : first_result + last]]
    for view in views(messages, dialect):
        assert loose_ends(view, dialect) <= loose_ends(messages, dialect)
        calls = [mark.id for message in view[-4:] for mark in marks(message, dialect) if mark.what == "call"]
        assert {"call_0a", "call_0b"} <= set(calls)


def test_an_in_flight_call_is_pinned_at_every_budget():  # A6
    pending = call("paying", name="pay", arguments=json.dumps({"amount": 5}))
    messages = [*users(8), pending]
    for view in views(messages, "openai"):
        assert any(message is pending for message in view)


def test_a_session_compacted_after_a_crash_accepts_the_late_answer():  # A11
    messages = [*users(6), call("late")]
    for view in views(messages, "openai"):
        assert not loose_ends([*view, t("answer", "late")], "openai")


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "google"])
def test_thinking_is_byte_identical_or_gone_with_its_exchange(dialect: Dialect):  # A13
    messages = working_day(dialect).messages
    known = signed_blocks(messages)
    for view in views(messages, dialect):
        kept = signed_blocks(view)
        assert set(kept) <= set(known)
        calls = [mark for message in view for mark in marks(message, dialect) if mark.what == "call"]
        if dialect != "anthropic":  # where a call without its reasoning is refused; each exchange here has two calls
            assert 2 * len(kept) == len(calls)


def test_a_reasoning_item_and_what_follows_it_go_together():  # A14
    def reasoning(n: int) -> dict[str, Any]:
        return {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "c2VhbA==" * 9}

    def said(n: int) -> dict[str, Any]:
        content = [{"type": "output_text", "text": prose(400, n), "annotations": []}]
        return {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed", "content": content}

    messages = [m for n in range(8) for m in (u(prose(400, f"q{n}")), reasoning(n), said(n))] + [u("and?")]
    for view in views(messages, "responses"):
        ids = [item.get("id") for item in view]
        for n in range(8):
            assert (f"rs_{n}" in ids) == (f"msg_{n}" in ids)
            if f"rs_{n}" in ids:
                assert ids[ids.index(f"rs_{n}") + 1] == f"msg_{n}"


@every_dialect
def test_ids_survive_many_passes(dialect: Dialect):  # A16
    messages = view = working_day(dialect).messages
    known = {mark for message in messages for mark in marks(message, dialect)}
    for share in (0.9, 0.7, 0.5, 0.4):
        floor = floor_of(messages, dialect)
        budget = floor + int(share * (measure(messages, dialect) - floor))
        view = threadline.fit(view, max_input_tokens=budget, dialect=dialect).messages
        view = threadline.fit(json_copy(view), max_input_tokens=budget, dialect=dialect).messages
        assert {mark for message in view for mark in marks(message, dialect)} <= known
        assert not loose_ends(view, dialect)


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ("responses", {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VhbA==" * 20}),
        ("responses", {"type": "item_of_tomorrow", "payload": {"a": [1, None]}}),
        ("anthropic", a([{"type": "compaction", "content": "summary"}, {"type": "text", "text": "ok"}])),
        ("anthropic", a([{"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}])),
        ("openai", a("ok", annotations=[{"type": "url_citation"}], field_of_tomorrow={"x": 1})),
        ("google", {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}]}),
    ],
)
def test_a_block_of_an_unknown_kind_is_carried_along(dialect: Dialect, message: dict[str, Any]):  # A17, A18
    first = {"role": "user", "parts": [{"text": P}]} if dialect == "google" else u(P)
    messages = [first, message, first]
    fitted = threadline.fit(messages, max_input_tokens=ROOMY, dialect=dialect)
    assert fitted.messages[1] is message
    assert measure(messages, dialect) > measure([first, first], dialect)


# --- B: loops, overflow, failed summaries


def test_a_floor_over_the_budget_is_one_typed_error_that_names_the_parts():  # B19
    messages = [s(prose(8000, "rules")), *users(6), u(prose(4000, "last"))]
    with pytest.raises(ContextBudgetExceededError) as raised:
        threadline.fit(messages, max_input_tokens=1000)
    error = raised.value
    assert error.required > 1000
    assert error.max_input_tokens == 1000
    assert len(error.parts) >= 2
    assert prose(8000, "rules")[:30] not in str(error)
    assert str(error.required - 1000) in str(error)


def failing(*_: Any, **__: Any) -> str:
    raise RuntimeError("rate limit: SENTINEL")


@pytest.mark.parametrize("answer", ["", "   \n", None, 5, b"bytes"])
def test_an_empty_or_odd_summary_never_costs_history(answer: Any):  # B24, B25
    messages = users(12)
    before = frozen(messages)
    with pytest.raises(LLMOutputError, match="nothing was changed"):
        transcript.compact(messages, 3, policy=FitPolicy(summarise=lambda _: answer))
    assert frozen(messages) == before


def test_a_failing_summary_leaves_the_history_untouched():  # B24, B25
    messages = users(12)
    history = transcript.History(messages)
    version = history.version
    with pytest.raises(RuntimeError, match="rate limit"):
        transcript.compact(messages, 3, policy=FitPolicy(summarise=failing))

    async def main() -> None:
        await transcript.compact_async(history, 3, policy=FitPolicy(summarise=failing))

    with pytest.raises(RuntimeError, match="rate limit"):
        asyncio.run(main())
    assert history.messages == messages
    assert history.version == version


def test_a_failing_summary_leaves_a_fitter_as_it_was():  # B24, B25
    fitter = threadline.Fitter(max_input_tokens=1500, policy=FitPolicy(summarise=failing))
    fitter.append(users(10))
    before = frozen(fitter.messages)
    with pytest.raises(RuntimeError, match="rate limit"):
        fitter.append([u(prose(4000))])
    assert frozen(fitter.messages) == before


def test_an_endless_summary_is_cut_to_its_bound():  # B25
    messages = users(40)
    policy = FitPolicy(summarise=lambda _: "word " * 50_000, max_summary_tokens=300)
    view = transcript.compact(messages, 3, policy=policy).messages
    assert 200 < measure(inserted(view, messages)) <= 310
    assert measure(view) <= measure(messages)


def test_a_summary_alone_is_not_summarised_again():  # B27
    view = transcript.compact(users(12), 3).messages
    asked: list[Any] = []

    def summarise(*given: Any, **_: Any) -> str:
        asked.append(given)
        return "again"

    assert transcript.compact(view, 3, policy=FitPolicy(summarise=summarise)).messages is view
    assert not asked


@every_dialect
def test_what_was_cleared_stays_cleared_and_is_not_cleared_again(dialect: Dialect):  # B28, E47, E51
    messages = working_day(dialect).messages
    budget = (floor_of(messages, dialect) + measure(messages, dialect)) // 2
    once = threadline.fit(messages, max_input_tokens=budget, dialect=dialect)
    twice = threadline.fit(json_copy(once.messages), max_input_tokens=budget, dialect=dialect)
    assert twice.messages == once.messages
    assert not twice.elisions


# --- C: counting


def test_tools_and_system_are_part_of_the_count():  # C30
    tools = [
        {"type": "function", "function": {"name": f"tool_{n}", "description": prose(300, n), "parameters": TOOL_SCHEMA}}
        for n in range(10)
    ]
    messages = [u("hello")]
    bare = threadline.fit(messages, max_input_tokens=ROOMY).tokens_before
    armed = threadline.fit(messages, max_input_tokens=ROOMY, tools=tools).tokens_before
    body = threadline.fit(
        {"model": "gpt-4o", "messages": messages, "tools": tools}, max_input_tokens=ROOMY
    ).tokens_before
    assert armed > bare + 600
    assert body > bare + 600
    with pytest.raises(ContextBudgetExceededError):
        threadline.fit(messages, max_input_tokens=bare + 5, tools=tools)


@pytest.mark.parametrize(
    "rules",
    [
        {"system": prose(2000), "messages": [u("hello")], "model": "claude-sonnet-4-5", "max_tokens": 9},
        {
            "systemInstruction": {"parts": [{"text": prose(2000)}]},
            "contents": [{"role": "user", "parts": [{"text": "x"}]}],
        },
        {"instructions": prose(2000), "input": [u("hello")], "model": "gpt-4o"},
    ],
)
def test_rules_that_stand_apart_are_counted(rules: dict[str, Any]):  # C30, C35
    assert measure(rules) > 300
    with pytest.raises(ContextBudgetExceededError):
        threadline.fit(rules, max_input_tokens=200)


@pytest.mark.parametrize(
    ("dialect", "block"),
    [
        ("anthropic", {"type": "thinking", "thinking": prose(300), "signature": "c2ln"}),
        ("anthropic", {"type": "tool_use", "id": "x", "name": "look_up", "input": {"q": prose(300)}}),
        ("anthropic", {"type": "server_tool_use", "id": "y", "name": "web_search", "input": {"q": prose(300)}}),
        ("anthropic", {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": prose(300)}}),
        ("anthropic", {"type": "block_of_tomorrow", "text": prose(300)}),
        ("openai", {"type": "refusal", "refusal": prose(300)}),
    ],
)
def test_every_kind_of_block_costs_tokens(dialect: Dialect, block: dict[str, Any]):  # C31
    plain = [{"type": "text", "text": "ok"}]
    assert measure([u("go"), a([*plain, block])], dialect) > measure([u("go"), a(plain)], dialect) + 20


def images() -> list[tuple[Dialect, list[Any]]]:
    data = png(800, 600, 400_000)
    openai = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    source = {"type": "base64", "media_type": "image/png", "data": data}
    use = {"type": "tool_use", "id": "x", "name": "shot", "input": {}}
    inside = {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "image", "source": source}]}
    shot = {
        "functionResponse": {
            "name": "shot",
            "response": {},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}],
        }
    }
    return [
        ("openai", [u([openai])]),
        ("responses", [u([{"type": "input_image", "image_url": f"data:image/png;base64,{data}"}])]),
        ("anthropic", [u([{"type": "image", "source": source}])]),
        ("anthropic", [u("go"), a([use]), u([inside])]),
        ("google", [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}]),
        (
            "google",
            [
                {"role": "model", "parts": [{"functionCall": {"name": "shot", "args": {}}}]},
                {"role": "user", "parts": [shot]},
            ],
        ),
    ]


@pytest.mark.parametrize(("dialect", "messages"), images())
def test_base64_is_never_counted_as_text(dialect: Dialect, messages: list[Any]):  # C32
    assert 10 < measure(messages, dialect) < 6000


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("航班已经改签到明天上午九点座位在靠窗" * 20, 0.55),
        ("예약을 내일 아침으로 바꿔 주세요" * 20, 0.4),
        ("予約を明日の朝に変更してください" * 20, 0.5),
    ],
)
def test_scripts_without_spaces_are_not_undercounted(text: str, least: float):  # C34
    assert threadline.count_tokens(text) >= least * len(text)


# --- D: cache


@every_dialect
def test_tools_and_parameters_of_a_body_are_frozen_under_pressure(dialect: Dialect):  # D40
    body = working_day(dialect).body
    floor = floor_of(body, dialect)
    for budget in (floor, (floor + measure(body, dialect)) // 2):
        fitted = threadline.fit(body, max_input_tokens=budget, dialect=dialect).body
        kept = {key: value for key, value in fitted.items() if key not in {"messages", "input", "contents"}}
        assert frozen(kept) == frozen({key: body[key] for key in kept})
        assert list(fitted) == list(body)


# --- E: dedup and elision


def test_a_reference_is_never_left_without_its_original():  # E42
    shared = prose(500, "shared")
    early = [u(prose(300, "task")), call("c0"), t(f"{prose(200, 'x')}\n\n{shared}\n\n{prose(200, 'y')}", "c0")]
    middle = [m for n in range(1, 7) for m in (call(f"c{n}"), t(prose(1500, n), f"c{n}"))]
    late = [call("c9"), t(f"{prose(200, 'v')}\n\n{shared}\n\n{prose(200, 'w')}", "c9"), a("done"), u("next?")]
    messages = [*early, *middle, *late]
    floor, cost = floor_of(messages, "openai"), measure(messages, "openai")
    for n in range(20):
        fitted = fit_or_none(messages, floor + (cost - floor) * n // 19, "openai")
        if fitted is None:
            continue
        shown = [message["content"] for message in fitted.messages if message["role"] == "tool"]
        if any(prose(200, "w") in text for text in shown):
            assert any(shared in text for text in shown), f"step {n}: the second copy refers to nothing"
        assert fitted.restore() == messages


def test_rows_dropped_from_json_leave_a_mark_and_come_back():  # E44
    rows = [{"id": n, "text": prose(60, n)} for n in range(500)]
    messages = [u("list them"), call("c"), t(json.dumps({"rows": rows}), "c"), u("how many?")]
    for budget in (6000, 3000, 1500):
        fitted = threadline.fit(messages, max_input_tokens=budget)
        shown = text_of([message for message in fitted.messages if message not in messages])
        if fitted.messages != messages:
            assert fitted.elisions
            assert shown or len(fitted.messages) < len(messages)
            assert shown.count('"id"') < 500
        assert threadline.restore(json_copy(fitted.messages), stored(fitted.elisions)) == messages


@every_dialect
def test_originals_are_durable_as_plain_json(dialect: Dialect):  # E46
    messages = working_day(dialect).messages
    fitted = threadline.fit(messages, max_input_tokens=floor_of(messages, dialect), dialect=dialect)
    record = json.dumps(fitted.elisions.to_builtins())
    assert fitted.elisions
    view = json.dumps(fitted.messages)
    decisions = type(fitted.elisions).from_builtins(json.loads(record))
    assert frozen(threadline.restore(json.loads(view), decisions)) == frozen(messages)


# --- F: instructions and intent


@every_dialect
def test_rules_and_the_current_request_are_word_for_word_at_every_pressure(dialect: Dialect):  # F53, F54
    day = working_day(dialect)
    rules = [message for message in day.messages if message.get("role") == "system"]
    for view in views(day.messages, dialect):
        assert any(message is day.messages[-1] for message in view)
        assert [message for message in view if message.get("role") == "system"] == rules


def test_rules_are_byte_identical_after_many_compactions():  # F53
    rules = s(prose(400, "rules"), cache_control={"type": "ephemeral"})
    pinned = s(prose(300, "project"), name="project")
    view: list[Any] = [rules, *users(3), pinned]
    for n in range(12):
        view = transcript.compact([*view, *users(4, start=10 + 4 * n)], 2).messages
        assert [message for message in view if message["role"] == "system"] == [rules, pinned]
    assert sum(message is rules or message is pinned for message in view) == 2


@every_dialect
def test_a_summary_says_that_it_is_of_the_past_and_is_flagged(dialect: Dialect):  # F55, F57
    messages = working_day(dialect).messages
    [summary] = inserted(transcript.compact(messages, 2).messages, messages)
    words = " ".join(strings(summary)).lower()
    assert any(word in words for word in ("earlier", "previous", "historical", "past"))
    decisions = threadline.fit(messages, max_input_tokens=floor_of(messages, dialect), dialect=dialect).elisions
    assert {insertion.label for insertion in decisions.insertions} <= {"summary", "repair"}
    assert all(insertion.message.origin == insertion.label for insertion in decisions.insertions)
