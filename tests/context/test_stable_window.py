"""With a manifest of the call before: what was shown stays, and the window moves seldom and far."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from threadline.context.assembler import ContextAssembler, Finished
from threadline.context.default_policy import DefaultPolicy
from threadline.context.follow_up import with_required
from threadline.context.plan import Omission
from threadline.journal.canonical import content_ref
from threadline.messages import Fate, check_conversation
from threadline.tokens import Measure

from .items import asked, exchange, groups_of, known, messages_in, said, told

MEASURE = Measure("gpt-4o")
LONG = "ERROR: it failed\n" + "\n".join(f"line {n} of the log" for n in range(400))


def call(before: Finished | None, limit: int | None, policy: Any = None, **fields: Any) -> Finished:
    writer = ContextAssembler(
        policy=policy or DefaultPolicy(), measure=MEASURE, naming=content_ref, dialect=fields.pop("dialect", "openai")
    )
    fields.setdefault("model_config", {"model": "gpt-4o"})
    given_ = asked(limit, previous_manifest=before.manifest if before else None, **fields)
    return writer.finish(writer.prepare(writer.price(given_)))


def spoken(finished):
    return [s.item_id for s in finished.manifest.segments if s.category == "conversation"]


def why_left_out(finished):
    return {omission.item_id: omission.reason for omission in finished.manifest.omissions}


def turns(count, words=20):
    return [said(f"m{n}", sequence=n, content=f"{n} " + "word " * words) for n in range(count)]


def test_what_was_shown_stays_and_what_is_new_is_added():
    first = call(None, 400, conversation=turns(10))
    second = call(first, 400, conversation=turns(11))

    assert spoken(second) == [*spoken(first), "m10"]
    assert second.request.wire["messages"][:10] == first.request.wire["messages"]


def test_the_window_moves_once_down_to_the_low_water_mark_and_then_stays():
    starts, last = [], None
    for count in range(5, 80):
        last = call(last, 1000, conversation=turns(count))
        starts.append(spoken(last)[0])

    moves = sum(one != other for one, other in pairwise(starts))
    assert 3 <= moves <= 8  # 250 tokens, nine turns, are freed each time
    assert last.manifest.tokens.total <= 1000


def test_after_a_move_the_window_holds_at_most_the_low_water_mark():
    first = call(None, 1000, conversation=turns(38))
    moved = call(first, 1000, conversation=turns(40))

    assert spoken(moved)[0] > spoken(first)[0]
    conversation = moved.manifest.tokens.conversation
    assert 0.75 * 1000 - 60 < conversation <= 0.75 * 1000
    assert set(why_left_out(moved).values()) == {"budget", "window"}
    assert {omission.fate for omission in moved.manifest.omissions} == {Fate.OMITTED}
    start = {"from": spoken(first)[0], "to": spoken(moved)[0]}
    assert moved.manifest.plan_metadata["window_moved"] == start
    assert "window_moved" not in first.manifest.plan_metadata


def test_what_was_left_out_does_not_come_back_while_the_window_stays():
    small = call(None, 300, conversation=turns(20))
    larger = call(small, 10_000, conversation=turns(21))

    assert spoken(larger) == [*spoken(small), "m20"]
    assert why_left_out(larger)["m0"] == "left_out_before"


@pytest.mark.parametrize("change", [{"model_config": {"model": "gpt-4.1"}}, {"dialect": "plain"}])
def test_another_model_or_dialect_begins_anew(change):
    small = call(None, 300, conversation=turns(20))

    assert len(spoken(call(small, 10_000, conversation=turns(20), **change))) == 20


def test_a_cleared_conversation_begins_anew():
    before = call(None, 300, conversation=turns(20))
    new = [said(f"n{n}", sequence=100 + n) for n in range(3)]

    assert spoken(call(before, 300, conversation=new)) == ["n0", "n1", "n2"]


def test_a_call_that_got_its_answers_is_still_the_group_that_was_shown():
    asks, *results = exchange("x", (1, 1), sequence=5)
    before = call(None, 1000, conversation=[said("a", sequence=1), structs.replace(asks, tool_call_ids=())])
    after = call(before, 1000, conversation=[said("a", sequence=1), (asks, *results)])

    assert spoken(after) == ["a", "x", "xr1"]


def test_a_summary_that_takes_the_place_of_what_was_shown_is_new():
    before = call(None, 1000, conversation=turns(10))
    summary = said("summary", sequence=0, content="They spoke of ten things.")

    after = call(before, 1000, conversation=[summary, *turns(10)[8:]])

    assert spoken(after) == ["summary", "m8", "m9"]


@pytest.mark.parametrize("dialect", ["anthropic", "google"])
def test_a_window_begins_with_a_user_where_the_provider_wants_it(dialect):
    talk = [
        *[said(f"m{n}", sequence=n, role="assistant" if n % 2 else "user", content="word " * 20) for n in range(10)],
    ]
    finished = call(None, 130, conversation=talk, dialect=dialect)

    assert spoken(finished)[0] in {"m2", "m4", "m6"}
    assert check_conversation(finished.request) == ()


# Knowledge


def test_knowledge_is_fixed_for_a_run():
    talk = [said("q", sequence=1, required=True, provenance={"origin": "journal", "execution_id": "run"})]
    first = call(None, 1000, conversation=talk, knowledge=[known("k1"), known("k2")], execution_id="run")
    again = call(
        first,
        1000,
        conversation=[*talk, exchange("x", (1, 1), sequence=2)],
        knowledge=[known("k3"), known("k2"), known("k1")],
        execution_id="run",
    )
    following = call(again, 1000, conversation=talk, knowledge=[known("k3"), known("k2")], execution_id="other")

    shown = [[s.item_id for s in f.manifest.segments if s.category == "knowledge"] for f in (first, again, following)]
    assert shown == [["k1", "k2"], ["k1", "k2"], ["k3", "k2"]]
    assert why_left_out(again) == {"k3": "fixed_for_run"}
    before, after = first.request.wire["messages"], again.request.wire["messages"]
    assert after[: len(before)] == before


def test_a_hooks_material_is_of_its_call_and_may_change_within_a_run():
    def hook(n):
        return known(f"hook:run:{n}:0", provenance={"origin": "hook"})

    first = call(None, 1000, conversation=turns(2), knowledge=[hook(1)], execution_id="run")
    again = call(first, 1000, conversation=turns(2), knowledge=[hook(2)], execution_id="run")

    assert [s.item_id for s in again.manifest.segments if s.category == "knowledge"] == ["hook:run:2:0"]


def test_knowledge_spills_only_as_far_as_the_conversation_can_grow():
    facts = [known(f"k{n}", content=f"{n} " + "fact " * 30) for n in range(40)]
    first = call(None, 1000, conversation=turns(2), knowledge=[])
    second = call(first, 1000, conversation=turns(3), knowledge=facts)

    tokens = second.manifest.tokens
    assert tokens.knowledge + tokens.conversation <= 750
    assert tokens.knowledge > 400


# Reduction


def long_exchange(name="x", *, sequence=1):
    asks, result = exchange(name, (1, 1), sequence=sequence)
    wire = {"role": "tool", "tool_call_id": result.tool_call_id, "content": LONG}
    return (asks, structs.replace(result, content=wire))


def test_a_group_is_cut_down_before_it_is_left_out():
    finished = call(None, 1500, conversation=[long_exchange(), said("q", sequence=9, required=True)])

    assert spoken(finished) == ["policy:reduced:500:x", "policy:reduced:500:xr1", "q"]
    assert why_left_out(finished) == {"x": "reduced", "xr1": "reduced"}
    result = finished.request.messages[1]
    assert "ERROR: it failed" in result.content
    assert "characters not shown" in result.content
    assert len(result.content) < len(LONG) / 2
    assert check_conversation(finished.request) == ()
    assert finished.manifest.tokens.total <= 1500


def test_a_group_is_left_as_it_is_where_it_fits_or_where_that_is_wanted():
    conversation = [long_exchange(), said("q", sequence=9, required=True)]

    assert spoken(call(None, 100_000, conversation=conversation)) == ["x", "xr1", "q"]
    assert spoken(call(None, 1500, DefaultPolicy(pressed_tokens=None), conversation=conversation)) == ["q"]
    assert spoken(call(None, 300, conversation=conversation)) == ["q"]


def test_a_group_that_was_cut_down_stays_so_byte_for_byte():
    conversation = [long_exchange(), said("q", sequence=9, required=True)]
    first = call(None, 1500, conversation=conversation)
    second = call(first, 100_000, conversation=[*conversation, said("r", sequence=10)])

    before, after = first.request.wire["messages"], second.request.wire["messages"]
    assert after[: len(before)] == before
    assert (
        Omission(
            item_id="xr1",
            category="conversation",
            reason="reduced",
            tokens=MEASURE.message(call(None, None, conversation=[long_exchange()]).request.messages[1]),
        )
        in second.manifest.omissions
    )


def test_a_reduced_item_names_what_it_came_from():
    asks, result = (
        structs.replace(i, provenance={"origin": "journal", "record_id": i.id, "content_ref": "sha256:1"})
        for i in long_exchange()
    )
    finished = call(None, 1500, conversation=[(asks, result), said("q", sequence=9, required=True)])

    segment = finished.manifest.segments[1]
    assert (segment.origin, segment.record_id) == ("policy_generated", "xr1")
    assert segment.content_ref in finished.contents


# Laws

sizes = st.integers(1, 60)
kinds = st.sampled_from(["turn", "exchange"])


def wired(dialect, number, size, *, exchange_, provenance):
    """A turn or an exchange on the wire of a dialect."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    talk = [{"role": "user", "content": f"{number} " + "word " * size}]
    if exchange_:
        talk = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "result"},
        ]
    return tuple(
        structs.replace(item, id=f"{number}:{item.id}", sequence=number * 10 + place, provenance=provenance)
        for place, item in enumerate(item for group in groups_of(messages_in(dialect, talk)) for item in group)
    )


@settings(max_examples=30)
@given(
    events=st.lists(st.tuples(kinds, sizes), min_size=2, max_size=25),
    limit=st.integers(300, 900),
    facts=st.booleans(),
    dialect=st.sampled_from(["plain", "openai", "responses", "anthropic", "google"]),
)
def test_law_between_moves_each_request_begins_with_the_one_before(events, limit, facts, dialect):
    conversation: list[Any] = []
    last: Finished | None = None
    run = "run"
    for number, (kind, size) in enumerate([("turn", 3), *events]):
        run = f"run{number}" if kind == "turn" else run
        provenance = {"origin": "journal", "execution_id": run}
        conversation.append(wired(dialect, number, size, exchange_=kind == "exchange", provenance=provenance))
        now = call(
            last,
            limit,
            dialect=dialect,
            instruction=[told("i")],
            conversation=with_required(conversation, run),
            knowledge=[known(f"{run}k", content=f"fact {number}")] if facts else [],
            execution_id=run,
        )

        assert now.manifest.tokens.total <= limit
        assert check_conversation(now.request) == ()
        if last is not None and spoken(now)[: len(spoken(last))] == spoken(last):
            before, after = (
                [text for text in (str(m.wire) for m in f.request.messages) if "quoted_data" not in text]
                for f in (last, now)
            )
            assert after[: len(before)] == before
            data = [s.position for s in last.manifest.segments if s.category == "knowledge"]
            shared = data[0] if data else len(last.manifest.segments)
            assert now.manifest.cache.reusable_tokens >= sum(s.tokens for s in last.manifest.segments[:shared])
        elif last is not None:
            assert "window_moved" in now.manifest.plan_metadata
        last = now
