"""Reading and rewriting JSON values by path, without ever changing the caller's objects."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from threadline.errors import InvalidInputError, SerializationError
from threadline.messages.parts import Path

__all__ = ["dump_bytes", "dumps", "get_at", "load_bytes", "replace_at"]

_encoder = msgspec.json.Encoder()


def dumps(value: Any) -> str:
    """Compact JSON text of a value; lone surrogates pass through unescaped."""
    try:
        return _encoder.encode(value).decode()
    except (UnicodeEncodeError, TypeError):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def dump_bytes(value: Any) -> bytes:
    """The value as compact JSON in UTF-8, keys in their order; lone surrogates are escaped.

    Raises:
        InvalidInputError: it holds what JSON cannot say.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError as error:
        raise InvalidInputError("nested too deeply for JSON") from error
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "not a JSON value: only objects, arrays, texts, finite numbers, true, false and null"
        ) from error
    try:
        return text.encode()
    except UnicodeEncodeError:  # two surrogates that make a pair are the character they stand for: so it is read again
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "backslashreplace")


def load_bytes(data: bytes) -> Any:
    """The value of JSON in UTF-8; the reverse of `dump_bytes`.

    Raises:
        SerializationError: it is no JSON.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SerializationError("not JSON in UTF-8") from error


def get_at(value: Any, path: Path) -> Any:
    """The value at `path`. Raises `KeyError`, `IndexError` or `TypeError` where the path leads nowhere."""
    for step in path:
        value = value[step]
    return value


def replace_at(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with `new` at `path`; containers off the path are shared, those on it are copied."""
    if not path:
        return new
    step = path[0]
    copy: Any = list(cast("list[Any]", value)) if isinstance(value, list) else dict(value)
    copy[step] = replace_at(copy[step], path[1:], new)
    return copy
