"""Fenced code blocks as CommonMark defines them, found in one pass."""

from __future__ import annotations

import re

__all__ = ["fence_spans"]

_MARK = re.compile("```|~~~")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


def fence_spans(text: str) -> list[tuple[int, int]]:
    """`(start, end)` in code points of every fenced block, fence lines included, the last line break not.

    An opening fence is at least three backticks or tildes, indented by at most three spaces; an info string after
    backticks holds no backtick. The closing fence has the same character, is at least as long, and ends its line.
    A block that is never closed runs to the end (CommonMark 0.31.2, section 4.5).
    """
    spans: list[tuple[int, int]] = []
    opened, mark = -1, ""
    end = -1
    for mark_found in _MARK.finditer(text):
        at = mark_found.start()
        if at < end:
            continue  # further marks of a line that was read
        line = text.rfind("\n", 0, at) + 1
        fence = _FENCE.match(text, line)
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if fence is not None:
            run, rest = fence.group(1), fence.group(2).strip(" \t\r")
            if opened < 0:
                if run[0] == "~" or "`" not in rest:
                    opened, mark = line, run
            elif run.startswith(mark) and not rest:
                spans.append((opened, end))
                opened = -1
    if opened >= 0:
        spans.append((opened, len(text)))
    return spans
