"""Forgetting takes contents for good, keeps the journal dense, and says what it did."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.errors import ConflictError, ForgottenError, InvalidInputError, NotFoundError
from threadline.journal import (
    Derived,
    JournalRecord,
    Retention,
    check,
    content_ref,
    expired,
    export_journal,
    forget_messages,
    import_journal,
    project,
    take_snapshot,
)
from threadline.journal.forgetting import certificate_of
from threadline.journal.projection import SNAPSHOT_KIND
from threadline.ports import Document
from threadline.stores import MemoryStore

from .journals import answered, event, known, opened, said, stored

pytestmark = pytest.mark.anyio

SECRET = "my number is 555-0199"
REF = content_ref(SECRET.encode())


async def told(*more):
    store = MemoryStore()
    await stored(
        store,
        [event("input_received", "raw", content=SECRET.encode())],
        [said("m", text=SECRET, key="caller-id", metadata={"note": SECRET}, execution_id="e"), answered("r")],
        [event("decided", "d", content=b"window of m", refs=(REF,)), said("n", text="hello")],
        [event("llm_call_recorded", "l", refs=(content_ref(b"window of m"),)), *more],
    )
    return store


async def forget(store, *record_ids, **options):
    async with opened(store) as book:
        root = await book.root()
        return await forget_messages(book, root, record_ids, 77, record_id="f", requested_by="the user", **options)


def bytes_of(store):
    return repr([(shelf.contents, shelf.rows, shelf.documents) for shelf in store._shelves.values()])


async def test_what_was_forgotten_is_nowhere_any_more():
    store = await told()
    assert SECRET in bytes_of(store)

    await forget(store, "m")

    for trace in (SECRET, REF, "caller-id", "window of m"):
        assert trace not in bytes_of(store)


async def test_a_tombstone_keeps_its_place_and_its_links_alone():
    store = await told()
    await forget(store, "m")

    async with opened(store) as book:
        root = await book.root()
        records = await book.records(root, limit=99)
        tombstone = await book.record("m")

    assert [record.sequence for record in records] == list(range(1, 8))
    assert tombstone == JournalRecord(
        record_id="m",
        agent_id="a",
        sequence=2,
        kind="external_message",
        channel="external",
        role="user",
        execution_id="e",
        occurred_at_ms=11,
        forgotten_by="f",
    )
    assert [record.record_id for record in records if record.forgotten_by] == ["raw", "m", "d", "l"]


async def test_reading_through_a_tombstone_names_the_record():
    store = await told()
    async with opened(store) as book:
        before = await book.record("m")
    await forget(store, "m")

    async with opened(store) as book:
        for record in (before, await book.record("m")):
            with pytest.raises(ForgottenError) as caught:
                await book.contents([record])
            assert caught.value.fields == {"record_id": "m", "sequence": 2, "forgotten_by": "f"}
        with pytest.raises(NotFoundError):
            await book.contents([REF])


async def test_the_certificate_says_what_was_done_and_holds_no_content_and_no_hash():
    store = await told()

    root, certificate = await forget(store, "m")

    assert certificate.record_ids == ("m",)
    assert certificate.derived_record_ids == ("raw", "d", "l")
    assert (certificate.contents_dropped, certificate.contents_kept) == (2, 0)
    assert (certificate.requested_by, certificate.forgotten_at_ms, certificate.agent_id) == ("the user", 77, "a")
    assert "sha256" not in repr(certificate)
    async with opened(store) as book:
        assert certificate_of(await book.record(certificate.certificate_id)) == certificate
        assert await book.root() == root
    assert (root.agent_revision, root.context_revision) == (5, 3)


async def test_a_content_that_another_message_says_too_stays_for_its_sake():
    store = await told(said("again", text=SECRET))

    _, certificate = await forget(store, "m")

    assert (certificate.contents_dropped, certificate.contents_kept) == (0, 1)
    assert certificate.derived_record_ids == ()
    async with opened(store) as book:
        again = await book.record("again")
        assert await book.contents([again]) == {REF: SECRET.encode()}
    _, certificate = await forget_as(store, "f2", "again")
    assert certificate.derived_record_ids == ("raw", "d", "l")
    assert SECRET not in bytes_of(store)


async def forget_as(store, record_id, *record_ids, **options):
    async with opened(store) as book:
        return await forget_messages(book, await book.root(), record_ids, 78, record_id=record_id, **options)


async def test_what_the_caller_lists_as_derived_goes_too():
    store = await told(event("decided", "summary", content=b"they gave a number"))
    async with opened(store) as book:
        (loose,) = await book.put([b"a segment"])
        for id_ in ("x", "y"):
            await book.transaction.save(Document(kind="memory", id=id_, agent_id="a", revision=1, body=b"555"))
    derived = Derived(record_ids=("summary",), contents=(loose,), documents={"memory": ("x", "never")})

    _, certificate = await forget(store, "m", derived=derived)

    assert certificate.derived_record_ids == ("summary", "raw", "d", "l")
    assert (certificate.contents_dropped, certificate.documents_deleted) == (4, 1)
    assert "a segment" not in bytes_of(store)
    assert "they gave" not in bytes_of(store)
    async with opened(store) as book:
        assert await book.transaction.document("memory", "x") is None
        assert await book.transaction.document("memory", "y") is not None


async def test_snapshots_of_all_branches_go():
    store = await told()
    async with opened(store) as book:
        root = await book.root()
        await take_snapshot(book, await project(book, root))
        root, _ = await book.fork(root, after=3, now_ms=1, record_id="b")
        await take_snapshot(book, await project(book, root))

    _, certificate = await forget(store, "m")

    assert certificate.documents_deleted == 2
    async with opened(store) as book:
        assert await book.transaction.documents(SNAPSHOT_KIND, limit=9) == []
        for branch in (0, 1):
            assert "m" not in [
                one.record_id for one in (await project(book, await book.root(), branch=branch)).messages
            ]


async def test_forgetting_reaches_the_view_of_a_branch_that_is_not_current():
    store = await told()
    async with opened(store) as book:
        root, _ = await book.fork(await book.root(), after=3, now_ms=1, record_id="b")
        view = await project(book, root, branch=0)
        assert [one.record_id for one in view.messages] == ["m", "r", "n"]
    await forget(store, "m")

    async with opened(store) as book:
        (news,) = await book.fresh(await book.root(), branch=0, after=view.position, limit=9)
    assert (news.kind, news.branch) == ("forgotten", 1)


async def test_forgetting_twice_is_no_harm():
    store = await told()
    await forget(store, "m")

    _, certificate = await forget_as(store, "f2", "m")

    assert (certificate.record_ids, certificate.contents_dropped) == (("m",), 0)
    async with opened(store) as book:
        assert (await book.record("m")).forgotten_by == "f"
        assert [finding async for finding in check(book)] == []


async def test_a_forgotten_key_is_free_again():
    store = await told()
    await forget(store, "m")

    async with opened(store) as book:
        root = await book.root()
        assert await book.keyed(root, ["caller-id"]) == {}


async def test_a_closed_agent_can_be_made_to_forget():
    store = await told(event("agent_closed", "z"))

    root, _ = await forget(store, "m")

    assert root.lifecycle_status == "closed"
    assert SECRET not in bytes_of(store)


async def test_what_cannot_be_forgotten_changes_nothing():
    store = await told(event("transcript_cleared", "c"))
    before = bytes_of(store)
    async with opened(store) as book:
        stale = await book.root()

    for ids, error in (((), InvalidInputError), (("nobody",), NotFoundError), (("m", "c"), InvalidInputError)):
        with pytest.raises(error):
            await forget(store, *ids)
    assert bytes_of(store) == before
    async with opened(store) as book:
        await book.append(stale, [said("x")], now_ms=1)
        with pytest.raises(ConflictError):
            await forget_messages(book, stale, ["m"], 1, record_id="f")
        assert (await book.record("m")).forgotten_by is None


async def test_tombstones_survive_going_out_and_coming_in():
    store = await told()
    await forget(store, "m")
    async with opened(store) as book:
        lines = [line async for line in export_journal(book)]
    copy = MemoryStore()
    async with opened(copy) as book:
        await import_journal(book, lines)
        assert [finding async for finding in check(book)] == []
        with pytest.raises(ForgottenError):
            await book.contents([await book.record("m")])

    assert SECRET not in repr(lines)


async def test_a_sound_journal_is_sound_after_forgetting_any_of_it():
    for chosen in ("m", "r", "n", "raw", "d", "l"):
        store = await told()
        await forget(store, chosen)
        async with opened(store) as book:
            assert [finding async for finding in check(book)] == []


def dated(*ages, kind="external_message", **fields):
    return [
        JournalRecord(
            record_id=f"{kind}{n}",
            agent_id="a",
            sequence=n + 1,
            kind=kind,
            channel="external",
            occurred_at_ms=1_000 - age,
            **fields,
        )
        for n, age in enumerate(ages)
    ]


async def test_retention_lets_go_by_age_and_by_number_and_says_which():
    records = dated(500, 400, 300, 200, 100)

    due = expired(Retention(max_age_ms=350, max_records=2), records, now_ms=1_000)

    assert due.by_age == ("external_message0", "external_message1")
    assert due.by_number == ("external_message2",)
    assert due.record_ids == (*due.by_age, *due.by_number)
    assert (due.held_back, due.kept) == ((), 2)


async def test_retention_splits_nothing_that_belongs_together():
    records = dated(500, 400, 300)

    due = expired(
        Retention(max_age_ms=350), records, now_ms=1_000, together=[("external_message1", "external_message2")]
    )

    assert (due.record_ids, due.held_back, due.kept) == (("external_message0",), ("external_message1",), 2)


async def test_retention_counts_neither_other_kinds_nor_tombstones():
    records = [*dated(500, kind="knowledge"), *dated(500, forgotten_by="f")]

    due = expired(Retention(max_age_ms=1, max_records=0), records, now_ms=1_000)

    assert (due.record_ids, due.kept) == ((), 0)


@pytest.mark.parametrize("options", [{"max_age_ms": -1}, {"max_records": -1}, {"kinds": ("context_reset",)}])
async def test_a_retention_that_makes_no_sense_is_refused(options):
    with pytest.raises(InvalidInputError):
        Retention(**options)


@given(
    st.lists(st.integers(-50, 500), max_size=12),
    st.none() | st.integers(0, 500),
    st.none() | st.integers(0, 12),
    st.lists(st.sets(st.integers(0, 11), min_size=1), max_size=3),
)
@settings(max_examples=50)
def test_retention_keeps_what_it_must_and_no_group_is_split(ages, max_age_ms, max_records, groups):
    records = dated(*ages)
    together = [{f"external_message{n}" for n in group} for group in groups]

    due = expired(Retention(max_age_ms=max_age_ms, max_records=max_records), records, now_ms=1_000, together=together)

    gone = set(due.record_ids)
    assert len(gone) == len(due.by_age) + len(due.by_number) == len(records) - due.kept
    assert not gone & set(due.held_back)
    assert all(gone >= group or not gone & group for group in together)
    if max_age_ms is None and max_records is None:
        assert not gone
    if max_records is not None and not due.held_back:
        assert due.kept <= max_records


async def test_knowledge_can_be_forgotten():
    store = await told(known("k"))

    await forget(store, "k")

    async with opened(store) as book:
        assert len((await project(book, await book.root())).knowledge) == 0
    assert "fact k" not in bytes_of(store)
