"""A conversation cut into episodes as EverAlgo's users write it; only the import lines differ."""

from __future__ import annotations

import json

import pytest

from threadline.compat.everalgo import (
    BoundaryDetector,
    ChatMessage,
    ChatResponse,
    MemCell,
    ToolCall,
    ToolCallFunction,
    ToolCallRequest,
    ToolCallResult,
    adetect_boundary_step,
)
from threadline.errors import InvalidInputError
from threadline.testing import FakeLLMClient

pytestmark = pytest.mark.anyio


def message(number, content, role="user"):
    return ChatMessage(
        id=f"m{number}",
        role=role,
        content=content,
        timestamp=1_700_000_000_000 + number * 60_000,
        sender_id="u1" if role == "user" else "a1",
        sender_name="Alice" if role == "user" else None,
    )


CONVERSATION = [
    message(0, "I moved to Berlin last week."),
    message(1, "How do you like it?", "assistant"),
    message(2, "Can you help me to plan a birthday party?"),
]


async def test_the_quick_start():
    reply = ChatResponse(content=json.dumps({"reasoning": "another matter", "boundaries": [2]}), model="fake")
    detector = BoundaryDetector(llm=FakeLLMClient(responses=[reply]))

    cells, tail = await detector.adetect(CONVERSATION)

    assert [[item.content for item in cell.items] for cell in cells] == [[m.content for m in CONVERSATION[:2]]]
    assert [item.id for item in tail] == ["m2"]
    assert isinstance(cells[0], MemCell)
    assert cells[0].timestamp == CONVERSATION[1].timestamp


async def test_the_quick_start_message_by_message_with_an_older_script():
    said = {"should_end": True, "reasoning": "x", "confidence": 0.8, "topic_summary": "Berlin", "should_wait": False}
    llm = FakeLLMClient(responses=[json.dumps(said)])

    decision = await adetect_boundary_step(CONVERSATION[:2], CONVERSATION[2:], llm=llm)

    assert (decision.should_end, decision.topic_summary) == (True, "Berlin")


def test_items_show_what_everalgos_items_show():
    call = ToolCall(id="c1", function=ToolCallFunction(name="search", arguments='{"q": "x"}'))
    ask = ToolCallRequest(tool_calls=[call], timestamp=5, sender_id="a1", content="Let me look.")
    answer = ToolCallResult(tool_call_id="c1", content="found", timestamp=6)

    assert [item.kind for item in (CONVERSATION[0], ask, answer)] == ["text", "tool_call", "tool_result"]
    assert (ask.content, ask.timestamp, ask.sender_id) == ("Let me look.", 5, "a1")
    assert [(part.id, part.name, part.arguments) for part in ask.tool_calls] == [("c1", "search", '{"q": "x"}')]
    assert (answer.content, answer.tool_results[0].call_id) == ("found", "c1")


def test_keys_that_are_not_known_are_ignored_and_roles_are_two():
    assert ChatMessage(id="m", role="user", content="x", timestamp=0, sender_id="u", kind="text", extra=1).id == "m"
    with pytest.raises(InvalidInputError):
        ChatMessage(id="m", role="system", content="x", timestamp=0, sender_id="u")
