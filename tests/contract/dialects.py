"""The same events written in five dialects, as a message list and as a whole request body."""

from __future__ import annotations

import base64
import json
import random
import struct
from typing import Any, Literal, NamedTuple, TypeAlias

from .judge import Dialect

TOOL_NAMES = ("search", "open_file", "book")


class Said(NamedTuple):
    """A plain turn."""

    role: Literal["system", "user", "assistant"]
    text: str


class Called(NamedTuple):
    """An assistant turn that calls tools, perhaps with signed thinking before them."""

    text: str
    calls: tuple[tuple[str, str], ...]
    thinking: bool


class Answered(NamedTuple):
    """A result of one call."""

    id: str
    name: str
    text: str


Event: TypeAlias = Said | Called | Answered


def png(width: int, height: int, size: int) -> str:
    """Base64 of a file that starts as a PNG of these pixels and is `size` bytes long."""
    header = (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    )
    return base64.b64encode((header + random.Random(0).randbytes(size))[:size]).decode()


class Drawn(NamedTuple):
    """A conversation on the wire. `body` is a whole request around `messages`."""

    dialect: Dialect
    messages: list[dict[str, Any]]
    body: dict[str, Any]


def _arguments(call_id: str) -> dict[str, Any]:
    return {"query": f"about {call_id}", "limit": 5}


def _parts(text: str, turn: int) -> Any:
    """Every third turn of an OpenAI user speaks in parts."""
    if turn % 3:
        return text
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + png(64, 64, 200)}}
    return [{"type": "text", "text": text}, image] if turn % 2 else [{"type": "text", "text": text}]


def _openai(told: list[Event]) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []
    for turn, event in enumerate(told):
        match event:
            case Said("user", text):
                wire.append({"role": "user", "content": _parts(text, turn)})
            case Said(role, text):
                wire.append({"role": role, "content": text})
            case Called(text, calls, _):
                entries = [
                    {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(_arguments(i))}}
                    for i, name in calls
                ]
                wire.append({"role": "assistant", "content": text or None, "tool_calls": entries})
            case Answered(call_id, name, text):
                wire.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": text})
    return wire


def _plain(told: list[Event]) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []
    for event in told:
        match event:
            case Said(role, text):
                wire.append({"role": role, "content": text})
            case Called(text, calls, _):
                asked = "\n".join(f"<run>{name} {json.dumps(_arguments(i))}</run>" for i, name in calls)
                wire.append({"role": "assistant", "content": f"{text}\n{asked}"})
            case Answered(_, _, text):
                wire.append({"role": "user", "content": f"OBSERVATION:\n{text}"})
    return wire


def _responses(told: list[Event]) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []
    for turn, event in enumerate(told):
        match event:
            case Said("assistant", text):
                content = [{"type": "output_text", "text": text, "annotations": []}]
                wire.append(
                    {
                        "type": "message",
                        "id": f"msg_{turn}",
                        "role": "assistant",
                        "status": "completed",
                        "content": content,
                    }
                )
            case Said(role, text):
                wire.append({"role": role, "content": text if turn % 2 else [{"type": "input_text", "text": text}]})
            case Called(_, calls, thinking):
                if thinking:
                    sealed = base64.b64encode(f"sealed {turn}".encode() * 9).decode()
                    wire.append({"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": sealed})
                wire.extend(
                    {
                        "type": "function_call",
                        "call_id": i,
                        "name": name,
                        "arguments": json.dumps(_arguments(i)),
                        "id": f"fc_{turn}_{i}",
                    }
                    for i, name in calls
                )
            case Answered(call_id, _, text):
                wire.append({"type": "function_call_output", "call_id": call_id, "output": text})
    return wire


def _thoughts(turn: int) -> list[dict[str, Any]]:
    sealed = [{"type": "redacted_thinking", "data": f"cmVk{turn:04}=="}] if turn % 2 else []
    return [{"type": "thinking", "thinking": f"weighing {turn}", "signature": f"c2ln{turn:04}=="}, *sealed]


def _anthropic(told: list[Event]) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []

    def say(role: str, blocks: list[dict[str, Any]]) -> None:
        if wire and wire[-1]["role"] == role:
            wire[-1]["content"].extend(blocks)
        elif blocks:
            wire.append({"role": role, "content": blocks})

    for turn, event in enumerate(told):
        match event:
            case Said("system", _):
                continue
            case Said(role, text):
                say(role, [{"type": "text", "text": text or "-"}])
            case Called(text, calls, thinking):
                uses = [{"type": "tool_use", "id": i, "name": name, "input": _arguments(i)} for i, name in calls]
                spoken = [{"type": "text", "text": text}] if text else []
                say("assistant", [*(_thoughts(turn) if thinking else ()), *spoken, *uses])
            case Answered(call_id, _, text):
                content: Any = text if turn % 2 else [{"type": "text", "text": text or "-"}]
                say("user", [{"type": "tool_result", "tool_use_id": call_id, "content": content}])
    return wire


def _google(told: list[Event]) -> list[dict[str, Any]]:
    wire: list[dict[str, Any]] = []

    def say(role: str, parts: list[dict[str, Any]]) -> None:
        if wire and wire[-1]["role"] == role:
            wire[-1]["parts"].extend(parts)
        else:
            wire.append({"role": role, "parts": parts})

    for turn, event in enumerate(told):
        match event:
            case Said("system", _):
                continue
            case Said(role, text):
                say("model" if role == "assistant" else "user", [{"text": text or "-"}])
            case Called(text, calls, thinking):
                parts: list[dict[str, Any]] = [{"text": text}] if text else []
                parts.extend({"functionCall": {"id": i, "name": name, "args": _arguments(i)}} for i, name in calls)
                if thinking:
                    parts[-1]["thoughtSignature"] = base64.b64encode(f"thought {turn}".encode() * 5).decode()
                say("model", parts)
            case Answered(call_id, name, text):
                say("user", [{"functionResponse": {"id": call_id, "name": name, "response": {"result": text}}}])
    return wire


TOOL_SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}


def write(told: list[Event], dialect: Dialect) -> Drawn:
    """The events as a message list and as a whole body of one dialect."""
    rules = (
        next((event.text for event in told if isinstance(event, Said) and event.role == "system"), "") or "Be brief."
    )
    functions = [{"name": name, "description": f"runs {name}", "parameters": TOOL_SCHEMA} for name in TOOL_NAMES]
    match dialect:
        case "plain":
            messages = _plain(told)
            body: dict[str, Any] = {"messages": messages}
        case "openai":
            messages = _openai(told)
            tools = [{"type": "function", "function": function} for function in functions]
            body = {"model": "gpt-4o", "messages": messages, "tools": tools, "temperature": 0.5}
        case "responses":
            messages = _responses(told)
            tools = [{"type": "function", **function} for function in functions]
            body = {"model": "gpt-4o", "instructions": rules, "input": messages, "tools": tools, "store": False}
        case "anthropic":
            messages = _anthropic(told)
            tools = [
                {"name": f["name"], "description": f["description"], "input_schema": TOOL_SCHEMA} for f in functions
            ]
            body = {
                "model": "claude-sonnet-4-5",
                "max_tokens": 100,
                "system": rules,
                "messages": messages,
                "tools": tools,
            }
        case "google":
            messages = _google(told)
            tools = [{"functionDeclarations": functions}]
            body = {"systemInstruction": {"parts": [{"text": rules}]}, "contents": messages, "tools": tools}
    return Drawn(dialect, messages, body)
