"""What JSON shape a value has, and the errors that say where a shape is wrong without quoting what stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from threadline.errors import InvalidInputError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["array", "is_array", "is_object", "missing", "string", "wrong"]


def is_object(value: Any) -> TypeIs[dict[str, Any]]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeIs[list[Any]]:
    """True for a JSON array."""
    return isinstance(value, list)


def string(value: Any) -> str:
    """The value where it is a string, else the empty string: for fields that only inform."""
    return value if isinstance(value, str) else ""


def array(value: Any) -> list[Any]:
    """The value where it is an array, else an empty one: for fields that only inform."""
    return value if is_array(value) else []


def missing(index: int | None, key: str, *, what: str = "message") -> InvalidInputError:
    """The error for a required key that is not there."""
    return InvalidInputError(f"{_place(what, index)}: missing key {key!r}", index=index, key=key)


def wrong(index: int | None, key: str | None, expected: str, value: Any, *, what: str = "message") -> InvalidInputError:
    """The error for a value of another type than the dialect has there."""
    at = "" if key is None else f"key {key!r} "
    return InvalidInputError(
        f"{_place(what, index)}: {at}must be {expected}, not {_json_type(value)}", index=index, key=key
    )


def _place(what: str, index: int | None) -> str:
    return what if index is None else f"{what} {index}"


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
