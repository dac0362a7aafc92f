"""What Threadline writes passes the vendors' own published types."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from anthropic.types import MessageParam, ToolParam
from google.genai import types as google
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

from threadline.messages import Dialect, ToolCallPart, convert, decode, encode, result_message, text_message

from .conversations import DIALECTS, body_of, conversations, png, written

with warnings.catch_warnings():
    # The TypedDicts forward each other's names; pydantic says so while it builds the validators.
    warnings.simplefilter("ignore")
    MESSAGES: dict[Dialect, TypeAdapter[Any]] = {
        "plain": TypeAdapter(ChatCompletionMessageParam),
        "openai": TypeAdapter(ChatCompletionMessageParam),
        "responses": TypeAdapter(ResponseInputItemParam),
        "anthropic": TypeAdapter(MessageParam),
        "google": TypeAdapter(google.Content),
    }
    TOOLS: dict[Dialect, TypeAdapter[Any]] = {
        "openai": TypeAdapter(ChatCompletionToolParam),
        "responses": TypeAdapter(FunctionToolParam),
        "anthropic": TypeAdapter(ToolParam),
        "google": TypeAdapter(google.Tool),
    }

CALL = ToolCallPart("call_a", "look", "{}", ())
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)
every_pair = pytest.mark.parametrize(("source", "target"), [(a, b) for a in DIALECTS for b in DIALECTS])


def passes(wire: Any, dialect: Dialect) -> None:
    """Validates, and walks every lazily validated array of a TypedDict."""
    seen = MESSAGES[dialect].validate_python(wire)
    _exhaust(seen)


def _exhaust(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _exhaust(inner)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for inner in value:
            _exhaust(inner)


@every_dialect
def test_new_messages_pass(dialect):
    for role in ("user", "assistant"):
        passes(text_message(role, "hello", dialect).wire, dialect)
    passes(result_message(CALL, "done", dialect).wire, dialect)


@pytest.mark.parametrize("dialect", ["plain", "openai", "responses"])
def test_new_instructions_pass_where_they_are_messages(dialect):
    for role in ("system", "developer"):
        passes(text_message(role, "hello", dialect).wire, dialect)


@every_pair
@given(data=st.data())
def test_conversions_pass(source, target, data):
    wires = written(data.draw(conversations()), source)

    for wire in encode(convert(decode(wires, source), target).request):
        passes(wire, target)


@pytest.mark.parametrize("target", [dialect for dialect in DIALECTS if dialect != "plain"])
@pytest.mark.parametrize("source", [dialect for dialect in DIALECTS if dialect != "plain"])
def test_converted_tools_pass(source, target):
    body = encode(convert(body_of(written([], source), source), target).request)

    assert body["tools"]
    for tool in body["tools"]:
        _exhaust(TOOLS[target].validate_python(tool))


@pytest.mark.parametrize("target", ["openai", "responses", "anthropic", "google"])
@pytest.mark.parametrize(
    "wire",
    [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png()}"}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]},
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
            ],
        },
    ],
    ids=["image", "image url", "document"],
)
def test_converted_media_pass(wire, target):
    conversion = convert([wire], target)

    assert conversion.losses == ()
    for written_wire in encode(conversion.request):
        passes(written_wire, target)
