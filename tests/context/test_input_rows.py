"""Rows 1 to 3, 30 and 31 of the contract: what may be in an input, and that nobody can change it."""

from __future__ import annotations

import pytest

from threadline.context.budget import TokenBudget
from threadline.context.input import ContextPolicyInput, group_items
from threadline.context.items import (
    ConversationItem,
    InstructionItem,
    KnowledgeItem,
    Provenance,
    ToolItem,
)
from threadline.context.plan import ContextPlan
from threadline.errors import ConfigurationError, InvalidInputError

from .items import asked, exchange, known, said, told, tool


def test_an_input_cannot_be_changed_at_any_depth():
    given = asked(
        10,
        instruction=[told("i", metadata={"a": {"b": [1]}})],
        conversation=[said("m", content={"role": "user", "content": [{"type": "text", "text": "x"}]})],
        model_config={"model": "m", "stop": ["a"]},
    )

    with pytest.raises(AttributeError):
        given.agent_id = "b"
    with pytest.raises(AttributeError):
        given.instruction[0].content = "other"
    for held in (
        given.model_config,
        given.instruction[0].metadata["a"],
        given.conversation[0][0].content["content"][0],
    ):
        with pytest.raises(TypeError):
            held["x"] = 1
    assert isinstance(given.conversation, tuple)
    assert isinstance(given.conversation[0][0].content["content"], tuple)


def test_what_a_caller_changes_afterwards_is_not_seen():
    metadata = {"tags": ["one"]}
    item = known("k", metadata=metadata)

    metadata["tags"].append("two")

    assert item.metadata == {"tags": ("one",)}


def test_a_plan_cannot_be_changed():
    plan = ContextPlan(instruction=[told("i")], conversation=[[said("m")]], metadata={"a": [1]}, decisions=({"x": 1},))

    with pytest.raises(AttributeError):
        plan.instruction = ()
    with pytest.raises(TypeError):
        plan.metadata["a"] = 2
    with pytest.raises(TypeError):
        plan.decisions[0]["x"] = 2
    assert plan.conversation == ((said("m"),),)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"conversation": [()]}, "conversation"),
        ({"call_sequence": 0}, "call_sequence"),
        ({"call_sequence": True}, "call_sequence"),
        ({"call_mode": "chat"}, "call_mode"),
        ({"agent_id": ""}, "agent_id"),
        ({"instruction": [known("k")]}, "instruction"),
        ({"knowledge": [told("i")]}, "knowledge"),
        ({"tools": [known("k")]}, "tools"),
        ({"conversation": [(known("k"),)]}, "conversation.0"),
        ({"overhead_tokens": -1}, "overhead_tokens"),
        ({"token_budget": 100}, "token_budget"),
        ({"previous_manifest": {}}, "previous_manifest"),
        ({"model_config": [1]}, "model_config"),
        ({"dialect": "latin"}, "dialect"),
    ],
)
def test_a_wrong_input_is_refused_and_says_where(fields, key):
    with pytest.raises(InvalidInputError) as caught:
        asked(**fields)

    assert caught.value.fields["key"] == key
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: told("i", -1), "estimated_tokens"),
        (lambda: told("i", 1.5), "estimated_tokens"),
        (lambda: told(""), "id"),
        (lambda: told(7), "id"),
        (lambda: told("i", kind=""), "kind"),
        (lambda: told("i", role="boss"), "role"),
        (lambda: told("i", content=3, content_format="text"), "content"),
        (lambda: told("i", content="x", content_format="xml"), "content_format"),
        (lambda: told("i", content={1: 2}), "content"),
        (lambda: told("i", content=object()), "content"),
        (lambda: told("i", metadata=[1]), "metadata"),
        (lambda: told("i", trust="god"), "trust"),
        (lambda: told("i", priority="high"), "priority"),
        (lambda: told("i", provenance=3), "provenance"),
        (lambda: told("i", provenance={"origin": ""}), "provenance.origin"),
        (lambda: told("i", provenance={"record_id": "r"}), "provenance"),
        (lambda: told("i", provenance={"origin": "o", "x": 1}), "provenance"),
        (lambda: told("i", provenance={"origin": "o", "record_id": 1}), "provenance.record_id"),
        (lambda: said("m", delivery="pigeon"), "delivery"),
        (lambda: said("m", sequence="1"), "sequence"),
        (lambda: said("m", tool_call_id=1), "tool_call_id"),
        (lambda: said("m", tool_call_ids="ab"), "tool_call_ids"),
        (lambda: said("m", tool_call_ids=[1]), "tool_call_ids"),
        (lambda: ToolItem(id="t", definition={}), "definition"),
        (lambda: ToolItem(id="t", definition={"name": ""}), "definition"),
        (lambda: ToolItem(id="t", definition={"type": "function", "function": {"description": "x"}}), "definition"),
        (lambda: ToolItem(id="t", definition="look"), "definition"),
        (lambda: TokenBudget(max_input_tokens=-1), "max_input_tokens"),
    ],
    ids=map(str, range(28)),
)
def test_a_wrong_item_is_refused_and_says_where(make, key):
    with pytest.raises(InvalidInputError) as caught:
        make()

    assert caught.value.fields["key"] == key


def test_provenance_may_be_a_mapping_or_missing():
    assert told("i", provenance=None).provenance == Provenance(origin="unknown")
    assert told("i").provenance == Provenance(origin="unknown")
    assert told("i", provenance={"origin": "journal", "record_id": "r"}).provenance == Provenance(
        origin="journal", record_id="r"
    )


def test_fields_that_may_be_left_out_get_their_meaning():
    assert told("i", None).estimated_tokens == 0
    assert told("i", content="x").content_format == "text"
    assert told("i", content={"a": 1}).content_format == "json"
    assert told("i", required=1).required is True
    assert said("m", tool_call_ids=[None, "c"], role="assistant").calls == ("c",)
    assert said("m").delivery == "chat_message"


def test_trust_goes_with_category_and_role():
    assert [told("i").trust, known("k").trust, tool("t").trust] == ["operator", "external", "operator"]
    assert [said("m", role=role).trust for role in ("user", "assistant", "tool", "system")] == [
        "user",
        "model",
        "tool",
        "operator",
    ]
    assert said("m", trust="external").trust == "external"


def test_a_tool_is_known_by_name_however_its_dialect_writes_it():
    definitions = [
        {"name": "look"},
        {"type": "function", "function": {"name": "look"}},
        {"type": "custom", "custom": {"name": "look"}},
        {"type": "look"},
    ]

    assert {ToolItem(id="t", definition=definition).name for definition in definitions} == {"look"}


def test_a_budget_is_what_reply_and_overhead_leave():
    assert TokenBudget.of(1000, 100, 50).max_input_tokens == 850
    assert TokenBudget.of(100, 90, 50).max_input_tokens == 0
    assert TokenBudget.of(1000, 100).available(950) == 0


@pytest.mark.parametrize("reserve", [None, 0, -1, 1000, 1001, True])
def test_a_reply_without_reserve_is_a_wrong_configuration(reserve):
    with pytest.raises(ConfigurationError):
        TokenBudget.of(1000, reserve)


def test_the_limit_of_items_is_the_budget_without_the_overhead():
    assert asked(100, overhead_tokens=7).limit == 93
    assert asked(5, overhead_tokens=7).limit == 0
    assert asked().limit is None


# How messages are grouped


def ids(groups):
    return [[item.id for item in group] for group in groups]


def test_a_call_and_all_its_results_are_one_group_where_the_first_stands():
    first, second = exchange("x", (1, 1, 1), sequence=2), said("m", sequence=3)
    late = [*first[:2], said("xr2", sequence=9, role="tool", tool_call_id="x-2")]

    assert ids(group_items([second, *late, said("n", sequence=1)])) == [["n"], ["x", "xr1", "xr2"], ["m"]]


def test_items_without_sequence_come_first_by_id():
    assert ids(group_items([said("b"), said("a"), said("c", sequence=1)])) == [["a"], ["b"], ["c"]]


def test_a_reused_call_id_opens_a_new_group():
    asks = [said(f"q{n}", sequence=n * 2, role="assistant", tool_call_ids=("c",)) for n in (1, 2)]
    answers = [said(f"r{n}", sequence=n * 2 + 1, role="tool", tool_call_id="c") for n in (1, 2)]

    assert ids(group_items([*asks, *answers])) == [["q1", "r1"], ["q2", "r2"]]


def test_results_in_one_message_join_the_groups_of_their_calls():
    asks = [said(f"q{n}", sequence=n, role="assistant", tool_call_ids=(f"c{n}",)) for n in (1, 2)]
    both = said("r", sequence=3, role="tool", tool_call_ids=("c1", "c2"))

    assert ids(group_items([*asks, both])) == [["q1", "q2", "r"]]


@pytest.mark.parametrize(
    "items",
    [
        [said("r", role="tool")],
        [said("r", role="tool", tool_call_id="c")],
        [said("q", role="assistant", tool_call_ids=("c",))],
        [said("q", role="assistant", tool_call_ids=("c", "c"), sequence=1)],
        [
            said("q", role="assistant", tool_call_ids=("c",), sequence=1),
            said("r", role="tool", tool_call_id="c", sequence=2),
            said("s", role="tool", tool_call_id="c", sequence=3),
        ],
        [
            said("q", role="assistant", tool_call_ids=("c",), sequence=1),
            said("p", role="assistant", tool_call_ids=("c",), sequence=2),
            said("s", role="tool", tool_call_id="c", sequence=3),
        ],
    ],
    ids=["no call id", "orphan", "no answer", "twice in one", "two answers", "open twice"],
)
def test_a_broken_exchange_cannot_be_grouped(items):
    with pytest.raises(InvalidInputError) as caught:
        group_items(items)

    assert caught.value.fields["item"]


def test_the_four_categories_are_four_types():
    assert len({InstructionItem, KnowledgeItem, ToolItem, ConversationItem}) == 4
    assert ContextPolicyInput(agent_id="a", call_mode="ask").conversation == ()
