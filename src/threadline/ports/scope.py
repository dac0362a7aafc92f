"""`Scope`: whose data a store call is about."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from threadline.errors import InvalidInputError

__all__ = ["MAX_NAME", "Scope", "checked_name", "checked_scope"]

MAX_NAME = 512
"""Longest name, in bytes of UTF-8: five names still fit an index entry of PostgreSQL (2,704 bytes)."""


def checked_name(value: Any, key: str) -> str:
    """A name that every store can hold: 1 to 512 bytes of UTF-8, no NUL, no lone surrogate.

    Raises:
        InvalidInputError: it is not one; `fields["key"]` says which.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInputError(f"{key} must be a text, and not empty", key=key)
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidInputError(f"{key} must hold no NUL and no lone surrogate", key=key)
    if len(value.encode()) > MAX_NAME:
        raise InvalidInputError(f"{key} must be no longer than {MAX_NAME} bytes of UTF-8", key=key)
    return value


class Scope(Struct, frozen=True, kw_only=True):
    """Tenant and owner: every row belongs to exactly one pair, and nothing is ever shared between two.

    Raises:
        InvalidInputError: a name is empty, too long, or holds NUL or a lone surrogate.
    """

    tenant: str
    owner: str

    def __post_init__(self) -> None:
        checked_name(self.tenant, "tenant")
        checked_name(self.owner, "owner")


def checked_scope(scope: Any) -> Scope:
    """Refuse anything but a scope: no scope is an error, not "all".

    Raises:
        InvalidInputError: it is not a `Scope`.
    """
    if not isinstance(scope, Scope):
        raise InvalidInputError("a store call needs a Scope of tenant and owner", key="scope")
    return scope
