"""`Redactor`: finds in a text what must not be stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["Redactor", "SecretFound"]


class SecretFound(Struct, frozen=True, kw_only=True):
    """A secret in a text: its kind and its span in code points. The secret itself is never kept."""

    kind: str
    start: int
    end: int


class Redactor(Protocol):
    """Looks at texts before they are stored; each span it names is replaced by the name of its kind."""

    def find(self, text: str) -> Sequence[SecretFound]:
        """The secrets in a text, sorted, not overlapping."""
        ...
