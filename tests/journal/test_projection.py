"""The view is a fold: incremental or anew, with snapshots or without, it is the same."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings

from threadline.errors import SerializationError
from threadline.journal import check, fold, project, take_snapshot
from threadline.journal.projection import SNAPSHOT_KIND, Projection, decode_snapshot, encode_snapshot
from threadline.stores import MemoryStore

from .journals import PROGRAMS, answered, event, known, new_root, opened, said, step, stored


async def anew(book, root, branch):
    """The view of a branch, folded from nothing, record by record."""
    view = Projection(branch=branch)
    while page := await book.fresh(root, branch=branch, after=view.position, limit=1):
        view = fold(view, page)
    return view


def shown(view):
    return view.generation, view.messages, view.knowledge, view.factors


@given(PROGRAMS)
@settings(max_examples=40)
def test_a_view_kept_up_to_date_is_the_view_made_anew(program):
    async def scenario():
        store = MemoryStore()
        views = {}
        async with opened(store, batch=3) as book:
            root = await book.create(new_root())
            for number, (what, amount) in enumerate(program):
                root = await step(book, root, number, what, amount)
                for branch in range(len(root.branches)):
                    view = views.get(branch, Projection(branch=branch))
                    views[branch] = fold(view, await book.fresh(root, branch=branch, after=view.position, limit=100))
                if number % 3 == 0:
                    await take_snapshot(book, views[root.branch])
            for branch, view in views.items():
                fresh = await anew(book, root, branch)
                assert shown(view) == shown(fresh)
                assert shown(await project(book, root, branch=branch)) == shown(fresh)
                assert view.generation == root.branches[branch].transcript_generation
            assert [finding async for finding in check(book)] == []
            snapshots = await book.transaction.documents(SNAPSHOT_KIND, limit=100)
            await book.transaction.delete(SNAPSHOT_KIND, [one.id for one in snapshots])
            for branch, view in views.items():
                assert shown(await project(book, root, branch=branch)) == shown(view)

    anyio.run(scenario)


@pytest.mark.anyio
async def test_row_55_clearing_hides_and_a_reload_keeps_it_hidden():
    store = MemoryStore()
    root = await stored(
        store,
        [known("k1"), said("a"), answered("b")],
        [event("transcript_cleared", "c")],
        [said("d"), event("knowledge_cleared", "e"), known("k2")],
    )
    async with opened(store) as book:
        view = await project(book, root)
        assert [one.record_id for one in view.messages] == ["d"]
        assert [one.record_id for one in view.knowledge] == ["k2"]
        root, _ = await book.append(root, [event("context_reset", "f")], now_ms=1)
        assert root.journal_position == 8
    async with opened(store) as book:
        view = await project(book, await book.root())

    assert (len(view.messages), len(view.knowledge), view.generation) == (0, 0, 2)


@pytest.mark.anyio
async def test_only_what_a_model_may_see_is_in_view():
    store = MemoryStore()
    hidden = [
        event("input_received", "i", content=b"raw"),
        said("failed", context_candidate=False),
        event("decided", "x"),
    ]
    root = await stored(store, [*hidden, said("a", key="mine", execution_id="e")])

    async with opened(store) as book:
        (standing,) = (await project(book, root)).messages

    assert (standing.record_id, standing.sequence, standing.key, standing.execution_id) == ("a", 4, "mine", "e")


@pytest.mark.anyio
async def test_factors_are_those_of_the_last_calibration_and_outlive_a_reset():
    store = MemoryStore()
    root = await stored(
        store,
        [event("calibrated", "a", metadata={"factors": {"m": 1.5, "n": 2}})],
        [event("calibrated", "b", metadata={"factors": {"n": 0.75, "m": 1}}), event("context_reset", "c")],
    )

    async with opened(store) as book:
        assert (await project(book, root)).factors == (("m", 1.0), ("n", 0.75))


@pytest.mark.anyio
async def test_folding_the_same_records_again_changes_nothing():
    store = MemoryStore()
    root = await stored(store, [said("a"), said("b")])

    async with opened(store) as book:
        records = await book.records(root, limit=9)

    once = fold(Projection(), records)
    assert fold(once, records) == once
    assert Projection() == Projection()


@pytest.mark.anyio
async def test_a_turn_on_a_long_thread_folds_only_what_is_new():
    store = MemoryStore()
    root = await stored(store, [said(f"m{n}") for n in range(2_000)])
    async with opened(store) as book:
        view = await project(book, root)
        root, _ = await book.append(root, [said("x")], now_ms=1)
        before = store.statistics().rows_read
        grown = fold(view, await book.fresh(root, after=view.position, limit=100))

    assert store.statistics().rows_read - before == 1
    assert len(grown.messages) == len(view.messages) + 1 == 2_001


@pytest.mark.parametrize(
    "data", [b"", b"{}", encode_snapshot(Projection()).replace(b'"position":0', b'"position":"0"')]
)
def test_a_snapshot_that_is_none_is_refused(data):
    with pytest.raises(SerializationError):
        decode_snapshot(data)
