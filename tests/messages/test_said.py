"""Who said a message and when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from threadline.errors import InvalidInputError
from threadline.messages import (
    chat_message,
    decode,
    encode,
    message_id,
    render_line,
    speaker,
    tool_request,
    tool_result,
)
from threadline.messages.times import format_utc_date, format_utc_time, parse_timestamp, parse_utc_date

T0 = 1_700_000_000_000


def test_sender_and_time_stay_beside_the_wire_object():
    message = chat_message("user", "hello", id="m", timestamp=T0, sender_id="u1", sender_name="Ann")

    assert (message.id, message.timestamp, message.sender_id, message.sender_name) == ("m", T0, "u1", "Ann")
    assert (message.content, message.kind) == ("hello", "text")
    assert message.wire == {"role": "user", "content": "hello"}


def test_only_people_and_the_assistant_chat():
    with pytest.raises(InvalidInputError):
        chat_message("system", "hello")


def test_a_call_and_its_result_pair():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}

    ask, answer = tool_request([call], timestamp=T0, sender_id="bot"), tool_result("c", "found", timestamp=T0)

    assert (ask.kind, ask.tool_calls[0].name, ask.timestamp) == ("tool_call", "f", T0)
    assert (answer.kind, answer.tool_results[0].call_id, answer.content) == ("tool_result", "c", "found")


def test_times_and_senders_of_a_log_are_read_and_written_back():
    wires = [
        {"role": "user", "content": "a", "timestamp": T0, "sender_id": "u1", "sender_name": "Ann"},
        {"role": "user", "content": "b", "timestamp": "2023-11-14T22:13:20Z"},
        {"role": "user", "content": "c", "timestamp": "soon", "sender_id": 5},
    ]

    request = decode(wires)

    assert [message.timestamp for message in request.messages] == [T0, T0, None]
    assert [message.sender_id for message in request.messages] == ["u1", None, None]
    assert request.messages[0].name == "Ann"
    assert encode(request) is wires


def test_an_envelope_may_hold_the_time():
    from threadline.messages import Decoder

    record = {"type": "user", "timestamp": "2023-11-14T22:13:20.000Z", "message": {"role": "user", "content": "a"}}

    assert Decoder("anthropic").feed(record, 0, base=("message",)).timestamp == T0


def test_a_line_has_time_speaker_and_text():
    assert render_line(chat_message("user", "hi", timestamp=T0, sender_name="Ann")) == (
        "[2023-11-14 22:13 UTC (Tuesday)] Ann: hi"
    )
    assert render_line(chat_message("user", "hi", sender_id="u1")) == "u1: hi"
    assert speaker(chat_message("assistant", "hi")) == "assistant"


def test_a_time_of_zero_is_an_unset_one():
    with pytest.raises(InvalidInputError, match="m7"):
        render_line(chat_message("user", "secret", id="m7", timestamp=0))


def test_an_id_is_the_messages_own_or_made_of_what_was_said():
    made = message_id(chat_message("user", "hi", timestamp=T0))

    assert message_id(chat_message("user", "hi", id="m")) == "m"
    assert made == message_id(chat_message("user", "hi", timestamp=T0))
    assert made != message_id(chat_message("user", "hi", timestamp=T0 + 1))
    assert message_id(chat_message("user", "\ud800")).startswith("msg_")


def test_times_are_utc_and_zero_padded():
    assert format_utc_time(0) == "1970-01-01 00:00 UTC"
    assert format_utc_time(T0, weekday=True) == "2023-11-14 22:13 UTC (Tuesday)"
    assert format_utc_time(-62_135_596_800_000) == "0001-01-01 00:00 UTC"
    assert format_utc_date(T0) == "2023-11-14"
    assert format_utc_date(datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2023-12-31"


def test_times_that_are_none_are_refused():
    with pytest.raises(InvalidInputError):
        format_utc_time(10**18)
    with pytest.raises(InvalidInputError):
        format_utc_date(datetime(2024, 1, 1))  # noqa: DTZ001 -- that is the point


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("2023-02-29", None),
        ("2024-2-29", None),
        ("2024-02-29 ", None),
        ("\u0662024-02-29", None),
        ("20240229", None),
    ],
)
def test_a_day_is_read_strictly(text, day):
    assert parse_utc_date(text) == day


@pytest.mark.parametrize(
    ("value", "timestamp"),
    [
        (T0, T0),
        (T0 // 1000, T0),
        (T0 / 1000, T0),
        ("2023-11-14T22:13:20", T0),
        ("2023-11-14T23:13:20+01:00", T0),
        (datetime(2023, 11, 14, tzinfo=UTC), None),
        (True, None),
        (None, None),
        ("", None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_logs_write_times_in_many_ways(value, timestamp):
    assert parse_timestamp(value) == timestamp
