"""`Layout`: how a JSON or JSONL file is laid out, so that it can be written again to the very byte."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import msgspec
from msgspec import Struct, structs

from threadline.errors import InvalidInputError
from threadline.messages.shapes import is_array, is_object

__all__ = ["BLANK", "Layout", "json_layout", "jsonl_layout", "parse_json", "parse_lines"]

BLANK = ""
"""Stands for an empty line among the items of a JSONL file (an item that is a string is no message anyway)."""

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_SEPARATORS = ((", ", ": "), (",", ":"), (",", ": "), (", ", ":"))
"""Python's default, JavaScript's and Rust's, and the two mixtures."""

_CHUNK = 65_536


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Lone surrogates can stand in JSON only escaped; only strings hold them, so the escape is always legal there."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    piece = error.object[error.start : error.end]
    return "".join(f"\\u{ord(char):04x}" for char in piece), error.end


codecs.register_error("threadline.json", _escape)


class Layout(Struct, frozen=True, kw_only=True):
    """How a file is laid out.

    Attributes:
        lines: JSONL: one value a line.
        head: byte order mark and white space before the first value.
        tail: what stands after the last value (white space, the last line's end).
        indent: the white space of one level, None for a value on one line.
        separators: between items, and between key and value.
        ensure_ascii: non-ASCII is escaped.
        eol: the line end.
        exact: writing the value that was read gives the bytes that were read.
    """

    lines: bool = False
    head: bytes = b""
    tail: bytes = b""
    indent: str | None = None
    separators: tuple[str, str] = (", ", ": ")
    ensure_ascii: bool = False
    eol: str = "\n"
    exact: bool = True

    def dump(self, value: Any) -> bytes:
        """The bytes of a value (of a list of values, one a line, for JSONL)."""
        return b"".join(self.stream(value))

    def stream(self, value: Any) -> Iterator[bytes]:
        """The same bytes in pieces of about 64 kB, so that no copy of the whole need be held."""
        yield self.head
        held: list[str] = []
        size = 0
        for text in self._lines(value) if self.lines else self._texts(value):
            held.append(text)
            size += len(text)
            if size >= _CHUNK:
                yield "".join(held).encode("utf-8", "threadline.json")
                held, size = [], 0
        yield "".join(held).encode("utf-8", "threadline.json")
        yield self.tail

    def _lines(self, items: Iterable[Any]) -> Iterator[str]:
        encode = self._encoder().encode
        for number, item in enumerate(items):
            if number:
                yield self.eol
            if item != BLANK:
                yield encode(item)

    def _texts(self, value: Any) -> Iterator[str]:
        if self.indent is None:
            yield from self._flat(value, self._encoder(), depth=2)
            return
        for text in self._encoder().iterencode(value):
            yield text if self.eol == "\n" or "\n" not in text else text.replace("\n", self.eol)

    def _flat(self, value: Any, encoder: json.JSONEncoder, *, depth: int) -> Iterator[str]:
        """One line, in pieces: only whole values go through the fast encoder."""
        if depth and is_array(value) and value:
            opening = "["
            for item in value:
                yield opening
                yield from self._flat(item, encoder, depth=depth - 1)
                opening = self.separators[0]
            yield "]"
        elif depth and is_object(value) and value:
            opening = "{"
            for key, item in value.items():
                yield opening
                yield encoder.encode(key)
                yield self.separators[1]
                yield from self._flat(item, encoder, depth=depth - 1)
                opening = self.separators[0]
            yield "}"
        else:
            yield encoder.encode(value)

    def _encoder(self) -> json.JSONEncoder:
        return json.JSONEncoder(
            ensure_ascii=self.ensure_ascii, indent=self.indent, separators=self.separators, check_circular=False
        )

    def matches(self, value: Any, data: bytes) -> bool:
        """True when writing `value` gives exactly `data`; stops at the first difference."""
        at = 0
        for piece in self.stream(value):
            if not data.startswith(piece, at):
                return False
            at += len(piece)
        return at == len(data)


def parse_json(data: bytes | memoryview) -> Any:
    """The value of a JSON text: what Python's own parser takes, without NaN and infinities.

    Raises:
        InvalidInputError: it is no UTF-8, no JSON, or nested too deeply.
    """
    try:
        return msgspec.json.decode(data)
    except RecursionError as error:
        raise InvalidInputError("nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeError):
        # Lone surrogates escaped in strings are legal JSON that msgspec does not take.
        return _parse_slowly(bytes(data))


def _parse_slowly(data: bytes) -> Any:
    try:
        return json.loads(data.decode(), parse_constant=_no_constant, parse_float=_finite)
    except InvalidInputError:
        raise
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise InvalidInputError("nested too deeply") from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise InvalidInputError("not JSON: a number is too long") from error


def _no_constant(name: str) -> Any:
    raise InvalidInputError(f"not JSON: {name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise InvalidInputError("not JSON: a number is out of range")
    return number


def parse_lines(data: bytes) -> list[Any]:
    """The values of a JSONL text, `BLANK` for an empty line; what follows the last line end counts if it is not empty.

    Raises:
        InvalidInputError: a line is no JSON; `line` counts from 1.
    """
    view = memoryview(data)
    items: list[Any] = []
    start, end = _head(data), len(data)
    while start < end:
        stop = data.find(b"\n", start)
        stop = end if stop < 0 else stop
        line = view[start:stop]
        if bytes(line[:1]).strip() or bytes(line).strip():
            try:
                items.append(parse_json(line))
            except InvalidInputError as error:
                number = len(items) + 1
                raise InvalidInputError(f"line {number}: {error}", **{**error.fields, "line": number}) from error
        else:
            items.append(BLANK)
        start = stop + 1
    return items


def _head(data: bytes) -> int:
    return len(_BOM) if data.startswith(_BOM) else 0


def json_layout(data: bytes, value: Any) -> Layout:
    """The layout that writes `value` as `data`, or the nearest one with `exact` False."""
    start = _head(data)
    while start < len(data) and data[start] in _SPACE:
        start += 1
    end = len(data)
    while end > start and data[end - 1] in _SPACE:
        end -= 1
    indent, eol = _indent(data, start)
    separators = _SEPARATORS[2:] + _SEPARATORS[:2] if indent is not None else _SEPARATORS
    candidates = [
        Layout(head=data[:start], tail=data[end:], indent=indent, separators=pair, ensure_ascii=ascii_only, eol=eol)
        for ascii_only, pair in product(_ascii(data), separators)
    ]
    return _first_match(candidates, value, data)


def _indent(data: bytes, start: int) -> tuple[str | None, str]:
    """The white space of one level and the line end, as they stand behind the first bracket."""
    at = start + 1
    while at < len(data) and data[at] in _SPACE:
        at += 1
    gap = data[start + 1 : at]
    if b"\n" not in gap:
        return None, "\n"
    return gap.rpartition(b"\n")[2].decode(), "\r\n" if gap.startswith(b"\r\n") else "\n"


def _ascii(data: bytes) -> tuple[bool, ...]:
    """Whether to try escaping: pure ASCII with escapes was most likely written so."""
    if b"\\u" not in data:
        return (False,)
    return (True, False) if data.isascii() or data.startswith(_BOM) else (False,)


def jsonl_layout(data: bytes, items: list[Any]) -> Layout:
    """The layout that writes `items`, one a line, as `data`, or the nearest one with `exact` False."""
    start = _head(data)
    first = data.find(b"\n", start)
    eol = "\r\n" if first > start and data[first - 1 : first] == b"\r" else "\n"
    tail = eol.encode() if items and data.endswith(b"\n") else b""
    candidates = [
        Layout(lines=True, head=data[:start], tail=tail, separators=pair, ensure_ascii=ascii_only, eol=eol)
        for ascii_only, pair in product(_ascii(data), _SEPARATORS)
    ]
    return _first_match(candidates, items, data)


def _first_match(candidates: list[Layout], value: Any, data: bytes) -> Layout:
    for layout in candidates:
        if layout.matches(value, data):
            return layout
    return structs.replace(candidates[0], exact=False)
