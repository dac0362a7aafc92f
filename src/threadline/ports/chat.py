"""`ChatModel`: what an agent needs of a model; the reply it gives and the events that lead to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from threadline.messages import Loss, Message, RefusalPart, Request, TextPart, ToolCallPart
from threadline.ports.llm import TokenUsage

__all__ = [
    "ChatEvent",
    "ChatModel",
    "ChatReply",
    "ReplyDone",
    "StopReason",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallDelta",
]

StopReason: TypeAlias = Literal["end", "tool_calls", "length", "content_filter", "refusal", "pause"]
"""Why a reply ended: said all; waits for results; ran out of tokens; withheld by the provider or by the model; or the
provider wants the same conversation, this reply included, sent again."""


class ChatReply(Struct, frozen=True, kw_only=True):
    """What a model said, once.

    Attributes:
        messages: the reply in the model's dialect, each with the provider's wire object as it came; one, except in the
            Responses dialect, where each item is a message of its own.
        stop_reason: why it ended. A reply that was cut or withheld is a reply all the same: the reason says so.
        usage: what it cost, None where the provider did not say.
        model: the model that answered, as the provider names it.
        id: the provider's id of the reply.
        losses: what of the request could not be said in the model's dialect.
    """

    messages: tuple[Message, ...]
    stop_reason: StopReason
    usage: TokenUsage | None = None
    model: str = ""
    id: str | None = None
    losses: tuple[Loss, ...] = ()

    @property
    def text(self) -> str:
        """What was said to the reader, refusals included, thoughts and calls not."""
        parts = (part for message in self.messages for part in message.parts)
        return "".join(part.text for part in parts if isinstance(part, (TextPart, RefusalPart)))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls that wait for results, in order."""
        return tuple(call for message in self.messages for call in message.tool_calls)


class TextDelta(Struct, frozen=True, kw_only=True, tag="text"):
    """More of the text that is said to the reader."""

    text: str


class ThinkingDelta(Struct, frozen=True, kw_only=True, tag="thinking"):
    """More of the thoughts, where the provider shows them."""

    text: str


class ToolCallDelta(Struct, frozen=True, kw_only=True, tag="tool_call"):
    """More of a call.

    Attributes:
        number: the how many-th call of the reply it is, from 0.
        id: the call's id, given once, empty in later deltas and where the dialect has none.
        name: the tool's name, given once, empty in later deltas.
        arguments: more of the JSON of its arguments.
    """

    number: int
    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyDone(Struct, frozen=True, kw_only=True, tag="done"):
    """The last event: the whole reply, as `generate` gives it."""

    reply: ChatReply


ChatEvent: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta | ReplyDone


@runtime_checkable
class ChatModel(Protocol):
    """A model that continues a conversation.

    The request may be in any dialect. Its messages, system, tools, response format and parameters are sent; the model's
    name is the adapter's. A value that is given beats the request's, which beats the configured one; None and nowhere
    set means that the parameter is left out. Cancelling goes through.
    """

    async def generate(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> ChatReply:
        """The whole reply.

        Raises:
            InvalidInputError: the request has no message, or cannot be read.
            ModelError: the call failed, timed out or was aborted, after resending where that helps.
        """
        ...

    def stream(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> AsyncIterator[ChatEvent]:
        """Deltas as they come, then exactly one `ReplyDone`. Nothing is sent before the first event is asked for.

        A failed call is resent only as long as no event was given.

        Raises:
            InvalidInputError: as `generate`, at once.
            ModelError: as `generate`, from the iterator.
        """
        ...
