"""Tools, parameters and response formats of a request body, from one dialect to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from msgspec import Struct

from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Request, Tool
from threadline.messages.shapes import is_array, is_object, string

__all__ = ["convert_parameters"]

_KEPT = ("model", "temperature", "top_p", "stream")
_LIMIT: dict[Dialect, str] = {
    "plain": "max_tokens",
    "openai": "max_completion_tokens",
    "responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "google": "maxOutputTokens",
}
_STOP: dict[Dialect, str | None] = {
    "plain": "stop",
    "openai": "stop",
    "responses": None,
    "anthropic": "stop_sequences",
    "google": "stopSequences",
}
_GOOGLE = {"temperature": "temperature", "topP": "top_p", "top_p": "top_p"}
_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"})
_STOPS = frozenset({"stop", "stop_sequences", "stopSequences"})
_HANDLED = frozenset(
    {
        *("messages", "input", "contents"),
        *("system", "instructions", "systemInstruction", "system_instruction"),
        *("tools", "functions"),
        *("response_format", "text", "output_config", "output_format", "generationConfig", "generation_config"),
    }
)


class _Schema(Struct, frozen=True, kw_only=True):
    """What a reply must look like."""

    name: str
    schema: Any
    strict: bool = True


def convert_parameters(request: Request, target: Dialect, losses: list[Loss]) -> dict[str, Any]:
    """The target's body without its messages and system; what it has no place for is added to `losses`."""
    body: dict[str, Any] = {}
    source = request.wire if is_object(request.wire) else {}
    _write_settings(dict(_settings(source, losses)), target, body, losses)
    if tools := [*_tools(request.tools, target, losses)]:
        body["tools"] = [{"functionDeclarations": tools}] if target == "google" else tools
    if request.response_format is not None:
        schema = _read_schema(request.response_format, request.dialect)
        if schema is None:
            losses.append(Loss(index=None, part="response_format", reason="left out: it is no JSON schema"))
        else:
            _write_schema(schema, target, body)
    return body


def _settings(body: dict[str, Any], losses: list[Loss]) -> Iterator[tuple[str, Any]]:
    for key, value in body.items():
        if key in _KEPT:
            yield key, value
        elif key in _LIMITS:
            yield "limit", value
        elif key in _STOPS:
            yield "stop", [value] if isinstance(value, str) else value
        elif key in ("generationConfig", "generation_config") and is_object(value):
            yield from _google_settings(value, losses)
        elif key in ("text", "output_config") and is_object(value):
            losses.extend(_foreign(f"{key}.{inner}") for inner in value if inner != "format")
        elif key not in _HANDLED:
            losses.append(_foreign(key))


def _foreign(key: str) -> Loss:
    return Loss(index=None, part=key, reason="left out: a parameter of its provider")


def _google_settings(config: dict[str, Any], losses: list[Loss]) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if key in _GOOGLE:
            yield _GOOGLE[key], value
        elif key in ("maxOutputTokens", "max_output_tokens"):
            yield "limit", value
        elif key in ("stopSequences", "stop_sequences"):
            yield "stop", value
        elif not key.lower().replace("_", "").startswith(("responseschema", "responsejsonschema", "responsemimetype")):
            losses.append(_foreign(key))


def _write_settings(settings: dict[str, Any], target: Dialect, body: dict[str, Any], losses: list[Loss]) -> None:
    inner: dict[str, Any] = {}
    for key, value in settings.items():
        if value is None:
            continue
        if key == "stream" and target == "google":
            losses.append(Loss(index=None, part="stream", reason="left out: the address says it there"))
        elif key == "limit":
            inner[_LIMIT[target]] = value
        elif key != "stop":
            outer = body if key in ("model", "stream") else inner
            outer["topP" if target == "google" and key == "top_p" else key] = value
        elif (name := _STOP[target]) is not None:
            inner[name] = value
        else:
            losses.append(Loss(index=None, part="stop", reason="left out: the dialect has no stop sequences"))
    if target == "google":
        if inner:
            body["generationConfig"] = inner
    else:
        body.update(inner)


def _tools(tools: Iterable[Tool], target: Dialect, losses: list[Loss]) -> Iterator[dict[str, Any]]:
    for tool in tools:
        wire = tool.wire
        function = wire.get("function") if is_object(wire.get("function")) else wire
        schema = next((function[key] for key in _SCHEMA_KEYS if is_object(function.get(key))), None)
        kind = string(wire.get("type"))
        if schema is None and not (kind in ("", "function") and function.get("name")):
            losses.append(Loss(index=None, part=tool.name, reason="left out: a tool of its provider"))
            continue
        shared = {"name": tool.name}
        if description := string(function.get("description")):
            shared["description"] = description
        parameters = _lower_types(schema or {"type": "object", "properties": {}})
        strict = {"strict": function["strict"]} if isinstance(function.get("strict"), bool) else {}
        match target:
            case "plain" | "openai":
                yield {"type": "function", "function": {**shared, "parameters": parameters, **strict}}
            case "responses":
                yield {"type": "function", **shared, "parameters": parameters, "strict": strict.get("strict", False)}
            case "anthropic":
                yield {**shared, "input_schema": {"type": "object", **parameters}}
            case "google":
                yield {**shared, "parametersJsonSchema": parameters}
            case _:
                assert_never(target)


_SCHEMA_KEYS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")


def _lower_types(schema: Any) -> Any:
    """Google's own schema spells types in capitals; JSON Schema does not."""
    if is_array(schema):
        return [_lower_types(item) for item in schema]
    if is_object(schema):
        return {
            key: value.lower() if key == "type" and isinstance(value, str) and value.isupper() else _lower_types(value)
            for key, value in schema.items()
        }
    return schema


def _read_schema(wire: Any, source: Dialect) -> _Schema | None:
    if not is_object(wire):
        return None
    if source == "google":
        return _Schema(name="response", schema=_lower_types(wire))
    if wire.get("type") != "json_schema":
        return None
    held = wire.get("json_schema")
    inner = held if is_object(held) else wire
    return _Schema(
        name=string(inner.get("name")) or "response",
        schema=inner.get("schema"),
        strict=inner.get("strict") is not False,
    )


def _write_schema(schema: _Schema, target: Dialect, body: dict[str, Any]) -> None:
    named = {"name": schema.name, "schema": schema.schema, "strict": schema.strict}
    match target:
        case "plain" | "openai":
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        case "responses":
            body["text"] = {"format": {"type": "json_schema", **named}}
        case "anthropic":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema.schema}}
        case "google":
            config = body.setdefault("generationConfig", {})
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = schema.schema
        case _:
            assert_never(target)
