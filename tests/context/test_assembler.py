"""The request that an assembler writes: its order, its exact cost, and that every provider would take it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from anthropic.types import MessageParam, TextBlockParam, ToolParam
from google.genai import types as google
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

from threadline.context.assembler import ContextAssembler
from threadline.context.costs import item_cost
from threadline.context.default_policy import DefaultPolicy
from threadline.context.items import InstructionItem, KnowledgeItem
from threadline.context.plan import ContextPlan
from threadline.context.policy import ContextPolicy
from threadline.errors import ConfigurationError, ContextBudgetExceededError, InvalidInputError
from threadline.journal.canonical import content_ref
from threadline.messages import Dialect, check_conversation, decode, encode
from threadline.tokens import Measure

from .items import asked, groups_of, known, messages_in, said, told, tool

DIALECTS: tuple[Dialect, ...] = ("plain", "openai", "responses", "anthropic", "google")
MODELS = {
    "plain": "gpt-4o",
    "openai": "gpt-4o",
    "responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-2.5-pro",
}
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)

with warnings.catch_warnings():
    # The TypedDicts forward each other's names; pydantic says so while it builds the validators.
    warnings.simplefilter("ignore")
    MESSAGES: dict[Dialect, TypeAdapter[Any]] = {
        "plain": TypeAdapter(ChatCompletionMessageParam),
        "openai": TypeAdapter(ChatCompletionMessageParam),
        "responses": TypeAdapter(ResponseInputItemParam),
        "anthropic": TypeAdapter(MessageParam),
        "google": TypeAdapter(google.Content),
    }
    TOOLS: dict[Dialect, TypeAdapter[Any]] = {
        "plain": TypeAdapter(ChatCompletionToolParam),
        "openai": TypeAdapter(ChatCompletionToolParam),
        "responses": TypeAdapter(FunctionToolParam),
        "anthropic": TypeAdapter(ToolParam),
        "google": TypeAdapter(google.Tool),
    }
    SYSTEM = TypeAdapter(TextBlockParam)
KEYS = {"plain": "messages", "openai": "messages", "anthropic": "messages", "responses": "input", "google": "contents"}


def assembler(dialect="openai", policy=None, **options):
    measure = Measure(MODELS[dialect], **options)
    return ContextAssembler(policy=policy or DefaultPolicy(), measure=measure, naming=content_ref, dialect=dialect)


def full(dialect, limit=None, **fields):
    """Two instructions, two facts, a tool and a conversation whose last run has begun."""
    messages = messages_in(dialect)
    runs = ("run1",) * 2 + ("run2",) * (len(messages) - 3) + ("run3",)
    return asked(
        limit,
        instruction=[told("i"), told("j", content="Speak plainly.")],
        knowledge=[known("k"), known("l", content={"seat": ["aisle"]}, metadata={"source": "profile"})],
        tools=[tool("look")],
        conversation=list(groups_of(messages, runs)),
        execution_id="run3",
        model_config={"model": MODELS[dialect], "temperature": 0.5, "max_output_tokens": 100},
        **fields,
    )


def assembled(dialect="openai", limit=None, **fields):
    writer = assembler(dialect)
    return writer.finish(writer.prepare(writer.price(full(dialect, limit, **fields))))


def exhaust(value):
    if isinstance(value, dict):
        for inner in value.values():
            exhaust(inner)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            exhaust(inner)


@every_dialect
def test_a_request_is_one_that_the_provider_takes(dialect):
    body = assembled(dialect).request.wire

    assert check_conversation(body, dialect=dialect) == ()
    for wire in body[KEYS[dialect]]:
        exhaust(MESSAGES[dialect].validate_python(wire))
    for wire in body["tools"]:
        exhaust(TOOLS[dialect].validate_python(wire))


@every_dialect
def test_the_body_is_the_request(dialect):
    request = assembled(dialect).request

    assert encode(request) is request.wire
    read = decode(request.wire, dialect)
    assert [message.wire for message in read.messages] == [message.wire for message in request.messages]
    assert [message.parts for message in read.messages] == [message.parts for message in request.messages]
    assert read.tools == request.tools
    assert read.model == request.model


def test_row_40_system_parts_are_joined_by_a_blank_line_in_the_place_of_each_dialect():
    text = "do i\n\nSpeak plainly."

    assert assembled("openai").request.wire["messages"][0] == {"role": "system", "content": text}
    assert assembled("anthropic").request.wire["system"] == [{"type": "text", "text": text}]
    assert assembled("responses").request.wire["instructions"] == text
    assert assembled("google").request.wire["systemInstruction"] == {"parts": [{"text": text}]}


@every_dialect
def test_row_40_messages_keep_their_boundaries_and_their_wires(dialect):
    wires = [message.wire for message in messages_in(dialect)]

    sent = assembled(dialect).request.wire[KEYS[dialect]]

    assert [wire for wire in sent if wire in wires] == wires
    assert len(sent) == len(wires) + 2 + (dialect in ("plain", "openai"))


@every_dialect
def test_row_40_the_new_input_is_sent_last(dialect):
    ask = said("current-input:run4", delivery="ask_argument", content="And back?", kind="current_input", sequence=0)
    first = full(dialect, call_mode="ask")
    given_ = asked(
        None,
        knowledge=first.knowledge,
        call_mode="ask",
        conversation=[(ask,), *first.conversation],
        dialect=dialect,
    )
    writer = assembler(dialect)

    finished = writer.finish(writer.prepare(given_))

    assert finished.request.messages[-1].content == "And back?"
    assert finished.manifest.segments[-1].delivery == "ask_argument"
    assert "quoted_data" in finished.request.messages[-2].content


@every_dialect
def test_knowledge_stands_before_the_runs_request_as_data_of_a_user(dialect):
    request = assembled(dialect).request

    texts = [message.content for message in request.messages]
    place = next(number for number, text in enumerate(texts) if "quoted_data" in text)
    assert texts[place + 2] == "Book it."
    assert [message.role for message in request.messages[place : place + 2]] == ["user", "user"]
    assert 'source="profile"' in texts[place + 1]
    assert '{"seat":["aisle"]}' in texts[place + 1]


@every_dialect
def test_knowledge_may_stand_behind_the_conversation_instead(dialect):
    measure = Measure(MODELS[dialect])
    writer = ContextAssembler(
        policy=DefaultPolicy(), measure=measure, naming=content_ref, dialect=dialect, data_at="end"
    )

    finished = writer.finish(writer.prepare(writer.price(full(dialect))))

    assert ["quoted_data" in message.content for message in finished.request.messages][-3:] == [False, True, True]
    assert check_conversation(finished.request) == ()


@every_dialect
def test_only_instructions_reach_the_system_role(dialect):
    sly = KnowledgeItem(id="k", content="SECRET", role="system", kind="memory", trust="external")
    hook = InstructionItem(id="h", content="Be brief.", provenance={"origin": "hook"})
    writer = assembler(dialect)
    given_ = asked(None, instruction=[told("i"), hook], knowledge=[sly], conversation=[said("m")])

    request = writer.finish(writer.prepare(given_)).request

    system = [m for m in (*request.system, *request.messages) if m.role in ("system", "developer")]
    assert [message.content for message in system] == ["do i\n\nBe brief."]
    assert sum("SECRET" in message.content for message in request.messages if message.role == "user") == 1


@every_dialect
def test_an_operators_instruction_stays_in_its_place_where_the_dialect_has_one(dialect):
    rule = said("s", role="system", kind="instruction", content="From now on in French.", sequence=2)
    writer = assembler(dialect)
    given_ = asked(None, instruction=[told("i")], conversation=[said("a", sequence=1), rule, said("b", sequence=3)])

    request = writer.finish(writer.prepare(writer.price(given_))).request

    if dialect in ("anthropic", "google"):
        assert request.system[0].content == "do i\n\nFrom now on in French."
    else:
        assert [m.content for m in request.messages][-3:] == ["text a", "From now on in French.", "text b"]


def test_an_instruction_for_the_user_role_is_a_message_beside_the_knowledge():
    duty = told("duty", role="user", kind="handoff_responsibility", content="Finish the booking.")
    writer = assembler()

    request = writer.finish(writer.prepare(asked(None, instruction=[duty], conversation=[said("m")]))).request

    assert [(m.role, m.content) for m in request.messages] == [("user", "Finish the booking."), ("user", "text m")]


# One measure


@every_dialect
@pytest.mark.parametrize("schema", [None, {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}])
def test_row_28_what_items_cost_is_what_the_request_costs(dialect, schema):
    writer = assembler(dialect)
    given_ = writer.price(full(dialect), response_format=schema)

    finished = writer.finish(writer.prepare(given_), response_format=schema)

    total = sum(item.estimated_tokens for item in given_.items()) + given_.overhead_tokens
    tokens = finished.manifest.tokens
    assert total == tokens.total == Measure(MODELS[dialect]).request(decode(finished.request.wire, dialect)).total
    assert tokens.total == sum(
        (
            tokens.instruction,
            tokens.knowledge,
            tokens.tools,
            tokens.conversation,
            tokens.response_format,
            tokens.overhead,
        )
    )
    assert (
        sum(s.tokens for s in finished.manifest.segments) + tokens.tools + tokens.response_format + tokens.overhead
        == total
    )


@every_dialect
@pytest.mark.parametrize("with_tools", [True, False])
def test_row_28_an_exact_fit_passes_and_one_token_less_does_not(dialect, with_tools):
    writer = assembler(dialect)
    everything = {"instruction": [told("i"), told("j")], "tools": [tool("look")] if with_tools else []}
    everything["conversation"] = [said("m", required=True, content="x" * 300)]
    total = writer.finish(writer.prepare(writer.price(asked(None, **everything)))).manifest.tokens.total

    exact = writer.finish(writer.prepare(writer.price(asked(total, **everything))))

    assert exact.manifest.tokens.total == exact.manifest.max_input_tokens == total
    with pytest.raises(ContextBudgetExceededError):
        writer.prepare(writer.price(asked(total - 1, **everything)))


@settings(max_examples=30)
@given(data=st.data())
def test_law_the_request_never_exceeds_the_budget(data):
    dialect = data.draw(st.sampled_from(DIALECTS))
    factor = data.draw(st.sampled_from([1.0, 1.37]))
    words = st.text(min_size=1, max_size=40).filter(str.strip)
    count = data.draw(st.integers(1, 8))
    given_ = asked(
        data.draw(st.integers(0, 600)),
        instruction=[told(f"i{n}", content=data.draw(words)) for n in range(data.draw(st.integers(0, 3)))],
        knowledge=[known(f"k{n}", content=data.draw(words)) for n in range(data.draw(st.integers(0, 3)))],
        tools=[tool("look")] if data.draw(st.booleans()) else [],
        conversation=[
            said(f"m{n}", sequence=n, content=data.draw(words), role=data.draw(st.sampled_from(["user", "assistant"])))
            for n in range(count)
        ],
    )
    writer = assembler(dialect, factor=factor)
    priced = writer.price(given_)
    try:
        prepared = writer.prepare(priced)
    except ContextBudgetExceededError:
        return

    finished = writer.finish(prepared)  # what the policy let through never fails the final check

    assert finished.manifest.tokens.total <= given_.token_budget.max_input_tokens
    assert finished.plan.estimated_tokens + priced.overhead_tokens == finished.manifest.tokens.total


def test_costs_known_before_are_not_counted_again():
    writer = assembler()
    given_ = full("openai")
    counted = {item.id: 7 for item in given_.items()}

    priced = writer.price(given_, known=counted)

    assert {item.estimated_tokens for group in priced.conversation for item in group} == {7}
    assert priced.instruction == writer.price(given_).instruction


def test_the_cost_of_one_item_is_the_cost_of_its_message():
    measure = Measure("gpt-4o")
    item = said("m", content="hello there")

    assert (
        item_cost(item, measure, "openai")
        == measure.messages(messages_in("openai", [{"role": "user", "content": "hello there"}]))[0]
    )


# What the policy adds, and what is left out


def test_row_22_what_a_policy_adds_is_stored_and_belongs_to_this_call_alone():
    class Summarises(ContextPolicy):
        def __call__(self, input):
            note = self.knowledge_item("They fly to Oslo.", kind="summary", within=input)
            return self.plan(instruction=input.instruction, knowledge=(note,), conversation=input.conversation[-1:])

    writer = assembler(policy=Summarises())
    finished = writer.finish(writer.prepare(writer.price(full("openai"))))

    (segment,) = [s for s in finished.manifest.segments if s.category == "knowledge"]
    assert segment.origin == "policy_generated"
    assert finished.contents[segment.content_ref] == b"They fly to Oslo."
    assert finished.manifest.policy == "Summarises"
    assert segment.tokens == finished.plan.knowledge[0].estimated_tokens
    reasons = {omission.item_id: omission.reason for omission in finished.manifest.omissions}
    assert reasons["k"] == reasons["record:0"] == reasons["tool:look"] == "policy"


def test_contents_hold_all_that_is_not_stored_yet():
    finished = assembled()

    stored = {item.provenance.content_ref for group in full("openai").conversation for item in group}
    assert set(finished.manifest.referenced_content_refs) == (set(finished.contents) - {finished.manifest_ref}) | stored
    assert all(content_ref(data) == ref for ref, data in finished.contents.items())


def test_decisions_and_the_watermark_are_in_the_manifest():
    def decides(input):
        return ContextPlan(conversation=input.conversation, decisions=({"elide": [1, 2]},))

    writer = assembler(policy=decides)
    watermark = {"agent_revision": 3, "context_revision": 2, "journal_position": 17}
    finished = writer.finish(
        writer.prepare(asked(None, conversation=[said("m")], metadata=watermark)), branch=1, adapter_name="x"
    )

    manifest = finished.manifest
    assert finished.contents[manifest.decisions_ref] == b'[{"elide":[1,2]}]'
    assert (manifest.agent_revision, manifest.context_revision, manifest.journal_position) == (3, 2, 17)
    assert (manifest.branch, manifest.adapter_name, manifest.policy) == (1, "x", "decides")


def test_what_is_no_message_of_the_dialect_is_refused_by_name():
    writer = assembler("anthropic")
    given_ = asked(None, conversation=[said("m", content={"text": "no role"})])

    with pytest.raises(InvalidInputError) as caught:
        writer.finish(writer.prepare(given_))

    assert caught.value.fields["item"] == "m"


@every_dialect
def test_texts_make_a_whole_exchange_in_any_dialect(dialect):
    call = messages_in(dialect)[3 if dialect != "responses" else 4]
    asks = groups_of((call,))[0][0]
    results = [said(f"r{n}", role="tool", tool_call_id=c, content="fine") for n, c in enumerate(asks.calls)]
    writer = assembler(dialect)

    finished = writer.finish(writer.prepare(asked(None, conversation=[said("q"), (asks, *results)])))

    assert [r.call_id for m in finished.request.messages for r in m.tool_results] == [*asks.calls]
    assert [v.rule for v in check_conversation(finished.request) if v.rule != "result_not_adjacent"] == []


def test_settings_and_tools_are_written_in_each_dialect():
    config = {"model": "m", "max_output_tokens": 9, "stop": ["x"], "provider": "p", "x_trace": "t"}

    def body(dialect):
        writer = assembler(dialect)
        return writer.finish(writer.prepare(asked(None, conversation=[said("m")], model_config=config))).request.wire

    assert body("openai").items() >= {"model": "m", "max_completion_tokens": 9, "stop": ["x"], "x_trace": "t"}.items()
    assert body("anthropic").items() >= {"model": "m", "max_tokens": 9, "stop_sequences": ["x"]}.items()
    assert body("google")["generationConfig"] == {"maxOutputTokens": 9, "stopSequences": ["x"]}
    assert "provider" not in body("openai")
    with pytest.raises(ConfigurationError) as caught:
        body("responses")
    assert caught.value.fields["key"] == "stop"


def test_a_tool_of_the_provider_is_sent_as_it_is_and_refused_elsewhere():
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}

    def tools(dialect):
        writer = assembler(dialect)
        given_ = asked(None, conversation=[said("m")], tools=[tool("look"), _tool(search)])
        return writer.finish(writer.prepare(given_)).request.wire["tools"]

    assert tools("anthropic")[1] == search
    with pytest.raises(ConfigurationError):
        tools("google")


def _tool(definition):
    from threadline.context.items import ToolItem

    return ToolItem(id="tool:provider", definition=definition)


@every_dialect
def test_a_response_format_has_its_place_in_each_dialect(dialect):
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    writer = assembler(dialect)

    request = writer.finish(writer.prepare(asked(None, conversation=[said("m")])), response_format=schema).request

    assert decode(request.wire, dialect).response_format == schema == request.response_format


def test_the_same_input_gives_the_same_bytes():
    one, other = assembled(), assembled()

    assert one.manifest_ref == other.manifest_ref
    assert one.contents == other.contents
