"""What can be expected, on days that are real: row 34 and bug o."""

from __future__ import annotations

import pytest

from threadline.errors import InvalidInputError
from threadline.memory import ForesightExtractor

from .stories import DAY, HOUR, NOON, cell, data_of, model, replied, said

pytestmark = pytest.mark.anyio


def item(content="Ann will move", evidence="I move soon", start=None, end=None, days=None):
    return {
        "content": content,
        "evidence": evidence,
        "start_time": start,
        "end_time": end,
        "duration_days": days,
    }


async def looked(*items, memcell=None, **options):
    llm = model({"foresights": [*items]})
    return await ForesightExtractor(llm=llm, **options).aextract(memcell or cell(), sender_id="u1")


async def span(**dates):
    (one,) = await looked(item(**dates))
    return one.start_time, one.end_time, one.duration_days


async def test_a_missing_or_unreal_start_is_the_day_of_the_conversation_marked_as_inferred():
    missing, unreal, stated = await looked(
        item(), item("b", start="2023-02-30"), item("c", start="on 2024-02-28 (Wednesday)")
    )

    assert (missing.start_time, missing.start_origin) == ("2023-11-15", "inferred")
    assert (unreal.start_time, unreal.start_origin) == ("2023-11-15", "inferred")
    assert (stated.start_time, stated.start_origin) == ("2024-02-28", "stated")


async def test_the_end_follows_from_the_duration_over_a_leap_day_and_the_duration_from_the_end():
    assert await span(start="2024-02-28", days=2) == ("2024-02-28", "2024-03-01", 2)
    assert await span(start="2024-02-28", end="2024-03-01") == ("2024-02-28", "2024-03-01", 2)


async def test_beyond_the_calendar_there_is_no_end():
    assert await span(start="9999-12-01", days=400) == ("9999-12-01", None, None)
    assert await span(start="2024-01-01", days=10**12) == ("2024-01-01", None, None)


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ({"start": "2024-03-01", "end": "2024-03-05", "days": 99}, ("2024-03-01", "2024-03-05", 4)),
        ({"start": "2024-03-05", "end": "2024-03-01"}, ("2024-03-05", None, None)),
        ({"start": "2024-03-05", "days": -3}, ("2024-03-05", None, None)),
    ],
)
async def test_no_duration_contradicts_its_days_or_is_negative(dates, expected):  # bug o
    assert await span(**dates) == expected


async def test_a_relative_day_is_meant_as_seen_from_the_message_it_comes_from():
    memcell = cell(
        said("I fly to Rome tomorrow.", at=NOON, id="m1"),
        replied("Have fun.", at=NOON + HOUR),
        said("The weather is awful.", at=NOON + 9 * DAY),
    )
    (flight,) = await looked(item("Ann flies to Rome", "I fly to Rome tomorrow.", "tomorrow"), memcell=memcell)

    assert (flight.start_time, flight.start_origin) == ("2023-11-16", "stated")
    assert [source.message_id for source in flight.sources] == ["m1"]


async def test_days_are_meant_in_the_owners_zone():
    late = cell(said("I move soon", at=NOON + 11 * HOUR))  # 23:00 UTC
    (one,) = await looked(item(days=0), memcell=late, time_zone="Asia/Tokyo")

    assert (one.start_time, one.time_zone) == ("2023-11-16", "Asia/Tokyo")
    assert one.valid_from_ms == NOON + 3 * HOUR
    assert one.valid_to_ms == NOON + 27 * HOUR


async def test_blanks_are_skipped_and_ten_kept():
    many = await looked(item(" "), *[item(f" thing {number} ") for number in range(14)])

    assert [one.foresight for one in many] == [f"thing {number}" for number in range(10)]


async def test_the_participant_is_named_by_id_and_first_name():
    llm = model({"foresights": []})
    await ForesightExtractor(llm=llm).aextract(cell(said("x", name=None), said("y")), sender_id="u1")

    assert data_of(llm).startswith("<user_id>u1</user_id>\n<user_name>Ann</user_name>")
    assert llm.calls[0].temperature == 0.3


async def test_a_blank_sender_is_refused_and_an_empty_cell_costs_nothing():
    llm = model()

    with pytest.raises(InvalidInputError):
        await ForesightExtractor(llm=llm).aextract(cell(), sender_id=" ")
    assert await ForesightExtractor(llm=llm).aextract(cell(said("")), sender_id="u1") == []
    assert llm.call_count == 0
