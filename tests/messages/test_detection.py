"""A dialect is known by its marks."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given

from threadline import Fitter, check_conversation, fit
from threadline.errors import InvalidInputError
from threadline.messages import convert, decode, detect_dialect

from .conversations import DIALECTS, body_of, conversations, written

TEXT = {"type": "text", "text": "hi"}


@pytest.mark.parametrize(
    ("value", "dialect"),
    [
        ([], "plain"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], "plain"),
        ([{"role": "user", "content": "hi", "agent": "main", "timestamp": 1}], "plain"),
        ([{"role": "assistant", "content": None}], "plain"),
        ([{"role": "developer", "content": "hi"}], "openai"),
        ([{"role": "function", "name": "f", "content": "hi"}], "openai"),
        ([{"role": "user", "name": "ada", "content": "hi"}], "openai"),
        ([{"role": "assistant", "content": None, "refusal": "no"}], "openai"),
        ([{"role": "assistant", "content": None, "tool_calls": []}], "openai"),
        ([{"role": "assistant", "content": None, "function_call": {}}], "openai"),
        ([{"role": "tool", "tool_call_id": "a", "content": "hi"}], "openai"),
        ([{"role": "tool", "tool_call_ids": ["a"], "content": "hi"}], "openai"),
        ([{"role": "user", "content": [TEXT]}], "openai"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}], "openai"),
        ([{"role": "user", "content": [TEXT]}, {"role": "assistant", "content": [{"type": "thinking"}]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}], "anthropic"),
        ([{"role": "user", "content": [{**TEXT, "cache_control": {"type": "ephemeral"}}]}], "anthropic"),
        # OpenRouter and LiteLLM take cache_control in OpenAI's shape
        ([{"role": "system", "content": [{**TEXT, "cache_control": {}}]}], "openai"),
        ([{"role": "user", "parts": [{"text": "hi"}]}], "google"),
        ([{"parts": [{"text": "hi"}]}], "google"),
        ([{"type": "message", "role": "user", "content": "hi"}], "responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "a"}], "responses"),
        ([{"type": "function_call_output", "call_id": "a", "output": ""}], "responses"),
        ([{"type": "reasoning", "id": "rs"}], "responses"),
        ([{"type": "compaction", "encrypted_content": "x"}], "responses"),
        ({"contents": []}, "google"),
        ({"input": "hi"}, "responses"),
        ({"messages": [], "system": "x"}, "anthropic"),
        ({"messages": [], "anthropic_version": "bedrock-2023-05-31"}, "anthropic"),
        ({"messages": [], "tools": [{"name": "f", "input_schema": {}}]}, "anthropic"),
        ({"messages": [], "model": "claude-opus-4-8", "max_tokens": 5}, "anthropic"),
        ({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}, "openai"),
        ({"messages": [{"role": "user", "content": "hi"}], "model": "gpt-4o"}, "openai"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "plain"),
    ],
)
def test_the_marks_of_each_dialect(value, dialect):
    assert detect_dialect(value) == dialect


@given(conversations())
def test_a_body_is_known_whatever_is_said_in_it(events):
    for dialect in DIALECTS:
        calls = any(hasattr(event, "calls") for event in events)
        expected = "openai" if dialect == "plain" and calls else dialect
        assert detect_dialect(body_of(written(events, dialect), dialect)) == expected


ANTHROPIC_TOOLS = [
    {"type": "bash_20250124", "name": "bash"},
    {"type": "web_search_20250305", "name": "web_search"},
    {"name": "f", "input_schema": {"type": "object"}},
    {"type": "custom", "name": "g", "input_schema": {"type": "object"}},
    {"type": "mcp_toolset", "mcp_server_name": "files"},
]


@pytest.mark.parametrize("order", list(permutations(ANTHROPIC_TOOLS, 2)))
@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "hi"}], [{"role": "user", "content": [TEXT]}]])
def test_tools_of_anthropic_are_known_in_any_order(order, messages):
    assert detect_dialect({"messages": messages, "tools": list(order), "model": "m"}) == "anthropic"


def test_what_the_messages_prove_counts_more_than_a_tool():
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
    assert detect_dialect({"messages": [asked], "tools": [{"type": "bash_20250124", "name": "bash"}]}) == "openai"


@pytest.mark.parametrize("dialect", ["azure", "OpenAI", "", 5])
def test_a_dialect_that_does_not_exist_is_named(dialect):
    for use in (
        lambda: decode([], dialect),
        lambda: check_conversation([], dialect),
        lambda: convert([], dialect),
        lambda: fit([], max_input_tokens=9, dialect=dialect),
        lambda: Fitter(max_input_tokens=9, dialect=dialect),
    ):
        with pytest.raises(InvalidInputError, match="plain, openai, responses, anthropic, google"):
            use()
