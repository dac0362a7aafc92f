"""Drawn conversations: the same exchange of words and tool calls, written in each dialect by hand."""

from __future__ import annotations

import base64
import struct
from typing import Any, NamedTuple

from hypothesis import strategies as st

from threadline.messages import Dialect

DIALECTS: tuple[Dialect, ...] = ("plain", "openai", "responses", "anthropic", "google")


class Say(NamedTuple):
    """A turn of words; the role is `user` or `assistant`."""

    role: str
    text: str


class Act(NamedTuple):
    """An assistant turn that calls tools, and their results in the order they came."""

    text: str
    calls: tuple[tuple[str, str], ...]
    order: tuple[int, ...]


Event = Say | Act


def png(width: int = 800, height: int = 600, padding: int = 400) -> str:
    """Base64 of a file that begins as a PNG of these pixels."""
    header = (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    )
    return base64.b64encode(header + bytes(range(256)) * (padding // 256 + 1)).decode()


words = st.text(min_size=1, max_size=30).filter(str.strip)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def conversations(draw: st.DrawFn, *, min_size: int = 0) -> list[Event]:
    """A user's turn first, then anything that every provider takes; call ids are unique."""
    events: list[Event] = [Say("user", draw(words))]
    count = draw(st.integers(min_size, 6))
    made = 0
    for _ in range(count):
        last_spoke_assistant = isinstance(events[-1], Say) and events[-1].role == "assistant"
        kind = draw(st.sampled_from(["user"] if last_spoke_assistant else ["user", "assistant", "act"]))
        if kind == "act":
            size = draw(st.integers(1, 3))
            calls = tuple((f"id_{made + n}", draw(st.sampled_from(["look", "book"]))) for n in range(size))
            made += size
            order = tuple(draw(st.permutations(range(size))))
            events.append(Act(draw(st.just("") | words), calls, order))
        else:
            events.append(Say(kind, draw(words)))
    return events


def written(events: list[Event], dialect: Dialect) -> list[dict[str, Any]]:
    """The events on the wire of a dialect."""
    wires: list[dict[str, Any]] = []
    for event in events:
        wires.extend(_said(event, dialect) if isinstance(event, Say) else _acted(event, dialect))
    return wires


def _said(event: Say, dialect: Dialect) -> list[dict[str, Any]]:
    match dialect:
        case "plain":
            return [{"role": event.role, "content": event.text}]
        case "openai" | "anthropic":
            return [{"role": event.role, "content": [{"type": "text", "text": event.text}]}]
        case "responses":
            return [{"type": "message", "role": event.role, "content": event.text}]
        case "google":
            return [{"role": "model" if event.role == "assistant" else "user", "parts": [{"text": event.text}]}]


def _acted(event: Act, dialect: Dialect) -> list[dict[str, Any]]:
    answers = [(*event.calls[number], f"result {number}") for number in event.order]
    match dialect:
        case "plain" | "openai":
            calls = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"q":1}'}}
                for call_id, name in event.calls
            ]
            results = [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, _, text in answers]
            return [{"role": "assistant", "content": event.text or None, "tool_calls": calls}, *results]
        case "responses":
            said = [{"type": "message", "role": "assistant", "content": event.text}] if event.text else []
            items = [
                {"type": "function_call", "call_id": call_id, "name": name, "arguments": '{"q":1}'}
                for call_id, name in event.calls
            ]
            outputs = [
                {"type": "function_call_output", "call_id": call_id, "output": text} for call_id, _, text in answers
            ]
            return [*said, *items, *outputs]
        case "anthropic":
            spoken = [{"type": "text", "text": event.text}] if event.text else []
            uses = [
                {"type": "tool_use", "id": call_id, "name": name, "input": {"q": 1}} for call_id, name in event.calls
            ]
            blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, _, text in answers]
            return [{"role": "assistant", "content": [*spoken, *uses]}, {"role": "user", "content": blocks}]
        case "google":
            spoken = [{"text": event.text}] if event.text else []
            made = [{"functionCall": {"id": call_id, "name": name, "args": {"q": 1}}} for call_id, name in event.calls]
            responses = [
                {"functionResponse": {"id": call_id, "name": name, "response": {"output": text}}}
                for call_id, name, text in answers
            ]
            return [{"role": "model", "parts": [*spoken, *made]}, {"role": "user", "parts": responses}]


def body_of(wires: list[dict[str, Any]], dialect: Dialect) -> dict[str, Any]:
    """A whole request around the messages, with a key that nobody knows."""
    schema = {"type": "object", "properties": {"q": {"type": "integer"}}}
    match dialect:
        case "plain":
            return {"messages": wires, "x_trace": "t"}
        case "openai":
            function = {"name": "look", "description": "Looks.", "parameters": schema}
            tools = [{"type": "function", "function": function}]
            return {"model": "gpt-4o", "messages": wires, "tools": tools, "x_trace": "t"}
        case "responses":
            tools = [{"type": "function", "name": "look", "parameters": schema, "strict": False}]
            return {"model": "gpt-5", "instructions": "Be brief.", "input": wires, "tools": tools, "x_trace": "t"}
        case "anthropic":
            tools = [{"name": "look", "input_schema": schema}]
            system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
            return {"model": "claude-x", "max_tokens": 9, "system": system, "messages": wires, "tools": tools, "x": 1}
        case "google":
            tools = [{"functionDeclarations": [{"name": "look", "parameters": schema}]}]
            return {
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": wires,
                "tools": tools,
                "safetySettings": [],
            }


_BLOCKS: dict[Dialect, str] = {
    "plain": "content",
    "openai": "content",
    "responses": "content",
    "anthropic": "content",
    "google": "parts",
}


@st.composite
def strange_wires(draw: st.DrawFn, dialect: Dialect) -> list[dict[str, Any]]:
    """A conversation with fields and block types that do not exist (yet)."""
    wires = written(draw(conversations()), dialect)
    for wire in wires:
        wire.update({f"x_{key}": value for key, value in draw(st.dictionaries(words, json_values, max_size=2)).items()})
        blocks = wire.get(_BLOCKS[dialect])
        if isinstance(blocks, list) and draw(st.booleans()):
            strange = {"type": "from_the_future", "payload": draw(json_values), "data": png()}
            blocks.append({"fromTheFuture": strange} if dialect == "google" else strange)
        for block in blocks if isinstance(blocks, list) else ():
            block["x_note"] = draw(json_values)
    if dialect == "responses" and draw(st.booleans()):
        wires.append({"type": "from_the_future", "payload": draw(json_values)})
    return wires
