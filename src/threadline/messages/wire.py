"""Reading and rewriting JSON values by path, without ever changing the caller's objects."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from threadline.messages.parts import Path

__all__ = ["dumps", "get_at", "replace_at"]

_encoder = msgspec.json.Encoder()


def dumps(value: Any) -> str:
    """Compact JSON text of a value; lone surrogates pass through unescaped."""
    try:
        return _encoder.encode(value).decode()
    except (UnicodeEncodeError, TypeError):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


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
