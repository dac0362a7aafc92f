"""Results that a later one made stale: the same call made again, or a later view of the same lines of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from threadline.messages.message import Message
from threadline.messages.parts import TextPart, ToolCallPart, ToolResultPart
from threadline.transcript.policy import FitPolicy

__all__ = ["stale_results"]

_PATH_KEYS = ("path", "file_path", "filepath", "filename", "file", "target_file", "absolute_path")
_FILE_HEADER = re.compile(r"\[File: (?P<path>.+?) \(\d{1,9} lines total\)\]")
"""How SWE-agent's tools head a view of a file."""
_NUMBERED_LINE = re.compile(r"^[ 0]*(\d{1,9})[:|\t\u2192]", re.MULTILINE)
_HEAD_CHARS = 4000
_FAILED = re.compile(
    r"\W*(?:error|exception|traceback|fatal|failed|failure|timed? ?out|cannot|could not|no such)\b", re.IGNORECASE
)
"""How a result begins that shows nothing: it may be stale, but makes no other so."""
_EVERYTHING = (0, 1 << 62)


class _View(NamedTuple):
    """A result as a view of something: which lines of it; whether it shows them."""

    of: str
    lines: tuple[int, int]
    shows: bool = True


def stale_results(messages: Sequence[tuple[int, Message]], policy: FitPolicy) -> set[int]:
    """Places of the messages all of whose results are stale. `messages` come with their places, oldest first."""
    calls: dict[str, ToolCallPart] = {}
    seen: list[tuple[int, list[_View | None]]] = []
    for place, message in messages:
        for call in message.tool_calls:
            calls[call.id] = call
        views = list(_views(message, calls, policy))
        if views:
            seen.append((place, views))
    later: dict[str, list[tuple[int, int]]] = {}
    stale: set[int] = set()
    for place, views in reversed(seen):
        if all(view is not None and _covered(view.lines, later.get(view.of, ())) for view in views):
            stale.add(place)
        for view in views:
            if view is not None and view.shows:
                later.setdefault(view.of, []).append(view.lines)
    return stale


def _covered(lines: tuple[int, int], later: Sequence[tuple[int, int]]) -> bool:
    return any(start <= lines[0] and lines[1] <= end for start, end in later)


def _views(message: Message, calls: Mapping[str, ToolCallPart], policy: FitPolicy) -> Iterator[_View | None]:
    """What each result is a view of; None when nothing can make it stale."""
    if message.origin == "observation":
        text = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
        yield _file_view(text, None, whole=False)
    for result in message.tool_results:
        text = "\n".join(part.text for part in result.parts if isinstance(part, TextPart))
        call = calls.get(result.call_id)
        arguments = _arguments(call) if call is not None else None
        reads = call is not None and call.name.lower() in policy.read_tools
        view = _file_view(text, _path(arguments) if reads else None, whole=_names_only_a_file(arguments))
        if view is None and call is not None:
            canonical = json.dumps(arguments, sort_keys=True) if arguments is not None else call.arguments
            view = _View(f"call {call.name} {canonical}", _EVERYTHING)
        if view is not None and (result.is_error or _FAILED.match(text) or not _says(result, text)):
            view = view._replace(shows=False)
        yield view


def _says(result: ToolResultPart, text: str) -> bool:
    return bool(text.strip()) or any(not isinstance(part, TextPart) for part in result.parts)


def _arguments(call: ToolCallPart) -> Any:
    try:
        return json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None


def _path(arguments: Any) -> str | None:
    if not isinstance(arguments, dict):
        return None
    found = cast("dict[str, Any]", arguments)
    return next((found[key] for key in _PATH_KEYS if isinstance(found.get(key), str)), None)


def _names_only_a_file(arguments: Any) -> bool:
    return isinstance(arguments, dict) and len(cast("dict[str, Any]", arguments)) == 1


def _file_view(text: str, path: str | None, *, whole: bool) -> _View | None:
    header = _FILE_HEADER.search(text, 0, _HEAD_CHARS)
    if header is not None:
        path = header["path"]
    if path is None:
        return None
    first = _NUMBERED_LINE.search(text)
    if first is None:
        return _View(f"file {path}", _EVERYTHING) if whole else None
    numbers = _NUMBERED_LINE.findall(text, max(first.start(), len(text) - _HEAD_CHARS))
    return _View(f"file {path}", (int(first[1]), int(numbers[-1] if numbers else first[1])))
