"""`Message`: one wire object of a provider, read once; and `Request`: what a model call is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.parts import (
    MediaPart,
    OpaquePart,
    Part,
    RefusalPart,
    SummaryPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

__all__ = ["Dialect", "Message", "Origin", "Request", "Role", "Tool", "known_dialect"]

Dialect: TypeAlias = Literal["plain", "openai", "responses", "anthropic", "google"]
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
Origin: TypeAlias = Literal["conversation", "observation", "summary", "repair"]


def known_dialect(name: Any, key: str = "dialect") -> Dialect:
    """The name, if it is a dialect's.

    Raises:
        InvalidInputError: it is not; lists those that are.
    """
    if name in get_args(Dialect):
        return name
    raise InvalidInputError(f"{key} must be one of {', '.join(get_args(Dialect))}", key=key)


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """One wire object of a provider: tool results are parts of it, whatever its role.

    Attributes:
        role: the normalised role; the wire keeps its own spelling (`model`, `function`).
        parts: what it says, in order; a view onto `wire`.
        dialect: the dialect `wire` is written in.
        wire: the provider's object itself. Read-only by contract: encoding an unchanged message gives back this very
            object, so whoever handed it over must not change it afterwards.
        name: what the sender is called.
        origin: `observation` where a trace says that a user turn is a tool's output; `summary` and `repair` for
            messages that Threadline inserted.
        timestamp: when it was said, in milliseconds since the epoch, UTC; None where nobody said.
        sender_id: who said it, as the host knows them.
    """

    role: Role
    parts: tuple[Part, ...]
    dialect: Dialect
    wire: Any
    id: str | None = None
    name: str | None = None
    origin: Origin = "conversation"
    timestamp: int | None = None
    sender_id: str | None = None

    @property
    def content(self) -> str:
        """All readable text, tool results included, joined by newlines."""
        return "\n".join(text.text for text in self.texts())

    @property
    def kind(self) -> Literal["text", "tool_call", "tool_result"]:
        """`tool_call` with calls to answer, `tool_result` with results, else `text`: EverAlgo's three item kinds."""
        if any(isinstance(part, ToolCallPart) and not part.server for part in self.parts):
            return "tool_call"
        if any(isinstance(part, ToolResultPart) and not part.server for part in self.parts):
            return "tool_result"
        return "text"

    @property
    def sender_name(self) -> str | None:
        """What the sender is called."""
        return self.name

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls the host has to answer (server-side ones are not among them)."""
        return tuple([part for part in self.parts if isinstance(part, ToolCallPart) and not part.server])

    @property
    def tool_results(self) -> tuple[ToolResultPart, ...]:
        """The results of calls the host answered."""
        return tuple([part for part in self.parts if isinstance(part, ToolResultPart) and not part.server])

    @property
    def is_user_turn(self) -> bool:
        """True when a person outside speaks here: a user message that is not only tool output."""
        if self.role != "user" or self.origin != "conversation":
            return False
        return any(isinstance(part, (TextPart, MediaPart, OpaquePart)) for part in self.parts) or not self.parts

    def texts(self) -> Iterator[TextPart | RefusalPart | SummaryPart]:
        """Every readable text in order, those inside tool results included."""
        for part in self.parts:
            if isinstance(part, (TextPart, RefusalPart, SummaryPart)):
                yield part
            elif isinstance(part, ToolResultPart):
                for inner in part.parts:
                    if isinstance(inner, TextPart):
                        yield inner


class Tool(Struct, frozen=True, kw_only=True):
    """A tool definition: its name and its wire object."""

    name: str
    wire: Any


class Request(Struct, frozen=True, kw_only=True):
    """System, tools, messages and parameters together: what a model call is made of.

    Attributes:
        system: instructions that the dialect keeps apart from the messages (Anthropic `system`, Google
            `systemInstruction`, Responses `instructions`); system messages inside the list stay in `messages`.
        response_format: the wire object that constrains the reply (schema), or None.
        wire: what was decoded, a whole body or a bare list (encoding keeps every other key of a body); None where the
            messages came from elsewhere.
    """

    dialect: Dialect
    messages: tuple[Message, ...]
    system: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    response_format: Any = None
    model: str | None = None
    wire: Any = None
