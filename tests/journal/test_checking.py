"""A check finds every single thing that was tampered with, and nothing where all is well."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from threadline.journal import check, freeze, project, take_snapshot
from threadline.journal.projection import SNAPSHOT_KIND, encode_snapshot, fold, snapshot_id
from threadline.journal.root import Branch
from threadline.journal.rows import encode_root, record_of, row_of
from threadline.stores import MemoryStore

from .journals import SCOPE, answered, event, known, opened, said, step, stored

pytestmark = pytest.mark.anyio


async def sound():
    store = MemoryStore()
    root = await stored(store, [said("a"), known("k"), answered("b")], [event("transcript_cleared", "c"), said("d")])
    async with opened(store) as book:
        root, _ = await book.fork(root, after=3, now_ms=1, record_id="e")
        root, _ = await book.append(root, [said("f"), said("g", parent_id="a")], now_ms=1)
        root = await step(book, root, 1, "forget", 0)
        await take_snapshot(book, await project(book, root))
    return store


async def found(store):
    async with opened(store, write=False, batch=3) as book:
        return [f"{one.place}: {one.sentence}" async for one in check(book)]


def rows(store):
    return store._shelves[SCOPE].rows


def change(store, at, fields):
    held = list(rows(store)["a"])
    held[at - 1] = row_of(replace(record_of("a", held[at - 1]), **fields))
    rows(store)["a"] = tuple(held)


async def change_root(store, **fields):
    async with opened(store) as book:
        root = await book.root()
    documents = store._shelves[SCOPE].documents
    documents["agent", "a"] = encode_root(replace(root, **fields), documents["agent", "a"].revision)
    return root


async def test_nothing_is_found_where_all_is_well():
    assert await found(await sound()) == []


@pytest.mark.parametrize(
    ("sequence", "fields", "says"),
    [
        (5, {"parent_id": "zz"}, "record 5: names 'zz' as the message before it, which is none"),
        (5, {"parent_id": "k"}, "record 5: names 'k' as the message before it, which is none"),
        (7, {"parent_id": "d"}, "record 7: names 'd' as the message before it, which is none"),
        (3, {"parent_id": "f"}, "record 3: names 'f' as the message before it, which is none"),
        (5, {"parent_id": None}, "record 5: names no message before it, and there is one"),
        (5, {"context_generation": 0}, "record 5: is of generation 0, its branch of 1"),
        (7, {"branch": 5}, "record 7: is on branch 5, which nothing opened"),
        (6, {"metadata": freeze({})}, "record 6: does not say where its branch begins"),
        (1, {"context_candidate": True}, "record 1: is a tombstone, and still says something"),
        (1, {"forgotten_by": "nobody"}, "record 1: is a tombstone, but 'nobody' is no record of forgetting"),
        (9, {"metadata": freeze({})}, "record 9: does not say what was forgotten"),
        (8, {"sequence": 12}, "record 12: follows record 7"),
    ],
)
async def test_a_changed_record_is_found(sequence, fields, says):
    store = await sound()
    change(store, sequence, fields)

    assert says in await found(store)


async def test_an_unreadable_record_is_found_and_the_others_are_still_looked_at():
    store = await sound()
    held = list(rows(store)["a"])
    held[1] = replace(held[1], body=b"{")
    rows(store)["a"] = tuple(held)
    contents = store._shelves[SCOPE].contents
    contents[held[6].refs[0]] = b"tampered"

    first, second = await found(store)

    assert first.startswith("record 2: cannot be read")
    assert second == f"content {held[6].refs[0]}: of record 7 is missing or was changed"


@pytest.mark.parametrize("damage", ["missing", "changed"])
async def test_a_content_that_is_not_what_it_was_is_found(damage):
    store = await sound()
    ref = rows(store)["a"][2].refs[0]
    if damage == "missing":
        del store._shelves[SCOPE].contents[ref]
    else:
        store._shelves[SCOPE].contents[ref] = b"other"

    assert await found(store) == [f"content {ref}: of record 3 is missing or was changed"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"journal_position": 8}, "root: stands at record 8, the rows at 9"),
        ({"lifecycle_status": "closed"}, "root: and rows do not agree on whether the agent is closed"),
        ({"branches": (Branch(),), "branch": 0}, "root: has 1 branches, the rows 2"),
    ],
)
async def test_a_root_that_rows_do_not_bear_out_is_found(fields, says):
    store = await sound()
    await change_root(store, **fields)

    assert says in await found(store)


async def test_a_branch_that_rows_do_not_bear_out_is_found():
    store = await sound()
    root = await change_root(store)
    await change_root(store, branches=(root.branches[0], replace(root.branches[1], tip="a")))

    assert await found(store) == ["root: and rows do not agree on branch 1"]


async def test_a_missing_or_unreadable_root_is_found():
    store = await sound()
    documents = store._shelves[SCOPE].documents
    documents["agent", "a"] = replace(documents["agent", "a"], body=b"[]")
    (unreadable,) = await found(store)
    del documents["agent", "a"]

    assert unreadable.startswith("root: cannot be read")
    assert await found(store) == ["root: is missing"]


async def test_a_snapshot_that_shows_another_view_is_found():
    store = await sound()
    async with opened(store) as book:
        root = await book.root()
        view = await project(book, root)
    documents = store._shelves[SCOPE].documents
    at = SNAPSHOT_KIND, snapshot_id("a", 1)
    wrong = {
        "shows another view than its records": encode_snapshot(replace(view, generation=7)),
        "is of a branch or a position that there is not": encode_snapshot(replace(view, position=99)),
        "cannot be read": b"{}",
    }
    for says, body in wrong.items():
        documents[at] = replace(documents[at], body=body)
        (only,) = await found(store)
        assert says in only
    assert fold(view, []) == view


async def test_a_check_reads_a_batch_at_a_time():
    store = MemoryStore()
    await stored(store, [said(f"m{n}") for n in range(1_000)])

    class Counted:
        def __init__(self, inner):
            self.inner, self.most = inner, 0

        def __getattr__(self, name):
            return getattr(self.inner, name)

        async def get(self, refs):
            self.most = max(self.most, len(refs))
            return await self.inner.get(refs)

        async def rows(self, *args, **options):
            found = await self.inner.rows(*args, **options)
            assert len(found) <= 50
            return found

    async with opened(store, batch=50) as book:
        book.transaction = counted = Counted(book.transaction)
        assert [finding async for finding in check(book)] == []

    assert counted.most == 32
