"""What the metadata of some kinds must say, beside whatever else a writer puts there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from threadline.errors import InvalidInputError, SerializationError
from threadline.journal.record import JournalRecord

__all__ = ["Calibrated", "Forgotten", "Opened", "check_metadata", "stated"]

T = TypeVar("T", bound=Struct)


class Calibrated(Struct, frozen=True, kw_only=True):
    """Of `calibrated`: by model, what its counts are to be multiplied by from here on; for all models at once."""

    factors: dict[str, float]


class Opened(Struct, frozen=True, kw_only=True):
    """Of `branch_opened`: what the branch shares, and what was hidden there; see `Branch`."""

    parent: int
    after: int
    transcript_since: int
    knowledge_since: int


class Forgotten(Struct, frozen=True, kw_only=True):
    """Of `forgotten`: the records whose content went, and where they stand.

    Attributes:
        record_ids, sequences: what was asked for.
        derived_record_ids, derived_sequences: records made from it, which went with it.
        contents_dropped: contents that are gone.
        contents_kept: contents that other records name too and that stay for their sake.
        documents_deleted: derived documents that are gone.
        requested_by: who asked, as the caller says; None when nobody is named.
    """

    record_ids: tuple[str, ...]
    sequences: tuple[int, ...]
    derived_record_ids: tuple[str, ...] = ()
    derived_sequences: tuple[int, ...] = ()
    contents_dropped: int
    contents_kept: int
    documents_deleted: int
    requested_by: str | None = None


_SHAPES: dict[str, type[Struct]] = {
    "calibrated": Calibrated,
    "branch_opened": Opened,
    "forgotten": Forgotten,
}


def check_metadata(kind: str, metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that a record of the kind could not be read by.

    Raises:
        InvalidInputError: says which key.
    """
    shape = _SHAPES.get(kind)
    if shape is None:
        return
    try:
        msgspec.convert(metadata, shape)
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"metadata of {kind!r}: {error}", key="metadata") from error


def stated(record: JournalRecord, shape: type[T]) -> T:
    """What a record's metadata say.

    Raises:
        SerializationError: they do not say it; `fields["sequence"]` names the record.
    """
    try:
        return msgspec.convert(record.metadata, shape)
    except msgspec.ValidationError as error:
        raise SerializationError(f"record {record.sequence}: {error}", sequence=record.sequence) from error
