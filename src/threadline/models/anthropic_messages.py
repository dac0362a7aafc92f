"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from threadline.errors import ModelError
from threadline.messages import Dialect
from threadline.messages.shapes import array, is_array, is_object, string
from threadline.models.failures import failed, told_failure
from threadline.models.schemas import Mode, to_anthropic_response_format
from threadline.models.speech import Answer, Settings, count, parsed, put_or_drop
from threadline.ports import ChatEvent, StopReason, TextDelta, ThinkingDelta, TokenUsage, ToolCallDelta

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["AnthropicCollector", "AnthropicMessages"]

_STOPS: dict[str, StopReason] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause",
}

_LIMIT = 8192
"""Sent where no limit is set, since this API refuses a request without one; no current model allows less."""


class AnthropicMessages:
    """Bodies and answers of `/v1/messages`.

    Args:
        vendor: who is asked; errors name it.
    """

    dialect: Dialect = "anthropic"

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor

    def take(self, body: dict[str, Any]) -> Settings:
        """Takes the settings out of a body."""
        return Settings(temperature=body.pop("temperature", None), max_tokens=body.pop("max_tokens", None))

    def put(self, body: dict[str, Any], settings: Settings) -> None:
        """Puts settings into a body; the limit is always there."""
        limit = _LIMIT if settings.max_tokens is None else settings.max_tokens
        put_or_drop(body, temperature=settings.temperature, max_tokens=limit)

    def constrain(self, body: dict[str, Any], reply: type[BaseModel], mode: Mode) -> None:
        """Asks for a reply of this class."""
        if (wanted := to_anthropic_response_format(reply, mode)) is not None:
            body["output_config"] = {**(body.get("output_config") or {}), "format": wanted}

    def read(self, reply: Any) -> Answer:
        """A whole answer.

        Raises:
            ModelError: it holds no content.
        """
        if not is_object(reply):
            raise failed(self._vendor, "malformed")
        content = reply.get("content")
        if not is_array(content) or string(reply.get("type")) == "error":
            raise told_failure(self._vendor, "no_reply", reply)
        return Answer(
            wires=({"role": "assistant", "content": content},),
            stop_reason=_STOPS.get(string(reply.get("stop_reason")), "end"),
            usage=_usage(reply.get("usage")),
            model=string(reply.get("model")),
            id=string(reply.get("id")) or None,
        )

    def collect(self) -> AnthropicCollector:
        """For an answer that comes in chunks."""
        return AnthropicCollector(self, self._vendor)


def _usage(usage: Any) -> TokenUsage | None:
    if not is_object(usage):
        return None
    read, written = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    return TokenUsage(
        input_tokens=count(usage.get("input_tokens")) + read + written,
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""Deltas that lengthen a string of their block: the key, in the delta and in the block."""


class AnthropicCollector:
    """Puts the blocks of a message together."""

    def __init__(self, speech: AnthropicMessages, vendor: str) -> None:
        self._speech = speech
        self._vendor = vendor
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._grown: dict[tuple[int, str], list[str]] = {}
        self._stopped = False

    def add(self, chunk: Any) -> Iterator[ChatEvent]:
        """What an event tells the listener.

        Raises:
            ModelError: it is none of this API.
        """
        if not is_object(chunk):
            raise failed(self._vendor, "malformed")
        place = count(chunk.get("index"))
        match chunk.get("type"):
            case "message_start" if is_object(message := chunk.get("message")):
                self._message = {**message}
                self._count(message)
            case "content_block_start" if is_object(block := chunk.get("content_block")):
                self._blocks[place] = {**block}
                yield from self._started(place, block)
            case "content_block_delta" if is_object(delta := chunk.get("delta")) and place in self._blocks:
                yield from self._more(place, delta)
            case "message_delta":
                if is_object(delta := chunk.get("delta")):
                    self._message.update(delta)
                self._count(chunk)
            case "message_stop":
                self._stopped = True
            case "error":
                raise told_failure(self._vendor, "aborted", chunk)
            case _:
                pass

    def _count(self, holder: dict[str, Any]) -> None:
        if is_object(usage := holder.get("usage")):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def _started(self, place: int, block: dict[str, Any]) -> Iterator[ChatEvent]:
        if block.get("type") == "tool_use":
            yield ToolCallDelta(number=self._call(place), id=string(block.get("id")), name=string(block.get("name")))
        if text := string(block.get("text")):
            self._grown[place, "text"] = [text]
            yield TextDelta(text=text)

    def _more(self, place: int, delta: dict[str, Any]) -> Iterator[ChatEvent]:
        kind = string(delta.get("type"))
        if kind == "citations_delta":
            block = self._blocks[place]
            block["citations"] = [*array(block.get("citations")), delta.get("citation")]
        key = "partial_json" if kind == "input_json_delta" else _GROWING.get(kind, "")
        if not (more := string(delta.get(key))):
            return
        self._grown.setdefault((place, key), []).append(more)
        match key:
            case "text":
                yield TextDelta(text=more)
            case "thinking":
                yield ThinkingDelta(text=more)
            case "partial_json" if self._blocks[place].get("type") == "tool_use":
                yield ToolCallDelta(number=self._call(place), arguments=more)
            case _:
                pass

    def _call(self, place: int) -> int:
        return [number for number, block in self._blocks.items() if block.get("type") == "tool_use"].index(place)

    def answer(self) -> Answer:
        """The whole.

        Raises:
            ModelError: the last event did not come, or the input of a call is no JSON.
        """
        if not self._stopped:
            raise failed(self._vendor, "cut")
        for (place, key), pieces in self._grown.items():
            block, text = self._blocks[place], "".join(pieces)
            if key == "partial_json":
                block["input"] = self._input(text)
            else:
                block[key] = text
        content = [block for _, block in sorted(self._blocks.items())]
        return self._speech.read({**self._message, "content": content, "usage": self._usage})

    def _input(self, text: str) -> Any:
        try:
            return parsed(text, self._vendor)
        except ModelError:
            if self._message.get("stop_reason") == "max_tokens":
                return {}  # cut off inside the call; the reason says so
            raise
