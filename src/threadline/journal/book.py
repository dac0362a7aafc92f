"""`Book`: one agent's journal inside one transaction: append, read, fork."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from threadline.errors import ConflictError, ForgottenError, InvalidInputError, NotFoundError, SerializationError
from threadline.journal.envelope import Schema
from threadline.journal.frozen import freeze
from threadline.journal.record import CONVERSATION, KINDS, Channel, Entry, JournalRecord, Kind, Visibility
from threadline.journal.root import AgentRoot, Branch, Segment
from threadline.ports import Document, Naming, Row, Transaction

__all__ = ["ROOT_KIND", "Book", "decode_root", "encode_root", "record_of", "row_of"]

ROOT_KIND = "agent"
"""The kind of document that holds an agent's root."""

RECORD = Schema("journal_record", version=1)
ROOT = Schema("agent_root", version=1)

_HIDING: frozenset[Kind] = frozenset({"transcript_cleared", "knowledge_cleared", "context_reset"})


class _Body(Struct, frozen=True, kw_only=True):
    """What a row's body says: all of a record that the store does not need to know."""

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


def row_of(record: JournalRecord) -> Row:
    """A record as a store keeps it."""
    body = _Body(**{name: getattr(record, name) for name in _Body.__struct_fields__})
    return Row(
        sequence=record.sequence,
        record_id=record.record_id,
        branch=record.branch,
        kind=record.kind,
        key=record.key,
        refs=record.refs,
        body=RECORD.encode(body),
    )


def record_of(agent_id: str, row: Row) -> JournalRecord:
    """The record of a row.

    Raises:
        SerializationError: the row is not one of ours, or of a later release.
    """
    if row.kind not in KINDS:
        raise SerializationError(f"record {row.record_id}: unknown kind", record_id=row.record_id)
    body = RECORD.decode(row.body, _Body)
    kind: Any = row.kind
    return JournalRecord(
        agent_id=agent_id,
        record_id=row.record_id,
        sequence=row.sequence,
        branch=row.branch,
        kind=kind,
        key=row.key,
        refs=row.refs,
        **{name: getattr(body, name) for name in _Body.__struct_fields__},
    )


def encode_root(root: AgentRoot) -> Document:
    """A root as the document of its revision."""
    return Document(
        kind=ROOT_KIND,
        id=root.agent_id,
        agent_id=root.agent_id,
        revision=root.agent_revision + 1,
        body=ROOT.encode(root),
    )


def decode_root(document: Document) -> AgentRoot:
    """The root in a document.

    Raises:
        SerializationError: the document is not one of ours, or of a later release.
    """
    return ROOT.decode(document.body, AgentRoot)


class Book:
    """The journal of one agent, as one transaction sees it; its changes are the transaction's.

    Every verb costs a number of statements that does not depend on how long the journal is.
    """

    def __init__(self, transaction: Transaction, agent_id: str, naming: Naming) -> None:
        self.transaction = transaction
        self.agent_id = agent_id
        self.naming = naming

    async def root(self) -> AgentRoot | None:
        """The agent's root, or None when there is no such agent."""
        document = await self.transaction.document(ROOT_KIND, self.agent_id)
        return None if document is None else decode_root(document)

    async def create(self, root: AgentRoot) -> AgentRoot:
        """Store the root of a new agent.

        Raises:
            ConflictError: there is one already.
        """
        root = structs.replace(root, metadata=freeze(root.metadata))
        await self.transaction.save(encode_root(root))
        return root

    async def save(self, root: AgentRoot) -> AgentRoot:
        """Store a root as the next revision of the one it was made from; gives back what is stored.

        Raises:
            ConflictError: somebody else changed it first.
        """
        root = structs.replace(root, agent_revision=root.agent_revision + 1, metadata=freeze(root.metadata))
        await self.transaction.save(encode_root(root))
        return root

    async def assert_watermark(self, agent_revision: int, journal_position: int) -> None:
        """Make sure that the agent is still as it was seen.

        Raises:
            NotFoundError: there is no such agent.
            ConflictError: it changed.
        """
        root = await self.root()
        if root is None:
            raise NotFoundError("there is no such agent", agent_id=self.agent_id)
        if (root.agent_revision, root.journal_position) != (agent_revision, journal_position):
            raise ConflictError(
                "the journal went on meanwhile; read again",
                agent_id=self.agent_id,
                seen=journal_position,
                found=root.journal_position,
            )

    async def put(self, contents: Iterable[bytes]) -> list[str]:
        """Store contents; gives back their refs, in order."""
        named = [(self.naming(content), content) for content in contents]
        if named:
            await self.transaction.put(dict(named))
        return [ref for ref, _ in named]

    async def contents(self, refs: Iterable[str]) -> dict[str, bytes]:
        """Contents by ref, each once.

        Raises:
            NotFoundError: one is not stored.
            IntegrityError: one is not what its name says.
        """
        wanted = list(dict.fromkeys(refs))
        return await self.transaction.get(wanted) if wanted else {}

    async def content(self, record: JournalRecord) -> bytes:
        """The content of a record.

        Raises:
            ForgottenError: it was forgotten.
            NotFoundError: the record has none.
        """
        if record.metadata.get("forgotten"):
            raise ForgottenError(f"record {record.record_id} was forgotten", record_id=record.record_id)
        if record.content_ref is None:
            raise NotFoundError(f"record {record.record_id} has no content", record_id=record.record_id)
        return (await self.contents([record.content_ref]))[record.content_ref]

    async def append(
        self, root: AgentRoot, entries: Sequence[Entry], *, now_ms: int
    ) -> tuple[AgentRoot, list[JournalRecord]]:
        """Add records to the current branch, in order, and move the root.

        Raises:
            ConflictError: the root is not the stored one any more; nothing was written.
            InvalidInputError: the agent is closed, or no entry is given.
        """
        if not entries:
            raise InvalidInputError("nothing to append", key="entries")
        if root.lifecycle_status == "closed":
            raise InvalidInputError("the thread is closed: it takes no more records", agent_id=root.agent_id)
        expected = root.journal_position
        refs = iter(await self.put([entry.content for entry in entries if entry.content is not None]))
        records: list[JournalRecord] = []
        for entry in entries:
            record = _placed(root, entry, next(refs) if entry.content is not None else None, now_ms)
            records.append(record)
            root = _moved(root, record)
        changes_context = any(record.context_candidate or record.kind in _HIDING for record in records)
        root = structs.replace(
            root,
            context_revision=root.context_revision + changes_context,
            updated_at_ms=max(now_ms, root.updated_at_ms),
        )
        root = await self.save(root)
        await self.transaction.append(self.agent_id, [row_of(record) for record in records], expected_head=expected)
        return root, records

    async def records(
        self,
        root: AgentRoot,
        *,
        branch: int | None = None,
        kinds: Sequence[Kind] = (),
        after: int = 0,
        until: int | None = None,
        limit: int,
        descending: bool = False,
    ) -> list[JournalRecord]:
        """Records of a branch's line with `after < sequence <= until`, shared ones included, at most `limit`."""
        out: list[JournalRecord] = []
        segments = root.lineage(branch)
        for segment in reversed(segments) if descending else segments:
            stretch = _clipped(segment, after, until)
            if stretch is None or len(out) >= limit:
                continue
            rows = await self.transaction.rows(
                self.agent_id,
                branch=segment.branch,
                kinds=kinds,
                after=stretch[0],
                until=stretch[1],
                limit=limit - len(out),
                descending=descending,
            )
            out += (record_of(self.agent_id, row) for row in rows)
        return out

    async def record(self, record_id: str) -> JournalRecord | None:
        """One record of any branch, or None."""
        return next(iter(await self.recorded([record_id])), None)

    async def recorded(self, record_ids: Sequence[str]) -> list[JournalRecord]:
        """The records of these ids that there are, in the order of the ids."""
        if not record_ids:
            return []
        rows = await self.transaction.recorded(self.agent_id, list(dict.fromkeys(record_ids)))
        found = {row.record_id: record_of(self.agent_id, row) for row in rows}
        return [found[record_id] for record_id in record_ids if record_id in found]

    async def keyed(self, root: AgentRoot, keys: Sequence[str], branch: int | None = None) -> dict[str, JournalRecord]:
        """By key, the records that hold one of the keys on a branch's line."""
        if not keys:
            return {}
        segments = root.lineage(branch)
        rows = await self.transaction.keyed(self.agent_id, list(dict.fromkeys(keys)))
        return {row.key: record_of(self.agent_id, row) for row in rows if row.key is not None and _holds(segments, row)}

    async def latest(self, root: AgentRoot, kind: Kind, branch: int | None = None) -> JournalRecord | None:
        """The last record of a kind on a branch's line."""
        found = await self.records(root, branch=branch, kinds=(kind,), limit=1, descending=True)
        return found[0] if found else None

    async def fork(
        self, root: AgentRoot, *, after: int, record_id: str, now_ms: int, source: int | None = None
    ) -> tuple[AgentRoot, JournalRecord]:
        """Begin a branch that shares a branch's line up to a sequence, and make it current.

        Raises:
            NotFoundError: that is no place on the line.
        """
        parent = root.branches[root.branch if source is None else source]
        if not 0 <= after <= root.journal_position:
            raise NotFoundError(f"there is no record {after} to fork after", agent_id=self.agent_id, after=after)
        tip = await self.records(root, branch=parent.branch, kinds=CONVERSATION, until=after, limit=1, descending=True)
        cleared = await self.records(
            root, branch=parent.branch, kinds=tuple(_HIDING), until=after, limit=1_000, descending=True
        )
        opened = Branch(
            branch=len(root.branches),
            parent=parent.branch,
            forked_after=after,
            tip=tip[0].record_id if tip else None,
            transcript_generation=sum(record.kind != "knowledge_cleared" for record in cleared),
            transcript_since=_last(cleared, "knowledge_cleared"),
            knowledge_since=_last(cleared, "transcript_cleared"),
        )
        root = structs.replace(root, branches=(*root.branches, opened), branch=opened.branch)
        entry = Entry(
            kind="branch_opened",
            channel="state",
            record_id=record_id,
            visibility="operator",
            metadata={"parent": parent.branch, "forked_after": after},
        )
        root, records = await self.append(root, [entry], now_ms=now_ms)
        return root, records[0]

    async def switch(self, root: AgentRoot, branch: int, *, now_ms: int) -> AgentRoot:
        """Make another branch the current one.

        Raises:
            NotFoundError: there is none of that number.
        """
        if not 0 <= branch < len(root.branches):
            raise NotFoundError(f"there is no branch {branch}", agent_id=self.agent_id, branch=branch)
        return await self.save(structs.replace(root, branch=branch, updated_at_ms=max(now_ms, root.updated_at_ms)))


def _placed(root: AgentRoot, entry: Entry, content_ref: str | None, now_ms: int) -> JournalRecord:
    branch = root.current
    refs = (*(() if content_ref is None else (content_ref,)), *entry.refs)
    return JournalRecord(
        record_id=entry.record_id,
        agent_id=root.agent_id,
        sequence=root.journal_position + 1,
        branch=branch.branch,
        kind=entry.kind,
        channel=entry.channel,
        role=entry.role,
        content_ref=content_ref,
        key=entry.key,
        refs=tuple(dict.fromkeys(refs)),
        execution_id=entry.execution_id,
        llm_call_id=entry.llm_call_id,
        parent_id=branch.tip if entry.parent_id is None else entry.parent_id,
        causation_id=entry.causation_id,
        visibility=entry.visibility,
        context_generation=branch.transcript_generation,
        context_candidate=entry.context_candidate,
        occurred_at_ms=now_ms,
        metadata=freeze(entry.metadata),
    )


def _moved(root: AgentRoot, record: JournalRecord) -> AgentRoot:
    """The root after a record."""
    changes: dict[str, Any] = {"head": record.sequence}
    if record.kind in CONVERSATION:
        changes["tip"] = record.record_id
    if record.kind in ("transcript_cleared", "context_reset"):
        changes["transcript_generation"] = root.current.transcript_generation + 1
        changes["transcript_since"] = record.sequence
    if record.kind in ("knowledge_cleared", "context_reset"):
        changes["knowledge_since"] = record.sequence
    branches = list(root.branches)
    branches[root.branch] = structs.replace(root.current, **changes)
    more: dict[str, Any] = {}
    if record.kind == "agent_closed":
        more["lifecycle_status"] = "closed"
    if record.kind in CONVERSATION and record.execution_id is not None:
        more["execution_id"] = record.execution_id
    return structs.replace(root, branches=tuple(branches), journal_position=record.sequence, **more)


def _clipped(segment: Segment, after: int, until: int | None) -> tuple[int, int | None] | None:
    """The part of a stretch that lies between two sequences, or None."""
    first = max(segment.after, after)
    ends = [end for end in (segment.until, until) if end is not None]
    last = min(ends) if ends else None
    return None if last is not None and last <= first else (first, last)


def _holds(segments: Sequence[Segment], row: Row) -> bool:
    return any(
        row.branch == one.branch and row.sequence > one.after and (one.until is None or row.sequence <= one.until)
        for one in segments
    )


def _last(cleared: Sequence[JournalRecord], but: Kind) -> int:
    return max((record.sequence for record in cleared if record.kind != but), default=0)
