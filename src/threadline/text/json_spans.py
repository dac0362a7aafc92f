"""Where the values of a JSON text stand in it, so that parts can be cut out and the rest stays JSON."""

from __future__ import annotations

import json
import re

__all__ = ["JsonSpan", "json_spans"]

_QUOTE = '"'
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


class JsonSpan:
    """A value in a JSON text.

    Attributes:
        start, end: its place, in code points.
        kind: `[` an array, `{` an object, `"` a string, `0` another scalar.
        items: the values of an array, or of an object's members.
        keys: for an object, the spans of the keys, one for each of `items`.
    """

    __slots__ = ("end", "items", "keys", "kind", "start")

    def __init__(self, start: int, end: int, kind: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind
        self.items: list[JsonSpan] = []
        self.keys: list[tuple[int, int]] = []


def json_spans(text: str) -> JsonSpan | None:
    """The spans of a JSON object or array, or None when the text is not one."""
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    root = JsonSpan(0, len(text), "[")
    stack = [root]
    for match in _TOKEN.finditer(text):
        token, parent = match.group()[0], stack[-1]
        match token:
            case "," | ":":
                continue
            case "{" | "[":
                span = JsonSpan(match.start(), -1, token)
                parent.items.append(span)
                stack.append(span)
            case "}" | "]":
                stack.pop().end = match.end()
            case '"' if parent.kind == "{" and len(parent.keys) == len(parent.items):
                parent.keys.append(match.span())
            case _:
                parent.items.append(JsonSpan(match.start(), match.end(), token if token in _QUOTE else "0"))
    return root.items[0]
