"""`Projection`: what a model may see on a branch, as a fold over its records."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from threadline.journal.book import Book
from threadline.journal.envelope import Schema
from threadline.journal.metadata import Calibrated, Forgotten, stated
from threadline.journal.placing import HIDES_KNOWLEDGE, HIDES_TRANSCRIPT
from threadline.journal.record import CONVERSATION, JournalRecord
from threadline.journal.root import AgentRoot
from threadline.journal.series import Series
from threadline.ports import Document

__all__ = [
    "SNAPSHOT_KIND",
    "Projection",
    "Standing",
    "decode_snapshot",
    "encode_snapshot",
    "fold",
    "project",
    "snapshot_id",
    "take_snapshot",
]

SNAPSHOT_KIND: Literal["projection"] = "projection"
"""The kind of the documents that hold snapshots. They are derived: without them the same view takes longer."""


class Standing(Struct, frozen=True, kw_only=True, gc=False):
    """Where a visible message or piece of knowledge stands, and what holds it."""

    record_id: str
    sequence: int
    content_ref: str
    kind: str
    role: str | None
    execution_id: str | None
    key: str | None


class Projection(Struct, frozen=True, kw_only=True):
    """What is in force on a branch once the records up to `position` are folded.

    Attributes:
        branch: whose line.
        position: the last sequence folded; records up to it are passed over.
        generation: of the transcript; one more for each clearing.
        messages, knowledge: what was not hidden or forgotten, in the order of the journal.
        factors: by model, in the order of names, what its counts are multiplied by.
    """

    branch: int = 0
    position: int = 0
    generation: int = 0
    messages: Series[Standing] = Series()
    knowledge: Series[Standing] = Series()
    factors: tuple[tuple[str, float], ...] = ()


class _Snapshot(Struct, frozen=True, kw_only=True):
    branch: int
    position: int
    generation: int
    messages: tuple[Standing, ...]
    knowledge: tuple[Standing, ...]
    factors: tuple[tuple[str, float], ...]


_SNAPSHOT = Schema("projection", 1)


def fold(projection: Projection, records: Iterable[JournalRecord]) -> Projection:
    """The projection after more records, ascending as `Book.fresh` gives them; costs what the new ones cost.

    Raises:
        SerializationError: the metadata of a record do not say what its kind must; names the sequence.
    """
    messages, knowledge = _Growing(projection.messages), _Growing(projection.knowledge)
    position, generation, factors = projection.position, projection.generation, projection.factors
    for record in records:
        if record.sequence <= position:
            continue
        position = record.sequence
        if record.forgotten_by is not None:
            continue
        standing = _standing(record)
        if standing is not None:
            (messages if record.kind in CONVERSATION else knowledge).add(standing)
        if record.kind in HIDES_TRANSCRIPT:
            messages, generation = _Growing(Series()), generation + 1
        if record.kind in HIDES_KNOWLEDGE:
            knowledge = _Growing(Series())
        if record.kind == "calibrated":
            factors = tuple(sorted(stated(record, Calibrated).factors.items()))
        if record.kind == "forgotten":
            told = stated(record, Forgotten)
            for growing in (messages, knowledge):
                growing.drop((*told.sequences, *told.derived_sequences))
    return replace(
        projection,
        position=position,
        generation=generation,
        messages=messages.grown(),
        knowledge=knowledge.grown(),
        factors=factors,
    )


def encode_snapshot(projection: Projection) -> bytes:
    """A projection as bytes, versioned."""
    return _SNAPSHOT.encode(
        _Snapshot(
            branch=projection.branch,
            position=projection.position,
            generation=projection.generation,
            messages=tuple(projection.messages),
            knowledge=tuple(projection.knowledge),
            factors=projection.factors,
        )
    )


def decode_snapshot(data: bytes) -> Projection:
    """The projection again.

    Raises:
        SerializationError: the bytes are not of this form, or of a later one.
    """
    held = _SNAPSHOT.decode(data, _Snapshot)
    return Projection(
        branch=held.branch,
        position=held.position,
        generation=held.generation,
        messages=Series(held.messages),
        knowledge=Series(held.knowledge),
        factors=held.factors,
    )


def snapshot_id(agent_id: str, branch: int) -> str:
    """The id of a branch's snapshot: short whatever the agent is called."""
    return f"{sha256(agent_id.encode()).hexdigest()}:{branch}"


async def take_snapshot(book: Book, projection: Projection) -> None:
    """Store the projection in place of the branch's last snapshot.

    Raises:
        ConflictError: somebody else stored one meanwhile.
    """
    id_ = snapshot_id(book.agent_id, projection.branch)
    held = await book.transaction.document(SNAPSHOT_KIND, id_)
    await book.transaction.save(
        Document(
            kind=SNAPSHOT_KIND,
            id=id_,
            agent_id=book.agent_id,
            revision=1 if held is None else held.revision + 1,
            body=encode_snapshot(projection),
        )
    )


async def project(book: Book, root: AgentRoot, *, branch: int | None = None) -> Projection:
    """A branch's projection: its snapshot where there is one, and the records since.

    Raises:
        NotFoundError: there is no such branch.
        SerializationError: the snapshot or a record is not one that this release reads.
    """
    at = root.branch if branch is None else branch
    held = await book.transaction.document(SNAPSHOT_KIND, snapshot_id(book.agent_id, at))
    projection = Projection(branch=at) if held is None else decode_snapshot(held.body)
    while page := await book.fresh(root, branch=at, after=projection.position, limit=book.batch):
        projection = fold(projection, page)
    return projection


class _Growing:
    """A series and what is to be added to it, put together once."""

    def __init__(self, series: Series[Standing]) -> None:
        self._series = series
        self._new: list[Standing] = []

    def add(self, standing: Standing) -> None:
        self._new.append(standing)

    def drop(self, sequences: Iterable[int]) -> None:
        self._series = self.grown().without(sequences, key=_sequence)
        self._new = []

    def grown(self) -> Series[Standing]:
        return self._series.extended(self._new) if self._new else self._series


def _sequence(standing: Standing) -> int:
    return standing.sequence


def _standing(record: JournalRecord) -> Standing | None:
    if not record.context_candidate or record.content_ref is None:
        return None
    return Standing(
        record_id=record.record_id,
        sequence=record.sequence,
        content_ref=record.content_ref,
        kind=record.kind,
        role=record.role,
        execution_id=record.execution_id,
        key=record.key,
    )
