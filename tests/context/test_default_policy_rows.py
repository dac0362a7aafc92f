"""Rows 4 to 17 of the contract: the default policy without a manifest of the call before."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.context.default_policy import DefaultPolicy
from threadline.context.plan import Omission
from threadline.errors import ContextBudgetExceededError, InvalidInputError

from .items import asked, exchange, known, said, told, tool

choose = DefaultPolicy()


def spoken(plan):
    return [item.id for group in plan.conversation for item in group]


def facts(plan):
    return [item.id for item in plan.knowledge]


def singles(costs):
    """Groups of one message each, the oldest first."""
    return [said(f"m{n}", cost, sequence=n) for n, cost in enumerate(costs, 1)]


def test_row_4_without_a_budget_everything_stays_in_its_order():
    conversation = [said("b", 10**9, sequence=2), said("a", 10**9, sequence=1)]

    plan = choose(asked(None, instruction=[told("i")], knowledge=[known("k")], conversation=conversation))

    assert spoken(plan) == ["b", "a"]
    assert facts(plan) == ["k"]
    assert plan.omissions == ()


def test_row_5_what_is_required_may_fill_the_limit():
    required = said("r", 50, sequence=2, required=True)

    plan = choose(
        asked(100, instruction=[told("i", 30)], tools=[tool("t", 20)], conversation=[said("m", sequence=1), required])
    )

    assert spoken(plan) == ["r"]


def test_row_6_what_is_required_must_not_exceed_the_limit():
    required = said("r", 51, required=True)

    with pytest.raises(ContextBudgetExceededError) as caught:
        choose(asked(100, instruction=[told("i", 30)], tools=[tool("t", 20)], conversation=[required]))

    assert caught.value.required == 101
    assert caught.value.parts[0] == ("r", 51)


def test_row_7_an_odd_token_is_for_knowledge():
    plan = choose(asked(101, conversation=singles([60]), knowledge=[known("k", 41)]))
    assert spoken(plan) == ["m1"]
    assert facts(plan) == ["k"]

    tight = choose(asked(101, conversation=singles([61]), knowledge=[known("k", 41)]))
    assert facts(tight) == ["k"]
    assert spoken(tight) == []


def test_row_8_the_conversation_takes_what_knowledge_leaves():
    assert len(spoken(choose(asked(100, conversation=singles([10] * 10))))) == 10


def test_row_9_the_newest_that_fit_without_a_hole():
    assert spoken(choose(asked(95, conversation=singles([10] * 10)))) == [f"m{n}" for n in range(2, 11)]


def test_row_10_nothing_older_is_taken_instead_of_what_does_not_fit():
    plan = choose(asked(50, conversation=singles([10, 80, 10])))

    assert spoken(plan) == ["m3"]
    assert plan.omissions == (
        Omission(item_id="m1", category="conversation", reason="window", tokens=10),
        Omission(item_id="m2", category="conversation", reason="budget", tokens=80),
    )


def test_row_11_knowledge_that_does_not_fit_is_skipped():
    knowledge = [known("k1", 50), known("k2", 10), known("k3", 10)]

    plan = choose(asked(100, knowledge=knowledge, conversation=singles([60])))

    assert facts(plan) == ["k2", "k3"]
    assert plan.omissions == (Omission(item_id="k1", category="knowledge", reason="budget", tokens=50),)


def test_row_12_skipped_knowledge_takes_what_is_left_in_the_order_of_the_input():
    knowledge = [known("k1", 50), known("k2", 10), known("k3", 10)]

    assert facts(choose(asked(100, knowledge=knowledge))) == ["k1", "k2", "k3"]


def test_row_13_the_conversation_is_served_first():
    # 60 and 40: the newest takes 30, the next (40) and the knowledge (50) both wait for the 70 that are left.
    plan = choose(asked(100, conversation=singles([40, 30]), knowledge=[known("k", 50)]))

    assert spoken(plan) == ["m1", "m2"]
    assert facts(plan) == []


def test_row_14_an_exchange_is_taken_whole_or_not_at_all():
    group = exchange("x", (20, 20, 21), sequence=1)

    assert spoken(choose(asked(60, conversation=[group]))) == []
    assert spoken(choose(asked(61, conversation=[group]))) == ["x", "xr1", "xr2"]


def test_row_15_a_required_old_group_stands_before_the_window():
    old = said("m0", 10, sequence=0, required=True)

    plan = choose(asked(40, conversation=[*singles([50, 10, 10]), old]))

    assert spoken(plan) == ["m0", "m2", "m3"]


def test_row_16_equal_sequences_keep_the_order_of_the_input():
    same = [said(name, 10, sequence=5) for name in "dbca"]

    assert spoken(choose(asked(40, conversation=same))) == ["d", "b", "c", "a"]
    assert spoken(choose(asked(20, conversation=same))) == ["c", "a"]


def test_row_17_the_same_input_gives_the_same_plan():
    dice = random.Random(1)
    given_ = asked(
        500,
        conversation=singles([dice.randrange(60) for _ in range(40)]),
        knowledge=[known(f"k{n}", dice.randrange(60)) for n in range(20)],
    )

    assert choose(given_) == choose(given_)


def test_what_is_no_input_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        choose({"agent_id": "a"})

    assert caught.value.fields["rule"] == "V1"


def test_the_plan_tells_what_is_fixed_and_what_is_unused():
    plan = choose(asked(100, instruction=[told("i", 30)], conversation=singles([20])))

    assert plan.metadata == {"default_policy": True, "estimated_fixed_tokens": 30, "estimated_unused_tokens": 50}


# Beyond the rows: shares, pins, priorities


def test_the_share_can_be_set():
    policy = DefaultPolicy(conversation_share=0.2)
    conversation = [said("m1", 30, sequence=1), said("m2", 20, sequence=2)]

    plan = policy(asked(100, conversation=conversation, knowledge=[known("k", 80)]))

    assert spoken(plan) == ["m2"]
    assert facts(plan) == ["k"]


@pytest.mark.parametrize("options", [{"conversation_share": 1.1}, {"low_water": -0.1}, {"pressed_tokens": 0}])
def test_an_option_out_of_range_is_refused(options):
    with pytest.raises(InvalidInputError):
        DefaultPolicy(**options)


def test_pinned_items_stay_and_are_paid_first():
    conversation = [said("m1", 30, sequence=1, pinned=True), *singles([30, 30, 30])[1:]]

    plan = choose(asked(70, conversation=conversation, knowledge=[known("k", 5, pinned=True)]))

    assert spoken(plan) == ["m1", "m3"]
    assert facts(plan) == ["k"]
    with pytest.raises(ContextBudgetExceededError):
        choose(asked(30, conversation=conversation, knowledge=[known("k", 5, pinned=True)]))


def test_instructions_that_stand_in_the_conversation_stay():
    rule = said("rule", 10, sequence=1, role="system")

    assert spoken(choose(asked(20, conversation=[rule, said("a", 10, sequence=2), said("b", 10, sequence=3)]))) == [
        "rule",
        "b",
    ]


def test_a_higher_priority_is_chosen_first_and_does_not_wait_for_the_others():
    old = said("m0", 10, sequence=0, priority=5)

    assert spoken(choose(asked(40, conversation=[old, *singles([30, 30])]))) == ["m0", "m2"]
    assert facts(choose(asked(50, knowledge=[known("k1", 30), known("k2", 30, priority=1)]))) == ["k2"]


costs = st.integers(0, 60)


@given(
    limit=st.integers(0, 400),
    conversation=st.lists(st.tuples(costs, st.booleans(), st.integers(-1, 1)), max_size=12),
    knowledge=st.lists(st.tuples(costs, st.booleans()), max_size=8),
)
def test_law_a_plan_fits_and_every_candidate_is_in_it_or_reported(limit, conversation, knowledge):
    given_ = asked(
        limit,
        conversation=[
            said(f"m{n}", cost, sequence=n, required=required, priority=priority)
            for n, (cost, required, priority) in enumerate(conversation)
        ],
        knowledge=[known(f"k{n}", cost, required=required) for n, (cost, required) in enumerate(knowledge)],
    )
    try:
        plan = choose(given_)
    except ContextBudgetExceededError:
        plan = None
    required = sum(item.estimated_tokens for item in given_.items() if item.required)
    assert (plan is None) == (required > limit)
    if plan is None:
        return

    assert plan.estimated_tokens <= limit
    chosen = {item.id for item in plan.items()}
    left_out = [omission.item_id for omission in plan.omissions]
    assert sorted([*chosen, *left_out]) == sorted(item.id for item in given_.items())
    assert {item.id for item in given_.items() if item.required} <= chosen
    assert plan.metadata["estimated_unused_tokens"] == limit - plan.estimated_tokens
