"""What is warm and what is read again from the journal are the same thing."""

from __future__ import annotations

from itertools import count

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.engine import Engine
from threadline.errors import ContextBudgetExceededError
from threadline.messages import check_conversation, decode
from threadline.stores import MemoryStore

WORDS = st.sampled_from(["alpha beta gamma", "one two three four", "x", "the same paragraph, said again and again"])
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map("\n".join)
STEPS = st.one_of(
    st.tuples(st.just("user"), TEXTS),
    st.tuples(st.just("assistant"), TEXTS),
    st.tuples(st.just("exchange"), TEXTS),
    st.tuples(st.just("pending"), TEXTS),
    st.tuples(st.just("knowledge"), TEXTS),
    st.tuples(st.just("system"), TEXTS),
    st.tuples(st.sampled_from(["clear_transcript", "clear_knowledge", "fork", "back"]), st.just("")),
    st.tuples(st.just("assemble"), st.sampled_from([150, 300, 600, 5000])),
)


def called(id):
    function = {"name": "look", "arguments": "{}"}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


async def do(thread, step, number):
    """One step; gives back the call where one was assembled."""
    kind, value = step
    match kind:
        case "user" | "assistant" | "system":
            await thread.append({"role": kind, "content": value})
        case "exchange":
            await thread.append(
                [called(f"c{number}"), {"role": "tool", "tool_call_id": f"c{number}", "content": value}]
            )
        case "pending":
            await thread.append(called(f"c{number}"))
        case "knowledge":
            await thread.add_knowledge(value)
        case "fork":
            said = (await thread.history()).messages
            await thread.fork(after=said[len(said) // 2].record_id if said else None)
        case "back":
            await thread.switch(0)
        case "assemble":
            try:
                return await thread.assemble(model="gpt-4o", max_input_tokens=value)
            except ContextBudgetExceededError:
                return None
        case _:
            await getattr(thread, kind)()
    return None


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, min_size=3, max_size=25))
def test_a_thread_that_stays_open_and_one_opened_anew_each_time_give_the_same(steps):
    def engine():
        numbers = count(1)
        return Engine(MemoryStore(), now_ms=lambda: next(numbers), new_id=lambda: f"id-{next(numbers)}")

    async def both():
        one, other = engine(), engine()
        warm = one.thread("agent", owner="ana")
        await warm.append("begin")
        await other.thread("agent", owner="ana").append("begin")
        for number, step in enumerate(steps):
            mine = await do(warm, step, number)
            cold = other.thread("agent", owner="ana")
            theirs = await do(cold, step, number)
            assert (mine is None) == (theirs is None)
            if mine is not None and theirs is not None:
                assert mine.messages == theirs.messages
                assert [one.item_id.split(":")[0] for one in mine.manifest.segments] == [
                    one.item_id.split(":")[0] for one in theirs.manifest.segments
                ]
                assert mine.tokens <= step[1]
                refused = {one.rule for one in check_conversation(decode(mine.openai()), "openai")}
                assert refused <= {"unanswered_call"}  # a call that waits is shown: its result is the host's to give
                assert (await cold.replay(theirs.manifest_ref)).same
                assert (await cold.reassemble(theirs.manifest_ref)).same
            assert await warm.view() == await cold.view()
        assert (await one.check()).findings == ()

    anyio.run(both)
