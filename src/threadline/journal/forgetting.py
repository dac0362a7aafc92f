"""Forgetting: contents go for good, tombstones keep the journal dense; what may go by age or number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from threadline.errors import InvalidInputError, NotFoundError
from threadline.journal.book import Book
from threadline.journal.frozen import FrozenMap
from threadline.journal.metadata import Forgotten, stated
from threadline.journal.projection import SNAPSHOT_KIND
from threadline.journal.record import CANDIDATES, CONVERSATION, Entry, JournalRecord, Kind
from threadline.journal.root import AgentRoot
from threadline.journal.rows import record_of, row_of

__all__ = ["Certificate", "Derived", "Expired", "Retention", "certificate_of", "expired", "forget_messages"]

_STRUCTURE: frozenset[Kind] = frozenset(
    {
        "transcript_cleared",
        "knowledge_cleared",
        "context_reset",
        "branch_opened",
        "forgotten",
        "agent_closed",
        "calibrated",
    }
)
"""Kinds that hold nothing of what was said and without which the rest could not be read."""


class Derived(Struct, frozen=True, kw_only=True):
    """What was made from messages that are to be forgotten, as far as its makers know it.

    Attributes:
        record_ids: records to become tombstones as well, such as those of decisions that quote them.
        contents: refs of contents to drop as well, such as manifests and what these name; what a record that stays
            names is left alone.
        documents: ids of documents to delete, by kind.
    """

    record_ids: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    documents: Mapping[str, tuple[str, ...]] = FrozenMap()


class Certificate(Struct, frozen=True, kw_only=True):
    """What was forgotten, when and for whom; no content and no hash of one.

    Attributes:
        certificate_id: the `forgotten` record it can be read from again.
        record_ids: what was asked for; `derived_record_ids` went with it.
        contents_dropped: contents that are gone.
        contents_kept: contents that stay because another record, which was not asked for, says the same.
        documents_deleted: derived documents that are gone.
        requested_by: who asked; None when nobody was named.
    """

    certificate_id: str
    agent_id: str
    record_ids: tuple[str, ...]
    derived_record_ids: tuple[str, ...]
    contents_dropped: int
    contents_kept: int
    documents_deleted: int
    requested_by: str | None
    forgotten_at_ms: int


async def forget_messages(
    book: Book,
    root: AgentRoot,
    record_ids: Sequence[str],
    now_ms: int,
    *,
    record_id: str,
    requested_by: str | None = None,
    derived: Derived = Derived(),  # noqa: B008  # frozen
) -> tuple[AgentRoot, Certificate]:
    """Take away what records say, for good, and write down that it was done.

    Of a record stay its kind, its place and its links; content, key, refs and metadata go. With it go the records that
    name its contents and are no message or knowledge of their own (raw input, audit, decisions), those that name what
    these are about, the snapshots of all branches and what `derived` lists. A content that another message or piece of
    knowledge holds too stays for that one's sake, and so do the records that name it. Tombstones are passed over. Reads
    the rows of the journal twice or more, a batch at a time. What was deleted may still lie in the files: see
    `Store.scrub`.

    Args:
        book: of the agent, in a transaction that writes.
        root: as the caller saw it.
        record_ids: what to forget; messages that only make sense together are the caller's to list together.
        now_ms: when.
        record_id: of the `forgotten` record.
        requested_by: who asked, for the certificate.
        derived: what else was made from them.

    Returns:
        The next root, and what was done.

    Raises:
        ConflictError: the root is stale.
        InvalidInputError: none is named, or one is of a kind that holds the journal together.
        NotFoundError: a record does not exist.
    """
    asked = await _named(book, record_ids)
    if not asked:
        raise InvalidInputError("no record is named", key="record_ids")
    others = [record for record in await _named(book, derived.record_ids) if record not in asked]
    gone = [record for record in asked if record.forgotten_by is None]
    along = [record for record in others if record.forgotten_by is None]
    await book.assert_watermark(root.agent_revision, root.journal_position)  # the stale fail before anything is taken
    along += await _cascade(book, gone, along)
    droppable = {*derived.contents, *(ref for record in (*gone, *along) for ref in _refs(record))}
    tombstones = [_tombstone(record, record_id) for record in (*gone, *along)]
    for start in range(0, len(tombstones), book.batch):
        rows = [row_of(record) for record in tombstones[start : start + book.batch]]
        await book.transaction.replace(book.agent_id, rows)
    dropped = await book.transaction.drop(sorted(droppable)) if droppable else []
    said = Forgotten(
        record_ids=tuple(record.record_id for record in asked),
        sequences=tuple(record.sequence for record in asked),
        derived_record_ids=tuple(record.record_id for record in along),
        derived_sequences=tuple(record.sequence for record in along),
        contents_dropped=len(dropped),
        contents_kept=len({record.content_ref for record in gone} - {None, *dropped}),
        documents_deleted=await _delete_documents(book, derived.documents),
        requested_by=requested_by,
    )
    entry = Entry(
        kind="forgotten",
        channel="audit",
        record_id=record_id,
        visibility="operator",
        metadata=msgspec.to_builtins(said),
    )
    root, (record,) = await book.append(root, [entry], now_ms=now_ms)
    return root, certificate_of(record)


def certificate_of(record: JournalRecord) -> Certificate:
    """The certificate that a `forgotten` record holds.

    Raises:
        SerializationError: it is no such record.
    """
    said = stated(record, Forgotten)
    return Certificate(
        certificate_id=record.record_id,
        agent_id=record.agent_id,
        record_ids=said.record_ids,
        derived_record_ids=said.derived_record_ids,
        contents_dropped=said.contents_dropped,
        contents_kept=said.contents_kept,
        documents_deleted=said.documents_deleted,
        requested_by=said.requested_by,
        forgotten_at_ms=record.occurred_at_ms,
    )


class Retention(Struct, frozen=True, kw_only=True):
    """How long and how much is kept.

    Attributes:
        max_age_ms: older records are due; None for no limit.
        max_records: of the kinds, only so many of the newest are kept; None for no limit.
        kinds: to which records it applies.
    """

    max_age_ms: int | None = None
    max_records: int | None = None
    kinds: tuple[Kind, ...] = (*CONVERSATION, "input_received", "tool_result")

    def __post_init__(self) -> None:
        for name, value in (("max_age_ms", self.max_age_ms), ("max_records", self.max_records)):
            if value is not None and value < 0:
                raise InvalidInputError(f"{name} must not be negative", key=name)
        for kind in self.kinds:
            if kind in _STRUCTURE:
                raise InvalidInputError(f"records of kind {kind!r} hold the journal together", key="kinds")


class Expired(Struct, frozen=True, kw_only=True):
    """What a retention lets go, and what it leaves.

    Attributes:
        by_age, by_number: record ids that are due, and why; each in one of the two.
        held_back: record ids that are due but stay, because they belong to something that is not.
        kept: how many records of the kinds stay, those held back among them.
    """

    by_age: tuple[str, ...]
    by_number: tuple[str, ...]
    held_back: tuple[str, ...]
    kept: int

    @property
    def record_ids(self) -> tuple[str, ...]:
        """All that goes, for `forget_messages`."""
        return (*self.by_age, *self.by_number)


def expired(
    retention: Retention, records: Iterable[JournalRecord], *, now_ms: int, together: Iterable[Collection[str]] = ()
) -> Expired:
    """Which records a retention lets go; pure.

    Args:
        retention: the policy.
        records: all there are, ascending; those of other kinds and tombstones do not count.
        now_ms: what age is measured against. A record from the future has no age.
        together: record ids that go together or not at all, such as a tool call and its results.
    """
    those = [one for one in records if one.kind in retention.kinds and one.forgotten_by is None]
    ages = {one.record_id for one in those if _is_old(retention, one, now_ms)}
    surplus = 0 if retention.max_records is None else max(len(those) - retention.max_records, 0)
    due = ages | {one.record_id for one in those[:surplus]}
    held = _held(due, [frozenset(group) for group in together])
    return Expired(
        by_age=tuple(one.record_id for one in those if one.record_id in ages - held),
        by_number=tuple(one.record_id for one in those if one.record_id in due - ages - held),
        held_back=tuple(one.record_id for one in those if one.record_id in held),
        kept=len(those) - len(due - held),
    )


def _held(due: set[str], groups: Sequence[frozenset[str]]) -> set[str]:
    """What of `due` belongs, directly or through others, to something that stays."""
    going, count = set(due), -1
    while count != len(going):
        count = len(going)
        for group in groups:
            if not going >= group:
                going -= group
    return due - going


def _is_old(retention: Retention, record: JournalRecord, now_ms: int) -> bool:
    return retention.max_age_ms is not None and now_ms - record.occurred_at_ms > retention.max_age_ms


async def _named(book: Book, record_ids: Sequence[str]) -> list[JournalRecord]:
    found = await book.recorded(record_ids)
    missing = set(record_ids).difference(record.record_id for record in found)
    if missing:
        raise NotFoundError(f"there is no record {min(missing)!r}", record_id=min(missing))
    for record in found:
        if record.kind in _STRUCTURE:
            raise InvalidInputError(
                f"record {record.record_id!r} of kind {record.kind!r} holds the journal together",
                record_id=record.record_id,
            )
    return found


async def _cascade(book: Book, gone: Sequence[JournalRecord], along: Sequence[JournalRecord]) -> list[JournalRecord]:
    """The records that name a content that goes, and then those that name what these are about."""
    taken = {record.record_id for record in (*gone, *along)}
    doomed = {ref for record in gone for ref in _refs(record)}
    doomed |= {record.content_ref for record in along if record.content_ref is not None}
    async for page in book.pages():
        doomed.difference_update(*(row.refs for row in page if row.kind in CANDIDATES and row.record_id not in taken))
    found: list[JournalRecord] = []
    newest = doomed
    while newest:
        doomed, newest = newest, set[str]()
        async for page in book.pages():
            for row in page:
                if row.record_id in taken or row.kind in CANDIDATES | _STRUCTURE or doomed.isdisjoint(row.refs):
                    continue
                record = record_of(book.agent_id, row)
                found.append(record)
                taken.add(record.record_id)
                newest |= {ref for ref in (record.content_ref,) if ref is not None and ref not in doomed}
    return found


async def _delete_documents(book: Book, listed: Mapping[str, Sequence[str]]) -> int:
    after, count = "", 0
    while found := await book.transaction.documents(
        SNAPSHOT_KIND, agent_id=book.agent_id, after=after, limit=book.batch
    ):
        await book.transaction.delete(SNAPSHOT_KIND, [one.id for one in found])
        after, count = found[-1].id, count + len(found)
    for kind, ids in listed.items():
        there = [id_ for id_ in ids if await book.transaction.document(kind, id_) is not None]
        await book.transaction.delete(kind, there)
        count += len(there)
    return count


def _refs(record: JournalRecord) -> tuple[str, ...]:
    return record.refs if record.content_ref is None else (record.content_ref, *record.refs)


def _tombstone(record: JournalRecord, forgotten_by: str) -> JournalRecord:
    return replace(
        record,
        content_ref=None,
        key=None,
        refs=(),
        context_candidate=False,
        metadata=FrozenMap(),
        forgotten_by=forgotten_by,
    )
