"""The cache plan: what is shared with the call before, where the two part and why, and what a compaction costs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec import structs

from threadline.context.assembler import ContextAssembler
from threadline.context.cache import compaction_price, with_breakpoints
from threadline.context.cache_rules import rule_for
from threadline.context.default_policy import DefaultPolicy
from threadline.context.plan import ContextPlan
from threadline.journal.canonical import content_ref
from threadline.messages import Dialect, check_conversation, decode
from threadline.tokens import Measure, Price, price_for

from .items import asked, exchange, known, said, told, tool

CLAUDE = "claude-sonnet-4-5"


def call(before=None, *, dialect: Dialect = "openai", model="gpt-4o", policy=None, **fields):
    options = {key: fields.pop(key) for key in ("idle_ms", "previous_contents") if key in fields}
    writer = ContextAssembler(
        policy=policy or DefaultPolicy(), measure=Measure(model), naming=content_ref, dialect=dialect
    )
    given = asked(
        100_000,
        previous_manifest=before.manifest if before else None,
        model_config={"model": model, "max_output_tokens": 10},
        **fields,
    )
    return writer.finish(writer.prepare(writer.price(given)), **options)


def long(name, words=700, **fields):
    return said(name, content=f"{name} " + "word " * words, **fields)


BASE = {"instruction": [told("i", content="rule " * 500)], "tools": [tool("look")]}
TALK = [long("a", sequence=1), long("b", sequence=2, role="assistant"), said("c", sequence=3)]


def test_a_first_call_has_nothing_to_share():
    cache = call(conversation=TALK, **BASE).manifest.cache

    assert (cache.reusable_tokens, cache.cached_tokens, cache.difference) == (0, 0, None)


def test_a_call_that_goes_on_shares_all_of_the_one_before():
    first = call(conversation=TALK, **BASE)
    second = call(first, conversation=[*TALK, said("d", sequence=4)], **BASE)

    cache, before = second.manifest.cache, first.manifest.tokens
    assert cache.reusable_tokens == before.total - before.overhead
    assert cache.cached_tokens == 1024 + (cache.reusable_tokens - 1024) // 128 * 128
    difference = cache.difference
    assert (difference.reason, difference.position, difference.item_id) == ("extended", 4, "d")
    assert difference.byte == sum(segment.bytes for segment in first.manifest.segments)


def test_another_model_dialect_or_tool_shares_nothing():
    first = call(conversation=TALK, **BASE)

    others = [
        call(first, conversation=TALK, model="gpt-4.1", **BASE),
        call(first, conversation=TALK, dialect="plain", **BASE),
        call(first, conversation=TALK, instruction=BASE["instruction"], tools=[tool("book")]),
    ]

    assert [other.manifest.cache.difference.reason for other in others] == ["model", "dialect", "tools"]
    assert [other.manifest.cache.reusable_tokens for other in others] == [0, 0, 0]


def test_a_changed_item_is_named_with_the_very_byte():
    first = call(instruction=[told("i", content="Today is Monday.")], conversation=TALK)
    changed = {"instruction": [told("i", content="Today is Friday.")], "conversation": TALK}
    second = call(first, previous_contents=first.contents, **changed)
    blind = call(first, **changed)

    difference = second.manifest.cache.difference
    assert (difference.reason, difference.position, difference.item_id) == ("content", 0, "i")
    assert difference.byte == len("Today is ")
    assert blind.manifest.cache.difference.byte == 0
    assert second.manifest.cache.reusable_tokens == 0


def test_what_left_and_what_entered_is_named():
    first = call(conversation=TALK, **BASE)

    def without_a(given):
        return ContextPlan(instruction=given.instruction, tools=given.tools, conversation=given.conversation[1:])

    left = call(first, policy=without_a, conversation=TALK, **BASE).manifest.cache.difference
    entered = call(first, conversation=[said("z", sequence=0), *TALK], policy=all_of, **BASE).manifest.cache.difference
    ended = call(first, conversation=TALK[:2], **BASE).manifest.cache.difference

    assert (left.reason, left.item_id, left.position) == ("left", "a", 1)
    assert (entered.reason, entered.item_id, entered.position) == ("entered", "z", 1)
    assert (ended.reason, ended.position) == ("ended", None)


def all_of(given):
    return ContextPlan(
        instruction=given.instruction, knowledge=given.knowledge, tools=given.tools, conversation=given.conversation
    )


def test_a_beginning_below_the_minimum_is_not_cached():
    first = call(conversation=[said("a", sequence=1)])
    second = call(first, conversation=[said("a", sequence=1), said("b", sequence=2)])

    assert second.manifest.cache.reusable_tokens > 0
    assert second.manifest.cache.cached_tokens == 0


def test_a_cold_cache_gives_nothing():
    first = call(conversation=TALK, **BASE)

    warm, cold = (call(first, conversation=TALK, idle_ms=idle, **BASE).manifest.cache for idle in (299_000, 301_000))

    assert not warm.expired
    assert cold.expired
    assert warm.reusable_tokens == cold.reusable_tokens
    assert (warm.cached_tokens > 0, cold.cached_tokens) == (True, 0)


def test_a_note_between_two_runs_costs_only_what_came_after_it():
    def run(before, number, talk):
        facts = [known(f"k{number}", content=f"fact {number}")]
        return call(before, conversation=talk, knowledge=facts, execution_id=f"r{number}", **BASE)

    def turn(name, number, sequence, **fields):
        return long(
            name, 50, sequence=sequence, provenance={"origin": "journal", "execution_id": f"r{number}"}, **fields
        )

    talk = [*TALK, turn("q1", 1, 5)]
    first = run(None, 1, talk)
    same = run(first, 1, [*talk, turn("a1", 1, 6, role="assistant")])
    following = run(same, 2, [*talk, turn("a1", 1, 6, role="assistant"), turn("q2", 2, 7)])

    assert same.manifest.cache.difference.reason == "extended"
    volatile = {s.item_id: s.position for s in same.manifest.segments}["k1"]
    assert following.manifest.cache.difference.position == volatile
    assert following.manifest.cache.difference.item_id == "k1"
    stable = sum(s.tokens for s in same.manifest.segments[:volatile])
    assert following.manifest.cache.reusable_tokens == same.manifest.tokens.tools + stable


# Anthropic's marks


def claude(before=None, **fields):
    return call(before, dialect="anthropic", model=CLAUDE, **fields)


def marks_in(body):
    places = [("tools", n) for n, one in enumerate(body.get("tools", ())) if "cache_control" in one]
    places += [("system", n) for n, one in enumerate(body.get("system", ())) if "cache_control" in one]
    for n, message in enumerate(body["messages"]):
        if isinstance(message["content"], list) and any("cache_control" in block for block in message["content"]):
            places.append(("messages", n))
    return places


def test_marks_stand_after_the_system_before_the_runs_data_and_at_the_end():
    first = claude(conversation=TALK, knowledge=[known("k")], **BASE)

    body = with_breakpoints(first.request.wire, first.manifest)
    assert [s.item_id for s in first.manifest.segments] == ["i", "a", "b", "k", "c"]
    assert first.manifest.cache.breakpoints == (2, 4)  # the system text alone is below the minimum
    assert marks_in(body) == [("messages", 1), ("messages", 3)]
    assert check_conversation(body, dialect="anthropic") == ()


def test_marks_change_nothing_else_and_are_at_most_four():
    last = None
    talk = []
    for number in range(12):
        talk += [long(f"q{number}", 200, sequence=number * 10), exchange_of(number)]
        last = claude(last, conversation=talk, knowledge=[known(f"k{number}")], execution_id=f"r{number}", **BASE)
        body = with_breakpoints(last.request.wire, last.manifest, ttl="1h")
        assert len(last.manifest.cache.breakpoints) <= 4
        assert 1 <= len(marks_in(body)) <= 4
        bare = decode(body, "anthropic")
        assert [m.content for m in bare.messages] == [m.content for m in last.request.messages]
        assert "cache_control" not in str(last.request.wire)


def exchange_of(number):
    asks, result = exchange(f"x{number}", (1, 1), sequence=number * 10 + 5)
    use = {"type": "tool_use", "id": asks.tool_call_ids[0], "name": "look", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": asks.tool_call_ids[0], "content": "seen " * 50}
    return (
        structs.replace(asks, content={"role": "assistant", "content": [use]}),
        structs.replace(result, content={"role": "user", "content": [answer]}),
    )


def test_the_next_call_finds_what_the_marks_of_this_one_wrote():
    first = claude(conversation=TALK, **BASE)
    second = claude(first, conversation=[*TALK, said("d", sequence=4)], **BASE)

    assert second.manifest.cache.cached_tokens == second.manifest.cache.reusable_tokens
    assert set(first.manifest.cache.breakpoints) & set(second.manifest.cache.breakpoints)


def test_below_the_minimum_nothing_is_marked():
    assert claude(conversation=[said("a")]).manifest.cache.breakpoints == ()


def test_thinking_and_empty_text_carry_no_mark():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    wire = {"role": "assistant", "content": [{"type": "text", "text": "so " * 1500}, thought]}
    done = claude(conversation=[long("a", sequence=1), said("b", role="assistant", content=wire, sequence=2)])

    marked = with_breakpoints(done.request.wire, done.manifest)["messages"][-1]["content"]

    assert marked[1] == thought
    assert marked[0]["cache_control"] == {"type": "ephemeral"}


def test_rules_are_known_by_the_models_name():
    rules = {
        ("claude-haiku-4-5-20251001", "anthropic"): 4096,
        ("anthropic/claude-opus-4.7", "anthropic"): 2048,
        ("claude-opus-5", "anthropic"): 512,
        (CLAUDE, "anthropic"): 1024,
        ("gpt-4o", "openai"): 1024,
        ("gemini-2.5-pro", "google"): 2048,
        ("gemini-3.1-pro", "google"): 4096,
        (None, "responses"): 1024,
    }

    assert {key: rule_for(*key).min_tokens for key in rules} == rules
    assert rule_for("gpt-5.6", "openai").ttl_s == 1800
    assert all(rule_for(*key).source for key in rules)


# Compaction


def test_a_compaction_is_paid_once_and_gains_with_every_call():
    price = Price(input=Decimal(3), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))

    found = compaction_price(before=100_000, after=40_000, reusable=10_000, price=price)

    assert found.rebilled_tokens == 30_000
    assert found.cost == (10_000 * Decimal("0.3") + 30_000 * Decimal("3.75") - 100_000 * Decimal("0.3")) / 1_000_000
    assert found.gain_per_call == Decimal("0.018")
    assert found.calls_to_break_even == 5


def test_a_compaction_that_gains_nothing_never_pays():
    price = Price(input=Decimal(3), cache_read=Decimal(0), cache_write=Decimal(3))

    assert compaction_price(before=100, after=90, reusable=0, price=price).calls_to_break_even is None


def test_without_a_cache_price_a_compaction_pays_at_once():
    found = compaction_price(before=1000, after=500, reusable=0, price=Price(input=Decimal(2)))

    assert (found.cost, found.calls_to_break_even) == (Decimal("-0.001"), 0)


@pytest.mark.parametrize("model", [CLAUDE, "gpt-5"])
def test_a_real_price_gives_a_real_answer(model):
    found = compaction_price(before=150_000, after=50_000, reusable=5_000, price=price_for(model))

    assert found.gain_per_call > 0
    assert 0 < found.calls_to_break_even < 50
