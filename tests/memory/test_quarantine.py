"""A reply that cannot be used twice in a row puts its cell aside, not away."""

from __future__ import annotations

from functools import partial

import pytest

from threadline.memory import AtomicFactExtractor, Done, Failed, attempt

from .stories import NOON, cell, model

pytestmark = pytest.mark.anyio

GOOD = {"atomic_facts": {"atomic_fact": ["a"]}}


async def tried(llm, memcell, before=None, now_ms=NOON):
    run = partial(AtomicFactExtractor(llm=llm).aextract, memcell, sender_id=None)
    return await attempt(run, cell_id=memcell.id, operator="atomic_facts", now_ms=now_ms, before=before)


async def test_two_failures_in_a_row_quarantine_and_a_later_try_may_succeed():
    memcell, llm = cell(), model("nonsense", "nonsense", GOOD)

    once = await tried(llm, memcell)
    twice = await tried(llm, memcell, once, NOON + 5)
    thrice = await tried(llm, memcell, twice, twice.retry_at_ms)

    assert (once.state, twice.state) == ("retry", "quarantined")
    assert (twice.cell_id, twice.failures, twice.first_failed_ms) == (memcell.id, 2, NOON)
    assert "nonsense" not in twice.reason
    assert [fact.content for fact in thrice.value] == ["a"]


async def test_the_wait_doubles_up_to_a_day():
    def failed(times):
        return Failed(
            cell_id="c", operator="o", failures=times, reason="", first_failed_ms=0, last_failed_ms=0
        ).retry_at_ms

    assert [failed(1), failed(2), failed(50)] == [60_000, 120_000, 86_400_000]


async def test_any_other_error_is_not_the_cells_fault():
    with pytest.raises(OSError, match="down"):
        await tried(model(OSError("down")), cell())
    assert isinstance(await tried(model(GOOD), cell()), Done)
