"""Nothing is forgotten at the end of a session or in a silence."""

from __future__ import annotations

import pytest

from threadline.boundary import BoundaryDetector, EpisodeStream
from threadline.errors import ModelError
from threadline.testing import FakeLLMClient

from .conversations import MINUTE, T0, batch, chats, talk, tools

pytestmark = pytest.mark.anyio

HOUR = 60 * MINUTE


def sizes(cells):
    return [len(cell.items) for cell in cells]


async def test_episodes_come_as_they_end_and_the_rest_at_the_end():
    stream = EpisodeStream(BoundaryDetector())
    given = [sizes(await stream.aadd([item], now_ms=item.timestamp)) for item in talk("train", "soup")]

    assert [found for found in given if found] == [[6]]
    assert sizes(await stream.aclose()) == [6]
    assert await stream.aclose() == []


async def test_a_silence_ends_what_is_open_at_its_due_time():
    stream = EpisodeStream(BoundaryDetector(), idle_ms=HOUR)
    await stream.aadd(chats(2), now_ms=T0)

    assert stream.due_ms == T0 + HOUR
    assert await stream.aflush_idle(now_ms=T0 + HOUR - 1) == []
    assert sizes(await stream.aflush_idle(now_ms=T0 + HOUR)) == [2]
    assert stream.due_ms is None


async def test_what_comes_after_a_silence_is_another_episode():
    stream = EpisodeStream(BoundaryDetector(), idle_ms=HOUR)
    await stream.aadd(talk("train")[:3], now_ms=T0)

    assert sizes(await stream.aadd(talk("train")[3:], now_ms=T0 + HOUR)) == [3]
    assert len(stream.tail) == 3


async def test_a_stream_goes_on_from_what_was_kept():
    first = EpisodeStream(BoundaryDetector())
    await first.aadd(chats(2), now_ms=T0)

    second = EpisodeStream(BoundaryDetector(), tail=first.tail, last_ms=first.last_ms)

    assert second.due_ms == first.due_ms
    assert sizes(await second.aclose()) == [2]


async def test_tool_traffic_alone_is_never_due():
    stream = EpisodeStream(BoundaryDetector())
    await stream.aadd(tools("a"), now_ms=T0)

    assert stream.due_ms is None
    assert len(stream.tail) == 2


async def test_a_model_that_fails_loses_nothing():
    llm = FakeLLMClient([batch([]), ModelError("down"), ModelError("down"), batch([]), batch([1])])
    stream = EpisodeStream(BoundaryDetector(llm=llm), idle_ms=HOUR)
    await stream.aadd(chats(2), now_ms=T0)

    with pytest.raises(ModelError):
        await stream.aadd(chats(3)[2:], now_ms=T0 + HOUR)
    assert len(stream.tail) == 3
    with pytest.raises(ModelError):
        await stream.aclose()

    assert sizes(await stream.aclose()) == [3]


async def test_an_episode_found_before_a_failure_comes_with_the_next_answer():
    llm = FakeLLMClient([batch([]), batch([]), ModelError("down"), batch([])])
    stream = EpisodeStream(BoundaryDetector(llm=llm), idle_ms=HOUR)
    await stream.aadd(chats(2), now_ms=T0)

    with pytest.raises(ModelError):
        await stream.aadd(chats(3)[2:], now_ms=T0 + HOUR)

    assert sizes(await stream.aclose()) == [2, 1]
