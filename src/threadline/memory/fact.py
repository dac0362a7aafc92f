"""`AtomicFact`: one statement that can be found and judged by itself."""

from __future__ import annotations

from typing import ClassVar

from threadline.memory.product import Product, folded

__all__ = ["AtomicFact"]


class AtomicFact(Product, frozen=True, kw_only=True):
    """A statement.

    Attributes:
        owner_id: whose memory it is; None for one that is bound to nobody.
        content: the statement.
        timestamp: when the last message of its cell was said, milliseconds since the epoch, UTC; 0 where nobody said.
        subject: whom or what it is about, where a later statement about the same `relation` would replace it; else "".
        relation: what it says of the subject, by a short name such as `home city`; else "".
        valid_from_ms: when the first message that says so was said; None where nobody said.
        valid_to_ms: since when another fact stands in its place; None while it holds.
        superseded_by: the id of that fact.
    """

    PREFIX: ClassVar[str] = "fact"

    owner_id: str | None
    content: str
    timestamp: int
    subject: str = ""
    relation: str = ""
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    superseded_by: str | None = None

    def identity(self) -> tuple[object, ...]:
        """Whose it is, what it says and since when."""
        return (self.owner_id, folded(self.content), self.timestamp)
