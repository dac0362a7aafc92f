"""Long tool results, shortened to a true cap: head and tail, the lines that matter, and JSON that stays JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from threadline.errors import InvalidInputError
from threadline.messages.fate import Fate
from threadline.messages.shapes import is_object, wrong
from threadline.text.graphemes import boundary_at_or_after, boundary_at_or_before
from threadline.text.json_spans import JsonSpan, json_spans
from threadline.transcript.cuts import Cut, splice
from threadline.transcript.markers import pruned_marker

__all__ = ["KEEP_LINES", "prune_cuts", "prune_text", "prune_tool_results"]

KEEP_LINES = (
    r"(?:error|exception|traceback|\bfatal|\bpanic|\bfail(?:ed|ure|ing)?|\bdenied|\bnot found|\btimed? ?out)\b"
    r"|\bexit(?:ed)? (?:code|status|with)\b|\breturn code\b"
    r"|\b\d+ (?:passed|failed|errors?|warnings?|skipped)\b|^\s*total\b"
)
"""Lines kept out of the part that is left out (case does not matter): errors, exit status, tracebacks, totals."""

_MAX_KEPT_LINE = 240
_ELLIPSIS_CHARS = 6
"""As JSON writes it with escapes."""
_HEAD, _TAIL = 1 / 2, 1 / 8
"""Shares of the cap for the first and the last characters, 4 to 1; the rest holds kept lines and markers."""

_JSON_STEPS = ((60, 2000, 12), (24, 800, 8), (12, 300, 6), (6, 120, 5), (3, 60, 4), (2, 40, 3), (1, 24, 2), (1, 16, 1))
"""Most items of an array or object, most characters of a string, deepest level: tightened until the text fits."""


def prune_text(text: str, max_chars: int) -> str:
    """The text cut down to at most `max_chars` code points, marker included; the same object when it fits."""
    return splice(text, prune_cuts(text, max_chars))


def prune_cuts(text: str, max_chars: int, keep_lines: str = KEEP_LINES) -> list[Cut]:
    """What to leave out of a text so that at most `max_chars` code points remain, markers included.

    Valid JSON stays valid JSON: long arrays, objects and strings lose their middle. Other text keeps head and tail and,
    as far as they fit, the lines that match `keep_lines`. No grapheme cluster is cut.
    """
    if len(text) <= max_chars:
        return []
    root = json_spans(text)
    if root is not None:
        return _json_cuts(text, root, max_chars)
    return _line_cuts(text, max_chars, keep_lines)


def _line_cuts(text: str, max_chars: int, keep_lines: str) -> list[Cut]:
    around = len(pruned_marker(len(text))) + 2
    if max_chars < 2 * around:
        return [_tiny_cut(text, max_chars)]
    head = boundary_at_or_before(text, int(max_chars * _HEAD))
    tail = boundary_at_or_after(text, len(text) - int(max_chars * _TAIL))
    room = max_chars - head - (len(text) - tail) - around
    if room < 0:
        head = boundary_at_or_before(text, head + room)
        room = 0
    kept: list[tuple[int, int]] = []
    for start, end in _matching_lines(text, head, tail, keep_lines):
        if end - start + around > room:
            break
        room -= end - start + around
        kept.append((start, end))
    kept.sort()
    cuts: list[Cut] = []
    at = head
    for start, end in [*kept, (tail, tail)]:
        if start > at:
            before = "\n" if text[at - 1 : at] != "\n" else ""
            after = "\n" if text[start - 1 : start] == "\n" or start == tail else ""
            cuts.append(_cut(at, start, before + pruned_marker(start - at) + after))
        at = end
    return cuts


def _cut(start: int, end: int, replacement: str) -> Cut:
    return Cut(start=start, end=end, replacement=replacement, fate=Fate.PRUNED)


def _tiny_cut(text: str, max_chars: int) -> Cut:
    """No room for words: the beginning and an ellipsis, where that is no more than what it stands for."""
    if len(text) - max_chars < _ELLIPSIS_CHARS:
        return _cut(boundary_at_or_before(text, max_chars), len(text), "")
    return _cut(boundary_at_or_before(text, max_chars - 1), len(text), "\u2026")


def _matching_lines(text: str, head: int, tail: int, keep_lines: str) -> Iterator[tuple[int, int]]:
    """Lines between head and tail that match, each with its line break; last ones first, since outcomes come last."""
    spans: dict[int, int] = {}
    for match in re.finditer(keep_lines, text[head:tail], re.IGNORECASE | re.MULTILINE):
        start = text.rfind("\n", 0, head + match.start()) + 1
        end = text.find("\n", head + match.start()) + 1
        if start >= head and 0 < end <= tail and end - start <= _MAX_KEPT_LINE:
            spans[start] = end
    yield from sorted(spans.items(), reverse=True)


def _json_cuts(text: str, root: JsonSpan, max_chars: int) -> list[Cut]:
    for items, chars, depth in _JSON_STEPS:
        cuts = list(_shortened(text, root, items, chars, depth))
        saved = sum(cut.end - cut.start - len(cut.replacement) for cut in cuts)
        if len(text) - saved <= max_chars:
            return cuts
    whole = f'"{pruned_marker(len(text))}"'
    return [_cut(0, len(text), whole if len(whole) <= max_chars else "0"[:max_chars])]


def _shortened(text: str, span: JsonSpan, items: int, chars: int, depth: int) -> Iterator[Cut]:
    """Cuts in order of place; each replacement is itself JSON in its place and shorter than what it replaces."""
    if span.kind == '"':
        yield from _shorter_string(text, span.start + 1, span.end - 1, chars)
    elif not span.items:
        return
    elif depth == 0:
        marker = f'"{pruned_marker(span.end - span.start)}"'
        if len(marker) < span.end - span.start:
            yield _cut(span.start, span.end, marker)
    else:
        cut = _fewer_items(span, items)
        head = len(span.items) if cut is None else items
        for item in span.items[:head]:
            yield from _shortened(text, item, items, chars, depth - 1)
        if cut is not None:
            yield cut
            yield from _shortened(text, span.items[-1], items, chars, depth - 1)


def _fewer_items(span: JsonSpan, items: int) -> Cut | None:
    """The middle of an array or object, all but the first `items` and the last one."""
    left_out = len(span.items) - items - 1
    if left_out < 1:
        return None
    first, last = items, len(span.items) - 1
    if span.kind == "[":
        start, end = span.items[first].start, span.items[last].start
        marker = f'"[{left_out} items not shown]", '
    else:
        start, end = span.keys[first][0], span.keys[last][0]
        marker = f'"[{left_out} keys not shown]": null, '
    return _cut(start, end, marker) if len(marker) < end - start else None


def _shorter_string(text: str, start: int, end: int, chars: int) -> Iterator[Cut]:
    if end - start <= chars + 32:
        return
    head = _outside_escape(text, start, start + (4 * chars) // 5)
    tail = _outside_escape(text, start, end - chars // 5)
    marker = pruned_marker(tail - head)
    if len(marker) < tail - head:
        yield _cut(head, tail, marker)


def _outside_escape(text: str, start: int, position: int) -> int:
    """The nearest place at or before `position` that is inside no escape sequence and no grapheme cluster."""
    window = max(start, position - 12)
    at = window
    if window > start:  # step onto a boundary: an even run of backslashes before it
        while at > start and text[at - 1] == "\\":
            at -= 1
    last = at
    while at < position:
        last = at
        if text[at] == "\\":
            at += 12 if _SURROGATE_PAIR.match(text, at) else 6 if text[at + 1] == "u" else 2
        else:
            at += 1
    if at > position:
        return last
    return max(start, boundary_at_or_before(text, position)) if text[position] != "\\" else position


_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def prune_tool_results(messages: Sequence[Any], max_result_chars: int = 8192) -> list[Any]:
    """Every over-long tool message with its text shortened; all else is the same object, in the same order.

    Args:
        messages: wire dicts with `role` and `content`. Only string contents of role `tool` are touched; lists, None and
            other roles are not.
        max_result_chars: a true cap in code points, marker included.

    Raises:
        InvalidInputError: `max_result_chars` is not a positive integer, or a message is no object; names its index.
    """
    if isinstance(max_result_chars, bool) or not isinstance(cast("Any", max_result_chars), int) or max_result_chars < 1:
        raise InvalidInputError("max_result_chars must be an integer of at least 1", key="max_result_chars")
    return [_pruned_message(message, index, max_result_chars) for index, message in enumerate(messages)]


def _pruned_message(message: Any, index: int, max_result_chars: int) -> Any:
    if not is_object(message):
        raise wrong(index, None, "an object", message)
    if message.get("role") != "tool" or not isinstance(message.get("content"), str):
        return message
    text = message["content"]
    pruned = prune_text(text, max_result_chars)
    return message if pruned is text else {**message, "content": pruned}
