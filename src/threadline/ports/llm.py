"""`LLMClient`: what boundary and memory need of a model; the messages it takes and the reply it gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["ChatResponse", "ImagePart", "LLMClient", "LLMMessage", "TextContent", "TokenUsage"]


class TextContent(Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A text inside a message's content."""

    text: str


class ImagePart(Struct, frozen=True, kw_only=True, tag_field="type", tag="image_url"):
    """An image inside a message's content, by URL or as a `data:` URI."""

    url: str


class LLMMessage(Struct, frozen=True):
    """A message to a model: its role and its text, or a tuple of text and image parts."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[TextContent | ImagePart, ...]


class TokenUsage(Struct, frozen=True, kw_only=True):
    """Tokens of one call as the provider reported them.

    `input_tokens` includes those read from and written to a prompt cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class ChatResponse(Struct, frozen=True, kw_only=True):
    """A reply: its text, the model that gave it, what it cost and why it stopped."""

    content: str
    model: str = ""
    usage: TokenUsage | None = None
    finish_reason: str | None = None


@runtime_checkable
class LLMClient(Protocol):
    """A model that answers in the shape of a pydantic class.

    An implementation gives a whole reply or raises: a refusal, a cut-off or an aborted generation is an error, never a
    reply. A value that is given beats the configured one, 0.0 included; None means the configured value, or that the
    parameter is left out. Cancelling goes through.
    """

    async def achat(
        self,
        messages: Sequence[LLMMessage],
        *,
        response_format: type[BaseModel],
        temperature: float | None = None,
        max_tokens: int | None = None,
        **extra: Any,
    ) -> str:
        """The reply's text, expected to pass `response_format.model_validate_json`.

        Raises:
            ModelError: the call failed, timed out, was refused or cut off.
        """
        ...
