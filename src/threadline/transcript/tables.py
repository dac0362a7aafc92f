"""Lists of uniform objects, shown with their keys named once."""

from __future__ import annotations

from collections.abc import Iterator

from threadline.messages.fate import Fate
from threadline.text.json_spans import JsonSpan, json_spans
from threadline.transcript.cuts import Cut

__all__ = ["table_cuts"]

_MIN_ROWS = 3


def table_cuts(text: str) -> list[Cut]:
    """Turn each list of objects with the same keys into `{"columns": [...], "rows": [[...], ...]}`, if shorter.

    The text stays JSON and says the same; the cut keeps the original spelling.
    """
    if "[" not in text or '":' not in text:
        return []
    root = json_spans(text)
    return [] if root is None else list(_tables(text, root))


def _tables(text: str, span: JsonSpan) -> Iterator[Cut]:
    table = _table(text, span)
    if table is not None and len(table) < span.end - span.start:
        yield Cut(start=span.start, end=span.end, replacement=table, fate=Fate.DEDUPLICATED)
        return
    for item in span.items:
        yield from _tables(text, item)


def _table(text: str, span: JsonSpan) -> str | None:
    if span.kind != "[" or len(span.items) < _MIN_ROWS or not span.items[0].keys:
        return None
    names = [text[start:end] for start, end in span.items[0].keys]
    rows: list[str] = []
    for item in span.items:
        if item.kind != "{" or [text[start:end] for start, end in item.keys] != names or len(set(names)) < len(names):
            return None
        rows.append(f"[{', '.join(_value(text, value) for value in item.items)}]")
    return f'{{"columns": [{", ".join(names)}], "rows": [{", ".join(rows)}]}}'


def _value(text: str, span: JsonSpan) -> str:
    table = _table(text, span)
    return text[span.start : span.end] if table is None or len(table) >= span.end - span.start else table
