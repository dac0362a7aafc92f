"""`Speech`: how to write a request to one kind of API and read its answer; pure, without a connection."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages import Dialect
from threadline.messages.shapes import is_array, is_object
from threadline.models.failures import failed
from threadline.ports import ChatEvent, StopReason, TokenUsage

if TYPE_CHECKING:
    from pydantic import BaseModel

    from threadline.models.schemas import Mode

__all__ = ["Answer", "Collector", "Settings", "Speech", "count", "first_object", "parsed", "put_or_drop", "written"]


class Answer(Struct, frozen=True, kw_only=True):
    """A provider's answer: the wire objects of its messages, and what is said about them."""

    wires: tuple[dict[str, Any], ...]
    stop_reason: StopReason
    usage: TokenUsage | None
    model: str
    id: str | None


class Settings(Struct, frozen=True, kw_only=True):
    """The parameters that every provider has, under names of their own; None where they are not set."""

    temperature: float | None = None
    max_tokens: int | None = None

    def over(self, other: Settings) -> Settings:
        """These, and the other's where these are not set."""
        return Settings(
            temperature=other.temperature if self.temperature is None else self.temperature,
            max_tokens=other.max_tokens if self.max_tokens is None else self.max_tokens,
        )


class Collector(Protocol):
    """Puts the answer of a stream together."""

    def add(self, chunk: Any) -> Iterable[ChatEvent]:
        """What a chunk tells the listener.

        Raises:
            ModelError: it tells of a failure.
        """
        ...

    def answer(self) -> Answer:
        """The whole.

        Raises:
            ModelError: the reply was not at its end.
        """
        ...


class Speech(Protocol):
    """One kind of API."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of its messages."""
        ...

    def take(self, body: dict[str, Any]) -> Settings:
        """Takes the settings out of a body."""
        ...

    def put(self, body: dict[str, Any], settings: Settings) -> None:
        """Puts settings into a body; what is None is left out."""
        ...

    def constrain(self, body: dict[str, Any], reply: type[BaseModel], mode: Mode) -> None:
        """Asks for a reply of this class, by the API's own means.

        Raises:
            TypeError, ValueError: the class cannot be described (`schemas`).
        """
        ...

    def read(self, reply: Any) -> Answer:
        """A whole answer.

        Raises:
            ModelError: it holds no reply, or an aborted one.
        """
        ...

    def collect(self) -> Collector:
        """For an answer that comes in chunks."""
        ...


def count(value: Any) -> int:
    """A number of tokens as a provider reports it; 0 where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def first_object(value: Any) -> dict[str, Any] | None:
    """The first element of an array where that is an object."""
    first = value[0] if is_array(value) and value else None
    return first if is_object(first) else None


def put_or_drop(body: dict[str, Any], **values: Any) -> None:
    """Sets the keys; those whose value is None are taken out."""
    for key, value in values.items():
        if value is None:
            body.pop(key, None)
        else:
            body[key] = value


def parsed(text: str | bytes, vendor: str) -> Any:
    """The JSON value of a text. Lone surrogates are legal here, so this is not the strict reader of our own records.

    Raises:
        ModelError: it is no JSON, or nested beyond reading.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    raise failed(vendor, "malformed")


def written(body: dict[str, Any]) -> bytes:
    """A body as JSON in ASCII, lone surrogates escaped.

    Raises:
        InvalidInputError: it holds something JSON has not, a NaN say.
    """
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        pass
    raise InvalidInputError("request: it holds a value that JSON has not", key="body")
