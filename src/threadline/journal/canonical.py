"""`canonical_json`: one spelling for each value (RFC 8785), so that equal values have equal bytes and one name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from json.encoder import encode_basestring  # the C one where there is one
from math import isfinite
from typing import Any, cast

from threadline.errors import SerializationError

__all__ = ["MAX_DEPTH", "MAX_INTEGER", "canonical_json", "content_ref", "parse_canonical", "parse_json"]

MAX_INTEGER = 2**53 - 1
"""Beyond it a reader whose numbers are doubles sees another number (RFC 8785, section 3.2.2.3)."""

MAX_DEPTH = 200
"""Lists and objects within one another; far below the recursion limit, so that what is written can be read."""

_WORDS = {None: "null", True: "true", False: "false"}


def canonical_json(value: Any) -> bytes:
    r"""A value as RFC 8785 JSON: keys sorted by UTF-16 units, numbers as ECMAScript writes them, no spaces.

    Takes None, bool, int, float, str, lists, tuples and mappings with string keys. A lone surrogate, which has no
    UTF-8, stays escaped (`\ud800`); two that make a pair are the character they stand for. `1.0` is written `1`.

    Raises:
        SerializationError: the value has no such form; `fields["path"]` says where.
    """
    pieces: list[str] = []
    try:
        _write(value, MAX_DEPTH, pieces)
    except _UnwritableError as error:
        path = error.path()
        raise SerializationError(f"{path}: {error}", path=path) from None
    return "".join(pieces).encode("utf-8", "backslashreplace")


def parse_json(data: bytes) -> Any:
    """The value of JSON in any spelling; an integer beyond `MAX_INTEGER` is the double that ECMAScript would read.

    Raises:
        SerializationError: it is no JSON in UTF-8, or nested too deep to be read.
    """
    try:
        return json.loads(data.decode("utf-8"), parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SerializationError("not JSON in UTF-8") from error


def parse_canonical(data: bytes) -> Any:
    """The value that `canonical_json` wrote.

    Raises:
        SerializationError: these are not the bytes that it would write.
    """
    value = parse_json(data)
    if canonical_json(value) != data:
        raise SerializationError("not canonical JSON: keys out of order or twice, spaces, or another spelling")
    return value


def content_ref(data: bytes) -> str:
    """The name of a content: `sha256:` and the hash of its bytes in hex."""
    return f"sha256:{sha256(data).hexdigest()}"


class _UnwritableError(Exception):
    """Gathers the way to the place at fault while it rises, innermost step first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.steps: list[str] = []

    def path(self) -> str:
        return "$" + "".join(reversed(self.steps[-20:]))


def _write(value: Any, depth: int, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(encode_basestring(value if value.isascii() else _whole(value)))
    elif value is None or value is True or value is False:
        out.append(_WORDS[value])
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise _UnwritableError("an integer beyond 2**53 - 1")
        out.append(int.__repr__(value))
    elif isinstance(value, float):
        out.append(_number(value))
    elif depth == 0:
        raise _UnwritableError(f"nested deeper than {MAX_DEPTH}")
    elif isinstance(value, Mapping):
        _write_object(cast("Mapping[Any, Any]", value), depth - 1, out)
    elif isinstance(value, list | tuple):
        _write_array(cast("Sequence[Any]", value), depth - 1, out)
    else:
        raise _UnwritableError(f"{type(value).__name__} is no JSON type")


def _write_array(value: Sequence[Any], depth: int, out: list[str]) -> None:
    out.append("[")
    for index, item in enumerate(value):
        if index:
            out.append(",")
        try:
            _write(item, depth, out)
        except _UnwritableError as error:
            error.steps.append(f"[{index}]")
            raise
    out.append("]")


def _write_object(value: Mapping[Any, Any], depth: int, out: list[str]) -> None:
    opening = "{"
    for key, item in _members(value):
        out.append(f"{opening}{encode_basestring(key)}:")
        opening = ","
        try:
            _write(item, depth, out)
        except _UnwritableError as error:
            error.steps.append(f".{key}")
            raise
    out.append("{}" if opening == "{" else "}")


def _members(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    for key in value:
        if not isinstance(key, str):
            raise _UnwritableError(f"a key of type {type(key).__name__}")
    if "".join(value).isascii():
        return sorted(value.items(), key=_key)
    members = {_whole(key): item for key, item in value.items()}
    if len(members) != len(value):
        raise _UnwritableError("two keys are the same text")
    return sorted(members.items(), key=_utf16)


def _key(member: tuple[str, Any]) -> str:
    return member[0]


def _utf16(member: tuple[str, Any]) -> bytes:
    return member[0].encode("utf-16-be", "surrogatepass")


def _whole(text: str) -> str:
    """The text with surrogate pairs, which JSON cannot tell from the character, made that character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    return text


def _number(value: float) -> str:
    """ECMA-262, Number::toString: `repr` has the same shortest digits and puts them otherwise."""
    if not isfinite(value) or (value == 0 and str(value)[0] == "-"):
        raise _UnwritableError("NaN, Infinity and -0.0 have no JSON form")
    mantissa, _, exponent = repr(abs(float(value))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)  # where it stands, counted from the first digit
    digits = (whole + fraction).rstrip("0")
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.lstrip("0") or "0"
    sign = "-" if value < 0 else ""
    if value == 0:
        return "0"
    if len(digits) <= point <= 21:
        return f"{sign}{digits:0<{point}}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def _integer(text: str) -> int | float:
    # ECMAScript writes a double below 1e21 without an exponent: read back, it must be a double again.
    return int(text) if len(text) <= 16 and abs(int(text)) <= MAX_INTEGER else float(text)


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)
