"""What stands inside a tool result: text, media and unread blocks, in any dialect and as MCP gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from threadline.messages.media import media_part, opaque_part, string_media
from threadline.messages.parts import MediaPart, OpaquePart, Path, TextPart
from threadline.messages.shapes import is_array, is_object

__all__ = ["ResultContent", "result_parts"]

ResultContent: TypeAlias = TextPart | MediaPart | OpaquePart

_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


def result_parts(value: Any, path: Path) -> tuple[ResultContent, ...]:
    """The parts of a result's value: a string, an array of blocks, an object (also an MCP result), or nothing."""
    if isinstance(value, str):
        return (TextPart(value, path),)
    if is_array(value):
        parts: list[ResultContent] = []
        for number, block in enumerate(value):
            parts.extend(_block(block, (*path, number)))
        return tuple(parts)
    if is_object(value):
        if (media := media_part(value, path)) is not None:
            return (media,)
        return _object(value, path)
    return () if value is None else (opaque_part(value, path, "json"),)


def _block(block: Any, path: Path) -> tuple[ResultContent, ...]:
    if isinstance(block, str):
        return (TextPart(block, path),)
    if not is_object(block):
        return (opaque_part(block, path, "json"),)
    if block.get("type") in _TEXT_TYPES and isinstance(text := block.get("text"), str):
        return (TextPart(text, (*path, "text")),)
    if (media := media_part(block, path)) is not None:
        return (media,)
    return (opaque_part(block, path),) if "type" in block else _object(block, path)


def _object(value: dict[str, Any], path: Path) -> tuple[ResultContent, ...]:
    """Its own strings can be reduced one by one; the rest (keys, numbers, nested values) is counted as one JSON text.

    An MCP result is such an object: its `content` blocks are read, and media wherever they stand in the rest.
    """
    parts: list[ResultContent] = []
    rest: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, str):
            parts.append(string_media(item, (*path, key)) or TextPart(item, (*path, key)))
            rest[key] = ""
        elif key == "content" and is_array(item):
            parts.extend(result_parts(item, (*path, key)))
        else:
            parts.extend(_media_within(item, (*path, key)))
            rest[key] = item
    if rest:
        parts.append(opaque_part(rest, path, "json"))
    return tuple(parts)


def _media_within(value: Any, path: Path) -> Iterator[MediaPart]:
    if is_object(value):
        if (media := media_part(value, path)) is not None:
            yield media
            return
        for key, item in value.items():
            yield from _media_within(item, (*path, key))
    elif is_array(value):
        for number, item in enumerate(value):
            yield from _media_within(item, (*path, number))
    elif isinstance(value, str) and (media := string_media(value, path)) is not None:
        yield media
