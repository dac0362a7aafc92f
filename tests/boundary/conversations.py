"""Conversations for the tests of boundaries."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from threadline.compat.everalgo import ChatMessage, ToolCall, ToolCallFunction, ToolCallRequest, ToolCallResult
from threadline.messages import text_message

T0 = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC, a Tuesday
MINUTE = 60_000

TOPICS = {
    "train": (
        "I need a train from London to Cambridge on Saturday.",
        "There are seventy trains from London to Cambridge. When would you like to leave?",
        "The train should arrive by eight in the evening.",
        "The 19:17 train arrives at 20:08. Shall I book tickets for that train?",
        "Yes, book seven tickets please.",
        "Seven tickets for the train are booked, the fee is payable at the station.",
    ),
    "soup": (
        "My grandmother cooked a wonderful onion soup, can you find me a recipe?",
        "For onion soup you brown onions in butter and add broth.",
        "How long should the onions brown in the butter?",
        "Brown the onions for forty minutes, stirring the butter often.",
        "And which cheese goes on the soup?",
        "Gruyere cheese melts well on onion soup.",
    ),
    "knee": (
        "Since yesterday my left knee hurts when I climb stairs.",
        "Did the knee swell after you climbed the stairs?",
        "The knee is a little swollen and warm.",
        "Cool the swollen knee and see a doctor if it stays warm.",
    ),
}


def chat(number, content=None, *, role=None, timestamp=None, sender_id=None, sender_name=None):
    role = role or ("assistant" if number % 2 else "user")
    return ChatMessage(
        id=f"m{number}",
        role=role,
        content=f"message {number}" if content is None else content,
        timestamp=T0 + number * MINUTE if timestamp is None else timestamp,
        sender_id=sender_id or ("bot" if role == "assistant" else "ann"),
        sender_name=sender_name,
    )


def chats(count):
    return [chat(number) for number in range(count)]


def talk(*topics):
    """One conversation about these topics in turn."""
    return [chat(number, text) for number, text in enumerate(text for topic in topics for text in TOPICS[topic])]


def call(id, name="search"):
    function = ToolCallFunction(name=name, arguments="{}")
    return ToolCallRequest(tool_calls=[ToolCall(id=id, function=function)], timestamp=T0, sender_id="bot")


def result(id, content="found"):
    return ToolCallResult(tool_call_id=id, content=content, timestamp=T0)


def tools(id):
    return [call(id), result(id)]


def batch(boundaries, **extra):
    return json.dumps({"reasoning": "because", "boundaries": boundaries, **extra})


def step(should_end, **extra):
    reply = {"reasoning": "because", "should_end": should_end, "confidence": 0.9, "topic_summary": "it", **extra}
    return json.dumps(reply)


_SENTENCES = [text for topic in TOPICS.values() for text in topic]


@st.composite
def trajectories(draw, *, max_size=24):
    """Messages, calls and results in any order: exchanges, calls without results, results without calls."""
    items = []
    waiting = []
    for number in range(draw(st.integers(0, max_size))):
        match draw(st.sampled_from(["chat", "chat", "chat", "call", "result", "orphan", "notice"])):
            case "chat":
                gap = draw(st.sampled_from([1, 1, 1, 200, 2000]))
                text = draw(st.sampled_from([*_SENTENCES, "", "Thanks!", "/new"]))
                role = draw(st.sampled_from(["user", "assistant"]))
                items.append(chat(number, text, timestamp=T0 + number * gap * MINUTE, role=role))
            case "call":
                waiting.append(f"c{number}")
                items.append(call(waiting[-1]))
            case "result" if waiting:
                items.append(result(waiting.pop(0)))
            case "notice":
                items.append(text_message("system", "The day has changed.", "openai"))
            case _:
                items.append(result(f"lost{number}"))
    return items
