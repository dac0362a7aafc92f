from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline import Fitter, compact, fit
from threadline.errors import InvalidInputError, UnknownModelError
from threadline.messages.dialects import decode
from threadline.tokens import Measure, count_request, count_tokens

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}

JARGON = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate jargon "
        "into plain English.",
    },
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]

BLOB = base64.b64encode(bytes(range(256)) * 800).decode()


# The two examples of openai-cookbook's How_to_count_tokens_with_tiktoken, with what the API reported for them.
@pytest.mark.parametrize(("model", "reported"), [("gpt-3.5-turbo", 129), ("gpt-4-0613", 129), ("gpt-4o", 124)])
def test_messages_with_names_cost_what_openai_reported(model, reported):
    assert count_request(JARGON, model).total == reported


@pytest.mark.parametrize(
    ("model", "reported"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)]
)
def test_a_request_with_a_tool_costs_what_openai_reported(model, reported):
    messages = [
        {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
        {"role": "user", "content": "What's the weather like in San Francisco?"},
    ]
    assert count_request({"model": model, "messages": messages, "tools": [WEATHER]}).total == reported


# The examples of platform.claude.com/docs/en/build-with-claude/token-counting, with what the endpoint answered.
def test_a_claude_request_costs_no_less_than_anthropic_reported():
    hello = [{"role": "user", "content": "Hello, Claude"}]
    assert 14 <= count_request({"system": "You are a scientist", "messages": hello}, "claude-opus-5").total <= 30
    function = WEATHER["function"]
    location = {"location": function["parameters"]["properties"]["location"]}
    tool = {
        "name": "get_weather",
        "description": "Get the current weather in a given location",
        "input_schema": {"type": "object", "properties": location, "required": ["location"]},
    }
    ask = [{"role": "user", "content": "What's the weather like in San Francisco?"}]
    assert 403 <= count_request({"tools": [tool], "messages": ask}, "claude-opus-5").total <= 650


BODIES = {
    "openai": {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello there"}],
        "tools": [WEATHER],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
    },
    "responses": {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [{"type": "message", "role": "user", "content": "Hello there"}],
        "tools": [{"type": "function", **WEATHER["function"]}],
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}},
    },
    "anthropic": {
        "model": "claude-opus-5",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello there"}],
        "tools": [{"name": "w", "input_schema": {"type": "object"}}],
    },
    "google": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hello there"}]}],
        "tools": [{"functionDeclarations": [{"name": "w", "parameters": {"type": "object"}}]}],
    },
}


@pytest.mark.parametrize("dialect", BODIES)
def test_the_whole_request_is_counted_in_every_dialect(dialect):  # field report 30
    body = BODIES[dialect]
    count = count_request(body)
    assert count.tools > 0
    assert count.overhead > 0
    assert all(tokens > 0 for tokens in count.messages)
    assert count.system > 0 or dialect == "openai"
    smaller = {key: value for key, value in body.items() if key != "tools"}
    assert count_request(smaller).total < count.total


@pytest.mark.parametrize("dialect", ["openai", "responses"])
def test_a_response_format_is_counted(dialect):
    assert count_request(BODIES[dialect]).response_format > 5


def test_the_model_of_the_body_is_used_unless_another_is_named():
    body = BODIES["openai"]
    assert count_request(body) == count_request(body, "gpt-4o")
    assert count_request(body, "claude-opus-5").total > count_request(body).total


def test_a_request_that_was_decoded_counts_like_its_body():
    body = BODIES["anthropic"]
    assert count_request(decode(body)) == count_request(body)


def test_an_empty_list_costs_only_the_overhead():
    count = count_request([])
    assert (count.total, count.messages) == (count.overhead, ())


def test_an_unknown_model_is_an_error():
    with pytest.raises(UnknownModelError):
        count_request(BODIES["openai"], "no-such-model")
    with pytest.raises(UnknownModelError):
        count_tokens("hello", "no-such-model")


def test_a_malformed_message_is_an_error_that_names_it():
    with pytest.raises(InvalidInputError, match="1"):
        count_request([{"role": "user", "content": "a"}, {"content": "b"}])


# Field report 32: base64 is never counted as text.
@pytest.mark.parametrize(
    ("messages", "model"),
    [
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BLOB}"}}],
                }
            ],
            "gpt-4o",
        ),
        (
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BLOB}}
                    ],
                }
            ],
            "claude-sonnet-4-5",
        ),
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "t1", "name": "screenshot", "input": {}}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [
                                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BLOB}}
                            ],
                        }
                    ],
                },
            ],
            "claude-sonnet-4-5",
        ),
        (
            [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": BLOB}}]}],
            "gemini-2.5-pro",
        ),
        (
            [
                {"role": "user", "content": "look"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "c",
                    "content": [{"type": "custom_block", "structuredContent": {"blob": BLOB}}],
                },
            ],
            "gpt-4o",
        ),
    ],
    ids=["openai", "anthropic", "anthropic-result", "google", "structured"],
)
def test_base64_is_never_counted_as_text(messages, model):
    assert count_request(messages, model).total < 5_000 < count_tokens(BLOB, "gpt-4o")


# Field report 34: scripts without spaces are not under-counted.
@pytest.mark.parametrize("kind", ["chinese", "japanese", "korean", "thai", "arabic", "emoji"])
@pytest.mark.parametrize(("model", "reference"), [("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")])
def test_no_script_is_counted_low(kind, model, reference, references):
    sample = references[kind]
    assert count_tokens(sample["text"], model) == sample["counts"][reference]


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_content_can_be_counted(content):
    count = count_request([{"role": "user", "content": content}])
    assert count.messages[0] == Measure().text(content) + 4


CHAT = [{"role": "user", "content": "Wie viele Wörter hat dieser Satz, und wer hat sie alle gezählt? 他们说了什么?"}]


def test_fit_counts_by_the_model_that_the_body_names():
    for model in ("gpt-3.5-turbo", "claude-opus-4-5", "qwen3-max"):
        body = {"model": model, "max_tokens": 9, "messages": CHAT}
        assert fit(body, max_input_tokens=10**6).tokens_before == count_request(body).total
        assert fit(body, max_input_tokens=10**6, model="gpt-4o").tokens_before == count_request(body, "gpt-4o").total
        assert Fitter(max_input_tokens=10**6, body=body).tokens == count_request(body).total


def test_a_body_that_names_a_model_of_its_own_is_counted_with_caution():
    body = {"model": "in-house-7", "messages": CHAT * 30}
    fitted = fit(body, max_input_tokens=10**6)
    assert fitted.tokens_before >= count_request(body, "gpt-4o").total
    assert fit(body, max_input_tokens=10**6, model="in-house-8").tokens_before == fitted.tokens_before
    assert compact(body, 3).status == "compacted"


def test_tools_that_are_no_objects_are_named():
    with pytest.raises(InvalidInputError, match=r"tools\[1\]"):
        fit(CHAT, max_input_tokens=100, tools=[WEATHER, "nope"])
