"""Recording what a model answered."""

from __future__ import annotations

import pytest

from threadline.errors import ConflictError, InvalidInputError
from threadline.ports import TokenUsage
from threadline.thread.replies import read_reply, read_usage

pytestmark = pytest.mark.anyio

CHAT = {
    "id": "r1",
    "model": "gpt-4o",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 2,
        "total_tokens": 102,
        "prompt_tokens_details": {"cached_tokens": 64},
    },
}
ANTHROPIC = {
    "id": "r2",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 2},
}
RESPONSES = {
    "id": "r3",
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}],
    "usage": {"input_tokens": 100, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 64}},
}
GOOGLE = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 2, "cachedContentTokenCount": 64},
    "responseId": "r4",
}


@pytest.mark.parametrize(
    ("body", "stop", "id", "cached"),
    [
        (CHAT, "stop", "r1", 64),
        (ANTHROPIC, "end_turn", "r2", 80),
        (RESPONSES, "completed", "r3", 64),
        (GOOGLE, "STOP", "r4", 64),
    ],
)
def test_a_response_body_of_any_provider_is_read(body, stop, id, cached):
    reply = read_reply(body)

    assert (reply.stop_reason, reply.response_id) == (stop, id)
    assert reply.usage.input_tokens == 100
    assert reply.usage.output_tokens == 2
    assert reply.usage.cache_read_tokens == cached


def test_an_sdk_object_is_read():
    from openai.types.chat import ChatCompletion

    whole = {**CHAT, "object": "chat.completion", "created": 1}
    whole["choices"] = [{**CHAT["choices"][0], "index": 0, "logprobs": None}]
    reply = read_reply(ChatCompletion.model_validate(whole))

    assert reply.messages == [{"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize("usage", [{"input_tokens": -1}, {"input_tokens": "many"}, [1], {"prompt_tokens": 1.5}])
def test_usage_that_is_none_is_refused(usage):
    with pytest.raises(InvalidInputError):
        read_usage(usage)


@pytest.mark.parametrize("body", [CHAT, ANTHROPIC, RESPONSES, GOOGLE, "hi", {"role": "assistant", "content": "hi"}])
async def test_a_reply_goes_on_the_thread(thread, body):
    await thread.append("hello")
    call = await thread.assemble(max_input_tokens=500)

    await thread.record_reply(call, body)
    await thread.append("and?")

    assert "hi" in str((await thread.assemble(max_input_tokens=500)).messages)


async def test_recording_the_same_reply_again_does_nothing(thread):
    await thread.append("hello")
    call = await thread.assemble(max_input_tokens=500)
    await thread.record_reply(call, CHAT)
    again = await thread.record_reply(call, CHAT)

    assert not again.is_new
    assert len((await thread.history()).messages) == 2


async def test_another_reply_to_the_same_call_is_a_conflict(thread):
    await thread.append("hello")
    call = await thread.assemble(max_input_tokens=500)
    await thread.record_reply(call, CHAT)

    with pytest.raises(ConflictError):
        await thread.record_reply(call, "something else")


async def test_another_threads_call_is_refused(engine, thread):
    other = engine.thread("other", owner="ana")
    await other.append("hello")
    call = await other.assemble(max_input_tokens=500)

    with pytest.raises(InvalidInputError, match="another thread"):
        await thread.record_reply(call, CHAT)


async def test_a_failure_is_recorded_by_its_type_and_shown_to_nobody(thread, store):
    await thread.append("hello")
    call = await thread.assemble(max_input_tokens=500)
    await thread.record_failure(call, RuntimeError("the key sk-1234 is wrong"))

    async with store.transaction(thread.scope, write=False) as tx:
        [row] = await tx.rows("agent", kinds=("llm_call_recorded",), limit=5)
    assert b"RuntimeError" in row.body
    assert b"sk-1234" not in row.body
    assert "RuntimeError" not in str((await thread.assemble(max_input_tokens=500)).messages)


async def test_reported_usage_teaches_the_measure_and_the_manifest_names_the_factor(thread, again):
    for number in range(3):
        await thread.append("a question about many things " * 20)
        call = await thread.assemble(model="claude-sonnet-4-5", max_input_tokens=20_000)
        usage = TokenUsage(input_tokens=round(call.estimated_tokens * 1.5), output_tokens=5)
        await thread.record_reply(call, f"answer {number}", usage=usage)
    await thread.append("last")

    call = await again().assemble(model="claude-sonnet-4-5", max_input_tokens=20_000)

    assert call.manifest.calibration_factor == pytest.approx(1.5, abs=0.02)


async def test_a_partial_reply_is_marked(thread):
    await thread.append("hello")
    call = await thread.assemble(max_input_tokens=500)
    await thread.record_reply(call, "it was", partial=True, stop_reason="cancelled")

    assert (await thread.history()).messages[-1].partial
