"""What every adapter has to promise as a `ChatModel`, whole replies and streams, checked as in `testing.models`."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.json import decode as read

from threadline.errors import InvalidInputError, ModelError
from threadline.messages import Dialect, Request, convert, decode, encode
from threadline.ports import ChatEvent, ChatReply, ReplyDone, TextDelta, ThinkingDelta, ToolCallDelta, metering
from threadline.testing.harness import SECRET, USAGE, Bench, ModelHarness, assert_quotes_nothing, bench, failure_of
from threadline.testing.models import Check
from threadline.testing.stub import Reaction
from threadline.testing.vendors import Said

__all__ = ["MODEL_CHECKS"]

_HELLO = Said(pieces=("Hel", "lo ", "漢字 👩‍👩‍👧"))
_ARGUMENTS: dict[str, Any] = {"q": '漢 "x"', "n": [1, {}]}
_CALL = Said(pieces=("Let me ", "see."), stop_reason="tool_calls", call=("call_1", "look", _ARGUMENTS))


def _request(dialect: Dialect = "openai", **parameters: Any) -> Request:
    """A conversation with instructions, a tool, and a call that was answered."""
    call = {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": '{"q": "a"}'}}
    tool: dict[str, Any] = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
    body: dict[str, Any] = {
        "model": "of-the-request",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": SECRET},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": "found"},
            {"role": "user", "content": "and now?"},
        ],
        "tools": [{"type": "function", "function": tool}],
        **parameters,
    }
    return convert(decode(body, "openai"), dialect).request


async def _events(at: Bench, request: Request | None = None, **arguments: Any) -> list[ChatEvent]:
    return [event async for event in at.model.stream(request or _request(), **arguments)]


async def _stream_failure(at: Bench) -> tuple[list[ChatEvent], ModelError]:
    events: list[ChatEvent] = []
    caught: ModelError | None = None
    try:
        async for event in at.model.stream(_request()):
            events.append(event)  # noqa: PERF401 - what came before the error counts
    except ModelError as error:
        caught = error
    assert caught is not None, "the stream must fail"
    assert_quotes_nothing(caught)
    return events, caught


def _wires(reply: ChatReply) -> list[Any]:
    return [message.wire for message in reply.messages]


async def gives_the_reply_as_it_came(harness: ModelHarness) -> None:
    """Wire objects untouched, what is said about them read."""
    async with bench(harness) as at:
        for said in (_HELLO, _CALL):
            at.forget()
            at.play(said)
            with metering(at.told.append):
                reply = await at.model.generate(_request())
            assert _wires(reply) == at.vendor.wire(said)
            assert (reply.stop_reason, reply.text, reply.usage) == (said.stop_reason, said.text, USAGE)
            assert reply.model == "stub-1"
            assert reply.id
            assert [call.usage for call in at.told] == [USAGE]
        (call,) = reply.tool_calls
        assert (call.id, call.name) == ("call_1", "look")


async def says_why_a_reply_ended(harness: ModelHarness) -> None:
    """A reply that was cut or withheld is a reply here, not an error."""
    async with bench(harness) as at:
        for reason in at.vendor.withheld:
            said = Said(pieces=("part",), stop_reason=reason)
            at.play(said, at.vendor.streamed(said))
            assert (await at.model.generate(_request())).stop_reason == reason
            assert _done(await _events(at)).stop_reason == reason


async def takes_a_request_of_any_dialect(harness: ModelHarness) -> None:
    """The same conversation, tools and limits reach the model, whatever they were written in."""
    async with bench(harness, temperature=0.5) as at:
        for dialect in ("plain", "openai", "responses", "anthropic", "google"):
            at.forget()
            at.play(_HELLO, _HELLO)
            await at.model.generate(_request(dialect, max_completion_tokens=33))
            await at.model.generate(_request(dialect), temperature=0.0, max_output_tokens=4)
            first, second = at.asked()
            for text in ("Be brief.", SECRET, "found", "and now?"):
                assert text in "\n".join(first.texts)
            assert first.tools == ("look",)
            assert (first.temperature, first.max_tokens) == (0.5, 33)
            assert (second.temperature, second.max_tokens) == (0.0, 4)


async def sends_what_stands_in_the_request(harness: ModelHarness) -> None:
    """A request that was put together, and not read from a body, has its tools and its response format sent."""
    request = _request(at_dialect := harness.vendor.dialect)
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    formats: dict[str, Any] = {
        "openai": {"type": "json_schema", "json_schema": {"name": "r", "schema": schema, "strict": True}},
        "responses": {"type": "json_schema", "name": "r", "schema": schema, "strict": True},
        "anthropic": {"type": "json_schema", "schema": schema},
        "google": schema,
    }
    bare = Request(
        dialect=at_dialect,
        messages=request.messages,
        system=request.system,
        tools=request.tools,
        response_format=formats[at_dialect],
    )
    async with bench(harness) as at:
        at.play(_HELLO, _HELLO)
        await at.model.generate(bare)
        await at.model.generate(convert(request, "openai" if at_dialect != "openai" else "anthropic").request)
        first, second = at.asked()
        assert first.tools == second.tools == ("look",)
        assert first.schema == schema
        assert "Be brief." in "\n".join(first.texts)


async def goes_on_from_its_own_reply(harness: ModelHarness) -> None:
    """The reply's messages can be sent again, unchanged."""
    dialect = harness.vendor.dialect
    async with bench(harness) as at:
        at.play(_HELLO, _HELLO)
        request = _request(dialect)
        reply = await at.model.generate(request)
        longer = Request(dialect=dialect, messages=(*request.messages, *reply.messages, request.messages[-1]))
        await at.model.generate(longer)
        sent = [message.wire for message in decode(at.stub.requests[1].body, dialect).messages]
        assert [wire for wire in _wires(reply) if wire in sent] == _wires(reply)
        assert encode(longer)


async def refuses_a_request_without_messages(harness: ModelHarness) -> None:
    """There is nothing to answer, and nothing is sent."""
    empty = Request(dialect="openai", messages=())
    async with bench(harness) as at:
        for ask in (lambda: _events(at, empty), lambda: at.model.generate(empty)):
            try:
                await ask()
            except InvalidInputError:
                continue
            raise AssertionError("an empty request is refused")
        assert at.tries == 0


async def streams_what_it_would_have_given_whole(harness: ModelHarness) -> None:
    """Deltas that add up, then the very reply that `generate` gives, once."""
    async with bench(harness) as at:
        for said in (_HELLO, _CALL):
            at.forget()
            at.play(at.vendor.streamed(said), said)
            with metering(at.told.append):
                events = await _events(at)
            whole = await at.model.generate(_request())
            assert _done(events) == whole
            assert "".join(event.text for event in events if isinstance(event, TextDelta)) == said.text
            assert sum(isinstance(event, ReplyDone) for event in events) == 1
            assert [call.usage for call in at.told] == [USAGE]
            thoughts = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
            assert thoughts in ("", "hm, hm")
        calls = [event for event in events if isinstance(event, ToolCallDelta)]
        assert ({call.number for call in calls}, calls[0].name) == ({0}, "look")
        assert "".join(call.id for call in calls) == "call_1"
        assert read("".join(call.arguments for call in calls)) == _ARGUMENTS


async def resends_a_stream_that_did_not_begin(harness: ModelHarness) -> None:
    """Errors and cuts before the first event are resent, like those of a whole reply."""
    async with bench(harness) as at:
        at.play(
            at.vendor.json(at.vendor.error(SECRET), 429, Retry_After="7"),
            Reaction(chunks=(), cut=0),
            at.vendor.streamed(_HELLO),
        )
        assert _done(await _events(at)).text == _HELLO.text
        assert at.pauses[0] == 7
        assert at.tries == 3
        at.forget()
        at.play(at.vendor.json(at.vendor.error(SECRET), 400))
        events, error = await _stream_failure(at)
        assert (events, error.fields["status"], at.tries) == ([], 400, 1)


async def does_not_resend_a_stream_that_began(harness: ModelHarness) -> None:
    """What was heard cannot be taken back: a cut, late, senseless or failed rest is an error."""
    vendor, chunks = harness.vendor, harness.vendor.streamed(_HELLO).chunks
    begun = next(place for place, chunk in enumerate(chunks) if b"Hel" in chunk) + 1
    head, senseless = chunks[:begun], vendor.framed({"type": "x"})[:-4] + b" {\n\n"
    rests: list[tuple[tuple[str, ...], Reaction]] = [
        (("connection",), _events_of(head, cut=begun)),
        (("timeout",), _events_of((*head, b""), held=begun)),
        (("cut",), _events_of(head)),
        (("malformed",), _events_of((*head, senseless))),
        (("aborted", "status"), _events_of((*head, vendor.framed(vendor.failing(SECRET))))),
    ]
    async with bench(harness, timeout=0.3) as at:
        for reasons, reaction in rests:
            at.forget()
            at.play(reaction, vendor.streamed(_HELLO))
            events, error = await _stream_failure(at)
            assert TextDelta(text="Hel") in events
            assert not any(isinstance(event, ReplyDone) for event in events)
            assert error.fields["reason"] in reasons
            assert at.tries == 1


def _events_of(chunks: tuple[bytes, ...], **how: Any) -> Reaction:
    return Reaction(chunks=chunks, content_type="text/event-stream", **how)


async def hangs_up_when_nobody_listens(harness: ModelHarness) -> None:
    """A stream that is left early closes its connection."""
    whole = harness.vendor.streamed(_HELLO)
    begun = next(place for place, chunk in enumerate(whole.chunks) if b"Hel" in chunk) + 1
    async with bench(harness) as at:
        at.play(Reaction(chunks=whole.chunks, content_type=whole.content_type, held=begun))
        stream: Any = at.model.stream(_request())
        async for event in stream:
            assert isinstance(event, (TextDelta, ThinkingDelta))
            if isinstance(event, TextDelta):
                break
        await stream.aclose()
        assert await asyncio.to_thread(at.stub.hung_up, 5)


async def sends_nothing_before_it_is_asked(harness: ModelHarness) -> None:
    """A stream that nobody reads costs nothing."""
    async with bench(harness) as at:
        assert at.model.stream(_request())
        assert at.tries == 0


async def fails_without_quoting(harness: ModelHarness) -> None:
    """`generate` fails as `achat` does."""
    async with bench(harness) as at:
        at.play(at.vendor.json(at.vendor.error(SECRET), 400))
        assert (await failure_of(at, _request())).fields["status"] == 400


def _done(events: list[ChatEvent]) -> ChatReply:
    last = events[-1]
    assert isinstance(last, ReplyDone), "a stream ends with the reply"
    return last.reply


MODEL_CHECKS: tuple[Check, ...] = (
    gives_the_reply_as_it_came,
    says_why_a_reply_ended,
    takes_a_request_of_any_dialect,
    sends_what_stands_in_the_request,
    goes_on_from_its_own_reply,
    refuses_a_request_without_messages,
    streams_what_it_would_have_given_whole,
    resends_a_stream_that_did_not_begin,
    does_not_resend_a_stream_that_began,
    hangs_up_when_nobody_listens,
    sends_nothing_before_it_is_asked,
    fails_without_quoting,
)
"""Each is run on its own, with a harness."""
