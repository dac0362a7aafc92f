"""Lists of uniform objects, shown with their keys named once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from threadline.messages.fate import Fate
from threadline.text.json_spans import JsonSpan, json_spans
from threadline.transcript.cuts import Cut

__all__ = ["table_cuts"]

_MIN_ROWS = 2


def table_cuts(text: str) -> list[Cut]:
    """Turn each list of objects with the same keys into `{"columns": [...], "rows": [[...], ...]}`, if shorter.

    Keys of objects inside the rows become columns of their own (`prices.economy`) where all rows have them; a list of
    lists of such objects has `groups` of rows instead. The text stays JSON and says the same; the cut keeps the
    original spelling.
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
    if span.kind != "[" or not span.items:
        return None
    nested = all(item.kind == "[" and item.items for item in span.items)
    objects = [row for item in span.items for row in item.items] if nested else span.items
    if len(objects) < _MIN_ROWS or any(item.kind != "{" or not item.items for item in objects):
        return None
    columns = _columns(text, objects)
    if columns is None:
        return None
    rows = [f"[{','.join(_values(text, item, columns))}]" for item in objects]
    if nested:
        left = iter(rows)
        rows = [f"[{','.join(next(left) for _ in item.items)}]" for item in span.items]
    names = ",".join(f'"{".".join(path)}"' for path in columns)
    return f'{{"columns":[{names}],"{"groups" if nested else "rows"}":[{",".join(rows)}]}}'


def _columns(text: str, objects: Sequence[JsonSpan]) -> list[tuple[str, ...]] | None:
    """The paths of the values that all objects have, in their common order; None when they are not alike."""
    names = _names(text, objects[0])
    if len(set(names)) < len(names) or any(_names(text, item) != names for item in objects[1:]):
        return None
    if any("." in name for name in names):
        return None  # would read as a path
    columns: list[tuple[str, ...]] = []
    for position, name in enumerate(names):
        values = [item.items[position] for item in objects]
        inner = _columns(text, values) if all(value.kind == "{" and value.items for value in values) else None
        if inner is None:
            columns.append((name,))
        else:
            columns += ((name, *path) for path in inner)
    return columns


def _names(text: str, span: JsonSpan) -> list[str]:
    return [text[start + 1 : end - 1] for start, end in span.keys]


def _values(text: str, span: JsonSpan, columns: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for path in columns:
        value = span
        for name in path:
            value = value.items[_names(text, value).index(name)]
        table = _table(text, value)
        plain = text[value.start : value.end]
        yield plain if table is None or len(table) >= len(plain) else table
