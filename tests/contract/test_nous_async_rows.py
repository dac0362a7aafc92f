"""Rows 65 and 66 of the transcript contract: compaction beside a history that goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from threadline import FitPolicy, transcript
from threadline.compat import nous

from .conversations import (
    inserted,
    is_tail,
    u,
    users,
)
from .judge import frozen, text_of

# --- rows 65 and 66: async


def test_messages_appended_while_a_summary_is_made_survive():  # row 65
    async def main() -> None:
        history = transcript.History(users(12))
        late = users(2, start=50)

        def summarise(*_: Any, **__: Any) -> str:
            for message in late:
                history.append(message)
            return "They spoke of the weather."

        merged = (await transcript.compact_async(history, 4, policy=FitPolicy(summarise=summarise))).messages
        assert is_tail(list(merged), late)
        assert is_tail(list(history.messages), late)
        assert len(history.messages) == 7
        assert "weather" in text_of(history.messages[0])

    asyncio.run(main())


def test_messages_appended_between_start_and_end_survive():  # row 65
    async def main() -> None:
        history = transcript.History(users(12))
        late = users(2, start=50)
        running = asyncio.ensure_future(transcript.compact_async(history, 4))
        for message in late:
            history.append(message)
            await asyncio.sleep(0)
        assert is_tail(list((await running).messages), late)
        assert is_tail(list(history.messages), late)

    asyncio.run(main())


def test_two_compactions_at_once_lose_nothing_and_leave_one_summary():  # row 65
    async def main() -> None:
        messages = users(20)
        history = transcript.History(messages)
        await asyncio.gather(*(transcript.compact_async(history, 4) for _ in range(3)))
        assert is_tail(list(history.messages), messages[-4:])
        assert len(inserted(history.messages, messages)) == 1

    asyncio.run(main())


def test_a_swap_with_an_old_version_is_refused():  # row 65
    history = transcript.History(users(3))
    version = history.version
    history.append(u("new"))
    assert history.replace([u("gone")], version) is False
    assert len(history.messages) == 4
    assert history.replace([u("short")], history.version) is True
    assert [message["content"] for message in history.messages] == ["short"]


def test_async_compaction_gives_what_the_sync_one_gives():
    async def main() -> None:
        messages = users(20)
        sync = transcript.compact(messages, 5)
        beside = await transcript.compact_async(transcript.History(messages), 5)
        assert (frozen(beside.messages), beside.status) == (frozen(sync.messages), sync.status)
        assert beside.restore() == messages
        assert await nous.compact_async(transcript.History(messages), 5) == sync.messages

    asyncio.run(main())


def test_an_async_summariser_runs_in_the_loop_and_only_there():
    async def summarise(messages: Any) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} things were said"

    async def main() -> None:
        history = transcript.History(users(12))
        result = await transcript.compact_async(history, 4, policy=FitPolicy(summarise=summarise))
        assert "8 things were said" in text_of(result.messages[0])

    asyncio.run(main())
    with pytest.raises(ValueError, match="compact_async"):
        transcript.compact(users(12), 4, policy=FitPolicy(summarise=summarise))


@pytest.mark.parametrize("keep", [0, -1, None, 1.5])
def test_bad_async_options_raise_at_the_call(keep: Any):  # row 66
    async def main() -> None:
        for compact_async in (transcript.compact_async, nous.compact_async):
            with pytest.raises(ValueError, match="keep_last"):
                compact_async(transcript.History(users(3)), keep)
        for maybe_compact_async in (transcript.maybe_compact_async, nous.maybe_compact_async):
            with pytest.raises(ValueError, match="keep_last"):
                maybe_compact_async(transcript.History(users(3)), keep_last=keep, every=1)

    asyncio.run(main())


def test_a_missing_async_option_raises_at_the_call():  # row 66
    async def main() -> None:
        for maybe_compact_async in (transcript.maybe_compact_async, nous.maybe_compact_async):
            with pytest.raises(TypeError):
                maybe_compact_async(transcript.History(users(3)), every=1)

    asyncio.run(main())
