"""The gate before storing: secrets are taken out of wire objects, and that they were is recorded."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from threadline.messages.shapes import is_array, is_object
from threadline.ports.redaction import Redactor

__all__ = ["Redacted", "redact_text", "redact_wire"]


class Redacted(Struct, frozen=True, kw_only=True):
    """One secret that was taken out: its kind and where it stood; never the secret."""

    kind: str
    path: tuple[str | int, ...] = ()


def redact_text(text: str, redactor: Redactor) -> tuple[str, list[str]]:
    """The text with each secret replaced by the name of its kind, and the kinds."""
    out: list[str] = []
    kinds: list[str] = []
    at = 0
    for found in redactor.find(text):
        out += (text[at : found.start], f"[redacted: {found.kind}]")
        kinds.append(found.kind)
        at = found.end
    return ("".join((*out, text[at:])), kinds) if kinds else (text, [])


def redact_wire(wire: Any, redactor: Redactor) -> tuple[Any, list[Redacted]]:
    """A wire object with the secrets in all its texts replaced; the same object where there are none.

    Keys are texts too. What a provider signed or encrypted is opaque to a detector, and so stays as it is.
    """
    found: list[Redacted] = []
    return _walk(wire, redactor, (), found), found


def _walk(value: Any, redactor: Redactor, path: tuple[str | int, ...], found: list[Redacted]) -> Any:
    if isinstance(value, str):
        text, kinds = redact_text(value, redactor)
        found += (Redacted(kind=kind, path=path) for kind in kinds)
        return text if kinds else value
    if is_array(value):
        items = [_walk(item, redactor, (*path, index), found) for index, item in enumerate(value)]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if is_object(value):
        changed = {
            cast("str", _walk(key, redactor, path, found)): _walk(item, redactor, (*path, key), found)
            for key, item in value.items()
        }
        same = all(
            a is b
            for pair, own in zip(changed.items(), value.items(), strict=False)
            for a, b in zip(pair, own, strict=True)
        )
        return value if same and len(changed) == len(value) else changed
    return value
