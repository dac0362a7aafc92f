"""What a provider's cache can use of a call."""

from __future__ import annotations

import pytest

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
