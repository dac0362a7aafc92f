"""`HandoffContext`: what one agent passes to another when it hands a run over; only the value."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.context.items import ContentFormat, Provenance
from threadline.errors import InvalidInputError
from threadline.journal.frozen import freeze
from threadline.messages.message import Role

__all__ = ["HandoffContext", "HandoffItem", "checked_handoff"]

_EMPTY: Any = freeze({})


class HandoffItem(Struct, frozen=True, kw_only=True):
    """One thing that is passed on; `transfer_path` names the agents it came through, the first first."""

    category: str
    role: Role
    content: Any
    content_format: ContentFormat
    provenance: Provenance
    tool_call_id: str | None = None
    transfer_path: tuple[str, ...] = ()
    metadata: Any = _EMPTY

    def __post_init__(self) -> None:
        for key in ("content", "metadata"):
            force_setattr(self, key, freeze(getattr(self, key)))


class HandoffContext(Struct, frozen=True, kw_only=True):
    """What the target is responsible for, in words, and what it is given.

    Raises:
        InvalidInputError: the responsibility is empty.
    """

    responsibility: str
    source_agent_id: str
    source_execution_id: str
    target_agent_id: str
    target_execution_id: str | None = None
    items: tuple[HandoffItem, ...] = ()

    def __post_init__(self) -> None:
        if not self.responsibility.strip():
            raise InvalidInputError("a handoff names what the target is responsible for", key="responsibility")


def checked_handoff(value: Any) -> HandoffContext:
    """The value, if it is a handoff.

    Raises:
        InvalidInputError: it is none (`V23`).
    """
    if not isinstance(value, HandoffContext):
        raise InvalidInputError(f"a handoff must be a HandoffContext, not {type(value).__name__}", rule="V23")
    return value
