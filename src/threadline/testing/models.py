"""What every adapter has to promise as an `LLMClient`, checked over HTTP against a server that plays its vendor.

@pytest.mark.parametrize("check", CLIENT_CHECKS + MODEL_CHECKS, ids=lambda check: check.__name__)
async def test_my_adapter(check):
    await check(MyHarness())
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from threadline.errors import InvalidInputError, ModelError
from threadline.ports import ChatModel, ImagePart, LLMClient, LLMMessage, TextContent, metering
from threadline.testing.harness import (
    GOOD,
    SECRET,
    USAGE,
    ModelHarness,
    Verdict,
    assert_quotes_nothing,
    bench,
    failure_of,
)
from threadline.testing.stub import Reaction
from threadline.testing.vendors import Said

__all__ = ["CLIENT_CHECKS", "Check"]

Check: TypeAlias = Callable[[ModelHarness], Awaitable[None]]

_YES = Said(pieces=(GOOD,))


async def gives_the_text_of_a_reply(harness: ModelHarness) -> None:
    """The text is what the model said, after one request."""
    async with bench(harness) as at:
        assert isinstance(at.model, LLMClient)
        assert isinstance(at.model, ChatModel)
        at.play(_YES)
        assert await at.chat() == GOOD
        assert at.tries == 1


async def says_what_it_was_told(harness: ModelHarness) -> None:
    """Every message arrives, odd characters too, and the schema by the vendor's own means."""
    odd = "nul \x00, lone \ud800, 漢字, </s>"
    async with bench(harness) as at:
        at.play(_YES)
        await at.chat(said=odd)
        (asked,) = at.asked()
        assert asked.texts == ("Be brief.", odd)
        assert asked.schema["additionalProperties"] is False
        assert set(asked.schema["required"]) == {"answer", "grade"}


async def tells_the_shape_in_words_in_other_modes(harness: ModelHarness) -> None:
    """Without a schema in the request, the system message holds it."""
    async with bench(harness, response_format_mode="prompt_only") as at:
        at.play(_YES)
        await at.chat()
        (asked,) = at.asked()
        assert asked.schema is None
        assert asked.texts[0].startswith("Be brief.\n\n")
        assert '"grade"' in asked.texts[0]


async def sends_given_values_before_configured_ones(harness: ModelHarness) -> None:
    """A value of the call wins, 0.0 too; None means the configured one."""
    async with bench(harness, temperature=0.7, max_tokens=50) as at:
        at.play(_YES, _YES)
        await at.chat(temperature=0.0, max_tokens=9)
        await at.chat()
        assert [(asked.temperature, asked.max_tokens) for asked in at.asked()] == [(0.0, 9), (0.7, 50)]


async def leaves_out_what_is_not_set(harness: ModelHarness) -> None:
    """No null is sent; only Anthropic's limit, which it insists on, is always there."""
    async with bench(harness) as at:
        at.play(_YES)
        await at.chat()
        (asked,) = at.asked()
        assert asked.temperature == "not sent"
        assert asked.max_tokens == "not sent" or at.vendor.name == "anthropic"


async def lets_extra_keys_beat_everything(harness: ModelHarness) -> None:
    """Extra arguments are keys of the body, over all others; None takes a key out."""
    async with bench(harness) as at:
        at.play(_YES, _YES)
        await at.chat(model="other", metadata={"a": 1}, tools=None)
        body = at.stub.requests[0].body
        assert body["metadata"] == {"a": 1}
        assert "tools" not in body


async def delivers_images_or_says_that_it_cannot(harness: ModelHarness) -> None:
    """An image reaches the model, or the call fails before anything is sent."""
    parts = (TextContent(text="look"), ImagePart(url="data:image/png;base64,iVBORw0KGgo="))
    async with bench(harness) as at:
        at.play(_YES)
        await at.model.achat([LLMMessage("user", parts)], response_format=Verdict)
        assert at.asked()[0].images == 1
        try:
            await at.model.achat([LLMMessage("system", parts), LLMMessage("user", "x")], response_format=Verdict)
        except InvalidInputError:
            assert at.tries == 1
        except ModelError:  # the stub had no answer left
            assert at.asked()[1].images == 1


async def raises_what_is_no_whole_answer_at_once(harness: ModelHarness) -> None:
    """A refusal, a cut or a withheld reply is an error, whatever its text, and is not asked for again."""
    async with bench(harness, max_tokens=5) as at:
        for reason in at.vendor.withheld:
            at.forget()
            at.play(Said(pieces=(GOOD,), stop_reason=reason))
            error = await failure_of(at)
            assert error.fields["reason"] == reason
            assert not error.fields["retryable"]
            assert at.tries == 1


async def resends_an_aborted_answer(harness: ModelHarness) -> None:
    """An answer that broke off, or holds none, is asked for up to twice more, the same every time."""
    async with bench(harness, max_tokens=5) as at:
        for bad in (at.vendor.aborted(), at.vendor.empty()):
            at.forget()
            at.play(*[at.vendor.json(bad)] * 2, _YES)
            assert await at.chat() == GOOD
            assert at.stub.requests[0].body == at.stub.requests[2].body
            at.play(*[at.vendor.json(bad)] * 5)
            assert (await failure_of(at)).fields["retryable"]
            assert at.tries == 6


async def resends_after_passing_errors_only(harness: ModelHarness) -> None:
    """Statuses that pass are resent twice, others not at all; the error says which."""
    passing, lasting = (408, 409, 429, 500, 503, 529), (400, 401, 403, 404, 413, 422)
    async with bench(harness) as at:
        for status in (*passing, *lasting):
            at.forget()
            at.play(*[at.vendor.json(at.vendor.error(SECRET), status)] * 5)
            error = await failure_of(at)
            assert error.fields["status"] == status
            assert error.fields["retryable"] is (status in passing)
            assert at.tries == (3 if status in passing else 1)


async def waits_longer_each_time(harness: ModelHarness) -> None:
    """Half a second, then one, each shortened by up to a quarter at random; at most 8."""
    async with bench(harness, transport_retries=6) as at:
        at.play(*[at.vendor.json(at.vendor.error(""), 500)] * 7)
        await failure_of(at)
        assert at.tries == 7
        for pause, most in zip(at.pauses, (0.5, 1, 2, 4, 8, 8), strict=True):
            assert 0.75 * most <= pause <= most


async def waits_as_long_as_it_is_asked_to(harness: ModelHarness) -> None:
    """`Retry-After` is kept to the second up to a minute; what is longer, or no such time, counts for nothing."""
    async with bench(harness, transport_retries=9) as at:
        asked = ("7", "60", "0.25", "61", "0", "-3", "nan", "soon", "Wed, 21 Oct 2015 07:28:00 GMT")
        at.play(*(at.vendor.json(at.vendor.error(""), 429, Retry_After=wait) for wait in asked), _YES)
        assert await at.chat() == GOOD
        assert at.pauses[:3] == [7, 60, 0.25]
        assert at.pauses[3] <= 4
        assert all(6 <= pause <= 8 for pause in at.pauses[4:])


async def resends_when_the_connection_is_cut(harness: ModelHarness) -> None:
    """Before the headers and in the middle of the body."""
    whole = harness.vendor.said(_YES).chunks[0]
    async with bench(harness) as at:
        at.play(Reaction(chunks=(), cut=0), Reaction(chunks=(whole[:20], whole[20:]), cut=1), _YES)
        assert await at.chat() == GOOD
        assert at.tries == 3
        at.play(*[Reaction(chunks=(), cut=0)] * 3)
        assert (await failure_of(at)).fields["reason"] == "connection"


async def fails_when_nobody_is_there(harness: ModelHarness) -> None:
    """A server that is gone is an error like any other."""
    async with bench(harness) as at:
        at.stub.close()
        assert (await failure_of(at)).fields["reason"] == "connection"
        assert len(at.pauses) == 2


async def gives_up_in_time(harness: ModelHarness) -> None:
    """The limit holds for each try: for the first byte, and for a body that trickles."""
    whole = harness.vendor.said(_YES).chunks[0]
    async with bench(harness, timeout=0.15, transport_retries=1) as at:
        at.play(Reaction(chunks=(whole,), held=-1), Reaction(chunks=(whole[:20], whole[20:]), held=1))
        error = await failure_of(at)
        assert (error.fields["reason"], error.fields["retryable"], at.tries) == ("timeout", True, 2)


async def asks_once_more_for_a_reply_of_another_shape(harness: ModelHarness) -> None:
    """The same request, once; what then comes is handed on, for the operator to refuse."""
    async with bench(harness) as at:
        at.play(Said(pieces=("no json",)), _YES)
        assert await at.chat() == GOOD
        assert at.stub.requests[0].body == at.stub.requests[1].body
        at.play(Said(pieces=("```",)), Said(pieces=('{"answer": ""}',)))
        assert await at.chat() == '{"answer": ""}'
        assert at.tries == 4
    async with bench(harness, invalid_reply_retries=0) as at:
        at.play(Said(pieces=("no json",)))
        assert await at.chat() == "no json"


async def survives_whatever_a_server_sends(harness: ModelHarness) -> None:
    """A text or a `ModelError`, never another error, and no word of the answer in it."""
    whole = harness.vendor.said(_YES).chunks[0]
    bodies = [
        *(
            b"",
            b"null",
            b"[]",
            b"0",
            b'"' + SECRET.encode() + b'"',
            b"<html>" + SECRET.encode(),
            whole[:-1],
            b"\xff\xfe",
        ),
        *(b"[" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"9" * 5000, whole.replace(b"yes", b"\x00\xc3")),
        *(whole.replace(b"[", b'["x",'), whole.replace(b'"content"', b'"c"'), whole.replace(b'"parts"', b'"p"')),
        *(whole.replace(b"[", b"{").replace(b"]", b"}"), b'{"error": {"message": "%b"}}' % SECRET.encode()),
        *(b'{"error": "%b"}' % SECRET.encode(), b'{"choices": 5, "content": 5, "candidates": 5, "output": 5}'),
        b'{"choices": [5], "content": [5], "candidates": [5], "output": [5]}',
        b'{"choices": [{"message": {"role": 5, "content": {}}}], "candidates": [{"content": {"parts": [5]}}]}',
        b'{"output": [{"type": 5, "content": 5, "role": {}}, 5], "content": [{"type": 5, "text": 5}]}',
        whole.replace(b": 7", b': "7"').replace(b": 3", b": -3").replace(b": 2", b": null"),
        whole.replace(b'"stub-1"', b"[]").replace(b'"chat-1"', b"{}"),
        GOOD.encode(),
    ]
    async with bench(harness, transport_retries=0, invalid_reply_retries=0) as at:
        for body in bodies:
            for kind in ("application/json", "text/html; charset=utf-16"):
                at.play(Reaction(chunks=(body,), content_type=kind))
                try:
                    assert isinstance(await at.chat(), str)
                except ModelError as error:
                    assert_quotes_nothing(error)


async def hands_a_lone_surrogate_on(harness: ModelHarness) -> None:
    """What JSON may hold, a reply may."""
    async with bench(harness) as at:
        at.play(Said(pieces=('{"answer": "\ud800", "grade": 1}',)), _YES)
        await at.chat()
        at.play(Said(pieces=('{"answer": "\x00", "grade": 1}',)), _YES)
        await at.chat()


async def lets_cancelling_through(harness: ModelHarness) -> None:
    """A cancelled call ends as cancelled, closes its connection and is not resent."""
    async with bench(harness) as at:
        at.play(Reaction(chunks=(b"x",), held=-1), _YES)
        call = asyncio.create_task(at.chat())
        await asyncio.to_thread(at.stub.holding, 5)
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            pass
        else:
            raise AssertionError("a cancelled call is cancelled")
        assert await asyncio.to_thread(at.stub.hung_up, 5)
        assert at.tries == 1


async def tells_the_meter_of_every_answer(harness: ModelHarness) -> None:
    """Each answer that says what it used, those asked for again and those that are errors too."""
    async with bench(harness) as at:
        at.play(at.vendor.json(at.vendor.error(""), 500), Said(pieces=("no json",)), _YES)
        with metering(at.told.append):
            await at.chat()
        assert [(call.model, call.usage) for call in at.told] == [("stub-1", USAGE)] * 2
        at.play(Said(pieces=(GOOD,), stop_reason="length"))
        with metering(at.told.append):
            await failure_of(at)
        assert [call.usage for call in at.told] == [USAGE] * 3


CLIENT_CHECKS: tuple[Check, ...] = (
    gives_the_text_of_a_reply,
    says_what_it_was_told,
    tells_the_shape_in_words_in_other_modes,
    sends_given_values_before_configured_ones,
    leaves_out_what_is_not_set,
    lets_extra_keys_beat_everything,
    delivers_images_or_says_that_it_cannot,
    raises_what_is_no_whole_answer_at_once,
    resends_an_aborted_answer,
    resends_after_passing_errors_only,
    waits_longer_each_time,
    waits_as_long_as_it_is_asked_to,
    resends_when_the_connection_is_cut,
    fails_when_nobody_is_there,
    gives_up_in_time,
    asks_once_more_for_a_reply_of_another_shape,
    survives_whatever_a_server_sends,
    hands_a_lone_surrogate_on,
    lets_cancelling_through,
    tells_the_meter_of_every_answer,
)
"""Each is run on its own, with a harness."""
