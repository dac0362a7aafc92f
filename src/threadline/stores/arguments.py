"""What may be asked of a store, checked before anything is asked of the place behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from threadline.errors import ConflictError, InvalidInputError, NotFoundError
from threadline.ports import Document, Row
from threadline.ports.scope import checked_name

__all__ = [
    "GREATEST",
    "check_contents",
    "check_document",
    "check_rows",
    "checked_names",
    "checked_number",
    "document_conflict",
    "head_conflict",
    "missing_content",
    "missing_row",
    "out_of_order",
    "record_conflict",
    "write_refused",
]

GREATEST = 2**53 - 1
"""The greatest number that every place can hold, and JSON too."""


def checked_number(value: Any, key: str, *, least: int = 0) -> int:
    """A whole number between `least` and 2**53 - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= GREATEST:
        raise InvalidInputError(f"{key} must be a whole number from {least} to 2**53 - 1", key=key)
    return value


def checked_names(values: Any, key: str) -> list[str]:
    """A sequence of names, each once, in their order."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidInputError(f"{key} must be a sequence of names", key=key)
    return list(dict.fromkeys(checked_name(value, key) for value in values))  # pyright: ignore[reportUnknownVariableType]


def _check_bytes(value: Any, key: str) -> None:
    if not isinstance(value, bytes):
        raise InvalidInputError(f"{key} must be bytes", key=key)


def check_contents(contents: Mapping[str, bytes]) -> None:
    """Refs that are names, contents that are bytes."""
    for ref, content in contents.items():
        checked_name(ref, "ref")
        _check_bytes(content, "content")


def check_rows(rows: Sequence[Row]) -> None:
    """Rows whose every field a store can hold, each in a place of its own."""
    for row in rows:
        checked_number(row.sequence, "sequence", least=1)
        checked_number(row.branch, "branch")
        checked_name(row.record_id, "record_id")
        checked_name(row.kind, "kind")
        if row.key is not None:
            checked_name(row.key, "key")
        checked_names(row.refs, "refs")
        _check_bytes(row.body, "body")
    if len({row.sequence for row in rows}) < len(rows):
        raise InvalidInputError("two rows have one sequence", key="sequence")


def check_document(document: Document) -> None:
    """A document whose every field a store can hold."""
    checked_name(document.kind, "kind")
    checked_name(document.id, "id")
    if document.agent_id != "":
        checked_name(document.agent_id, "agent_id")
    checked_number(document.revision, "revision", least=1)
    _check_bytes(document.body, "body")


def write_refused() -> InvalidInputError:
    """A transaction that only reads was asked to write."""
    return InvalidInputError("this transaction only reads (write=False)", key="write")


def out_of_order(sequence: int, expected: int) -> InvalidInputError:
    """Rows to append are not numbered from the head on."""
    return InvalidInputError(
        f"a row is numbered {sequence} where {expected} follows", key="sequence", sequence=sequence, expected=expected
    )


def head_conflict(agent_id: str, head: int, expected: int) -> ConflictError:
    """The journal's head is another one."""
    return ConflictError(
        f"the journal's head is {head}, not {expected}", agent_id=agent_id, head=head, expected_head=expected
    )


def record_conflict(agent_id: str, record_id: str) -> ConflictError:
    """A record id is taken."""
    return ConflictError(f"record id {record_id!r} is taken", agent_id=agent_id, record_id=record_id)


def document_conflict(document: Document) -> ConflictError:
    """The stored revision is not the one before."""
    return ConflictError(
        f"the stored revision of {document.kind} {document.id!r} is not {document.revision - 1}",
        kind=document.kind,
        id=document.id,
        revision=document.revision,
    )


def missing_content(ref: str) -> NotFoundError:
    """A content is not stored."""
    return NotFoundError(f"there is no content {ref}", ref=ref)


def missing_row(agent_id: str, sequence: int) -> NotFoundError:
    """There is no row of that sequence."""
    return NotFoundError(f"there is no row {sequence}", agent_id=agent_id, sequence=sequence)
