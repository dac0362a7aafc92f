"""`explain`: the fate of a message, and why."""

from __future__ import annotations

import pytest

from threadline.errors import NotFoundError
from threadline.messages import Fate

pytestmark = pytest.mark.anyio

LONG = "\n".join(f"line {number} of the log of the build" for number in range(200))


def exchange(id, content):
    function = {"name": "build", "arguments": f'{{"n": "{id}"}}'}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": content},
    ]


async def test_a_message_no_call_has_looked_at_is_not_seen(thread):
    await thread.append("hello", message_id="m")

    told = await thread.explain("m")

    assert (told.fate, told.seen) == (Fate.KEPT, False)


async def test_a_shown_message_says_what_it_costs(thread):
    await thread.append("hello", message_id="m")
    call = await thread.assemble(max_input_tokens=500)

    told = await thread.explain("m")

    assert told.fate is Fate.KEPT
    assert told.tokens == told.tokens_shown > 0
    assert told.manifest_ref == call.manifest_ref


async def test_a_repeat_and_a_long_result_say_what_was_left_out(thread):
    await thread.append(["build", *exchange("a", LONG), *exchange("b", LONG)], message_ids=[None, None, "a", None, "b"])
    await thread.assemble(model="gpt-4o", max_input_tokens=4000)

    assert (await thread.explain("a")).fate is Fate.PRUNED
    assert (await thread.explain("b")).fate in (Fate.DEDUPLICATED, Fate.PRUNED)
    assert sum(size for _, size in (await thread.explain("a")).left_out) > 1000


async def test_a_hidden_message_and_one_left_to_the_summary(thread):
    await thread.append("hidden", message_id="h")
    await thread.clear_transcript()
    await thread.append([f"message {number} " + f"word{number} " * 40 for number in range(20)], idempotency_key="k")
    await thread.assemble(model="gpt-4o", max_input_tokens=400)

    assert (await thread.explain("h")).fate is Fate.HIDDEN
    assert (await thread.explain("k#0")).fate is Fate.SUMMARISED
    assert (await thread.explain("k#19")).fate is Fate.KEPT


async def test_a_message_that_is_not_there_says_so(thread):
    await thread.append("hello")
    with pytest.raises(NotFoundError, match="nothing"):
        await thread.explain("nothing")
