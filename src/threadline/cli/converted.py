"""The JSON text of a conversion, written message by message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from threadline.messages import Converter, Request
from threadline.messages.shapes import is_object

__all__ = ["converted_json"]


def converted_json(converter: Converter, frame: Request) -> Iterator[bytes]:
    """The list or body in pieces, indented by two spaces."""
    shell = converter.shell
    if converter.is_same and is_object(frame.wire):
        yield _encoded(_dumped(frame.wire) + "\n")  # the body as it is
        return
    depth = 0
    first: list[Any] = shell
    if is_object(shell):
        *rest, (key, first) = shell.items()
        opening = "".join(f"  {json.dumps(name)}: {_dumped(value, 1)},\n" for name, value in rest)
        yield _encoded(f"{{\n{opening}  {json.dumps(key)}: ")
        depth = 1
    separator = "["
    for wire in chain(first, (wire for wire, _ in converter.written())):
        yield _encoded(f"{separator}\n{_pad(depth + 1)}{_dumped(wire, depth + 1)}")
        separator = ","
    yield _encoded("[]" if separator == "[" else f"\n{_pad(depth)}]")
    yield b"\n}\n" if depth else b"\n"


def _pad(depth: int) -> str:
    return "  " * depth


def _dumped(value: Any, depth: int = 0) -> str:
    """Strings hold no raw line ends in JSON: each one is an indented line's."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", f"\n{_pad(depth)}")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "threadline.json")
