"""How records and roots are stored: a `Row` for each record, a `Document` for the root."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from threadline.errors import SerializationError
from threadline.journal.envelope import Schema
from threadline.journal.record import KINDS, Channel, JournalRecord, Visibility
from threadline.journal.root import AgentRoot
from threadline.ports import Document, Row

__all__ = ["RECORD", "ROOT", "ROOT_KIND", "decode_root", "encode_root", "record_of", "row_of"]


class _Body(Struct, frozen=True, kw_only=True, gc=False):
    """What of a record is no column of its row."""

    channel: Channel
    role: str | None
    content_ref: str | None
    execution_id: str | None
    llm_call_id: str | None
    parent_id: str | None
    causation_id: str | None
    visibility: Visibility
    context_generation: int
    context_candidate: bool
    occurred_at_ms: int
    metadata: Any
    forgotten_by: str | None


RECORD = Schema("journal_record", 1)
ROOT = Schema("agent_root", 1)

ROOT_KIND: Literal["agent"] = "agent"
"""The kind of the documents that hold roots; their id is the agent's."""

_IN_BODY = _Body.__struct_fields__


def row_of(record: JournalRecord) -> Row:
    """A record as it is stored. The first of a row's refs is the record's content, where it has one.

    Raises:
        SerializationError: the metadata have no canonical form.
    """
    own = () if record.content_ref is None else (record.content_ref,)
    return Row(
        sequence=record.sequence,
        record_id=record.record_id,
        branch=record.branch,
        kind=record.kind,
        key=record.key,
        refs=(*own, *record.refs),
        body=RECORD.encode({name: getattr(record, name) for name in _IN_BODY}),
    )


def record_of(agent_id: str, row: Row) -> JournalRecord:
    """The record that a row holds.

    Raises:
        SerializationError: the row is not of this form; `fields["sequence"]` says which.
    """
    try:
        body = RECORD.decode(row.body, _Body)
    except SerializationError as error:
        raise SerializationError(f"record {row.sequence}: {error}", sequence=row.sequence, **error.fields) from error
    owned = body.content_ref is not None
    if row.kind not in KINDS or (owned and row.refs[:1] != (body.content_ref,)):
        raise SerializationError(f"record {row.sequence}: its row and its body do not agree", sequence=row.sequence)
    return JournalRecord(
        record_id=row.record_id,
        agent_id=agent_id,
        sequence=row.sequence,
        branch=row.branch,
        kind=row.kind,  # pyright: ignore[reportArgumentType]  # one of KINDS, as was just seen
        key=row.key,
        refs=row.refs[1:] if owned else row.refs,
        **{name: getattr(body, name) for name in _IN_BODY},
    )


def encode_root(root: AgentRoot, revision: int) -> Document:
    """A root as it is stored."""
    return Document(kind=ROOT_KIND, id=root.agent_id, agent_id=root.agent_id, revision=revision, body=ROOT.encode(root))


def decode_root(document: Document) -> AgentRoot:
    """The root that a document holds.

    Raises:
        SerializationError: it holds none, or that of another agent.
    """
    root = ROOT.decode(document.body, AgentRoot)
    if root.agent_id != document.id:
        raise SerializationError(f"the root of {document.id!r} is stored under another id", agent_id=document.id)
    return root
