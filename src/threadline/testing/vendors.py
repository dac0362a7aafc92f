"""How each vendor's API speaks, for a stub that plays it: answers, streams, failures; and what was asked of it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from threadline.messages import Dialect, decode
from threadline.messages.bodies import read_response_format
from threadline.ports import StopReason
from threadline.testing.stub import Reaction

__all__ = ["VENDORS", "AnthropicVendor", "Asked", "ChatVendor", "GoogleVendor", "ResponsesVendor", "Said", "Vendor"]


class Said(Struct, frozen=True, kw_only=True):
    """What the model says in one answer: 7 tokens went in, 2 of them from the cache, and 3 came out."""

    pieces: tuple[str, ...] = ()
    stop_reason: StopReason = "end"
    call: tuple[str, str, dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """All of the text."""
        return "".join(self.pieces)


class Asked(Struct, frozen=True, kw_only=True):
    """What a request asked for, whatever its dialect."""

    temperature: float | Literal["not sent"] | None
    max_tokens: int | Literal["not sent"] | None
    texts: tuple[str, ...]
    images: int
    schema: Any
    tools: tuple[str, ...]


class Vendor(ABC):
    """Plays one API."""

    name: str
    dialect: Dialect
    withheld: tuple[StopReason, ...] = ("refusal", "length", "content_filter")
    """The reasons of an incomplete answer that it can give."""

    @abstractmethod
    def whole(self, said: Said) -> Any:
        """The JSON of a whole answer."""

    @abstractmethod
    def events(self, said: Said) -> Sequence[Any]:
        """The JSON of the events of the same answer; the first holds no text, the last tells of the end."""

    @abstractmethod
    def aborted(self) -> Any:
        """The JSON of an answer that the provider broke off."""

    @abstractmethod
    def empty(self) -> Any:
        """The JSON of an answer without a reply."""

    @abstractmethod
    def wire(self, said: Said) -> list[Any]:
        """The wire objects of the answer's messages."""

    @abstractmethod
    def parameters(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The object that holds a body's settings, and the key of the limit of tokens there."""

    def error(self, message: str) -> Any:
        """The JSON of an error."""
        return {"error": {"message": message, "type": "invalid_request_error", "code": "bad_thing"}}

    def failing(self, message: str) -> Any:
        """The JSON of the event that ends a stream with an error."""
        return {"type": "error", **self.error(message)}

    def said(self, said: Said) -> Reaction:
        """A whole answer."""
        return self.json(self.whole(said))

    def json(self, body: Any, status: int = 200, **headers: str) -> Reaction:
        """An answer of this JSON."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return Reaction(chunks=(json.dumps(body).encode(),), status=status, headers=named)

    def streamed(self, said: Said, **how: Any) -> Reaction:
        """The same answer as a stream."""
        return Reaction(
            chunks=tuple(self.framed(event) for event in self.events(said)), content_type="text/event-stream", **how
        )

    def framed(self, event: Any) -> bytes:
        """An event as server-sent."""
        kind = f"event: {event['type']}\n" if "type" in event else ""
        return f"{kind}data: {json.dumps(event)}\n\n".encode()

    def asked(self, body: dict[str, Any]) -> Asked:
        """What a body asked for."""
        request = decode(body, self.dialect)
        held, limit = self.parameters(body)
        messages = (*request.system, *request.messages)
        parts = [part for message in messages for part in message.parts]
        return Asked(
            temperature=held.get("temperature", "not sent"),
            max_tokens=held.get(limit, "not sent"),
            texts=tuple(message.content for message in messages),
            images=sum(type(part).__name__ == "MediaPart" for part in parts),
            schema=self.schema(read_response_format(body, self.dialect)),
            tools=tuple(tool.name for tool in request.tools),
        )

    def schema(self, response_format: Any) -> Any:
        """The schema in a response format."""
        return response_format and response_format.get("schema")


_STOPS: dict[str, dict[StopReason, str]] = {
    "chat": {"end": "stop", "refusal": "stop"},
    "anthropic": {"end": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "pause": "pause_turn"},
    "google": {"end": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
}


class ChatVendor(Vendor):
    """Chat Completions."""

    name = "chat"
    dialect = "openai"
    _usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}

    def whole(self, said: Said) -> Any:
        finish = _STOPS["chat"].get(said.stop_reason, said.stop_reason)
        choice = {"index": 0, "finish_reason": finish, "message": self.wire(said)[0]}
        return {"id": "chat-1", "model": "stub-1", "choices": [choice], "usage": self._usage, "x_new": True}

    def wire(self, said: Said) -> list[Any]:
        wire: dict[str, Any] = {"role": "assistant", "content": said.text or None}
        if said.stop_reason == "refusal":
            wire["refusal"] = "no"
        if said.call:
            name, arguments = said.call[1], json.dumps(said.call[2])
            function = {"name": name, "arguments": arguments}
            wire["tool_calls"] = [{"type": "function", "id": said.call[0], "function": function}]
        return [wire]

    def events(self, said: Said) -> Sequence[Any]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": p} for p in said.pieces)]
        if said.stop_reason == "refusal":
            deltas.append({"refusal": "no"})
        if said.call:
            arguments = json.dumps(said.call[2])
            function = {"name": said.call[1], "arguments": ""}
            deltas.append({"tool_calls": [{"index": 0, "id": said.call[0], "type": "function", "function": function}]})
            deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": letter}}]} for letter in arguments]
        shared = {"id": "chat-1", "model": "stub-1"}
        finish = _STOPS["chat"].get(said.stop_reason, said.stop_reason)
        return [
            *({**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
            {**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**shared, "choices": [], "usage": self._usage},
        ]

    def aborted(self) -> Any:
        choice = {"index": 0, "finish_reason": "abort", "message": {"role": "assistant", "content": "{}"}}
        return {"id": "chat-1", "model": "stub-1", "choices": [choice]}

    def empty(self) -> Any:
        return {"id": "chat-1", "choices": []}

    def parameters(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        return body, "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"

    def schema(self, response_format: Any) -> Any:
        return response_format and response_format["json_schema"]["schema"]


class ResponsesVendor(Vendor):
    """OpenAI Responses."""

    name = "responses"
    dialect = "responses"

    def whole(self, said: Said) -> Any:
        cut = said.stop_reason in ("length", "content_filter")
        reason = "max_output_tokens" if said.stop_reason == "length" else said.stop_reason
        return {
            "id": "resp-1",
            "object": "response",
            "model": "stub-1",
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": reason} if cut else None,
            "output": self.wire(said),
            "usage": {"input_tokens": 7, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}},
            "error": None,
        }

    def wire(self, said: Said) -> list[Any]:
        blocks: list[Any] = [{"type": "output_text", "text": said.text, "annotations": []}] if said.pieces else []
        if said.stop_reason == "refusal":
            blocks.append({"type": "refusal", "refusal": "no"})
        items: list[Any] = [{"type": "reasoning", "id": "rs-1", "summary": [], "encrypted_content": "abc="}]
        if blocks:
            items.append({"type": "message", "id": "m-1", "role": "assistant", "content": blocks})
        if said.call:
            call_id, name, arguments = said.call
            call = {"call_id": call_id, "name": name, "arguments": json.dumps(arguments)}
            items.append({"type": "function_call", "id": "fc-1", **call})
        return items

    def events(self, said: Said) -> Sequence[Any]:
        events: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "resp-1"}}]
        events += [{"type": "response.output_text.delta", "item_id": "m-1", "delta": piece} for piece in said.pieces]
        if said.stop_reason == "refusal":
            events.append({"type": "response.refusal.delta", "item_id": "m-1", "delta": "no"})
        if said.call:
            item = {"type": "function_call", "id": "fc-1", "call_id": said.call[0], "name": said.call[1]}
            events.append({"type": "response.output_item.added", "item": item})
            events += [
                {"type": "response.function_call_arguments.delta", "item_id": "fc-1", "delta": letter}
                for letter in json.dumps(said.call[2])
            ]
        whole = self.whole(said)
        return [*events, {"type": f"response.{whole['status']}", "response": whole}]

    def aborted(self) -> Any:
        return {"id": "resp-1", "status": "failed", "error": {"code": "server_error", "message": "x"}, "output": []}

    def empty(self) -> Any:
        return {"id": "resp-1", "status": "completed", "output": []}

    def parameters(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        return body, "max_output_tokens"


class AnthropicVendor(Vendor):
    """Anthropic's Messages."""

    name = "anthropic"
    dialect = "anthropic"
    withheld = ("refusal", "length")

    def whole(self, said: Said) -> Any:
        return {
            "id": "msg-1",
            "type": "message",
            "role": "assistant",
            "model": "stub-1",
            "content": self.wire(said)[0]["content"],
            "stop_reason": _STOPS["anthropic"].get(said.stop_reason, said.stop_reason),
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3},
        }

    def wire(self, said: Said) -> list[Any]:
        content: list[Any] = [{"type": "thinking", "thinking": "hm, hm", "signature": "c2ln+/=="}]
        if said.pieces:
            content.append({"type": "text", "text": said.text})
        if said.call:
            call_id, name, arguments = said.call
            content.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
        return [{"role": "assistant", "content": content}]

    def events(self, said: Said) -> Sequence[Any]:
        whole = self.whole(said)
        usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}
        start: dict[str, Any] = {**whole, "content": [], "stop_reason": None, "usage": usage}
        blocks: list[tuple[Any, list[Any]]] = [
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "hm, "},
                    {"type": "thinking_delta", "thinking": "hm"},
                    {"type": "signature_delta", "signature": "c2ln+/=="},
                ],
            )
        ]
        if said.pieces:
            deltas = [{"type": "text_delta", "text": piece} for piece in said.pieces]
            blocks.append(({"type": "text", "text": ""}, deltas))
        if said.call:
            call_id, name, arguments = said.call
            call: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            letters = json.dumps(arguments)
            blocks.append((call, [{"type": "input_json_delta", "partial_json": letter} for letter in letters]))
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
        for index, (block, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": block})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        return [
            *events,
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ]

    def aborted(self) -> Any:
        return {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}

    def empty(self) -> Any:
        return {"type": "message", "role": "assistant"}

    def error(self, message: str) -> Any:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}

    def parameters(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        return body, "max_tokens"


class GoogleVendor(Vendor):
    """Google's generateContent."""

    name = "google"
    dialect = "google"
    withheld = ("length", "content_filter")
    _usage = {
        "promptTokenCount": 7,
        "cachedContentTokenCount": 2,
        "candidatesTokenCount": 1,
        "thoughtsTokenCount": 2,
    }

    def whole(self, said: Said) -> Any:
        finish = _STOPS["google"].get(said.stop_reason, said.stop_reason)
        candidate = {"content": self.wire(said)[0], "finishReason": finish, "index": 0}
        return {"candidates": [candidate], "usageMetadata": self._usage, "modelVersion": "stub-1", "responseId": "g-1"}

    def wire(self, said: Said) -> list[Any]:
        parts: list[Any] = [{"text": said.text}] if said.pieces else []
        if said.call:
            call = {"id": said.call[0], "name": said.call[1], "args": said.call[2]}
            parts.append({"functionCall": call, "thoughtSignature": "c2ln+/+/"})
        return [{"role": "model", "parts": parts}]

    def events(self, said: Said) -> Sequence[Any]:
        whole = self.whole(said)
        (last,) = whole["candidates"]
        called = [part for part in last["content"]["parts"] if "functionCall" in part]
        parts = [[], *([{"text": piece}] for piece in said.pieces), called]
        shared = {"modelVersion": "stub-1", "responseId": "g-1"}
        contents = [{"role": "model", "parts": found} for found in parts]
        return [
            *({**shared, "candidates": [{"content": content, "index": 0}]} for content in contents[:-1]),
            {**whole, "candidates": [{**last, "content": contents[-1]}]},
        ]

    def framed(self, event: Any) -> bytes:
        return f"data: {json.dumps(event)}\r\n\r\n".encode()

    def aborted(self) -> Any:
        candidate: dict[str, Any] = {
            "content": {"role": "model", "parts": []},
            "finishReason": "MALFORMED_FUNCTION_CALL",
        }
        return {"candidates": [candidate]}

    def empty(self) -> Any:
        return {"candidates": []}

    def error(self, message: str) -> Any:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}

    def failing(self, message: str) -> Any:
        return {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}

    def parameters(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        return body.get("generationConfig", {}), "maxOutputTokens"

    def schema(self, response_format: Any) -> Any:
        return response_format


VENDORS: dict[str, Vendor] = {
    vendor.name: vendor for vendor in (ChatVendor(), ResponsesVendor(), AnthropicVendor(), GoogleVendor())
}
"""One of each."""
