from __future__ import annotations

import time

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from threadline.errors import UnknownModelError
from threadline.messages.message import Message, Request, Tool
from threadline.messages.parts import (
    MediaPart,
    OpaquePart,
    RefusalPart,
    SummaryPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.wire import dumps
from threadline.tokens import CachedCounter, Measure, count_tokens, profile_for

TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
RESULT_PARTS = st.lists(
    st.builds(TextPart, text=TEXT, path=st.just(()))
    | st.just(MediaPart("image", ()))
    | st.builds(OpaquePart, type=st.just("x"), path=st.just(()), text=TEXT),
    max_size=3,
).map(tuple)
PARTS = st.lists(
    st.builds(TextPart, text=TEXT, path=st.just(()))
    | st.builds(RefusalPart, text=TEXT, path=st.just(()))
    | st.builds(SummaryPart, text=TEXT, path=st.just(()), covers=st.just(2))
    | st.builds(ThinkingPart, text=TEXT, path=st.just(()), signed=st.booleans())
    | st.builds(ToolCallPart, id=TEXT, name=TEXT, arguments=TEXT, path=st.just(()))
    | st.builds(ToolResultPart, call_id=TEXT, path=st.just(()), parts=RESULT_PARTS, name=st.none() | TEXT)
    | st.builds(MediaPart, kind=st.sampled_from(["image", "document", "audio", "video"]), path=st.just(()))
    | st.builds(OpaquePart, type=st.just("x"), path=st.just(()), text=TEXT),
    max_size=4,
).map(tuple)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=PARTS,
    dialect=st.sampled_from(["plain", "openai", "anthropic", "google"]),
    wire=st.just({}),
    name=st.none() | TEXT,
)
MODELS = st.sampled_from([None, "gpt-4", "claude-opus-5", "gemini-3-pro"])
FACTORS = st.sampled_from([1.0, 1.17, 0.8])

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


def user(*parts, **more):
    return Message(role="user", parts=parts, dialect="openai", wire=more.pop("wire", {}), **more)


def text(value):
    return TextPart(value, ("content",))


# --- additivity


@given(st.lists(MESSAGES, max_size=5), MODELS, FACTORS)
def test_messages_cost_the_same_alone_and_together(messages, model, factor):
    measure = Measure(model, factor=factor)
    assert measure.messages(messages) == [measure.message(message) for message in messages]


@given(st.lists(MESSAGES, max_size=4), st.lists(MESSAGES, max_size=2), st.booleans(), MODELS, FACTORS)
def test_a_request_costs_exactly_the_sum_of_its_parts(messages, system, has_tools, model, factor):
    request = Request(
        dialect="openai",
        messages=tuple(messages),
        system=tuple(system),
        tools=(Tool(name="w", wire=WEATHER),) if has_tools else (),
        response_format={"type": "json_object"},
    )
    measure = Measure(model, factor=factor)
    count = measure.request(request)
    assert count.total == count.system + count.tools + count.response_format + sum(count.messages) + count.overhead
    assert count.messages == tuple(measure.messages(messages))
    assert count.system == sum(measure.messages(system))
    assert count.tools == (measure.tool(Tool(name="w", wire=WEATHER)) if has_tools else 0)


@given(st.lists(MESSAGES, max_size=4))
def test_counts_made_before_are_used_again(messages):
    measure = Measure()
    request = Request(dialect="openai", messages=tuple(messages))
    assert measure.request(request, message_tokens=measure.messages(messages)) == measure.request(request)


def test_given_counts_are_taken_at_their_word():
    request = Request(dialect="openai", messages=(user(text("hi")),))
    assert Measure().request(request, message_tokens=[1_000]).messages == (1_000,)


@given(MESSAGES, MODELS)
def test_a_message_never_costs_less_than_its_frame(message, model):
    assert Measure(model).message(message) >= profile_for(model).per_message > 0


# --- every part counts


@pytest.mark.parametrize(
    "part",
    [
        text("words"),
        RefusalPart("I can't", ()),
        SummaryPart("earlier", (), 3),
        ThinkingPart("hmm", ()),
        ThinkingPart("", (), signed=True),
        ToolCallPart("c1", "f", "{}", ()),
        ToolCallPart("c1", "", "", ()),
        ToolResultPart("c1", ()),
        ToolResultPart("c1", (), (text("found"),)),
        MediaPart("image", ()),
        MediaPart("document", ()),
        MediaPart("audio", ()),
        MediaPart("video", ()),
        OpaquePart("citation", ()),
        OpaquePart("citation", (), '{"type":"citation"}'),
    ],
)
@pytest.mark.parametrize("model", [None, "claude-opus-5", "gemini-3-pro", "grok-4"])
def test_every_type_of_part_counts_for_something(part, model):  # field report 31
    measure = Measure(model)
    assert measure.message(user(part)) > measure.message(user())


def test_a_call_costs_its_name_and_its_arguments():
    measure = Measure()
    short = measure.message(user(ToolCallPart("c", "look", "{}", ())))
    long = measure.message(user(ToolCallPart("c", "look", '{"query":"' + "a b c " * 50 + '"}', ())))
    assert long - short > 100


def test_a_name_costs_itself_and_one_more():
    measure = Measure("gpt-4o")
    assert measure.message(user(name="ann")) - measure.message(user()) == 1 + count_tokens("ann", "gpt-4o")


def test_a_result_names_its_function_where_the_wire_does():
    result = ToolResultPart("c", (), (), "a_rather_long_function_name")
    google = Message(role="tool", parts=(result,), dialect="google", wire={})
    openai = Message(role="tool", parts=(result,), dialect="openai", wire={})
    assert Measure().message(google) > Measure().message(openai)


@pytest.mark.parametrize("key", ["data", "encrypted_content"])
def test_thinking_that_cannot_be_read_is_counted_by_its_size(key):
    block = {"type": "redacted_thinking", key: "A" * 4_000}
    message = user(ThinkingPart("", ("content", 0), signed=True), wire={"content": [block]})
    assert 1_000 <= Measure().message(message) - Measure().message(user()) <= 1_010


def test_a_signature_is_not_counted_as_thinking():
    block = {"type": "thinking", "thinking": "", "signature": "A" * 4_000}
    message = user(ThinkingPart("", ("content", 0), signed=True), wire={"content": [block]})
    assert Measure().message(message) - Measure().message(user()) < 10


def test_sealed_thinking_whose_block_is_gone_still_counts():
    message = user(ThinkingPart("", ("content", 7), signed=True), wire={"content": []})
    assert Measure().message(message) > Measure().message(user())


# --- tools


def test_a_flat_function_is_counted_as_openai_counts_it():
    assert Measure("gpt-4o").tool(Tool(name="w", wire=WEATHER)) == 56
    assert Measure("gpt-4").tool(Tool(name="w", wire=WEATHER)) == 59


def test_a_function_of_the_responses_api_counts_alike():
    wire = {"type": "function", **WEATHER["function"]}
    assert Measure("gpt-4o").tool(Tool(name="w", wire=wire)) == 56


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {}, "$defs": {"x": {"type": "string", "description": "long " * 50}}},
        {"$ref": "#/x"},
    ],
)
def test_a_nested_function_is_counted_by_its_json(parameters):
    wire = {"type": "function", "function": {"name": "f", "description": "Does it.", "parameters": parameters}}
    measure = Measure("gpt-4o")
    assert measure.tool(Tool(name="f", wire=wire)) == measure.text(dumps(wire)) + measure.profile.per_tool


def test_a_function_without_parameters_or_description_counts():
    wire = {"type": "function", "function": {"name": "now"}}
    assert 7 < Measure("gpt-4o").tool(Tool(name="now", wire=wire)) < 15


def test_a_tool_that_the_provider_defines_costs_what_it_documents():
    tool = Tool(name="bash", wire={"type": "bash_20250124", "name": "bash"})
    assert Measure("claude-opus-5").tool(tool) > 245


@pytest.mark.parametrize("wire", ["web_search", {"type": "function", "function": {"description": "nameless"}}, None])
def test_a_tool_of_another_shape_is_counted_by_its_json(wire):
    measure = Measure("gpt-4o")
    assert measure.tool(Tool(name="x", wire=wire)) == measure.text(dumps(wire)) + measure.profile.per_tool


def test_enum_items_of_any_json_type_are_counted():
    parameters = {"type": "object", "properties": {"n": {"type": "integer", "enum": [1, 2, None]}}}
    wire = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    assert Measure("gpt-4o").tool(Tool(name="f", wire=wire)) > 20


# --- the measure itself


def test_texts_are_counted_without_a_frame():
    assert Measure().texts(["hello world", ""]) == [2, 0]
    assert Measure().text("hello world") == 2


def test_a_factor_multiplies_whole_counts_and_rounds_up():
    message = user(text("hello world"))
    plain = Measure().message(message)
    assert Measure(factor=1.5).message(message) == -(-plain * 3 // 2)
    assert not Measure(factor=1.5).exact
    assert Measure().exact


def test_an_unknown_model_needs_a_window():
    with pytest.raises(UnknownModelError):
        Measure("house-model")
    assert Measure("house-model", window=8_000).window == 8_000


def test_the_window_is_the_given_one_else_the_models_own_else_none():
    assert Measure("gpt-4o", window=1_000).window == 1_000
    assert Measure("gpt-4o").window == 128_000
    assert Measure().window is None
    assert Measure(profile=profile_for("gpt-4o"), window=2_000).window == 2_000


def test_a_profile_or_a_counter_may_be_given():
    class Words:
        name, exact, bound = "words", False, 0.0

        def count(self, texts):
            return [len(text.split()) for text in texts]

    measure = Measure(profile=profile_for("gpt-4o"), counter=Words())
    assert measure.text("three little words") == 3
    assert measure.message(user(text("three little words"))) == 3 + 4


def test_all_texts_of_all_messages_are_counted_in_one_batch():
    batches = []

    class Spy:
        name, exact, bound = "spy", True, 0.0

        def count(self, texts):
            batches.append(len(texts))
            return [1] * len(texts)

    Measure(counter=Spy()).messages([user(text("a"), text("b")), user(ToolCallPart("c", "f", "{}", ())), user()])
    assert batches == [4]


@pytest.mark.bench
def test_measuring_messages_costs_little_more_than_counting_their_texts(references):
    base = " ".join(sample["text"] for sample in references.values() if sample["text"].isascii())
    texts = [f"{index} {base[index % 500 : index % 500 + 1000]}" for index in range(10_000)]
    messages = [user(text(value)) for value in texts]
    exact = min(_seconds(lambda: toktok.batch_count(texts, "o200k_base", threads=1)) for _ in range(5))
    cold = min(_seconds(lambda: Measure().messages(messages)) for _ in range(5))
    assert cold <= exact * 1.5


def test_a_measure_remembers_the_texts_it_counted():
    assert isinstance(Measure().counter, CachedCounter)


def _seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
