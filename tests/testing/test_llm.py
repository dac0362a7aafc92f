"""The scripted model does what its script says and remembers what it was asked."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from threadline.errors import ModelError
from threadline.ports import ChatResponse, LLMClient, LLMMessage
from threadline.testing import FakeLLMClient

pytestmark = pytest.mark.anyio

HELLO = [LLMMessage("user", "hello")]


class Reply(BaseModel):
    text: str


async def ask(client, **options):
    return await client.achat(HELLO, response_format=Reply, **options)


def test_it_is_a_client():
    assert isinstance(FakeLLMClient([]), LLMClient)


async def test_replies_come_in_order_whatever_the_schema_says():
    client = FakeLLMClient(["no json", ChatResponse(content="{}")])

    assert [await ask(client), await ask(client)] == ["no json", "{}"]


async def test_a_scripted_exception_is_raised_and_counted():
    failure = ModelError("gone")
    client = FakeLLMClient([failure, "then"])

    with pytest.raises(ModelError) as caught:
        await ask(client)

    assert caught.value is failure
    assert await ask(client) == "then"
    assert client.call_count == 2


async def test_a_script_at_its_end_is_an_error_of_the_test():
    client = FakeLLMClient(["only"])
    await ask(client)

    with pytest.raises(RuntimeError, match="1 replies; this is call 2"):
        await ask(client)


async def test_each_call_is_recorded_as_it_was_made():
    client = FakeLLMClient(["a"])
    sent = [*HELLO]
    await client.achat(sent, response_format=Reply, temperature=0.0, max_tokens=7, seed=1)
    sent.clear()
    client.calls.clear()

    (call,) = client.calls
    assert call.messages == tuple(HELLO)
    assert (call.response_format, call.temperature, call.max_tokens, call.extra) == (Reply, 0.0, 7, {"seed": 1})


async def test_a_handler_may_be_plain_or_async_and_sees_all_arguments():
    seen = []

    def plain(messages, **options):
        seen.append((messages, options))
        return "plain"

    async def later(messages, **options):
        return ChatResponse(content="later")

    assert await ask(FakeLLMClient(handler=plain), seed=3) == "plain"
    assert await ask(FakeLLMClient(handler=later)) == "later"
    assert seen == [(HELLO, {"response_format": Reply, "temperature": None, "max_tokens": None, "seed": 3})]


async def test_a_handler_that_gives_something_else_is_a_type_error():
    with pytest.raises(TypeError, match="NoneType"):
        await ask(FakeLLMClient(handler=lambda messages, **options: None))


@pytest.mark.parametrize("given", [{}, {"responses": [], "handler": print}])
def test_a_script_or_a_handler_is_given_and_not_both(given):
    with pytest.raises(ValueError, match="either"):
        FakeLLMClient(**given)


@pytest.mark.parametrize("responses", [[1], ["a", None], [KeyboardInterrupt()], "text"])
def test_a_script_of_something_else_is_refused_at_once(responses):
    with pytest.raises(TypeError):
        FakeLLMClient(responses)
