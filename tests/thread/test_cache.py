"""What a provider's cache can use of a call."""

from __future__ import annotations

import pytest

from threadline.engine import Engine
from threadline.testing import FixedClock

pytestmark = pytest.mark.anyio


async def test_an_anthropic_thread_gets_breakpoints_where_the_manifest_plans_them(engine):
    thread = engine.thread("agent", owner="ana", dialect="anthropic")
    await thread.append([{"role": "user", "content": "word " * 3000}, {"role": "assistant", "content": "yes"}, "and?"])
    call = await thread.assemble(model="claude-sonnet-4-5", max_input_tokens=50_000, instructions="be brief " * 500)

    marked = str(call.anthropic()).count("cache_control")

    assert 1 <= marked <= 4
    assert marked == len(call.manifest.cache.breakpoints)
    assert "cache_control" not in str(call.request.wire)


async def test_the_manifest_says_how_much_of_the_call_before_is_used_again(thread):
    await thread.append("hello " * 400)
    first = await thread.assemble(model="gpt-4o", max_input_tokens=4000, instructions="be brief")
    await thread.record_reply(first, "hi")
    await thread.append("and?")
    second = await thread.assemble(model="gpt-4o", max_input_tokens=4000, instructions="be brief")

    assert first.manifest.cache.difference is None
    assert second.manifest.cache.reusable_tokens >= 0.95 * (first.tokens - 20)
    assert second.manifest.cache.difference.reason == "extended"


async def test_changed_instructions_are_named_as_what_breaks_the_cache(thread):
    await thread.append("hello")
    await thread.assemble(model="gpt-4o", max_input_tokens=4000, instructions="be brief")
    call = await thread.assemble(model="gpt-4o", max_input_tokens=4000, instructions="be long")

    assert call.manifest.cache.difference.item_id == "instruction:agent:1"
    assert call.manifest.cache.difference.reason == "content"
    assert call.manifest.cache.difference.byte > 0


async def test_a_call_after_a_long_silence_expects_nothing_of_the_cache(store, steps):
    hour = 3_600_000
    clock = FixedClock()
    thread = Engine(store, now_ms=clock, new_id=steps.new_id).thread("agent", owner="ana")
    await thread.append("hello " * 4000)
    await thread.assemble(model="gpt-4o", max_input_tokens=9000)
    clock.advance(48 * hour)
    call = await thread.assemble(model="gpt-4o", max_input_tokens=9000)

    assert call.manifest.cache.expired
    assert call.manifest.cache.cached_tokens == 0 < call.manifest.cache.reusable_tokens
    assert (await thread.reassemble()).same


async def test_a_clock_that_goes_backwards_leaves_the_cache_warm(store, steps):
    clock = FixedClock()
    thread = Engine(store, now_ms=clock, new_id=steps.new_id).thread("agent", owner="ana")
    await thread.append("hello")
    await thread.assemble(model="gpt-4o", max_input_tokens=9000)
    clock.advance(-1_000_000)
    call = await thread.assemble(model="gpt-4o", max_input_tokens=9000)

    assert not call.manifest.cache.expired


async def test_a_compaction_says_what_it_costs_and_when_it_has_paid_for_itself(thread, again):
    for turn in range(40):
        await thread.append(
            [{"role": "user", "content": f"question {turn} " * 30}, {"role": "assistant", "content": "yes"}]
        )
    await thread.assemble(model="gpt-4o", max_input_tokens=9000)
    call = await thread.assemble(model="gpt-4o", max_input_tokens=1500)
    price = call.manifest.cache.compaction

    assert price.rebilled_tokens == call.tokens - call.manifest.cache.reusable_tokens - call.manifest.tokens.overhead
    assert price.gain_per_call > 0
    assert price.calls_to_break_even is not None
    assert (await again().reassemble()).same


async def test_a_call_that_was_not_compacted_names_no_price(thread):
    await thread.append("hello")
    call = await thread.assemble(model="gpt-4o", max_input_tokens=9000)

    assert call.manifest.cache.compaction is None
