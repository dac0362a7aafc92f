"""Row 67 of the transcript contract and section 4.6: repair, and the boundary between old and recent."""

from __future__ import annotations

from typing import Any

import pytest

import threadline
from threadline import transcript
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
