"""Chat Completions: the API of OpenAI that most servers offer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from threadline.messages import Dialect
from threadline.messages.shapes import array, is_object, string
from threadline.models.failures import failed, told_failure
from threadline.models.schemas import Mode, to_openai_response_format
from threadline.models.speech import Answer, Settings, count, first_object, put_or_drop
from threadline.ports import ChatEvent, StopReason, TextDelta, ThinkingDelta, TokenUsage, ToolCallDelta

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["ChatCollector", "ChatCompletions"]

_STOPS: dict[str, StopReason] = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",  # Zhipu
}
"""What `finish_reason` means; servers spell the end of a reply in many ways, so everything else is one."""

_ABORTED = frozenset(
    {
        *("abort", "error", "cancelled"),
        "insufficient_system_resource",  # DeepSeek
        "network_error",  # Zhipu
    }
)


class ChatCompletions:
    """Bodies and answers of `/chat/completions`.

    Args:
        vendor: who is asked; errors name it.
        limit: the key of the limit of tokens: OpenAI's own models want `max_completion_tokens`, other servers know
            `max_tokens`.
    """

    dialect: Dialect = "openai"

    def __init__(self, vendor: str, limit: str) -> None:
        self._vendor = vendor
        self._limit = limit

    def take(self, body: dict[str, Any]) -> Settings:
        """Takes the settings out of a body."""
        limits = [body.pop(key, None) for key in ("max_completion_tokens", "max_tokens")]
        limit = next((limit for limit in limits if limit is not None), None)
        return Settings(temperature=body.pop("temperature", None), max_tokens=limit)

    def put(self, body: dict[str, Any], settings: Settings) -> None:
        """Puts settings into a body."""
        put_or_drop(body, **{"temperature": settings.temperature, self._limit: settings.max_tokens})

    def constrain(self, body: dict[str, Any], reply: type[BaseModel], mode: Mode) -> None:
        """Asks for a reply of this class."""
        put_or_drop(body, response_format=to_openai_response_format(reply, mode))

    def read(self, reply: Any) -> Answer:
        """A whole answer.

        Raises:
            ModelError: it holds no choice with a message, or an aborted one.
        """
        if not is_object(reply):
            raise failed(self._vendor, "malformed")
        choice = first_object(reply.get("choices"))
        message = choice.get("message") if choice else None
        if choice is None or not is_object(message):
            raise told_failure(self._vendor, "no_reply", reply)
        wire = message if "role" in message else {"role": "assistant", **message}
        return Answer(
            wires=(wire,),
            stop_reason=_stop_reason(wire, string(choice.get("finish_reason")), self._vendor),
            usage=_usage(reply.get("usage")),
            model=string(reply.get("model")),
            id=string(reply.get("id")) or None,
        )

    def collect(self) -> ChatCollector:
        """For an answer that comes in chunks."""
        return ChatCollector(self._vendor)


def _stop_reason(message: dict[str, Any], finish: str, vendor: str) -> StopReason:
    if finish in _ABORTED:
        raise failed(vendor, "aborted", vendor_code=finish)
    if message.get("refusal"):
        return "refusal"
    calls = message.get("tool_calls") or message.get("function_call")
    return _STOPS.get(finish) or ("tool_calls" if calls else "end")


def _usage(usage: Any) -> TokenUsage | None:
    if not is_object(usage):
        return None
    details = usage.get("prompt_tokens_details")
    return TokenUsage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cache_read_tokens=count(details.get("cached_tokens")) if is_object(details) else 0,
    )


_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers that show thoughts put them."""


class ChatCollector:
    """Puts deltas together: texts and arguments grow, whatever else comes is kept as it came last."""

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        self._texts: dict[str, list[str]] = {"content": []}
        self._kept: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        self._finish = ""
        self._usage: TokenUsage | None = None
        self._model = self._id = ""

    def add(self, chunk: Any) -> Iterator[ChatEvent]:
        """What a chunk tells the listener.

        Raises:
            ModelError: it tells of a failure.
        """
        if not is_object(chunk):
            raise failed(self._vendor, "malformed")
        if chunk.get("error"):
            raise told_failure(self._vendor, "aborted", chunk)
        self._model = string(chunk.get("model")) or self._model
        self._id = string(chunk.get("id")) or self._id
        self._usage = _usage(chunk.get("usage")) or self._usage
        choice = first_object(chunk.get("choices"))
        if choice is None:
            return
        self._finish = string(choice.get("finish_reason")) or self._finish
        delta = choice.get("delta")
        for key, value in delta.items() if is_object(delta) else ():
            yield from self._grown(key, value)

    def _grown(self, key: str, value: Any) -> Iterator[ChatEvent]:
        if key == "tool_calls":
            for call in array(value):
                if is_object(call):
                    yield self._called(call)
        elif key in ("content", "refusal", *_THOUGHTS) and isinstance(value, str):
            self._texts.setdefault(key, []).append(value)
            if value:
                yield ThinkingDelta(text=value) if key in _THOUGHTS else TextDelta(text=value)
        elif value is not None:
            self._kept[key] = value

    def _called(self, delta: dict[str, Any]) -> ToolCallDelta:
        given = delta.get("index")
        number = given if isinstance(given, int) else max(len(self._calls) - (not delta.get("id")), 0)
        call = self._calls.setdefault(number, {"type": "function", "function": {}})
        function = delta.get("function")
        function = function if is_object(function) else {}
        call.update({key: value for key, value in delta.items() if key not in ("index", "function") and value})
        call["function"].update({key: value for key, value in function.items() if key != "arguments" and value})
        arguments = string(function.get("arguments"))
        self._arguments.setdefault(number, []).append(arguments)
        return ToolCallDelta(
            number=[*self._calls].index(number),
            id=string(delta.get("id")),
            name=string(function.get("name")),
            arguments=arguments,
        )

    def answer(self) -> Answer:
        """The whole.

        Raises:
            ModelError: no reason for the end came, or one that says it was aborted.
        """
        if not self._finish:
            raise failed(self._vendor, "cut")
        texts = {key: "".join(pieces) for key, pieces in self._texts.items()}
        for number, call in self._calls.items():
            call["function"]["arguments"] = "".join(self._arguments[number])
        calls = [*self._calls.values()]
        wire: dict[str, Any] = {"role": "assistant", **self._kept, **texts}
        if calls:
            wire |= {"tool_calls": calls, "content": texts["content"] or None}
        return Answer(
            wires=(wire,),
            stop_reason=_stop_reason(wire, self._finish, self._vendor),
            usage=self._usage,
            model=self._model,
            id=self._id or None,
        )
