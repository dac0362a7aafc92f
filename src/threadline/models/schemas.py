"""A pydantic class as each provider wants to be told of it.

The schema is made strict: objects are closed, every property is required, and what the providers' decoders cannot
read is rewritten where that says the same, else refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, assert_never, get_args

from pydantic import BaseModel, RootModel

from threadline.messages.shapes import is_array, is_object, string

__all__ = [
    "Mode",
    "known_mode",
    "schema_instruction",
    "strict_schema",
    "to_anthropic_response_format",
    "to_gemini_response_format",
    "to_ollama_response_format",
    "to_openai_response_format",
    "to_responses_text_format",
]

Mode: TypeAlias = Literal["json_schema", "json_object", "prompt_only"]
"""How a provider is told of the reply's class: by schema; that it is some JSON object; or by the prompt alone."""


def to_openai_response_format(model: type[BaseModel], mode: Mode = "json_schema") -> dict[str, Any] | None:
    """`response_format` of Chat Completions; None where the prompt alone says it.

    Raises:
        TypeError, ValueError: as `strict_schema`, in the mode `json_schema`; ValueError for an unknown mode.
    """
    mode = known_mode(mode)
    match mode:
        case "json_schema":
            schema = strict_schema(model)
            return {"type": "json_schema", "json_schema": {"name": _name(model), "schema": schema, "strict": True}}
        case "json_object":
            return {"type": "json_object"}
        case "prompt_only":
            return None
        case _:
            assert_never(mode)


def to_responses_text_format(model: type[BaseModel], mode: Mode = "json_schema") -> dict[str, Any] | None:
    """`text.format` of Responses; None where the prompt alone says it. Raises as `to_openai_response_format`."""
    wanted = to_openai_response_format(model, mode)
    if wanted is None or mode != "json_schema":
        return wanted
    return {"type": "json_schema", **wanted["json_schema"]}


def to_anthropic_response_format(model: type[BaseModel], mode: Mode = "json_schema") -> dict[str, Any] | None:
    """`output_config.format` of Anthropic; None where the prompt alone says it.

    Raises:
        TypeError, ValueError: as `to_openai_response_format`; ValueError for `json_object`, which the API has not.
    """
    mode = known_mode(mode)
    match mode:
        case "json_schema":
            return {"type": "json_schema", "schema": _told(strict_schema(model), _anthropic_knows)}
        case "prompt_only":
            return None
        case "json_object":
            raise ValueError("Anthropic has no mode json_object; use json_schema or prompt_only")
        case _:
            assert_never(mode)


def to_gemini_response_format(model: type[BaseModel], mode: Mode = "json_schema") -> dict[str, Any] | None:
    """What `generationConfig` of Gemini is given; None where the prompt alone says it.

    Raises:
        TypeError, ValueError: as `to_openai_response_format`.
    """
    mode = known_mode(mode)
    match mode:
        case "json_schema":
            schema = _told(strict_schema(model), _gemini_knows)
            return {"responseMimeType": "application/json", "responseJsonSchema": schema}
        case "json_object":
            return {"responseMimeType": "application/json"}
        case "prompt_only":
            return None
        case _:
            assert_never(mode)


def to_ollama_response_format(
    model: type[BaseModel], mode: Mode = "json_schema"
) -> dict[str, Any] | Literal["json"] | None:
    """`format` of Ollama's own API; None where the prompt alone says it. Raises as `to_openai_response_format`."""
    mode = known_mode(mode)
    match mode:
        case "json_schema":
            return strict_schema(model)
        case "json_object":
            return "json"
        case "prompt_only":
            return None
        case _:
            assert_never(mode)


def schema_instruction(model: type[BaseModel]) -> str:
    """What a prompt says of the reply's class where the provider is not told of the schema."""
    schema = json.dumps(model.model_json_schema(), ensure_ascii=False)
    return f"Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{schema}"


def known_mode(mode: Any) -> Mode:
    """The mode, if it is one.

    Raises:
        ValueError: it is none; lists those that are.
    """
    if mode in get_args(Mode):
        return mode
    raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}")


def _name(model: type[BaseModel]) -> str:
    """The class's name in the letters OpenAI takes; a generic class has brackets in its own."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", model.__name__)[:64]


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a class in which objects are closed and all their properties required.

    A reference with something beside it is replaced by what it leads to; an `allOf` of one is taken for that one;
    `oneOf` becomes `anyOf` without its discriminator; defaults of null go.

    Raises:
        TypeError: it is no pydantic class with fields of its own.
        ValueError: a place in it, which is named, is open (`dict`, `Any`, extra fields allowed), an `allOf` of several,
            an `anyOf` beside a `oneOf`, or a reference out of the schema; or the whole is no object.
    """
    if not isinstance(model, type) or not issubclass(model, BaseModel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a reply is described by a pydantic class, not by {type(model).__name__}")
    if issubclass(model, RootModel):
        raise TypeError(f"{model.__name__} is a RootModel: a reply is an object with fields")
    schema = model.model_json_schema()
    definitions: dict[str, Any] = schema.pop("$defs", {})
    rewriter = _Rewriter(definitions)
    root = rewriter.rewritten({**rewriter.target(schema, model.__name__), **_beside(schema)}, model.__name__, ())
    if root.get("type") != "object":
        raise ValueError(f"{model.__name__}: a reply is an object")
    closed = {name: rewriter.rewritten(found, f"$defs.{name}", ()) for name, found in definitions.items()}
    return {**root, "$defs": closed} if closed else root


_LOCAL = "#/$defs/"


def _beside(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$ref"}


class _Rewriter:
    """Makes schemas strict. `trail` holds the references that were replaced on the way to a place."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def target(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """What the reference of a schema leads to; nothing where it has none."""
        reference = schema.get("$ref")
        if reference is None:
            return {}
        found = self._definitions.get(string(reference).removeprefix(_LOCAL))
        if not string(reference).startswith(_LOCAL) or not is_object(found):
            raise ValueError(f"{path}: a reference leads out of the schema")
        return found

    def rewritten(self, schema: Any, path: str, trail: tuple[str, ...]) -> dict[str, Any]:
        """The strict form of a schema."""
        if not is_object(schema):
            raise ValueError(f"{path}: anything is allowed there")
        schema = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
        if "$ref" in schema:
            target, reference = self.target(schema, path), schema["$ref"]
            if len(schema) == 1 or reference in trail:
                return {"$ref": reference}
            return self.rewritten({**target, **_beside(schema)}, path, (*trail, reference))
        if is_array(arms := schema.pop("allOf", None)) and arms:
            if len(arms) > 1:
                raise ValueError(f"{path}: an allOf of several cannot be told")
            return self.rewritten({**arms[0], **schema}, path, trail)
        if "oneOf" in schema:
            if "anyOf" in schema:
                raise ValueError(f"{path}: oneOf beside anyOf cannot be told")
            schema["anyOf"] = schema.pop("oneOf")
            schema.pop("discriminator", None)
        return self._closed(schema, path, trail)

    def _closed(self, schema: dict[str, Any], path: str, trail: tuple[str, ...]) -> dict[str, Any]:
        kinds = schema.get("type")
        if kinds == "object" or "properties" in schema or (is_array(kinds) and "object" in kinds):
            properties = schema.get("properties")
            open_keys = schema.get("additionalProperties", False) is not False or "patternProperties" in schema
            if open_keys or not is_object(properties):
                raise ValueError(f"{path}: an object must name its keys")
            schema["properties"] = {
                name: self.rewritten(inner, f"{path}.{name}", trail) for name, inner in properties.items()
            }
            schema |= {"required": [*properties], "additionalProperties": False}
        elif not schema.keys() & {"type", "anyOf", "enum", "const"}:
            raise ValueError(f"{path}: anything is allowed there")
        for key in ("anyOf", "prefixItems"):
            if is_array(arms := schema.get(key)):
                schema[key] = [self.rewritten(arm, f"{path}[{number}]", trail) for number, arm in enumerate(arms)]
        if kinds == "array" and "prefixItems" not in schema:
            schema["items"] = self.rewritten(schema.get("items"), f"{path}[]", trail)
        return schema


Knows: TypeAlias = Callable[[str, Any], bool]
"""Whether a provider reads a keyword with this value."""

_STRUCTURE = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "title", "description"}
    | {"$ref", "$defs"}
)
_ANTHROPIC_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_GEMINI = frozenset({"format", "prefixItems", "minItems", "maxItems", "minimum", "maximum"})


def _anthropic_knows(key: str, value: Any) -> bool:
    """As its documentation of structured outputs says: no limits on numbers, lengths or, beyond 1, items."""
    match key:
        case "const":
            return True
        case "format":
            return value in _ANTHROPIC_FORMATS
        case "minItems":
            return value in (0, 1)
        case _:
            return key in _STRUCTURE


def _gemini_knows(key: str, _value: Any) -> bool:
    """As its documentation of `responseJsonSchema` says."""
    return key in _STRUCTURE or key in _GEMINI


def _told(schema: dict[str, Any], knows: Knows) -> dict[str, Any]:
    """The schema with every keyword that the provider does not read put into the description, as words."""
    kept: dict[str, Any] = {}
    words: list[str] = []
    for key, value in schema.items():
        if key == "const" and not knows(key, value):
            kept["enum"] = [value]
        elif not knows(key, value):
            words.append(f"{key}: {json.dumps(value, ensure_ascii=False)}")
        elif key in ("properties", "$defs"):
            kept[key] = {name: _told(inner, knows) for name, inner in value.items()}
        elif key in ("anyOf", "prefixItems"):
            kept[key] = [_told(arm, knows) for arm in value]
        else:
            kept[key] = _told(value, knows) if key == "items" else value
    if words:
        kept["description"] = " ".join([*filter(None, [kept.get("description")]), f"({', '.join(words)})"])
    return kept
