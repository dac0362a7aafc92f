"""What a store promises of forgetting."""

from __future__ import annotations

import pytest

from threadline.errors import NotFoundError
from threadline.ports import Store
from threadline.testing.stores.samples import ALICE, BOB, document, row, rows, stored

__all__ = ["ForgettingPromises"]


class ForgettingPromises:
    """What is forgotten is gone from every table; nothing else is."""

    async def test_forgetting_an_agent_takes_its_rows_documents_and_contents(self, store: Store) -> None:
        own, shared, loose = await stored(store, b"own", b"shared", b"loose")
        async with store.transaction(ALICE) as transaction:
            written = [row(1, key="key", refs=(own, shared)), row(2, refs=(own,))]
            await transaction.append("agent", written, expected_head=0)
            await transaction.append("other", [row(1, refs=(shared,))], expected_head=0)
            await transaction.save(document("mine", agent_id="agent"))
            await transaction.save(document("others", agent_id="other"))
            await transaction.save(document("nobodys"))

            await transaction.forget_agent("agent")

        async with store.transaction(ALICE) as transaction:
            assert await transaction.head("agent") == 0
            assert await transaction.keyed("agent", ["key"]) == []
            assert [one.id for one in await transaction.documents("note", limit=9)] == ["nobodys", "others"]
            assert await transaction.rows("other", limit=9) == [row(1, refs=(shared,))]
            assert set(await transaction.get([shared, loose])) == {shared, loose}
            with pytest.raises(NotFoundError):
                await transaction.get([own])
            assert await transaction.drop([shared]) == []

    async def test_a_forgotten_agent_begins_at_one_again(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(3), expected_head=0)
            await transaction.forget_agent("agent")
            await transaction.append("agent", rows(1), expected_head=0)

            assert await transaction.rows("agent", limit=9) == rows(1)

    async def test_forgetting_an_owner_takes_everything_of_the_owner_alone(self, store: Store) -> None:
        refs = await stored(store, b"first", b"second")
        of_bob = await stored(store, b"first", scope=BOB)
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, refs=tuple(refs))], expected_head=0)
            await transaction.save(document())
        async with store.transaction(BOB) as transaction:
            await transaction.append("agent", [row(1, refs=tuple(of_bob))], expected_head=0)
            await transaction.save(document())

        async with store.transaction(ALICE) as transaction:
            await transaction.forget_owner()

        assert await store.scopes(limit=9) == [BOB]
        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.head("agent") == 0
            assert await transaction.document("note", "one") is None
            with pytest.raises(NotFoundError):
                await transaction.get(refs)
        async with store.transaction(BOB, write=False) as transaction:
            assert await transaction.get(of_bob) == {of_bob[0]: b"first"}
            assert await transaction.head("agent") == 1

    async def test_a_forgotten_owner_may_come_back(self, store: Store) -> None:
        await stored(store, b"before")
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
        async with store.transaction(ALICE) as transaction:
            await transaction.forget_owner()
            await transaction.save(document("certificate"))
        await store.scrub(ALICE)

        (ref,) = await stored(store, b"after")
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, refs=(ref,))], expected_head=0)
        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.get([ref]) == {ref: b"after"}
            assert await transaction.document("note", "certificate") == document("certificate")
            assert await transaction.rows("agent", limit=9) == [row(1, refs=(ref,))]

    async def test_forgetting_that_is_rolled_back_forgets_nothing(self, store: Store) -> None:
        (ref,) = await stored(store, b"content")
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, key="key", refs=(ref,))], expected_head=0)

        with pytest.raises(NotFoundError):
            async with store.transaction(ALICE) as transaction:
                await transaction.forget_owner()
                await transaction.save(document("certificate"))
                await transaction.get([ref])

        async with store.transaction(ALICE) as transaction:
            assert await transaction.get([ref]) == {ref: b"content"}
            assert await transaction.keyed("agent", ["key"]) == [row(1, key="key", refs=(ref,))]
            assert await transaction.document("note", "certificate") is None

    async def test_scrubbing_leaves_what_was_not_deleted_and_says_what_it_did(self, store: Store) -> None:
        kept, gone = await stored(store, b"kept", b"gone")
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, refs=(kept,))], expected_head=0)
            await transaction.drop([gone])

        assert await store.scrub(ALICE)

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.get([kept]) == {kept: b"kept"}
            assert await transaction.head("agent") == 1
