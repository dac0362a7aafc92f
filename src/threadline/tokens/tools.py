"""What a tool's definition costs: by its JSON, or by the rule that OpenAI published for functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from threadline.messages.message import Tool
from threadline.messages.shapes import array, is_object, string
from threadline.messages.wire import dumps

if TYPE_CHECKING:
    from threadline.tokens.profile import Profile

__all__ = ["tool_texts"]

# openai-cookbook, How_to_count_tokens_with_tiktoken: what the API adds to a function's own words.
_PROPERTIES, _PROPERTY, _ENUM, _ENUM_ITEM = 3, 3, -3, 3

_FLAT = {"type", "description", "enum"}
"""All that a parameter may say for the function rule to know its cost."""


def tool_texts(tool: Tool, profile: Profile) -> tuple[list[str], int]:
    """The texts of a definition that have to be counted, and the fixed tokens to add to them."""
    wire = tool.wire
    if is_object(wire):
        for start, tokens in profile.server_tools.items():
            if string(wire.get("type")).startswith(start):
                return [dumps(wire)], tokens
        if profile.functions and (function := _flat_function(wire)) is not None:
            texts, fixed = function
            return texts, fixed + profile.per_tool
    return [dumps(wire)], profile.per_tool


def _flat_function(wire: dict[str, Any]) -> tuple[list[str], int] | None:
    """A function by the rule, or None where a parameter is nested: the rule does not cover that, and JSON is dearer."""
    function = wire.get("function", wire)
    if not is_object(function) or not (name := string(function.get("name"))):
        return None
    texts = [f"{name}:{_line(function.get('description'))}"]
    parameters = function.get("parameters")
    if parameters is None:
        return texts, 0
    properties = parameters.get("properties") if is_object(parameters) else None
    if not is_object(properties) or "$defs" in parameters or "definitions" in parameters:
        return None
    fixed = _PROPERTIES if properties else 0
    for key, value in properties.items():
        if not is_object(value) or value.keys() - _FLAT or not (kind := string(value.get("type"))):
            return None
        texts.append(f"{key}:{kind}:{_line(value.get('description'))}")
        items = [item if isinstance(item, str) else dumps(item) for item in array(value.get("enum"))]
        texts.extend(items)
        fixed += _PROPERTY + (_ENUM + _ENUM_ITEM * len(items) if items else 0)
    return texts, fixed


def _line(description: Any) -> str:
    return string(description).removesuffix(".")
