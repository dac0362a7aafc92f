"""`Measure`: the one token measure that every budget, report and reduction uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import Struct, structs

from threadline.errors import UnknownModelError
from threadline.messages.message import Message, Request, Tool
from threadline.messages.parts import (
    MediaPart,
    OpaquePart,
    RefusalPart,
    SummaryPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.shapes import is_object
from threadline.messages.wire import dumps, get_at
from threadline.tokens.counter import CachedCounter, TokenCounter
from threadline.tokens.media import media_tokens
from threadline.tokens.prices import window_for
from threadline.tokens.profile import Profile, cautious_profile, counter_for, profile_for
from threadline.tokens.tools import tool_texts

__all__ = ["Measure", "RequestCount"]

_CHARS_PER_SEALED_TOKEN = 4
"""Base64 characters of encrypted thinking for one token of it. Assumed: four bytes a token, a third more as base64."""


class RequestCount(Struct, frozen=True, kw_only=True):
    """What a request costs, part by part.

    Attributes:
        total: exactly the sum of the other fields.
        system: instructions kept apart from the messages.
        tools: all tool definitions.
        response_format: the schema that the reply must follow.
        messages: one figure for each message, in order.
        overhead: what comes once a request: the reply's start, the prompt that explains tools.
    """

    total: int
    system: int
    tools: int
    response_format: int
    messages: tuple[int, ...]
    overhead: int


class Measure:
    """Counts texts, messages, tools and requests for one model; additive, so parts may be counted apart and summed.

    Args:
        model: the model's name; None counts as OpenAI's current vocabulary does.
        profile: the figures to use instead of the model's own.
        counter: the counter to use instead of the profile's own.
        window: the context window in tokens where the model's is not known, or another one is wanted.
        factor: what every count is multiplied by (and rounded up), learnt from reported usage; see `calibrate`.

    Raises:
        UnknownModelError: no family is known for the model and neither profile nor window was given.
    """

    __slots__ = ("counter", "factor", "model", "profile")

    def __init__(
        self,
        model: str | None = None,
        *,
        profile: Profile | None = None,
        counter: TokenCounter | None = None,
        window: int | None = None,
        factor: float = 1.0,
    ) -> None:
        self.model = model
        if profile is None:
            profile = profile_for(model, window=window)
        elif window is not None:
            profile = structs.replace(profile, window=window)
        self.profile = profile
        self.counter: TokenCounter = CachedCounter(counter_for(self.profile)) if counter is None else counter
        self.factor = factor

    @classmethod
    def of(cls, request: Request, model: str | None = None, *, window: int | None = None) -> Measure:
        """The measure for a request: of `model`, else of the model that the request itself names.

        The request may name a model of the host's own: it is counted with caution where no family is known.

        Raises:
            UnknownModelError: no family is known for `model` and no window was given.
        """
        if model is not None:
            return cls(model, window=window)
        try:
            return cls(request.model, window=window)
        except UnknownModelError:
            return cls(request.model, profile=cautious_profile(), window=window)

    @property
    def exact(self) -> bool:
        """True where texts are counted in the model's own vocabulary; frames and media only follow published rules."""
        return self.profile.exact and self.counter.exact and self.factor == 1.0

    @property
    def window(self) -> int | None:
        """The context window in tokens; None where neither model nor window was given.

        Raises:
            UnknownModelError: nobody lists a window for the model.
        """
        if self.profile.window is not None or self.model is None:
            return self.profile.window
        return window_for(self.model)

    def with_factor(self, factor: float) -> Measure:
        """The same measure with another factor; texts already counted stay known."""
        return Measure(self.model, profile=self.profile, counter=self.counter, factor=factor)

    def text(self, text: str) -> int:
        """The tokens of one text, without any frame."""
        return self.texts([text])[0]

    def texts(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text, counted in one batch, without any frame."""
        return self._scaled(self.counter.count(texts))

    def message(self, message: Message) -> int:
        """The tokens of one message with its frame."""
        return self.messages([message])[0]

    def messages(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of each message with its frame; all their texts are counted in one batch."""
        texts: list[str] = []
        fixed: list[int] = []
        ends: list[int] = []
        for message in messages:
            fixed.append(self._gather(message, texts))
            ends.append(len(texts))
        return self._summed(fixed, ends, self.counter.count(texts))

    def tool(self, tool: Tool) -> int:
        """The tokens of one tool definition; what tools cost once a request is in `RequestCount.overhead`."""
        return self.tools([tool])[0]

    def tools(self, tools: Sequence[Tool]) -> list[int]:
        """The tokens of each tool definition."""
        texts: list[str] = []
        fixed: list[int] = []
        ends: list[int] = []
        for tool in tools:
            own, tokens = tool_texts(tool, self.profile)
            texts.extend(own)
            fixed.append(tokens)
            ends.append(len(texts))
        return self._summed(fixed, ends, self.counter.count(texts))

    def request(self, request: Request, *, message_tokens: Sequence[int] | None = None) -> RequestCount:
        """The tokens of a whole request.

        Args:
            request: system, tools, response format and messages.
            message_tokens: what `messages` said of its messages before, to be used again.
        """
        messages = tuple(self.messages(request.messages) if message_tokens is None else message_tokens)
        system = sum(self.messages(request.system))
        tools = sum(self.tools(request.tools))
        response_format = 0 if request.response_format is None else self.text(dumps(request.response_format))
        fixed = self.profile.per_request + (self.profile.per_tools if request.tools else 0)
        overhead = self._scaled([fixed])[0]
        return RequestCount(
            total=sum(messages) + system + tools + response_format + overhead,
            system=system,
            tools=tools,
            response_format=response_format,
            messages=messages,
            overhead=overhead,
        )

    def _scaled(self, counts: list[int]) -> list[int]:
        factor = self.factor
        return counts if factor == 1.0 else [math.ceil(factor * count) for count in counts]

    def _summed(self, fixed: list[int], ends: list[int], counts: list[int]) -> list[int]:
        totals: list[int] = []
        start = 0
        for tokens, end in zip(fixed, ends, strict=True):
            totals.append(tokens + (counts[start] if end - start == 1 else sum(counts[start:end])))
            start = end
        return self._scaled(totals)

    def _gather(self, message: Message, texts: list[str]) -> int:
        """Adds the message's texts to `texts`; returns the tokens of all that is no text."""
        profile = self.profile
        tokens = profile.per_message
        if message.name is not None:
            texts.append(message.name)
            tokens += profile.per_name
        for part in message.parts:
            match part:
                case TextPart() | RefusalPart() | SummaryPart():
                    texts.append(part.text)
                case ToolCallPart():
                    texts += (part.name, part.arguments)
                    tokens += profile.per_call
                case ToolResultPart():
                    tokens += profile.per_result + self._gather_result(part, texts)
                    if message.dialect == "google" and part.name is not None:
                        texts.append(part.name)
                case ThinkingPart():
                    texts.append(part.text)
                    tokens += 1 if part.text else _sealed_tokens(message, part)
                case MediaPart():
                    tokens += media_tokens(part, profile)
                case OpaquePart():
                    texts.append(part.text)
                    tokens += 1
                case _:
                    assert_never(part)
        return tokens

    def _gather_result(self, result: ToolResultPart, texts: list[str]) -> int:
        tokens = 0
        for part in result.parts:
            match part:
                case TextPart():
                    texts.append(part.text)
                case MediaPart():
                    tokens += media_tokens(part, self.profile)
                case OpaquePart():
                    texts.append(part.text)
                    tokens += 1
                case _:
                    assert_never(part)
        return tokens


def _sealed_tokens(message: Message, part: ThinkingPart) -> int:
    """The tokens of thinking that cannot be read: by the size of the encrypted block; the signature is not its text."""
    try:
        block: Any = get_at(message.wire, part.path)
    except (KeyError, IndexError, TypeError):
        return 1
    sealed = [block.get(key) for key in ("data", "encrypted_content")] if is_object(block) else []
    return 1 + sum(math.ceil(len(text) / _CHARS_PER_SEALED_TOKEN) for text in sealed if isinstance(text, str))
