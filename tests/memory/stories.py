"""Conversations and scripted models for the tests of this room."""

from __future__ import annotations

import json

from threadline.boundary import MemCell
from threadline.messages import chat_message, tool_request, tool_result
from threadline.testing import FakeLLMClient

NOON = 1_700_049_600_000  # 2023-11-15 12:00 UTC (Wednesday)
HOUR = 3_600_000
DAY = 86_400_000


def said(text, *, at=NOON, by="u1", name="Ann", role="user", id=None):
    return chat_message(role, text, id=id, timestamp=at, sender_id=by, sender_name=name)


def replied(text, *, at=NOON, id=None):
    return said(text, at=at, by="bot", name="Bot", role="assistant", id=id)


def asked_tool(at=NOON, content=None):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return tool_request([call], content=content, timestamp=at)


def tool_said(text, at=NOON):
    return tool_result("c1", text, timestamp=at)


def cell(*items):
    return MemCell.of(items or (said("I live in Oslo.", id="m1"), replied("Noted.", id="m2")))


def model(*replies):
    """A model that gives these replies, dicts as JSON, in order."""
    return FakeLLMClient([json.dumps(reply) if isinstance(reply, dict) else reply for reply in replies])


def data_of(llm, call=0):
    return llm.calls[call].messages[1].content


def system_of(llm, call=0):
    return llm.calls[call].messages[0].content


EPISODE = {"content": "Ann moved to Oslo.", "summary": "A move.", "title": "Moving"}
