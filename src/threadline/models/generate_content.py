"""Google's `generateContent`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from threadline.messages import Dialect
from threadline.messages.shapes import array, is_object, string
from threadline.messages.wire import dumps
from threadline.models.failures import failed, told_failure
from threadline.models.schemas import Mode, to_gemini_response_format
from threadline.models.speech import Answer, Settings, count, first_object, put_or_drop
from threadline.ports import ChatEvent, StopReason, TextDelta, ThinkingDelta, TokenUsage, ToolCallDelta

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["GenerateContent", "GoogleCollector"]

_STOPS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "pause",
}

_ABORTED = frozenset(
    {"FINISH_REASON_UNSPECIFIED", "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"}
)
"""The model stumbled; every other reason (safety, recitation, language, ...) says that something was withheld."""


class GenerateContent:
    """Bodies and answers of `models/*:generateContent`.

    Args:
        vendor: who is asked; errors name it.
    """

    dialect: Dialect = "google"

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor

    def take(self, body: dict[str, Any]) -> Settings:
        """Takes the settings out of a body."""
        config = _config(body)
        limits = [config.pop(key, None) for key in ("maxOutputTokens", "max_output_tokens")]
        limit = next((limit for limit in limits if limit is not None), None)
        return Settings(temperature=config.pop("temperature", None), max_tokens=limit)

    def put(self, body: dict[str, Any], settings: Settings) -> None:
        """Puts settings into a body."""
        config = _config(body)
        put_or_drop(config, temperature=settings.temperature, maxOutputTokens=settings.max_tokens)
        if not config:
            del body["generationConfig"]

    def constrain(self, body: dict[str, Any], reply: type[BaseModel], mode: Mode) -> None:
        """Asks for a reply of this class."""
        if (wanted := to_gemini_response_format(reply, mode)) is not None:
            _config(body).update(wanted)

    def read(self, reply: Any) -> Answer:
        """A whole answer.

        Raises:
            ModelError: it holds no candidate, or an aborted one.
        """
        if not is_object(reply):
            raise failed(self._vendor, "malformed")
        candidate = first_object(reply.get("candidates"))
        if candidate is None:
            feedback = reply.get("promptFeedback")
            if is_object(feedback) and string(feedback.get("blockReason")):
                return self._answer(reply, {}, "content_filter")
            raise told_failure(self._vendor, "no_reply", reply)
        finish = string(candidate.get("finishReason")) or "STOP"
        if finish in _ABORTED:
            raise failed(self._vendor, "aborted", vendor_code=finish)
        content = candidate.get("content")
        content = content if is_object(content) else {}
        stop_reason = _STOPS.get(finish, "content_filter")
        if stop_reason == "end" and not content:
            raise failed(self._vendor, "no_reply")
        parts = array(content.get("parts"))
        if stop_reason == "end" and any(is_object(part) and "functionCall" in part for part in parts):
            stop_reason = "tool_calls"
        return self._answer(reply, content, stop_reason)

    def _answer(self, reply: dict[str, Any], content: dict[str, Any], stop_reason: StopReason) -> Answer:
        if content.get("role") is None or content.get("parts") is None:
            content = {**content, "role": "model", "parts": content.get("parts") or []}
        return Answer(
            wires=(content,),
            stop_reason=stop_reason,
            usage=_usage(reply.get("usageMetadata")),
            model=string(reply.get("modelVersion")),
            id=string(reply.get("responseId")) or None,
        )

    def collect(self) -> GoogleCollector:
        """For an answer that comes in chunks."""
        return GoogleCollector(self, self._vendor)


def _config(body: dict[str, Any]) -> dict[str, Any]:
    """The body's own copy of its configuration, under the REST spelling."""
    held = body.pop("generation_config", None) or body.get("generationConfig")
    config: dict[str, Any] = {**held} if is_object(held) else {}
    body["generationConfig"] = config
    return config


def _usage(usage: Any) -> TokenUsage | None:
    if not is_object(usage):
        return None
    return TokenUsage(
        input_tokens=count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount")),
        output_tokens=count(usage.get("candidatesTokenCount")) + count(usage.get("thoughtsTokenCount")),
        cache_read_tokens=count(usage.get("cachedContentTokenCount")),
    )


class GoogleCollector:
    """Puts the parts of chunks together; texts of one kind that follow each other become one part."""

    def __init__(self, speech: GenerateContent, vendor: str) -> None:
        self._speech = speech
        self._vendor = vendor
        self._reply: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._content: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self._calls = 0

    def add(self, chunk: Any) -> Iterator[ChatEvent]:
        """What a chunk tells the listener.

        Raises:
            ModelError: it is none of this API.
        """
        if not is_object(chunk):
            raise failed(self._vendor, "malformed")
        if chunk.get("error"):
            raise told_failure(self._vendor, "aborted", chunk)
        self._reply.update(chunk)
        if (candidate := first_object(chunk.get("candidates"))) is None:
            return
        self._candidate.update(candidate)
        content = candidate.get("content")
        if not is_object(content):
            return
        self._content.update(content)
        for part in array(content.get("parts")):
            if is_object(part):
                yield from self._part(part)

    def _part(self, part: dict[str, Any]) -> Iterator[ChatEvent]:
        text = part.get("text")
        if not isinstance(text, str):
            self._close()
            self._parts.append(part)
            if is_object(call := part.get("functionCall")):
                arguments = dumps(call.get("args") or {})
                named = {"id": string(call.get("id")), "name": string(call.get("name"))}
                yield ToolCallDelta(number=self._calls, arguments=arguments, **named)
                self._calls += 1
            return
        last = self._parts[-1] if self._parts else None
        if self._texts and last is not None and _but_text(last) == _but_text(part) and "thoughtSignature" not in part:
            self._texts.append(text)
        else:
            self._close()
            self._parts.append({**part})
            self._texts = [text]
        if text:
            yield ThinkingDelta(text=text) if part.get("thought") else TextDelta(text=text)

    def _close(self) -> None:
        """Writes the text that grew into its part."""
        if self._texts:
            self._parts[-1]["text"] = "".join(self._texts)
            self._texts = []

    def answer(self) -> Answer:
        """The whole.

        Raises:
            ModelError: no reason for the end came, or one that says it was aborted.
        """
        if not self._candidate.get("finishReason") and not self._reply.get("promptFeedback"):
            raise failed(self._vendor, "cut")
        self._close()
        if not self._candidate:
            return self._speech.read(self._reply)
        content = {**self._content, "parts": self._parts}
        return self._speech.read({**self._reply, "candidates": [{**self._candidate, "content": content}]})


def _but_text(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "text"}
