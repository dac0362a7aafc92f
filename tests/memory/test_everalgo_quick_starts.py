"""What EverAlgo's users first write runs here with only the imports changed."""

from __future__ import annotations

import json

import pytest

from threadline.compat.everalgo import (
    AtomicFactExtractor,
    BoundaryDetector,
    ChatMessage,
    ChatResponse,
    EpisodeExtractor,
    ForesightExtractor,
    ProfileExtractor,
    ToolCallRequest,
    ToolCallResult,
)
from threadline.testing import (
    FakeLLMClient,
    assert_atomic_fact_shape,
    assert_episode_shape,
    assert_foresight_shape,
    assert_profile_shape,
)

pytestmark = pytest.mark.anyio


def scripted(*replies):
    return FakeLLMClient(responses=[ChatResponse(content=json.dumps(reply), model="fake") for reply in replies])


async def test_the_boundary_quick_start_runs():
    messages = [
        ChatMessage(id="m1", role="user", content="How do we deploy?", timestamp=1_700_000_000_000, sender_id="u"),
        ToolCallRequest(
            tool_calls=[{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
            timestamp=1_700_000_000_500,
            sender_id="bot",
        ),
        ToolCallResult(tool_call_id="c", content="a.txt", timestamp=1_700_000_000_600),
        ChatMessage(id="m2", role="assistant", content="To where?", timestamp=1_700_000_001_000, sender_id="bot"),
        ChatMessage(id="m3", role="user", content="And lunch?", timestamp=1_700_000_002_000, sender_id="u"),
    ]
    fake = scripted({"reasoning": "lunch is new", "boundaries": [2], "should_wait": False})

    cells, tail = await BoundaryDetector(llm=fake).adetect(messages)

    assert [len(cell.items) for cell in cells] == [4]
    assert [message.id for message in tail] == ["m3"]


async def test_the_user_memory_quick_start_runs():
    messages = [
        ChatMessage(
            id="m1",
            role="user",
            content="I want to learn how to retry in Python.",
            timestamp=1_700_000_000_000,
            sender_id="u_alice",
            sender_name="Alice",
        ),
        ChatMessage(
            id="m2",
            role="assistant",
            content="I will send you something to read next week.",
            timestamp=1_700_000_001_000,
            sender_id="assistant",
        ),
    ]
    fake = scripted(
        {"reasoning": "single topic", "boundaries": [], "should_wait": False},
        {"title": "Alice asks about retries", "content": "Alice looked into retries.", "summary": "About retries."},
        {
            "foresights": [
                {
                    "content": "Alice will read what is sent",
                    "evidence": "the assistant will send something",
                    "start_time": "2023-11-14",
                    "end_time": "2023-11-21",
                    "duration_days": 7,
                }
            ]
        },
        {"atomic_facts": {"time": "Nov 14 2023", "atomic_fact": ["Alice is learning to retry in Python."]}},
        {"explicit_info": [], "implicit_traits": [{"trait": "Pragmatic", "description": "Prefers small tools."}]},
    )

    result = await BoundaryDetector(llm=fake).adetect(messages, is_final=True)
    mc = result.cells[0]
    episode = await EpisodeExtractor(llm=fake).aextract(mc, sender_id="u_alice")
    foresights = await ForesightExtractor(llm=fake).aextract(mc, sender_id="u_alice")
    facts = await AtomicFactExtractor(llm=fake).aextract(mc, sender_id="u_alice")
    profile = await ProfileExtractor(llm=fake).aextract([mc], sender_id="u_alice")

    assert (episode.subject, profile.summary) == ("Alice asks about retries", "Prefers small tools.")
    assert [(one.start_time, one.end_time, one.duration_days) for one in foresights] == [
        ("2023-11-14", "2023-11-21", 7)
    ]
    assert [fact.content for fact in facts] == ["Alice is learning to retry in Python."]
    assert fake.call_count == 5
    for check, value in (
        (assert_episode_shape, episode),
        (assert_foresight_shape, foresights[0]),
        (assert_atomic_fact_shape, facts[0]),
        (assert_profile_shape, profile),
    ):
        check(value)
        check(value.as_dict())
        with pytest.raises((AssertionError, ValueError)):
            check({})


async def test_the_sync_half_of_the_quick_start_refuses_a_running_loop():  # row 52
    with pytest.raises(RuntimeError):
        BoundaryDetector(llm=scripted()).detect([])
