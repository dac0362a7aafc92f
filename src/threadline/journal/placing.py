"""`place`: where entries stand in a journal, and what its root is after them; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from threadline.errors import InvalidInputError, SerializationError
from threadline.journal.frozen import freeze
from threadline.journal.metadata import Opened, check_metadata, stated
from threadline.journal.record import CANDIDATES, CHANNELS, CONVERSATION, KINDS, Entry, JournalRecord, Kind
from threadline.journal.root import AgentRoot, Branch
from threadline.ports import Naming
from threadline.ports.scope import checked_name

__all__ = ["HIDES", "HIDES_KNOWLEDGE", "HIDES_TRANSCRIPT", "Placed", "after_record", "checked_open", "place"]

HIDES_TRANSCRIPT: tuple[Kind, ...] = ("transcript_cleared", "context_reset")
HIDES_KNOWLEDGE: tuple[Kind, ...] = ("knowledge_cleared", "context_reset")
HIDES = frozenset({"transcript_cleared", "knowledge_cleared", "context_reset", "branch_opened", "forgotten"})
"""Kinds that change what a model may see without being seen themselves."""


class Placed(Struct, frozen=True, kw_only=True):
    """Entries in their place, not stored yet.

    Attributes:
        root: the root after them; its `agent_revision` is still the one before.
        contents: what the records name and the entries brought, by ref.
    """

    root: AgentRoot
    records: tuple[JournalRecord, ...]
    contents: Mapping[str, bytes]


def checked_open(root: AgentRoot) -> None:
    """Refuse an agent that takes nothing more.

    Raises:
        InvalidInputError: it is closed or invalidated.
    """
    if root.lifecycle_status in {"closed", "invalidated"}:
        raise InvalidInputError(
            f"agent {root.agent_id!r} is {root.lifecycle_status} and takes nothing more",
            agent_id=root.agent_id,
            lifecycle_status=root.lifecycle_status,
        )


def place(root: AgentRoot, entries: Sequence[Entry], naming: Naming, *, now_ms: int) -> Placed:
    """Number the entries, chain them to the messages before them, and carry the root along.

    Raises:
        InvalidInputError: an entry cannot be a record, or follows the end of the agent; `fields["index"]` says which.
    """
    records: list[JournalRecord] = []
    contents: dict[str, bytes] = {}
    seen = False
    for index, entry in enumerate(entries):
        try:
            if entry.kind != "forgotten":  # a closed agent can still be made to forget
                checked_open(root)
            _check(entry)
            metadata = freeze(entry.metadata)
        except (InvalidInputError, SerializationError) as error:
            raise InvalidInputError(f"entry {index}: {error}", **error.fields, index=index) from error
        ref = None
        if entry.content is not None:
            ref = naming(entry.content)
            contents[ref] = entry.content
        record = _record(root, entry, ref, metadata, now_ms)
        root = after_record(root, record)
        seen = seen or record.context_candidate or record.kind in HIDES
        records.append(record)
    if records:
        revision = root.context_revision + (1 if seen else 0)
        root = replace(root, context_revision=revision, updated_at_ms=max(now_ms, root.updated_at_ms))
    return Placed(root=root, records=tuple(records), contents=contents)


def after_record(root: AgentRoot, record: JournalRecord) -> AgentRoot:
    """The root once the record is its last one; revisions and times apart. A fold: rows alone give the root again."""
    branches = list(root.branches)
    if record.kind == "branch_opened" and record.branch == len(branches):
        branches.append(_opened(record))
    branches[record.branch] = _moved(branches[record.branch], record)
    begins = record.kind == "external_message" if root.execution_id is not None else record.kind in CONVERSATION
    return replace(
        root,
        journal_position=record.sequence,
        branch=record.branch,
        branches=tuple(branches),
        execution_id=record.execution_id if begins and record.execution_id is not None else root.execution_id,
        lifecycle_status="closed" if record.kind == "agent_closed" else root.lifecycle_status,
    )


def _opened(record: JournalRecord) -> Branch:
    opened = stated(record, Opened)
    return Branch(
        branch=record.branch,
        parent=opened.parent,
        forked_after=opened.after,
        tip=record.parent_id,
        transcript_generation=record.context_generation,
        transcript_since=opened.transcript_since,
        knowledge_since=opened.knowledge_since,
    )


def _moved(branch: Branch, record: JournalRecord) -> Branch:
    hides_transcript = record.kind in HIDES_TRANSCRIPT
    return replace(
        branch,
        head=record.sequence,
        tip=record.record_id if record.kind in CONVERSATION else branch.tip,
        transcript_generation=branch.transcript_generation + hides_transcript,
        transcript_since=record.sequence if hides_transcript else branch.transcript_since,
        knowledge_since=record.sequence if record.kind in HIDES_KNOWLEDGE else branch.knowledge_since,
    )


def _record(root: AgentRoot, entry: Entry, ref: str | None, metadata: Any, now_ms: int) -> JournalRecord:
    at = root.current
    return JournalRecord(
        record_id=entry.record_id,
        agent_id=root.agent_id,
        sequence=root.journal_position + 1,
        branch=at.branch,
        kind=entry.kind,
        channel=entry.channel,
        role=entry.role,
        content_ref=ref,
        key=entry.key,
        refs=tuple(other for other in dict.fromkeys(entry.refs) if other != ref),
        execution_id=entry.execution_id,
        llm_call_id=entry.llm_call_id,
        parent_id=at.tip if entry.parent_id is None else entry.parent_id,
        causation_id=entry.causation_id,
        visibility=entry.visibility,
        context_generation=at.transcript_generation,
        context_candidate=entry.context_candidate,
        occurred_at_ms=now_ms,
        metadata=metadata,
    )


def _check(entry: Entry) -> None:
    if entry.kind not in KINDS or entry.channel not in CHANNELS:
        raise InvalidInputError("no such kind or channel", key="kind" if entry.kind not in KINDS else "channel")
    if entry.visibility not in {"agent", "operator"}:
        raise InvalidInputError("no such visibility", key="visibility")
    checked_name(entry.record_id, "record_id")
    for key in ("key", "role", "execution_id", "llm_call_id", "parent_id", "causation_id"):
        if getattr(entry, key) is not None:
            checked_name(getattr(entry, key), key)
    if entry.context_candidate and (entry.kind not in CANDIDATES or entry.content is None):
        raise InvalidInputError(
            "only a message or knowledge with content can be a context candidate", key="context_candidate"
        )
    if not isinstance(cast("object", entry.metadata), Mapping):
        raise InvalidInputError("metadata must be a mapping", key="metadata")
    check_metadata(entry.kind, entry.metadata)
