"""`FakeLLMClient`: a model that says what a test wrote down."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from threadline.ports import ChatResponse, LLMMessage, ModelCall, current_meter

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["CallRecord", "FakeLLMClient"]

Scripted: TypeAlias = "str | ChatResponse"
Handler: TypeAlias = "Callable[..., Scripted | Awaitable[Scripted]]"


class CallRecord(Struct, frozen=True, kw_only=True):
    """One call that a double received."""

    messages: tuple[LLMMessage, ...]
    response_format: type[BaseModel]
    temperature: float | None
    max_tokens: int | None
    extra: Mapping[str, Any]


class FakeLLMClient:
    """An `LLMClient` that gives scripted replies in order, or those of a handler; it never looks at the schema.

    Args:
        responses: what each call gives: a text, a `ChatResponse` (its `content` is the text), or an exception, raised.
        handler: called with the messages and the other arguments by name, plain or async; gives a text or a
            `ChatResponse`.

    A `ChatResponse` tells the meter of its usage, as an adapter does.

    Raises:
        ValueError: both or neither are given.
        TypeError: a scripted value is of another type.
    """

    def __init__(
        self, responses: Sequence[Scripted | Exception] | None = None, *, handler: Handler | None = None
    ) -> None:
        if (responses is None) == (handler is None):
            raise ValueError("give either responses or a handler")
        if isinstance(responses, str):
            raise TypeError("responses must be a list of replies, not one text")
        for index, response in enumerate(responses or ()):
            if not _is_scripted(response):
                raise TypeError(f"response {index} is a {type(response).__name__}: not a str, ChatResponse, Exception")
        self._responses = tuple(responses or ())
        self._handler = handler
        self._calls: list[CallRecord] = []

    @property
    def calls(self) -> list[CallRecord]:
        """The calls so far, oldest first; a new list each time."""
        return [*self._calls]

    @property
    def call_count(self) -> int:
        """The number of calls so far, those that raised included."""
        return len(self._calls)

    async def achat(
        self,
        messages: Sequence[LLMMessage],
        *,
        response_format: type[BaseModel],
        temperature: float | None = None,
        max_tokens: int | None = None,
        **extra: Any,
    ) -> str:
        """The next scripted text.

        Raises:
            RuntimeError: the script is at its end.
            TypeError: the handler gave neither a text nor a `ChatResponse`.
        """
        number = len(self._calls)
        options = {"response_format": response_format, "temperature": temperature, "max_tokens": max_tokens}
        self._calls.append(
            CallRecord(
                messages=tuple(messages),
                response_format=response_format,
                temperature=temperature,
                max_tokens=max_tokens,
                extra={**extra},
            )
        )
        if self._handler is not None:
            given = self._handler(messages, **options, **extra)
            reply = await given if inspect.isawaitable(given) else given
        elif number < len(self._responses):
            reply = self._responses[number]
        else:
            raise RuntimeError(f"the script has {len(self._responses)} replies; this is call {number + 1}")
        if isinstance(reply, Exception):
            raise reply
        if not _is_scripted(reply):
            raise TypeError(f"the handler gave a {type(reply).__name__}: not a str or ChatResponse")
        if isinstance(reply, str):
            return reply
        current_meter()(ModelCall(model=reply.model, usage=reply.usage))
        return reply.content


def _is_scripted(value: object) -> bool:
    return isinstance(value, (str, ChatResponse, Exception))
