"""`Book`: an agent's journal within one transaction of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from threadline.errors import ConflictError, ForgottenError, InvalidInputError, NotFoundError
from threadline.journal.frozen import freeze
from threadline.journal.metadata import Opened
from threadline.journal.placing import HIDES_KNOWLEDGE, HIDES_TRANSCRIPT, Placed, checked_open, place
from threadline.journal.record import CONVERSATION, Entry, JournalRecord, Kind
from threadline.journal.root import AgentRoot, Branch
from threadline.journal.rows import ROOT_KIND, decode_root, encode_root, record_of, row_of
from threadline.ports import Naming, Row, Transaction
from threadline.ports.scope import checked_name

__all__ = ["ROOT_KIND", "Book", "decode_root"]


class Book:
    """Reads and writes one agent's journal; lives as long as the transaction.

    Every verb that changes something takes the root as the caller saw it and gives back the next one. When somebody
    else was faster it raises `ConflictError` before it writes; after any other error the transaction must be rolled
    back. How many statements a verb sends does not depend on the length of the history, only on how many forks lie
    behind a branch.

    Args:
        transaction: an open one, in the scope of the agent's owner.
        agent_id: whose journal.
        naming: how the scope names contents (`Store.naming`).
        batch: rows read, and keys, ids or refs asked for, in one statement.
    """

    def __init__(self, transaction: Transaction, agent_id: str, naming: Naming, *, batch: int = 500) -> None:
        self.transaction = transaction
        self.agent_id = checked_name(agent_id, "agent_id")
        self.naming = naming
        self.batch = batch
        self._stored: tuple[int, AgentRoot] | None = None  # the document's revision and what it holds

    # -- the root

    async def root(self) -> AgentRoot | None:
        """The agent's root, or None where there is no such agent.

        Raises:
            SerializationError: what is stored is no root that this release reads.
        """
        document = await self.transaction.document(ROOT_KIND, self.agent_id)
        if document is None:
            return None
        self._stored = (document.revision, decode_root(document))
        return self._stored[1]

    async def create(self, root: AgentRoot) -> AgentRoot:
        """Store the root of a new agent.

        Raises:
            ConflictError: the agent exists.
            InvalidInputError: the root is another agent's, or does not start at 0/0/0.
        """
        if root.agent_id != self.agent_id:
            raise InvalidInputError("the root is another agent's", key="agent_id")
        if (root.agent_revision, root.context_revision, root.journal_position) != (0, 0, 0):
            raise InvalidInputError("a new agent starts at revisions 0 and position 0", key="agent_revision")
        root = replace(root, metadata=freeze(root.metadata))
        await self.transaction.save(encode_root(root, 1))
        self._stored = (1, root)
        return root

    async def save(self, root: AgentRoot) -> AgentRoot:
        """Store a changed root; `agent_revision` grows by one in what is given back.

        Args:
            root: the change of a root that was read, with the `agent_revision` it was read with.

        Raises:
            ConflictError: the stored revision is another one; nothing was written.
            NotFoundError: there is no such agent.
        """
        if self._stored is None:
            await self.root()
        if self._stored is None:
            raise NotFoundError(f"there is no agent {self.agent_id!r}", agent_id=self.agent_id)
        revision, stored = self._stored
        if stored.agent_revision != root.agent_revision:
            raise _stale(self.agent_id, root.agent_revision, stored.agent_revision)
        root = replace(root, agent_revision=root.agent_revision + 1, metadata=freeze(root.metadata))
        await self.transaction.save(encode_root(root, revision + 1))
        self._stored = (revision + 1, root)
        return root

    async def assert_watermark(self, agent_revision: int, journal_position: int) -> None:
        """Make sure that nothing happened since; to be called in the transaction that writes.

        Raises:
            ConflictError: something did.
            NotFoundError: there is no such agent.
        """
        root = await self.root()
        if root is None:
            raise NotFoundError(f"there is no agent {self.agent_id!r}", agent_id=self.agent_id)
        if root.agent_revision != agent_revision:
            raise _stale(self.agent_id, agent_revision, root.agent_revision)
        if root.journal_position != journal_position:
            raise ConflictError(
                f"agent {self.agent_id!r} stands at record {root.journal_position}, not {journal_position}",
                agent_id=self.agent_id,
                expected=journal_position,
                found=root.journal_position,
            )

    # -- writing

    async def append(
        self, root: AgentRoot, entries: Sequence[Entry], *, now_ms: int
    ) -> tuple[AgentRoot, list[JournalRecord]]:
        """Add records on the current branch; no entries change nothing.

        Raises:
            ConflictError: the root is stale, or a record id is taken.
            InvalidInputError: an entry cannot be a record, or the agent is closed; `fields["index"]` says which entry.
            NotFoundError: there is no such agent, a ref is not stored, or a `parent_id` is not on the branch.
            SerializationError: a number in the metadata has no canonical form; `fields["path"]` says where.
        """
        for index, entry in enumerate(entries):
            if entry.kind == "branch_opened":
                raise InvalidInputError(f"entry {index}: fork() opens a branch", index=index, key="kind")
        if not entries:
            return root, []
        placed = place(root, entries, self.naming, now_ms=now_ms)
        await self._check_parents(root, entries)
        return await self._write(placed)

    async def fork(
        self, root: AgentRoot, *, after: int, branch_from: int | None = None, now_ms: int, record_id: str
    ) -> tuple[AgentRoot, JournalRecord]:
        """Open a branch that shares the line of another up to a sequence, and make it the current one.

        What was hidden at that point is hidden on the new branch, and nothing else.

        Args:
            root: as the caller saw it.
            after: the last sequence shared; 0 shares nothing.
            branch_from: the branch to leave; None is the current one.
            now_ms: when.
            record_id: of the `branch_opened` record, the first on the new branch.

        Raises:
            ConflictError: the root is stale, or the record id is taken.
            InvalidInputError: `after` is no sequence of the journal, or the agent is closed.
            NotFoundError: there is no such branch.
        """
        checked_open(root)
        source = _branch(root, branch_from)
        if not 0 <= after <= root.journal_position:
            raise InvalidInputError(f"after must be from 0 to {root.journal_position}", key="after")
        opened = await self._opened(root, source, after)
        forked = replace(root, branch=opened.branch, branches=(*root.branches, opened))
        said = Opened(
            parent=source.branch,
            after=after,
            transcript_since=opened.transcript_since,
            knowledge_since=opened.knowledge_since,
        )
        entry = Entry(
            kind="branch_opened",
            channel="state",
            record_id=record_id,
            visibility="operator",
            metadata=msgspec.to_builtins(said),
        )
        root, (record,) = await self._write(place(forked, [entry], self.naming, now_ms=now_ms))
        return root, record

    async def switch(self, root: AgentRoot, branch: int, now_ms: int) -> AgentRoot:
        """Make another branch the current one; the one that is changes nothing.

        Raises:
            ConflictError: the root is stale.
            InvalidInputError: the agent is closed.
            NotFoundError: there is no such branch.
        """
        checked_open(root)
        if _branch(root, branch).branch == root.branch:
            return root
        revision = root.context_revision + 1
        return await self.save(
            replace(root, branch=branch, context_revision=revision, updated_at_ms=max(now_ms, root.updated_at_ms))
        )

    async def _write(self, placed: Placed) -> tuple[AgentRoot, list[JournalRecord]]:
        # The root first: who is late finds out before anything else is written.
        rows = [row_of(record) for record in placed.records]
        root = await self.save(placed.root)
        if placed.contents:
            await self.transaction.put(placed.contents)
        await self.transaction.append(self.agent_id, rows, expected_head=rows[0].sequence - 1)
        return root, list(placed.records)

    async def _check_parents(self, root: AgentRoot, entries: Sequence[Entry]) -> None:
        own = {entry.record_id for entry in entries} | {root.current.tip}
        strangers = {entry.parent_id for entry in entries if entry.parent_id is not None} - own
        if not strangers:
            return
        found = await self.transaction.recorded(self.agent_id, sorted(filter(None, strangers)))
        for missing in strangers - {row.record_id for row in found if _on_line(root, None, row)}:
            raise NotFoundError(f"parent {missing!r} is no record of the branch", record_id=missing)

    async def _opened(self, root: AgentRoot, source: Branch, after: int) -> Branch:
        at = Branch(
            branch=len(root.branches),
            parent=source.branch,
            forked_after=after,
            tip=source.tip,
            transcript_generation=source.transcript_generation,
            transcript_since=source.transcript_since,
            knowledge_since=source.knowledge_since,
        )
        if after < source.head:
            last = await self._last(root, CONVERSATION, source.branch, after)
            at = replace(at, tip=last.record_id if last else None)
        if after < source.transcript_since:
            last = await self._last(root, HIDES_TRANSCRIPT, source.branch, after)
            generation = last.context_generation + 1 if last else 0
            at = replace(at, transcript_since=last.sequence if last else 0, transcript_generation=generation)
        if after < source.knowledge_since:
            last = await self._last(root, HIDES_KNOWLEDGE, source.branch, after)
            at = replace(at, knowledge_since=last.sequence if last else 0)
        return at

    # -- reading

    async def records(
        self,
        root: AgentRoot,
        *,
        branch: int | None = None,
        after: int = 0,
        until: int | None = None,
        kinds: Sequence[str] = (),
        limit: int,
        descending: bool = False,
    ) -> list[JournalRecord]:
        """Records on a branch's line, shared ones included, with `after < sequence <= until`; at most `limit`.

        Raises:
            NotFoundError: there is no such branch.
            SerializationError: a row is not one that this release reads; says which.
        """
        at = _branch(root, branch)
        segments = root.lineage(at.branch)
        rows: list[Row] = []
        for segment in reversed(segments) if descending else segments:
            low = max(after, segment.after)
            ends = [end for end in (until, segment.until) if end is not None]
            high = min(ends, default=None)
            if (at.head if high is None else high) <= low or len(rows) >= limit:
                continue
            rows += await self.transaction.rows(
                self.agent_id,
                branch=segment.branch,
                kinds=kinds,
                after=low,
                until=high,
                limit=limit - len(rows),
                descending=descending,
            )
        return [record_of(self.agent_id, row) for row in rows]

    async def as_of(self, root: AgentRoot, branch: int, sequence: int) -> AgentRoot:
        """The root as it was on a branch when the journal ended with `sequence`; revisions and times apart.

        Raises:
            NotFoundError: there is no such branch.
        """
        source = _branch(root, branch)
        at = await self._opened(root, source, sequence)
        branches = list(root.branches)
        branches[branch] = replace(
            at,
            branch=branch,
            parent=source.parent,
            forked_after=source.forked_after,
            head=min(source.head, sequence),
        )
        return replace(root, branch=branch, branches=tuple(branches), journal_position=sequence)

    async def fresh(self, root: AgentRoot, *, branch: int | None = None, after: int, limit: int) -> list[JournalRecord]:
        """What a projection of the branch that stands at `after` has to fold next; at most `limit`.

        Beside the records on its line, these are the `forgotten` ones of every branch: they reach into all.

        Raises:
            NotFoundError: there is no such branch.
        """
        line = await self.records(root, branch=branch, after=after, limit=limit)
        forgotten = await self.transaction.rows(self.agent_id, kinds=("forgotten",), after=after, limit=limit)
        both = {record.sequence: record for record in line}
        both |= {row.sequence: record_of(self.agent_id, row) for row in forgotten if row.sequence not in both}
        return [both[sequence] for sequence in sorted(both)[:limit]]

    async def pages(self) -> AsyncIterator[list[Row]]:
        """All rows of the journal, whichever their branch, a batch at a time."""
        after = 0
        while page := await self.transaction.rows(self.agent_id, after=after, limit=self.batch):
            yield page
            after = page[-1].sequence

    async def record(self, record_id: str) -> JournalRecord | None:
        """One record, on whichever branch, or None."""
        return next(iter(await self.recorded([record_id])), None)

    async def recorded(self, record_ids: Iterable[str]) -> list[JournalRecord]:
        """The records of these ids that there are, on whichever branch, in the order of the ids."""
        wanted = list(dict.fromkeys(record_ids))
        found: dict[str, JournalRecord] = {}
        for some in _batches(wanted, self.batch):
            rows = await self.transaction.recorded(self.agent_id, some)
            found |= {row.record_id: record_of(self.agent_id, row) for row in rows}
        return [found[record_id] for record_id in wanted if record_id in found]

    async def put(self, contents: Iterable[bytes]) -> list[str]:
        """Store contents that an entry will name; gives back their refs, in order."""
        named = [(self.naming(content), content) for content in contents]
        if named:
            await self.transaction.put(dict(named))
        return [ref for ref, _ in named]

    async def keyed(self, root: AgentRoot, keys: Sequence[str], branch: int | None = None) -> dict[str, JournalRecord]:
        """The records on a branch's line that hold one of the keys, by key; the last where there are several."""
        found: dict[str, JournalRecord] = {}
        for some in _batches(keys, self.batch):
            for row in await self.transaction.keyed(self.agent_id, some):
                if row.key is not None and _on_line(root, branch, row):
                    found[row.key] = record_of(self.agent_id, row)
        return found

    async def latest(self, root: AgentRoot, kind: Kind, branch: int | None = None) -> JournalRecord | None:
        """The last record of a kind on a branch's line."""
        return await self._last(root, (kind,), branch, None)

    async def contents(self, asked: Iterable[str | JournalRecord]) -> dict[str, bytes]:
        """Contents by their refs; of a record, the content that it is about.

        Raises:
            ForgottenError: the content of a record was forgotten; names the record.
            IntegrityError: a content is not what its ref says.
            NotFoundError: a ref is not stored.
        """
        asked = list(asked)
        refs: dict[str, None] = {}
        for one in asked:
            if isinstance(one, str):
                refs[one] = None
            elif one.forgotten_by is not None:
                raise _forgotten(one)
            elif one.content_ref is not None:
                refs[one.content_ref] = None
        found: dict[str, bytes] = {}
        try:
            for some in _batches(refs, self.batch):
                found |= await self.transaction.get(some)
        except NotFoundError:
            # A record read before the forgetting still names it.
            for record in await self.recorded(one.record_id for one in asked if isinstance(one, JournalRecord)):
                if record.forgotten_by is not None:
                    raise _forgotten(record) from None
            raise
        return found

    async def _last(
        self, root: AgentRoot, kinds: Sequence[str], branch: int | None, until: int | None
    ) -> JournalRecord | None:
        found = await self.records(root, branch=branch, until=until, kinds=kinds, limit=1, descending=True)
        return found[0] if found else None


def _branch(root: AgentRoot, branch: int | None) -> Branch:
    at = root.branch if branch is None else branch
    if not 0 <= at < len(root.branches):
        raise NotFoundError(f"there is no branch {at}", branch=at)
    return root.branches[at]


def _on_line(root: AgentRoot, branch: int | None, row: Row) -> bool:
    return any(
        segment.branch == row.branch and segment.after < row.sequence <= (segment.until or row.sequence)
        for segment in root.lineage(_branch(root, branch).branch)
    )


def _batches(items: Iterable[str], size: int) -> list[list[str]]:
    every = list(dict.fromkeys(items))
    return [every[start : start + size] for start in range(0, len(every), size)]


def _stale(agent_id: str, expected: int, found: int) -> ConflictError:
    return ConflictError(
        f"agent {agent_id!r} is at revision {found}, not {expected}", agent_id=agent_id, expected=expected, found=found
    )


def _forgotten(record: JournalRecord) -> ForgottenError:
    return ForgottenError(
        f"the content of record {record.record_id!r} was forgotten",
        record_id=record.record_id,
        sequence=record.sequence,
        forgotten_by=record.forgotten_by,
    )
