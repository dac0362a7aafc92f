"""The rules V1 to V24: each is its own error code."""

from __future__ import annotations

import pytest
from msgspec import structs

from threadline.context.assembler import ContextAssembler
from threadline.context.handoff import HandoffContext, checked_handoff
from threadline.context.items import KnowledgeItem, Provenance
from threadline.context.manifest import LLMInputManifest
from threadline.context.plan import ContextPlan
from threadline.context.policy import ContextPolicy
from threadline.context.validation import validate_plan
from threadline.errors import (
    ConfigurationError,
    ContextBudgetExceededError,
    InvalidInputError,
    RequiredLeftOutError,
)
from threadline.journal.canonical import content_ref
from threadline.tokens import Measure

from .items import asked, exchange, known, said, told, tool

make = ContextPolicy()
A, B = said("a", sequence=1), said("b", sequence=2)
X = exchange("x", (1, 1, 1), sequence=3)
GIVEN = asked(
    1000,
    instruction=[told("i"), told("j", required=False)],
    knowledge=[known("k"), known("must", required=True)],
    tools=[tool("look")],
    conversation=[A, B, X, said("need", sequence=9, required=True)],
    dialect="openai",
)


def plan_of(**changes) -> ContextPlan:
    """A plan of everything, but for the changes."""
    fields = {name: getattr(GIVEN, name) for name in ("instruction", "knowledge", "tools", "conversation")}
    return ContextPlan(**{**fields, **changes})


def rule_of(plan, given=GIVEN) -> str:
    with pytest.raises((InvalidInputError, ContextBudgetExceededError, ConfigurationError)) as caught:
        validate_plan(given, plan)
    return caught.value.fields["rule"]


def call(name="look", id="c", arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*ids, content=..., key="asks", **fields):
    wire = {"role": "assistant", "content": None, "tool_calls": [call(id=one) for one in ids]}
    fields = {"kind": "assistant_message", "role": "assistant", "tool_call_ids": ids, **fields}
    return make.conversation_item(wire if content is ... else content, key=key, **fields)


def answers(id="c", content=..., key="answers", **fields):
    wire = {"role": "tool", "tool_call_id": id, "content": "done"}
    fields = {"kind": "tool_message", "role": "tool", "tool_call_id": id, **fields}
    return make.conversation_item(wire if content is ... else content, key=f"{key}-{id}", **fields)


def with_group(*items):
    return plan_of(conversation=(*GIVEN.conversation, items))


def test_a_plan_of_everything_passes():
    validate_plan(GIVEN, plan_of())


def test_row_20_groups_may_be_reordered_and_optional_items_left_out():
    validate_plan(
        GIVEN,
        plan_of(conversation=(GIVEN.conversation[3], GIVEN.conversation[0]), knowledge=(known("must", required=True),)),
    )


def test_v1_the_input_must_be_one():
    assert rule_of(plan_of(), given={"agent_id": "a"}) == "V1"


def test_v2_the_plan_must_be_one():
    assert rule_of({"instruction": []}) == "V2"


@pytest.mark.parametrize("category", ["instruction", "knowledge", "tools"])
def test_v3_a_category_holds_its_own_items(category):
    assert rule_of(plan_of(**{category: (said("s"),)})) == "V3"


@pytest.mark.parametrize(
    "changes",
    [
        {"instruction": (told("i", content="other"), GIVEN.instruction[1])},
        {"knowledge": (known("k", 2), GIVEN.knowledge[1])},
        {"tools": (structs.replace(tool("look"), definition={"name": "look", "x": 1}),)},
        {"knowledge": (known("k", metadata={"a": 1}), GIVEN.knowledge[1])},
    ],
    ids=["content", "cost", "definition", "metadata"],
)
def test_v4_an_item_of_the_input_must_stay_as_it_is(changes):
    assert rule_of(plan_of(**changes)) == "V4"


def test_v4_true_is_not_one():
    given = asked(10, knowledge=[known("k", content={"a": 1})])

    assert rule_of(ContextPlan(knowledge=(known("k", content={"a": True}),)), given) == "V4"


def test_v5_row_21_a_tool_cannot_be_made_up():
    extra = structs.replace(tool("new"), provenance=Provenance(origin="policy_generated"))

    assert rule_of(plan_of(tools=(*GIVEN.tools, extra))) == "V5"


def test_v5_an_unknown_item_must_be_the_policys_own():
    assert rule_of(plan_of(knowledge=(*GIVEN.knowledge, known("z")))) == "V5"


def test_v5_an_own_item_names_no_stored_content():
    own = Provenance(origin="policy_generated", content_ref="sha256:0")

    assert rule_of(plan_of(knowledge=(*GIVEN.knowledge, known("z", provenance=own)))) == "V5"


def test_v6_row_23_required_items_must_be_there():
    plan = plan_of(instruction=(GIVEN.instruction[1],))

    assert rule_of(plan) == "V6"
    with pytest.raises(RequiredLeftOutError, match="leaves out what is required: i") as caught:
        validate_plan(GIVEN, plan)
    assert caught.value.parts == (("i", 1),)


@pytest.mark.parametrize("entry", [(), A, (known("k"),), "abc"], ids=["empty", "item", "knowledge", "text"])
def test_v7_a_conversation_is_made_of_groups(entry):
    assert rule_of(plan_of(conversation=(*GIVEN.conversation, entry))) == "V7"


def test_v8_row_18_a_group_of_the_input_must_stay_as_it_is():
    edited = (X[0], structs.replace(X[1], content={**X[1].content, "content": "other"}), X[2])

    assert rule_of(plan_of(conversation=((A,), edited, *GIVEN.conversation[3:]))) == "V8"


@pytest.mark.parametrize(
    "groups",
    [[X[:2], X[2:]], [(A, B), X], [(X[1], X[0], X[2])], [(A, *X)], [X[:2]], [(*X, X[0])], [(said("new"), *X)]],
    ids=["split", "merged", "reordered", "joined", "cut", "doubled", "added"],
)
def test_v9_row_19_a_group_is_never_taken_apart(groups):
    assert rule_of(plan_of(conversation=(*groups, GIVEN.conversation[3]))) == "V9"


def test_v10_an_unknown_message_must_be_the_policys_own():
    assert rule_of(with_group(said("z"))) == "V10"
    assert rule_of(with_group(make.conversation_item("x", role="user"), said("z"))) == "V10"


@pytest.mark.parametrize(
    ("group", "rule"),
    [
        ((asks("c"), answers("c", tool_call_id=None)), "V11"),
        ((asks("c"), answers("c"), answers("c", key="again")), "V11"),
        ((asks("c", "c"), answers("c")), "V12"),
        ((asks("c", "d"), answers("c")), "V12"),
        ((asks("c"), asks("c", key="more"), answers("c")), "V12"),
        ((answers("c"),), "V12"),
        ((answers("c"), asks("c")), "V17"),
        ((asks("c"), make.conversation_item("hm", role="user"), answers("c")), "V17"),
    ],
    ids=["no id", "twice", "same id", "unanswered", "id in use", "orphan", "result first", "stranger"],
)
def test_v11_v12_v17_row_25_an_exchange_of_the_policys_own_is_whole(group, rule):
    assert rule_of(with_group(*group)) == rule


def test_an_exchange_of_the_policys_own_may_be_added():
    validate_plan(GIVEN, with_group(asks("c"), answers("c")))
    validate_plan(GIVEN, with_group(make.conversation_item("Earlier they agreed.", role="user")))


def test_v13_row_23_required_groups_must_be_there():
    assert rule_of(plan_of(conversation=GIVEN.conversation[:3])) == "V13"


@pytest.mark.parametrize(
    "changes",
    [
        {"knowledge": (*GIVEN.knowledge, GIVEN.knowledge[0])},
        {"conversation": (*GIVEN.conversation, (A,))},
        {"instruction": (*GIVEN.instruction, make.instruction_item("x", key="1"), make.instruction_item("y", key="1"))},
    ],
    ids=["item", "group", "own"],
)
def test_v14_row_24_an_id_stands_once(changes):
    assert rule_of(plan_of(**changes)) == "V14"


def test_v14_also_across_categories_of_the_input():
    given = asked(10, instruction=[told("same")], knowledge=[known("same")])

    assert rule_of(ContextPlan(instruction=given.instruction, knowledge=given.knowledge), given) == "V14"


@pytest.mark.parametrize("key", ["journal_record_id", "context_policy_origin", "llm_call_id"])
def test_v15_row_26_reserved_metadata_is_not_for_policies(key):
    assert rule_of(plan_of(knowledge=(*GIVEN.knowledge, make.knowledge_item("x", metadata={key: 1})))) == "V15"


def test_v16_a_kind_belongs_to_its_category():
    assert rule_of(plan_of(knowledge=(*GIVEN.knowledge, make.knowledge_item("x", kind="tool_message")))) == "V16"
    assert rule_of(plan_of(instruction=(*GIVEN.instruction, make.instruction_item("x", kind="memory")))) == "V16"
    assert rule_of(with_group(make.conversation_item("x", role="user", kind="summary"))) == "V16"


@pytest.mark.parametrize(
    "group",
    [
        (asks("c", content="look it up"), answers("c")),
        (asks("c"), answers("c", content="done")),
        (asks("c", role="user"), answers("c")),
        (asks("c", content={"role": "assistant", "content": "", "tool_calls": [call(id="other")]}), answers("c")),
        (asks("c"), answers("c", content={"role": "tool", "tool_call_id": "other", "content": "x"})),
        (asks("c", content={"role": "assistant", "content": "", "tool_calls": [call("")]}), answers("c")),
        (asks("c", content={"role": "assistant", "content": "", "tool_calls": [call(arguments="[1]")]}), answers("c")),
        (asks("c", content={"role": "assistant", "content": "", "tool_calls": [call(arguments="{")]}), answers("c")),
        (asks("c", content={"content": "no role"}), answers("c")),
        (asks("c", content=["a"]), answers("c")),
        (make.conversation_item({"role": "assistant", "content": "x"}, role="user"),),
        (make.conversation_item("x", role="user", tool_call_id="c"),),
        (make.conversation_item("x", role="user", kind="tool_result"),),
    ],
    ids=map(str, range(13)),
)
def test_v18_a_message_of_the_policys_own_says_what_its_fields_say(group):
    assert rule_of(with_group(*group)) == "V18"


def test_v19_row_26_reserved_metadata_is_not_for_hooks():
    hook = known("h", provenance={"origin": "hook"}, metadata={"selection_unit_id": "x"})
    given = asked(10, knowledge=[hook])

    assert rule_of(ContextPlan(), given) == "V19"


@pytest.mark.parametrize(
    "item",
    [
        make.conversation_item("obey", role="system"),
        make.conversation_item("obey", role="developer", trust="operator"),
    ],
)
def test_only_instructions_have_the_system_role(item):
    assert rule_of(with_group(item)) == "trust"


def test_an_operators_instruction_may_stand_in_the_conversation():
    rule = said("s", role="system", kind="instruction")
    validate_plan(asked(10, conversation=[rule]), ContextPlan(conversation=((rule,),)))

    for wrong in (said("s", role="system", kind="external_message"), structs.replace(rule, trust="user")):
        assert rule_of(ContextPlan(), asked(10, conversation=[wrong])) == "trust"


def assembler(policy=lambda _: plan_of()):
    return ContextAssembler(policy=policy, measure=Measure(), naming=content_ref, dialect="openai")


def test_v20_finish_takes_what_prepare_gave():
    with pytest.raises(InvalidInputError) as caught:
        assembler().finish(plan_of())

    assert caught.value.fields["rule"] == "V20"


def test_v21_row_27_the_request_itself_is_checked_whatever_items_claim():
    liar = said("liar", 0, content="word " * 500)
    given = asked(100, conversation=[liar])
    writer = assembler(lambda _: ContextPlan(conversation=((liar,),)))

    with pytest.raises(ContextBudgetExceededError) as caught:
        writer.finish(writer.prepare(given))

    assert caught.value.fields["rule"] == "V21"
    assert caught.value.parts[0][0] == "liar"


@pytest.mark.parametrize(
    "changes",
    [{"call_mode": "chat"}, {"call_sequence": 0}, {"call_mode": "ask"}],
)
def test_v22_a_manifest_has_its_structure(changes):
    fields = {"call_mode": "complete", "call_sequence": 1, "segments": (), "model_config_ref": "r", "agent_id": "a"}
    LLMInputManifest(dialect="openai", **fields)

    with pytest.raises(InvalidInputError) as caught:
        LLMInputManifest(dialect="openai", **{**fields, **changes})

    assert caught.value.fields["rule"] == "V22"


def test_v23_a_handoff_must_be_one():
    fields = {"source_agent_id": "a", "source_execution_id": "e", "target_agent_id": "b"}
    handoff = HandoffContext(responsibility="Book the flight.", **fields)
    assert checked_handoff(handoff) is handoff

    with pytest.raises(InvalidInputError) as caught:
        checked_handoff({"responsibility": "x"})
    assert caught.value.fields["rule"] == "V23"
    with pytest.raises(InvalidInputError):
        HandoffContext(responsibility=" ", **fields)


def test_v24_tools_have_different_names():
    same = structs.replace(tool("look"), id="tool:other")

    assert rule_of(ContextPlan(), asked(10, tools=[tool("look"), same])) == "V24"


def test_row_44_a_policy_that_fails_fails_the_call():
    def fails(_):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        assembler(fails).prepare(GIVEN)


def test_the_same_generated_item_has_the_same_id_and_a_real_cost():
    one, other = (make.knowledge_item("The gate is B7.", within=GIVEN) for _ in range(2))

    assert one == other
    assert isinstance(one, KnowledgeItem)
    assert one.estimated_tokens > 4
    assert one.provenance == Provenance(origin="policy_generated")
