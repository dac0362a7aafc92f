"""`Adapter`: what every adapter does the same way, whatever its vendor.

One try is one answer of the provider, within the time limit. A try that failed in a way that may pass is made again by
the one rule of `resending`; a reply that is not in the promised shape is asked for once more. Nothing above an adapter
repeats a call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, get_args

import anyio
from msgspec import Struct, structs

from threadline.errors import ConfigurationError, InvalidInputError, ModelError
from threadline.messages import Decoder, Dialect, Request
from threadline.models.failures import failed
from threadline.models.outgoing import Outgoing, body_of_messages, outgoing
from threadline.models.resending import Pause, Resending
from threadline.models.schemas import Mode, schema_instruction
from threadline.models.speech import Answer, Settings, Speech
from threadline.ports import (
    ChatEvent,
    ChatReply,
    LLMMessage,
    Meter,
    ModelCall,
    ReplyDone,
    TextContent,
    current_meter,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Adapter", "OptionArguments", "Options"]

_LARGEST = 16 * 1024 * 1024
"""Characters of one streamed reply; the longest that any provider offers is a small part of it."""


class Options(Struct, frozen=True, kw_only=True):
    """What can be set of any adapter.

    Attributes:
        temperature: where a call gives none; None leaves it to the provider.
        max_tokens: the reply's limit, where a call gives none; None leaves it to the provider.
        timeout: seconds for one try, connecting included; of a stream, for each next event.
        response_format_mode: how the provider is told of the shape that `achat` promises.
        invalid_reply_retries: how often a reply that is not in that shape is asked for again.
        transport_retries: how often a try that failed is made again.
        pause: waits between tries; for tests.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = 60.0
    response_format_mode: Mode = "json_schema"
    invalid_reply_retries: int = 1
    transport_retries: int = 2
    pause: Pause = anyio.sleep

    def __post_init__(self) -> None:
        if self.timeout <= 0 or self.invalid_reply_retries < 0 or self.transport_retries < 0:
            raise ConfigurationError("timeout must be above 0, retries must not be below")
        if self.response_format_mode not in get_args(Mode):
            raise ConfigurationError(f"response_format_mode must be one of {', '.join(get_args(Mode))}")


class OptionArguments(TypedDict, total=False):
    """`Options` as the adapters take them, by name."""

    temperature: float | None
    max_tokens: int | None
    timeout: float
    response_format_mode: Mode
    invalid_reply_retries: int
    transport_retries: int
    pause: Pause


class Adapter(ABC):
    """An `LLMClient` and a `ChatModel` over one provider.

    Args:
        model: the model's name, as the provider knows it.
        speech: how its API is written and read.
        options: see there.
    """

    vendor: ClassVar[str]

    def __init__(self, model: str, speech: Speech, options: Options) -> None:
        self.model = model
        self._speech = speech
        self._options = options
        self._configured = Settings(temperature=options.temperature, max_tokens=options.max_tokens)
        self._resending = Resending(times=options.transport_retries)

    @abstractmethod
    async def _send(self, body: dict[str, Any]) -> Answer:
        """The provider's whole answer.

        Raises:
            ModelError: the provider cannot be reached or refused the call, or its answer is none.
        """

    @abstractmethod
    def _open(self, body: dict[str, Any]) -> AsyncGenerator[Any]:
        """The chunks of the provider's answer as JSON. Closing it closes the connection. Raises as `_send`."""

    @abstractmethod
    async def aclose(self) -> None:
        """Closes the connections. The adapter is of no use afterwards."""

    async def achat(
        self,
        messages: Sequence[LLMMessage],
        *,
        response_format: type[BaseModel],
        temperature: float | None = None,
        max_tokens: int | None = None,
        **extra: Any,
    ) -> str:
        """The reply's text, which passes `response_format`, or fails it after it was asked for again.

        Args:
            messages: what is said to the model.
            response_format: the shape of the reply.
            temperature: beats the configured one; None means that one, or that the provider decides.
            max_tokens: the same for the reply's limit.
            extra: keys of the provider's body, as they are; they beat everything else, None takes a key out.

        Raises:
            InvalidInputError: there is no message, or one holds an image that the provider cannot take.
            ModelError: the call failed, or the reply was refused, withheld or cut off.
        """
        mode = self._options.response_format_mode
        told = messages if mode == "json_schema" else _told(messages, schema_instruction(response_format))
        body = body_of_messages(told, self._speech.dialect)
        given = Settings(temperature=temperature, max_tokens=max_tokens)
        self._speech.put(body, given.over(self._configured))
        self._speech.constrain(body, response_format, mode)
        body.update(extra)
        body = {key: value for key, value in body.items() if value is not None}
        text = ""
        for _ in range(1 + self._options.invalid_reply_retries):
            reply = await self._reply(Outgoing(body=body, dialect=self._speech.dialect, losses=()))
            text = self._whole(reply)
            if _passes(response_format, text):
                break
        return text

    def _whole(self, reply: ChatReply) -> str:
        match reply.stop_reason:
            case "end" | "tool_calls":
                return reply.text
            case "length" | "content_filter" | "refusal" | "pause" as reason:
                raise failed(self.vendor, reason)

    async def generate(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> ChatReply:
        """The whole reply; see `ChatModel`."""
        return await self._reply(self._sent(request, Settings(temperature=temperature, max_tokens=max_output_tokens)))

    def stream(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> AsyncIterator[ChatEvent]:
        """Deltas, then the reply; see `ChatModel`."""
        sent = self._sent(request, Settings(temperature=temperature, max_tokens=max_output_tokens))
        return self._streamed(sent, current_meter())

    def _sent(self, request: Request, given: Settings) -> Outgoing:
        sent = outgoing(request, self._speech.dialect)
        self._speech.put(sent.body, given.over(self._speech.take(sent.body)).over(self._configured))
        return sent

    async def _reply(self, sent: Outgoing) -> ChatReply:
        meter = current_meter()

        async def once() -> ChatReply:
            try:
                with anyio.fail_after(self._options.timeout):
                    answer = await self._send(sent.body)
            except TimeoutError:
                answer = None
            if answer is None:
                raise failed(self.vendor, "timeout")
            return self._metered(answer, sent, meter)

        return await self._resending.run(once, self._options.pause)

    async def _streamed(self, sent: Outgoing, meter: Meter) -> AsyncGenerator[ChatEvent]:
        resend = 0
        while True:
            begun = False
            try:
                async with aclosing(self._events(sent, meter)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except ModelError as error:
                if begun or not self._resending.worthwhile(resend, error):
                    raise
                wait_s = self._resending.pause_s(resend, error)
            else:
                return
            await self._options.pause(wait_s)
            resend += 1

    async def _events(self, sent: Outgoing, meter: Meter) -> AsyncGenerator[ChatEvent]:
        collector = self._speech.collect()
        size = 0
        async with aclosing(self._open(sent.body)) as chunks:
            while (chunk := await self._next(chunks)) is not _END:
                for event in collector.add(chunk):
                    size += _length(event)
                    if size > _LARGEST:
                        raise failed(self.vendor, "too_large")
                    yield event
        yield ReplyDone(reply=self._metered(collector.answer(), sent, meter))

    async def _next(self, chunks: AsyncGenerator[Any]) -> Any:
        try:
            with anyio.fail_after(self._options.timeout):
                return await anext(chunks, _END)
        except TimeoutError:
            pass
        raise failed(self.vendor, "timeout")

    def _metered(self, answer: Answer, sent: Outgoing, meter: Meter) -> ChatReply:
        """The reply of an answer; whoever counts is told of it, even where it turns out to be no reply."""
        meter(ModelCall(model=answer.model or self.model, usage=answer.usage))
        dialect: Dialect = sent.dialect
        feed = Decoder(dialect).feed
        try:
            messages = tuple(feed(wire, index) for index, wire in enumerate(answer.wires))
        except InvalidInputError:
            messages = None
        if messages is None:
            raise failed(self.vendor, "malformed")
        return ChatReply(
            messages=messages,
            stop_reason=answer.stop_reason,
            usage=answer.usage,
            model=answer.model or self.model,
            id=answer.id,
            losses=sent.losses,
        )


_END = object()


def _length(event: ChatEvent) -> int:
    match event:
        case ReplyDone():
            return 0
        case _:
            return sum(len(value) for value in structs.astuple(event) if isinstance(value, str))


def _told(messages: Sequence[LLMMessage], instruction: str) -> list[LLMMessage]:
    """The messages with an instruction at the end of the first system message."""
    for place, message in enumerate(messages):
        if message.role == "system":
            content = message.content
            added = (
                f"{content}\n\n{instruction}" if isinstance(content, str) else (*content, TextContent(text=instruction))
            )
            return [*messages[:place], LLMMessage("system", added), *messages[place + 1 :]]
    return [LLMMessage("system", instruction), *messages]


def _passes(response_format: type[BaseModel], text: str) -> bool:
    from pydantic import ValidationError

    try:
        response_format.model_validate_json(text)
    except ValidationError:
        return False
    return True
