"""`Schema`: how a durable value of one type is written, read, and brought up from the forms of earlier releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from threadline.errors import SerializationError
from threadline.journal.canonical import canonical_json, parse_canonical, parse_json
from threadline.journal.frozen import FrozenMap, freeze

__all__ = ["Schema", "Upcaster"]

T = TypeVar("T", bound=msgspec.Struct)

_KEYS = {"format_version", "payload", "record_type"}

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a payload of version n and gives the payload of version n + 1; pure."""


class Schema:
    """One type of durable value: its envelope is `{"format_version", "payload", "record_type"}` in canonical JSON.

    Reading is strict: the bytes must be those that writing would give. So a key that is missing or unknown, a value of
    another type and any other spelling are errors, at every depth, and nothing is ever coerced.

    Args:
        record_type: what the value is; part of the stored form, so never changed.
        version: of the form written now; 1 at first.
        upcasters: for each earlier version, the step to the next.

    Raises:
        ValueError: a version has no upcaster, or one is for no earlier version.
    """

    def __init__(self, record_type: str, version: int, upcasters: Mapping[int, Upcaster] | None = None) -> None:
        self.record_type = record_type
        self.version = version
        self._upcasters = dict(upcasters or {})
        if sorted(self._upcasters) != list(range(1, version)):
            raise ValueError(f"{record_type}: every version from 1 to {version - 1} needs one upcaster")

    def encode(self, payload: Mapping[str, Any] | msgspec.Struct) -> bytes:
        """The value in its envelope.

        Raises:
            SerializationError: a value in it has no canonical form; `fields["path"]` says where.
        """
        plain = msgspec.to_builtins(payload) if isinstance(payload, msgspec.Struct) else payload
        try:
            return canonical_json({"format_version": self.version, "payload": plain, "record_type": self.record_type})
        except SerializationError as error:
            raise SerializationError(
                f"{self.record_type}: {error}", record_type=self.record_type, **error.fields
            ) from error

    def decode(self, data: bytes, type_: type[T]) -> T:
        """The value again, frozen to the bottom.

        Args:
            data: what `encode` of this or an earlier release wrote.
            type_: the `Struct` it is.

        Raises:
            SerializationError: the bytes are not of this form, or of a later one; says which.
        """
        version, payload = self._opened(data)
        expected = data
        if version < self.version:
            self._canonical(data)
            for step in range(version, self.version):
                payload = self._upcasters[step](payload)
            expected = self.encode(payload)
        try:
            value = msgspec.convert(freeze(payload), type_)
            written = self.encode(value)
        except (msgspec.ValidationError, SerializationError) as error:
            raise self._error(str(error)) from error
        if written != expected:
            self._canonical(data)
            raise self._error(_difference(freeze(payload), freeze(msgspec.to_builtins(value)), "$"))
        return value

    def _opened(self, data: bytes) -> tuple[int, dict[str, Any]]:
        try:
            envelope = parse_json(data)
        except SerializationError as error:
            raise self._error(str(error)) from error
        if not isinstance(envelope, dict):
            raise self._error("not an envelope")
        members = cast("dict[str, Any]", envelope)
        if members.keys() != _KEYS or members["record_type"] != self.record_type:
            raise self._error("not an envelope of this record_type")
        version, payload = members["format_version"], members["payload"]
        if type(version) is not int or version < 1 or not isinstance(payload, dict):
            raise self._error("an envelope with no positive format_version, or no object as payload")
        if version > self.version:
            raise self._error(
                f"written in format {version} by a later release of threadline; this one reads up to {self.version}: "
                f"install a release that reads format {version}"
            )
        return version, cast("dict[str, Any]", payload)

    def _canonical(self, data: bytes) -> None:
        try:
            parse_canonical(data)
        except SerializationError as error:
            raise self._error(str(error)) from error

    def _error(self, reason: str) -> SerializationError:
        return SerializationError(f"{self.record_type}: {reason}", record_type=self.record_type)


def _difference(stored: Any, read: Any, path: str) -> str:
    """Where what was stored says more, less or something else than what was read from it, in words; both frozen."""
    pairs: Iterable[tuple[Any, Any, str]] = ()
    if isinstance(stored, FrozenMap) and isinstance(read, FrozenMap):
        for keys, what in ((stored.keys() - read.keys(), "unknown"), (read.keys() - stored.keys(), "missing")):
            if keys:
                return f"{path}: {what} key {min(keys)!r}"
        pairs = ((stored[key], read[key], f"{path}.{key}") for key in sorted(stored))
    elif isinstance(stored, tuple) and isinstance(read, tuple):
        both = zip(cast("tuple[Any, ...]", stored), cast("tuple[Any, ...]", read), strict=True)
        pairs = ((one, other, f"{path}[{index}]") for index, (one, other) in enumerate(both))
    return next((_difference(one, other, at) for one, other, at in pairs if one != other), f"{path}: another value")
