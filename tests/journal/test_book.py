"""A book: where records stand, what the root says of them, who is late, what a branch shares."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from threadline.errors import ConflictError, InvalidInputError, NotFoundError, SerializationError, ThreadlineError
from threadline.journal import Entry, FrozenMap, JournalRecord, content_ref, freeze
from threadline.journal.rows import record_of, row_of
from threadline.stores import MemoryStore

from .journals import SCOPE, answered, event, known, new_root, opened, said, stored

pytestmark = pytest.mark.anyio

RECORD = JournalRecord(
    record_id="r",
    agent_id="a",
    sequence=3,
    branch=1,
    kind="external_message",
    channel="external",
    role="user",
    content_ref="sha256:" + "0" * 64,
    key="k",
    refs=("sha256:" + "1" * 64,),
    execution_id="e",
    llm_call_id="l",
    parent_id="p",
    causation_id="c",
    visibility="operator",
    context_generation=2,
    context_candidate=True,
    occurred_at_ms=1_700_000_000_000,
    metadata=freeze({"nested": {"list": [1, None, "\0\ud800"]}}),
)


async def test_an_empty_agent_writes_no_record_and_the_first_call_makes_one_revision():
    store = MemoryStore()

    root = await stored(store)
    assert (root.agent_revision, root.context_revision, root.journal_position) == (0, 0, 0)
    async with opened(store) as book:
        root, _ = await book.append(root, [known("k1"), known("k2"), said("m")], now_ms=5)

    assert (root.agent_revision, root.context_revision, root.journal_position) == (1, 1, 3)
    assert (root.lifecycle_status, root.updated_at_ms) == ("idle", 5)


@pytest.mark.parametrize(
    ("entry", "context", "generation", "status"),
    [
        (known("x"), 1, 0, "idle"),
        (event("transcript_cleared", "x"), 1, 1, "idle"),
        (event("knowledge_cleared", "x"), 1, 0, "idle"),
        (event("context_reset", "x"), 1, 1, "idle"),
        (event("agent_closed", "x"), 0, 0, "closed"),
        (event("input_received", "x", content=b"raw"), 0, 0, "idle"),
        (said("x", context_candidate=False), 0, 0, "idle"),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
async def test_row_55_what_each_kind_moves(entry, context, generation, status):
    store = MemoryStore()
    before = await stored(store, [said("m"), known("k")])

    async with opened(store) as book:
        root, _ = await book.append(before, [entry], now_ms=20)
        again = await book.root()
        records = await book.records(root, limit=10)

    assert root.agent_revision == before.agent_revision + 1
    assert root.context_revision == before.context_revision + context
    assert root.current.transcript_generation == generation
    assert root.lifecycle_status == status
    assert again == root
    assert [record.record_id for record in records] == ["m", "k", "x"]


async def test_a_record_knows_its_generation_its_branch_and_the_message_before_it():
    store = MemoryStore()
    root = await stored(store, [said("a"), known("k"), answered("b")], [event("transcript_cleared", "c"), said("d")])

    async with opened(store) as book:
        records = {record.record_id: record for record in await book.records(root, limit=10)}

    parents = {id_: record.parent_id for id_, record in records.items()}
    assert parents == {"a": None, "k": "a", "b": "a", "c": "b", "d": "b"}
    assert [record.context_generation for record in records.values()] == [0, 0, 0, 0, 1]
    assert [record.sequence for record in records.values()] == [1, 2, 3, 4, 5]
    assert root.current.transcript_since == 4


async def test_a_new_user_message_begins_a_run_and_a_late_reply_does_not():
    store = MemoryStore()
    root = await stored(store, [answered("a", execution_id="e0")])
    assert root.execution_id == "e0"

    async with opened(store) as book:
        root, _ = await book.append(root, [said("b", execution_id="e1"), answered("c", execution_id="e0")], now_ms=1)

    assert root.execution_id == "e1"


async def test_row_38_the_same_content_is_stored_once():
    store = MemoryStore()
    root = await stored(store, [said("a", text="same"), said("b", text="same")])

    async with opened(store) as book:
        one, other = await book.records(root, limit=2)
        assert one.content_ref == other.content_ref == content_ref(b"same")
        assert await book.contents([one, other]) == {one.content_ref: b"same"}


async def test_row_41_a_stale_root_conflicts_and_writes_nothing():
    store = MemoryStore()
    old = await stored(store, [said("a")])
    async with opened(store) as book:
        now, _ = await book.append(old, [said("b")], now_ms=2)

    async with opened(store) as book:
        for write in (
            lambda: book.append(old, [said("c")], now_ms=3),
            lambda: book.save(old),
            lambda: book.fork(old, after=1, now_ms=3, record_id="f"),
            lambda: book.create(new_root()),
        ):
            with pytest.raises(ConflictError):
                await write()

    async with opened(store, write=False) as book:
        assert await book.root() == now
        assert len(await book.records(now, limit=10)) == 2
        with pytest.raises(NotFoundError):
            await book.contents([content_ref(b"text of c")])


async def test_rows_41_and_42_the_watermark_holds_for_one_revision_and_one_position():
    store = MemoryStore()
    root = await stored(store, [said("a")])

    async with opened(store) as book:
        await book.assert_watermark(root.agent_revision, root.journal_position)
        with pytest.raises(ConflictError):
            await book.assert_watermark(root.agent_revision, root.journal_position + 1)
        await book.append(root, [said("b")], now_ms=2)
        with pytest.raises(ConflictError):
            await book.assert_watermark(root.agent_revision, root.journal_position)
    async with opened(store, "nobody") as book:
        with pytest.raises(NotFoundError):
            await book.assert_watermark(0, 0)


async def test_row_43_an_error_in_the_transaction_takes_everything_back():
    store = MemoryStore()
    root = await stored(store, [said("a")])

    async def interrupted():
        async with opened(store) as book:
            await book.append(root, [said("b")], now_ms=2)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await interrupted()

    async with opened(store) as book:
        assert await book.root() == root
        assert [record.record_id for record in await book.records(root, limit=9)] == ["a"]


async def test_a_taken_record_id_conflicts():
    store = MemoryStore()
    root = await stored(store, [said("a")])

    with pytest.raises(ConflictError):
        async with opened(store) as book:
            await book.append(root, [said("b"), said("a")], now_ms=2)

    async with opened(store) as book:
        assert await book.root() == root


BAD = {
    "unknown kind": event("rumour", "x"),
    "unknown channel": Entry(kind="knowledge", channel="ether", record_id="x"),
    "unknown visibility": event("input_received", "x", visibility="all"),
    "empty id": said(""),
    "NUL in an id": said("a\0b"),
    "lone surrogate in a key": said("x", key="\ud800"),
    "candidate without content": said("x", content=None),
    "candidate of no visible kind": event("tool_result", "x", content=b"r", context_candidate=True),
    "metadata that is no JSON": said("x", metadata={"a": {1, 2}}),
    "metadata that is no mapping": said("x", metadata=[1]),
    "factors that are no numbers": event("calibrated", "x", metadata={"factors": {"m": "1"}}),
    "a branch": event("branch_opened", "x"),
}


@pytest.mark.parametrize("entry", BAD.values(), ids=BAD)
async def test_an_entry_that_cannot_be_a_record_is_refused_by_its_index(entry):
    store = MemoryStore()
    root = await stored(store)

    async with opened(store) as book:
        with pytest.raises(InvalidInputError) as caught:
            await book.append(root, [said("good"), entry], now_ms=1)
        assert await book.root() == root

    assert caught.value.fields["index"] == 1


async def test_a_number_without_canonical_form_in_metadata_is_refused():
    store = MemoryStore()
    root = await stored(store)

    async with opened(store) as book:
        with pytest.raises(SerializationError) as caught:
            await book.append(root, [said("x", metadata={"a": [float("nan")]})], now_ms=1)
        assert await book.root() == root

    assert caught.value.fields["path"] == "$.payload.metadata.a[0]"


async def test_a_closed_agent_takes_nothing_more_and_can_still_be_read():
    store = MemoryStore()
    root = await stored(store, [said("a"), event("agent_closed", "z")])

    async with opened(store) as book:
        for write in (
            lambda: book.append(root, [said("b")], now_ms=2),
            lambda: book.fork(root, after=1, now_ms=2, record_id="f"),
            lambda: book.switch(root, 0, 2),
        ):
            with pytest.raises(InvalidInputError, match="closed"):
                await write()
        assert len(await book.records(root, limit=9)) == 2


async def test_a_callers_metadata_is_never_exposed():
    store = MemoryStore()
    mine = {"a": [1]}
    root_metadata = {"b": [1]}
    async with opened(store) as book:
        root = await book.create(new_root(metadata=root_metadata))
        root, (record,) = await book.append(root, [said("a", metadata=mine)], now_ms=1)
    mine["a"].append(2)
    root_metadata["b"].append(2)

    assert (record.metadata, root.metadata) == ({"a": (1,)}, {"b": (1,)})
    assert isinstance(record.metadata, FrozenMap)
    async with opened(store) as book:
        read = await book.record("a")
    assert read == record
    with pytest.raises(TypeError):
        read.metadata["a"] = 1
    with pytest.raises(AttributeError):
        read.role = "assistant"


async def test_an_explicit_parent_must_be_on_the_branch():
    store = MemoryStore()
    root = await stored(store, [said("a"), said("b"), said("c")])

    async with opened(store) as book:
        root, (record,) = await book.append(root, [said("d", parent_id="a")], now_ms=2)
        assert record.parent_id == "a"
        root, _ = await book.fork(root, after=1, now_ms=3, record_id="f")
        with pytest.raises(NotFoundError):
            await book.append(root, [said("e", parent_id="c")], now_ms=4)


async def forked(store):
    """Two messages, a clearing, two more; a branch after the first; one message there."""
    root = await stored(
        store,
        [said("a", key="1"), said("b", key="2")],
        [event("transcript_cleared", "c"), known("k")],
        [said("d", key="3"), event("knowledge_cleared", "e"), event("transcript_cleared", "g")],
    )
    async with opened(store) as book:
        root, record = await book.fork(root, after=1, now_ms=50, record_id="f")
        root, _ = await book.append(root, [said("h", key="2")], now_ms=51)
    return root, record


async def test_a_fork_shares_the_prefix_and_what_was_hidden_at_that_point():
    store = MemoryStore()
    root, record = await forked(store)

    assert (record.branch, record.parent_id, record.context_generation) == (1, "a", 0)
    assert (root.branch, root.current.head, root.current.tip) == (1, 9, "h")
    assert (root.current.transcript_since, root.current.knowledge_since) == (0, 0)
    async with opened(store) as book:
        assert [one.record_id for one in await book.records(root, limit=10)] == ["a", "f", "h"]
        main = await book.records(root, branch=0, limit=10, descending=True)
        assert [one.record_id for one in main] == ["g", "e", "d", "k", "c", "b", "a"]


@pytest.mark.parametrize(
    ("after", "tip", "generation", "transcript_since", "knowledge_since"),
    [(0, None, 0, 0, 0), (2, "b", 0, 0, 0), (3, "b", 1, 3, 0), (5, "d", 1, 3, 0), (6, "d", 1, 3, 6), (7, "d", 2, 7, 6)],
)
async def test_a_fork_hides_what_was_hidden_where_it_leaves(after, tip, generation, transcript_since, knowledge_since):
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store) as book:
        root, record = await book.fork(root, after=after, branch_from=0, now_ms=60, record_id="x")
        at = root.current

    assert (at.tip, at.transcript_generation) == (tip, generation)
    assert (at.transcript_since, at.knowledge_since) == (transcript_since, knowledge_since)
    assert (record.parent_id, record.context_generation) == (tip, generation)


async def test_a_branch_of_a_branch_may_leave_before_its_parent_did():
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store) as book:
        root, _ = await book.fork(root, after=9, now_ms=60, record_id="x")
        root, _ = await book.append(root, [said("y")], now_ms=61)
        assert [one.record_id for one in await book.records(root, limit=10)] == ["a", "f", "h", "x", "y"]
        root, _ = await book.fork(root, after=1, now_ms=62, record_id="z")
        assert [one.record_id for one in await book.records(root, limit=10)] == ["a", "z"]


async def test_a_key_is_looked_up_on_its_own_line():
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store, batch=2) as book:
        here = await book.keyed(root, ["1", "2", "3", "4"])
        there = await book.keyed(root, ["1", "2", "3", "4"], branch=0)

    assert {key: record.record_id for key, record in here.items()} == {"1": "a", "2": "h"}
    assert {key: record.record_id for key, record in there.items()} == {"1": "a", "2": "b", "3": "d"}


async def test_switching_changes_where_appends_go_and_what_is_seen():
    store = MemoryStore()
    before, _ = await forked(store)

    async with opened(store) as book:
        root = await book.switch(before, 0, now_ms=70)
        assert root.context_revision == before.context_revision + 1
        assert await book.switch(root, 0, now_ms=71) is root
        root, (record,) = await book.append(root, [said("m")], now_ms=72)
        assert (record.branch, record.parent_id, record.context_generation) == (0, "d", 2)
        assert (await book.latest(root, "external_message")).record_id == "m"
        assert (await book.latest(root, "external_message", branch=1)).record_id == "h"
        assert await book.latest(root, "agent_closed") is None


@pytest.mark.parametrize("branch", [-1, 2])
async def test_a_branch_that_there_is_not_is_named(branch):
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store) as book:
        for ask in (
            lambda: book.records(root, branch=branch, limit=1),
            lambda: book.keyed(root, ["1"], branch),
            lambda: book.switch(root, branch, 1),
            lambda: book.fork(root, after=1, branch_from=branch, now_ms=1, record_id="x"),
        ):
            with pytest.raises(NotFoundError) as caught:
                await ask()
            assert caught.value.fields["branch"] == branch


@pytest.mark.parametrize("after", [-1, 10])
async def test_a_fork_leaves_where_there_is_something(after):
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store) as book:
        with pytest.raises(InvalidInputError):
            await book.fork(root, after=after, now_ms=1, record_id="x")


async def test_pages_put_together_are_the_whole_line():
    store = MemoryStore()
    root, _ = await forked(store)

    async with opened(store) as book:
        for branch in (0, 1):
            whole = await book.records(root, branch=branch, limit=100)
            for size in (1, 2, 3):
                pages, after = [], 0
                while page := await book.records(root, branch=branch, after=after, limit=size):
                    assert len(page) <= size
                    pages, after = pages + page, page[-1].sequence
                assert pages == whole
            assert await book.records(root, branch=branch, limit=100, descending=True) == whole[::-1]
            kept = [one for one in whole if one.kind == "external_message" and 1 < one.sequence <= 8]
            kinds = ["external_message"]
            assert await book.records(root, branch=branch, after=1, until=8, kinds=kinds, limit=100) == kept


async def test_the_number_of_statements_and_rows_does_not_grow_with_the_history():
    costs = []
    for length in (10, 1_000):
        store = MemoryStore()
        root = await stored(store, [said(f"m{n}", key=f"k{n}") for n in range(length)])
        before = store.statistics()
        async with opened(store) as book:
            root = await book.root()
            await book.assert_watermark(root.agent_revision, root.journal_position)
            await book.keyed(root, ["k3"])
            await book.latest(root, "external_message")
            root, _ = await book.append(root, [said("x", key="x"), answered("y")], now_ms=5)
            await book.records(root, limit=5, descending=True)
            await book.fresh(root, after=root.journal_position - 2, limit=5)
            root, _ = await book.fork(root, after=root.journal_position - 3, now_ms=6, record_id="f")
            await book.switch(root, 0, 7)
        after = store.statistics()
        costs.append((after.statements - before.statements, after.rows_read - before.rows_read))

    assert costs[0] == costs[1]


async def test_the_clock_may_run_backwards():
    store = MemoryStore()
    root = await stored(store, [said("a")])

    async with opened(store) as book:
        root, (record,) = await book.append(root, [said("b")], now_ms=-5)

    assert (record.sequence, record.occurred_at_ms, root.updated_at_ms) == (2, -5, 10)


async def test_contents_of_any_bytes_come_back_as_they_were():
    store = MemoryStore()
    contents = [b"\0", b"\xff\xfe", '{"a":"\ud800"}'.encode("utf-8", "surrogatepass"), b"x" * 2_000_000, b""]
    root = await stored(store, [said(f"m{n}", content=content) for n, content in enumerate(contents)])

    async with opened(store) as book:
        records = await book.records(root, limit=9)
        held = await book.contents(records)

    assert [held[record.content_ref] for record in records] == contents


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "rumour"},
        {"refs": ()},
        {"refs": ("sha256:" + "1" * 64, "sha256:" + "0" * 64)},
        {"body": b"{}"},
        {"body": row_of(RECORD).body.replace(b'"operator"', b'"everybody"')},
    ],
)
def test_a_row_that_was_changed_is_no_record(change):
    with pytest.raises(SerializationError, match="record 3"):
        record_of("a", replace(row_of(RECORD), **change))


async def test_a_root_under_another_id_is_refused():
    store = MemoryStore()
    await stored(store, [said("a")])
    async with store.transaction(SCOPE) as transaction:
        document = await transaction.document("agent", "a")
        await transaction.save(replace(document, id="b", revision=1))

    async with opened(store, "b") as book:
        with pytest.raises(ThreadlineError, match="another id"):
            await book.root()


async def test_a_new_agent_starts_at_nothing():
    store = MemoryStore()

    async with opened(store) as book:
        for root in (new_root("b"), new_root(agent_revision=1), new_root(journal_position=1)):
            with pytest.raises(InvalidInputError):
                await book.create(root)
        with pytest.raises(NotFoundError):
            await book.append(new_root(), [said("a")], now_ms=1)
        assert await book.append(new_root(), [], now_ms=1) == (new_root(), [])


async def test_the_root_as_of_a_sequence_is_the_root_as_it_was():
    store = MemoryStore()
    batches = [[said("a")], [event("transcript_cleared", "b")], [known("c"), event("context_reset", "d")], [said("e")]]
    async with opened(store) as book:
        root = await book.create(new_root())
        then = {}
        for batch in batches:
            root, _ = await book.append(root, batch, now_ms=1)
            then[root.journal_position] = root.current
        forked, _ = await book.fork(root, after=2, now_ms=2, record_id="f")
        for sequence, branch in then.items():
            past = await book.as_of(forked, 0, sequence)
            assert (past.journal_position, past.current) == (sequence, branch)
