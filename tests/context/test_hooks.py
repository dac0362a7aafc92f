"""Rows 34 and 35: hooks in three tiers, what they add to a call and what not."""

from __future__ import annotations

import pytest

from threadline.context.default_policy import DefaultPolicy
from threadline.context.hooks import (
    LLMInputBuildContext,
    LLMInputPatch,
    SegmentCandidate,
    hook_items,
    patched_config,
    run_hooks,
)
from threadline.context.input import ContextPolicyInput
from threadline.errors import ConfigurationError, InvalidInputError, WrongReturnError

from .items import asked, said

pytestmark = pytest.mark.anyio

CONTEXT = LLMInputBuildContext(agent_id="a", config={"model": "m", "stop": ["x"]}, call_sequence=2)


def note(text):
    return SegmentCandidate(content=text)


async def test_row_34_tiers_run_in_order_and_merge():
    order = []

    def wide(context):
        order.append("wide")
        return LLMInputPatch(model_config_patch={"a": 1, "b": 1}, segment_candidates=[note("one")])

    async def middle(context):
        order.append("middle")
        return LLMInputPatch(model_config_patch={"b": 2, "c": None}, segment_candidates=[note("two"), note("three")])

    def narrow(context):
        order.append("narrow")

    patch = await run_hooks([wide, None, middle, narrow], CONTEXT)

    assert order == ["wide", "middle", "narrow"]
    assert patch.model_config_patch == {"a": 1, "b": 2, "c": None}
    assert [candidate.content for candidate in patch.segment_candidates] == ["one", "two", "three"]


async def test_row_34_nothing_gives_empty_fields():
    assert await run_hooks([lambda _: None, lambda _: LLMInputPatch()], CONTEXT) == LLMInputPatch()


@pytest.mark.parametrize(
    "answer",
    [{"model_config_patch": {}}, "text", LLMInputPatch(segment_candidates=["text"])],
    ids=["map", "text", "in"],
)
async def test_row_34_a_wrong_return_is_a_type_error(answer):
    with pytest.raises(TypeError) as caught:
        await run_hooks([None, lambda _: answer], CONTEXT)

    assert isinstance(caught.value, WrongReturnError)
    assert caught.value.fields["index"] == 1


async def test_what_a_hook_raises_goes_through():
    def fails(context):
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        await run_hooks([fails], CONTEXT)


async def test_a_hook_cannot_change_what_it_is_told():
    with pytest.raises(TypeError):
        CONTEXT.config["model"] = "other"
    assert CONTEXT.config["stop"] == ("x",)


def test_none_deletes_a_key_and_later_values_win():
    patch = LLMInputPatch(model_config_patch={"temperature": None, "model": "n"})

    assert patched_config({"model": "m", "temperature": 1}, patch) == {"model": "n"}


@pytest.mark.parametrize(
    ("key", "value"), [("context_window", 5), ("max_output_tokens", 0), ("max_output_tokens", True)]
)
def test_a_hook_cannot_set_the_window_or_an_empty_reply(key, value):
    with pytest.raises(ConfigurationError) as caught:
        patched_config({}, LLMInputPatch(model_config_patch={key: value}))

    assert caught.value.fields["key"] == key


def test_row_35_candidates_become_optional_items_behind_the_conversation():
    patch = LLMInputPatch(
        segment_candidates=[
            note("fact"),
            SegmentCandidate(content="be brief", category="instruction"),
            SegmentCandidate(content={"role": "user", "content": "hm"}, category="conversation", priority=2),
            SegmentCandidate(content={"a": 1}, kind="memory"),
        ]
    )

    items = hook_items(patch, agent_id="a", execution_id="run", call_sequence=2, after_sequence=9)

    made = [*items.knowledge, *items.instruction, *[item for group in items.conversation for item in group]]
    assert [item.id for item in made] == [f"hook:run:2:{n}" for n in (0, 3, 1, 2)]
    assert [item.required for item in made] == [False] * 4
    assert {item.provenance.origin for item in made} == {"hook"}
    assert (items.instruction[0].role, items.knowledge[0].role) == ("system", "user")
    spoken = items.conversation[0][0]
    assert (spoken.sequence, spoken.priority, spoken.trust, spoken.content_format) == (10, 2, "external", "json")
    assert items.knowledge[1].kind == "memory"


def test_row_35_a_candidate_may_be_left_out():
    items = hook_items(
        LLMInputPatch(segment_candidates=[note("x" * 1000)]), agent_id="a", execution_id="run", call_sequence=1
    )
    (item,) = items.knowledge
    given = asked(5, knowledge=[item], conversation=[said("m", 5)])
    assert isinstance(given, ContextPolicyInput)

    plan = DefaultPolicy()(asked(5, knowledge=[_costing(item, 9)], conversation=[said("m", 5, required=True)]))

    assert plan.knowledge == ()
    assert plan.omissions[0].item_id == "hook:run:1:0"


def _costing(item, tokens):
    from msgspec import structs

    return structs.replace(item, estimated_tokens=tokens)


@pytest.mark.parametrize(
    "fields", [{"category": "tools"}, {"kind": "tool_message"}, {"category": "conversation", "kind": "memory"}]
)
def test_a_candidate_of_an_unknown_kind_is_refused(fields):
    with pytest.raises(InvalidInputError):
        SegmentCandidate(content="x", **fields)
