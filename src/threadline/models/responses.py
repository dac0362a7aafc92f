"""Responses: OpenAI's newer API, whose answer is a list of items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from threadline.messages import Dialect
from threadline.messages.shapes import array, is_object, string
from threadline.models.failures import failed, told_failure
from threadline.models.schemas import Mode, to_responses_text_format
from threadline.models.speech import Answer, Settings, count, put_or_drop
from threadline.ports import ChatEvent, StopReason, TextDelta, ThinkingDelta, TokenUsage, ToolCallDelta

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Responses", "ResponsesCollector"]


class Responses:
    """Bodies and answers of `/responses`.

    Args:
        vendor: who is asked; errors name it.
    """

    dialect: Dialect = "responses"

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor

    def take(self, body: dict[str, Any]) -> Settings:
        """Takes the settings out of a body."""
        return Settings(temperature=body.pop("temperature", None), max_tokens=body.pop("max_output_tokens", None))

    def put(self, body: dict[str, Any], settings: Settings) -> None:
        """Puts settings into a body."""
        put_or_drop(body, temperature=settings.temperature, max_output_tokens=settings.max_tokens)

    def constrain(self, body: dict[str, Any], reply: type[BaseModel], mode: Mode) -> None:
        """Asks for a reply of this class."""
        if (wanted := to_responses_text_format(reply, mode)) is not None:
            body["text"] = {**(body.get("text") or {}), "format": wanted}

    def read(self, reply: Any) -> Answer:
        """A whole answer.

        Raises:
            ModelError: it holds no item, or it failed.
        """
        if not is_object(reply):
            raise failed(self._vendor, "malformed")
        items = tuple(item for item in array(reply.get("output")) if is_object(item))
        stop_reason = self._stop_reason(reply, items)
        if not items and stop_reason == "end":
            raise told_failure(self._vendor, "no_reply", reply)
        return Answer(
            wires=items,
            stop_reason=stop_reason,
            usage=_usage(reply.get("usage")),
            model=string(reply.get("model")),
            id=string(reply.get("id")) or None,
        )

    def _stop_reason(self, reply: dict[str, Any], items: tuple[dict[str, Any], ...]) -> StopReason:
        status = string(reply.get("status"))
        if status in ("failed", "cancelled"):
            raise told_failure(self._vendor, "aborted", reply)
        if status == "incomplete":
            details = reply.get("incomplete_details")
            filtered = is_object(details) and details.get("reason") == "content_filter"
            return "content_filter" if filtered else "length"
        blocks = (block for item in items for block in array(item.get("content")))
        if any(is_object(block) and block.get("type") == "refusal" for block in blocks):
            return "refusal"
        calls = any(string(item.get("type")).endswith("_call") and "call_id" in item for item in items)
        return "tool_calls" if calls else "end"

    def collect(self) -> ResponsesCollector:
        """For an answer that comes in chunks."""
        return ResponsesCollector(self, self._vendor)


def _usage(usage: Any) -> TokenUsage | None:
    if not is_object(usage):
        return None
    details = usage.get("input_tokens_details")
    return TokenUsage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=count(details.get("cached_tokens")) if is_object(details) else 0,
    )


class ResponsesCollector:
    """Passes deltas on; the last event holds the whole answer."""

    def __init__(self, speech: Responses, vendor: str) -> None:
        self._speech = speech
        self._vendor = vendor
        self._calls: list[str] = []
        self._whole: Any = None

    def add(self, chunk: Any) -> Iterator[ChatEvent]:
        """What an event tells the listener.

        Raises:
            ModelError: it tells of a failure.
        """
        if not is_object(chunk):
            raise failed(self._vendor, "malformed")
        delta = string(chunk.get("delta"))
        match chunk.get("type"):
            case "response.output_text.delta" | "response.refusal.delta" if delta:
                yield TextDelta(text=delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" if delta:
                yield ThinkingDelta(text=delta)
            case "response.output_item.added" if is_object(item := chunk.get("item")) and "call_id" in item:
                self._calls.append(string(item.get("id")))
                yield ToolCallDelta(
                    number=len(self._calls) - 1, id=string(item.get("call_id")), name=string(item.get("name"))
                )
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                if (item_id := string(chunk.get("item_id"))) in self._calls and delta:
                    yield ToolCallDelta(number=self._calls.index(item_id), arguments=delta)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._whole = chunk.get("response")
            case "error":
                raise told_failure(self._vendor, "aborted", chunk)
            case _:
                pass

    def answer(self) -> Answer:
        """The whole.

        Raises:
            ModelError: the last event did not come, or tells of a failure.
        """
        if self._whole is None:
            raise failed(self._vendor, "cut")
        return self._speech.read(self._whole)
