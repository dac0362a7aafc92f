"""Row 67 of the transcript contract and section 4.6: repair, and the boundary between old and recent."""

from __future__ import annotations

from typing import Any

import pytest

import threadline
from threadline import FitPolicy, transcript
from threadline.compat import nous

from .conversations import (
    P,
    a,
    call,
    exchange,
    inserted,
    is_tail,
    json_copy,
    reported,
    s,
    stored,
    t,
    u,
    users,
    working_day,
)
from .dialects import png
from .judge import Dialect, loose_ends, text_of

every_dialect = pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "google"])


# --- row 67 and the boundary


def test_a_dangling_call_is_answered_right_after_it_as_unknown():  # row 67
    messages = [*users(1), call("a", "b"), t(P, "a"), *users(1, start=2), a("ok")]
    for mended in (nous.patch_dangling_tool_calls(messages), transcript.repair(messages).messages):
        assert not loose_ends(mended, "openai")
        assert [message.get("tool_call_id") for message in mended].index("b") in {2, 3}
        [made] = inserted(mended, messages)
        assert "unknown" in text_of(made["content"]).lower()
        assert [message for message in mended if message is not made] == messages


def test_dangling_calls_at_the_very_end_are_answered_too():  # row 67
    messages = [*users(1), call("a", "b")]
    mended = nous.patch_dangling_tool_calls(messages)
    assert not loose_ends(mended, "openai")
    assert [message.get("tool_call_id") for message in mended[2:]] == ["a", "b"]


@pytest.mark.parametrize("orphans", ["drop", "text"])
def test_orphan_results_are_dropped_or_become_text_and_both_come_back(orphans: Any):  # row 67
    messages = [u("hello"), t(P, "never asked"), a("ok"), call("b"), *users(1)]
    result = transcript.repair(messages, orphans=orphans)
    assert not loose_ends(result.messages, "openai")
    assert (P in text_of(result.messages)) is (orphans == "text")
    assert threadline.restore(json_copy(result.messages), stored(result.decisions)) == messages
    assert reported(result)


@every_dialect
def test_a_sound_conversation_needs_no_repair(dialect: Dialect):  # row 67
    messages = working_day(dialect).messages
    result = transcript.repair(messages)
    assert is_tail(list(result.messages), messages)
    assert len(result.messages) == len(messages)
    assert not result.decisions


@every_dialect
@pytest.mark.parametrize("gone", [3, 4])
def test_repair_mends_every_dialect_and_is_idempotent(dialect: Dialect, gone: int):  # row 67
    messages = working_day(dialect, rounds=2).messages
    broken = [message for n, message in enumerate(messages) if n != gone]
    mended = transcript.repair(broken).messages
    assert not loose_ends(mended, dialect)
    assert transcript.repair(mended).messages == mended


@pytest.mark.parametrize("room", [transcript, nous], ids=["native", "nous"])
def test_a_boundary_never_parts_a_call_from_its_results(room: Any):  # 4.6
    balance = room.balance_tool_call_boundary
    assert [list(side) for side in balance([], [])] == [[], []]
    assert [list(side) for side in balance(users(1), [])] == [users(1), []]
    messages = [*users(2), *exchange("a", "b"), a("x"), call("c"), s(P), t(P, "c"), *users(1), *exchange("d"), a("y")]
    for cut in range(len(messages) + 1):
        old, recent = balance(messages[:cut], messages[cut:])
        assert [*old, *recent] == messages
        assert not loose_ends(old, "openai")
        assert not loose_ends(recent, "openai")


def test_a_leading_run_of_results_moves_to_the_old_side():  # 4.6
    messages = [*users(1), *exchange("a", "b"), *users(1, start=2)]
    old, recent = nous.balance_tool_call_boundary(messages[:3], messages[3:])
    assert (list(old), list(recent)) == (messages[:4], messages[4:])


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(640, 480, 60_000)}}


@pytest.mark.parametrize("orphans", ["drop", "text"])
@pytest.mark.parametrize("beside", [[], [{"type": "text", "text": "and my question"}]])
@pytest.mark.parametrize("content", [P, [{"type": "text", "text": P}], [{"type": "text", "text": P}, PICTURE]])
def test_a_fit_says_exactly_what_became_of_an_orphan(orphans: Any, beside: list[Any], content: Any):
    orphan = {"type": "tool_result", "tool_use_id": "never asked", "content": content}
    messages = [u("hello"), a("yes?"), u([orphan, *beside]), a("ok"), u("go on")]
    result = threadline.fit(messages, max_input_tokens=10_000, dialect="anthropic", policy=FitPolicy(orphans=orphans))
    lost = orphans == "drop" or any(block is PICTURE for block in content)
    assert (result.by_fate.get("omitted", 0) > 0) is lost
    assert sum(result.by_fate.values()) == result.tokens_before
    assert all(tokens >= 0 for tokens in result.by_fate.values())
    assert result.report.inserted >= 0
    assert result.by_fate.get("omitted", 0) < 2000, "a picture is never counted as its base64"
    assert threadline.restore(json_copy(result.messages), stored(result.elisions)) == messages
