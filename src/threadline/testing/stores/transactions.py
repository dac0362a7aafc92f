"""What a store promises of transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import pytest

from threadline.errors import ConflictError, InvalidInputError, StoreError
from threadline.ports import Store, Transaction
from threadline.testing.stores.samples import ALICE, BOB, document, row, rows, stored

__all__ = ["TransactionPromises"]

_WRITING: dict[str, Callable[[Transaction], Awaitable[object]]] = {
    "put": lambda one: one.put({}),
    "drop": lambda one: one.drop([]),
    "append": lambda one: one.append("agent", rows(1), expected_head=0),
    "replace": lambda one: one.replace("agent", []),
    "save": lambda one: one.save(document()),
    "delete": lambda one: one.delete("note", []),
    "forget_agent": lambda one: one.forget_agent("agent"),
    "forget_owner": lambda one: one.forget_owner(),
}


class _FailureError(Exception):
    """What a caller's own code raises."""


async def _write_everything(store: Store, transaction: Transaction) -> None:
    ref = (await store.naming(ALICE))(b"content")
    await transaction.put({ref: b"content"})
    await transaction.append("agent", [row(1, refs=(ref,))], expected_head=0)
    await transaction.save(document())


async def _nothing_is_there(store: Store) -> None:
    async with store.transaction(ALICE, write=False) as transaction:
        assert await transaction.head("agent") == 0
        assert await transaction.document("note", "one") is None
        assert await transaction.rows("agent", limit=1) == []
    assert await store.scopes(limit=9) == []


class TransactionPromises:
    """Everything or nothing; one consistent state; one writer after the other."""

    async def test_what_was_written_is_read_in_the_same_transaction_and_after_it(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await _write_everything(store, transaction)
            assert await transaction.head("agent") == 1
        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.head("agent") == 1
            assert await transaction.document("note", "one") == document()

    async def test_an_exception_rolls_everything_back_and_goes_on_as_it_was(self, store: Store) -> None:
        with pytest.raises(_FailureError):
            async with store.transaction(ALICE) as transaction:
                await _write_everything(store, transaction)
                raise _FailureError

        await _nothing_is_there(store)

    async def test_a_conflict_that_leaves_the_block_rolls_everything_back(self, store: Store) -> None:
        with pytest.raises(ConflictError):
            async with store.transaction(ALICE) as transaction:
                await _write_everything(store, transaction)
                await transaction.save(document())

        await _nothing_is_there(store)

    async def test_cancelling_rolls_everything_back_and_leaves_no_lock(self, store: Store) -> None:
        with anyio.CancelScope() as cancelled:
            async with store.transaction(ALICE) as transaction:
                await _write_everything(store, transaction)
                cancelled.cancel()
                await anyio.sleep_forever()

        assert cancelled.cancelled_caught
        await _nothing_is_there(store)
        async with store.transaction(ALICE) as transaction:
            await _write_everything(store, transaction)

    async def test_cancelling_a_verb_leaves_a_store_that_works(self, store: Store) -> None:
        (ref,) = await stored(store, b"content" * 100_000)
        for delay_s in (0, 0.0005, 0.002):
            with anyio.move_on_after(delay_s):
                async with store.transaction(ALICE) as transaction:
                    while True:
                        await transaction.get([ref])
                        await anyio.lowlevel.checkpoint()

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(1), expected_head=0)

    async def test_a_refusal_that_is_caught_leaves_the_transaction_usable(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await _write_everything(store, transaction)
            with pytest.raises(ConflictError):
                await transaction.save(document())
            with pytest.raises(ConflictError):
                await transaction.append("agent", rows(1), expected_head=0)
            await transaction.append("agent", [row(2)], expected_head=1)

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.head("agent") == 2

    async def test_a_reader_sees_one_state_and_never_waits_for_a_writer(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(1), expected_head=0)

        async with store.transaction(ALICE, write=False) as reader:
            assert await reader.head("agent") == 1
            async with store.transaction(ALICE) as writer:
                await writer.append("agent", rows(1, after=1), expected_head=1)
                await writer.save(document())
                with anyio.fail_after(5):
                    assert await reader.head("agent") == 1
                    async with store.transaction(ALICE, write=False) as another:
                        assert await another.head("agent") == 1
            assert await reader.head("agent") == 1
            assert await reader.document("note", "one") is None
            assert len(await reader.rows("agent", limit=9)) == 1

        async with store.transaction(ALICE, write=False) as reader:
            assert await reader.head("agent") == 2

    async def test_writers_of_a_scope_take_turns_and_lose_no_update(self, store: Store) -> None:
        async def count() -> None:
            for _ in range(5):
                async with store.transaction(ALICE) as transaction:
                    held = await transaction.document("note", "counter")
                    number = 0 if held is None else int(held.body)
                    await anyio.lowlevel.checkpoint()
                    await transaction.save(document("counter", number + 1, body=str(number + 1).encode()))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(count)

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.document("note", "counter") == document("counter", 20, body=b"20")

    async def test_of_appends_at_one_head_exactly_one_succeeds(self, store: Store) -> None:
        won: list[int] = []
        lost: list[int] = []

        async def append(writer: int) -> None:
            try:
                async with store.transaction(ALICE) as transaction:
                    await transaction.append("agent", [row(1, record_id=f"writer-{writer}")], expected_head=0)
            except ConflictError:
                lost.append(writer)
            else:
                won.append(writer)

        async with anyio.create_task_group() as tasks:
            for writer in range(6):
                tasks.start_soon(append, writer)

        async with store.transaction(ALICE, write=False) as transaction:
            (found,) = await transaction.rows("agent", limit=9)
        assert len(lost) == 5
        assert [f"writer-{winner}" for winner in won] == [found.record_id]

    async def test_the_same_content_may_be_put_by_many_at_once(self, store: Store) -> None:
        ref = (await store.naming(ALICE))(b"same")

        async def put(agent: int) -> None:
            async with store.transaction(ALICE) as transaction:
                await transaction.put({ref: b"same"})
                await anyio.lowlevel.checkpoint()
                await transaction.append(f"agent-{agent}", [row(1, refs=(ref,))], expected_head=0)

        async with anyio.create_task_group() as tasks:
            for agent in range(6):
                tasks.start_soon(put, agent)

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.get([ref]) == {ref: b"same"}

    @pytest.mark.parametrize("verb", _WRITING)
    async def test_a_transaction_that_only_reads_refuses_to_write(self, store: Store, verb: str) -> None:
        async with store.transaction(ALICE, write=False) as transaction:
            with pytest.raises(InvalidInputError):
                await _WRITING[verb](transaction)

        await _nothing_is_there(store)

    @pytest.mark.parametrize("write", [True, False])
    async def test_a_transaction_that_is_over_refuses_every_verb(self, store: Store, write: bool) -> None:  # noqa: FBT001
        async with store.transaction(ALICE, write=write) as transaction:
            pass

        with pytest.raises(StoreError):
            await transaction.head("agent")

    async def test_a_transaction_that_does_nothing_is_no_error(self, store: Store) -> None:
        async with store.transaction(ALICE):
            pass
        async with store.transaction(BOB, write=False):
            pass

        assert await store.scopes(limit=9) == []

    async def test_transactions_are_counted(self, store: Store) -> None:
        before = store.statistics()
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(3), expected_head=0)
            await transaction.rows("agent", limit=9)
        after = store.statistics()

        assert after.transactions == before.transactions + 1
        assert after.statements > before.statements
        assert after.rows_read >= before.rows_read + 3

    async def test_a_closed_store_says_so_and_closing_twice_does_nothing(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.head("agent")

        await store.close()
        await store.close()

        for write in (True, False):
            with pytest.raises(StoreError):
                async with store.transaction(ALICE, write=write) as transaction:
                    await transaction.head("agent")
        with pytest.raises(StoreError):
            await store.scopes(limit=1)

    async def test_migrating_what_is_new_enough_runs_nothing(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(1), expected_head=0)

        assert await store.migrate() == []

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.head("agent") == 1
