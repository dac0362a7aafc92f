"""What a store promises of contents."""

from __future__ import annotations

from typing import Any

import pytest

from threadline.errors import IntegrityError, InvalidInputError, NotFoundError
from threadline.ports import Store
from threadline.testing.stores.samples import ALICE, BOB, ODD_BODIES, row, stored

__all__ = ["ContentPromises"]


class ContentPromises:
    """Contents are immutable, known by their hash, and stay while a row names them."""

    async def test_a_content_comes_back_to_the_byte(self, store: Store) -> None:
        refs = await stored(store, *ODD_BODIES)

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.get(refs) == dict(zip(refs, ODD_BODIES, strict=True))

    async def test_a_content_of_some_megabytes_comes_back_to_the_byte(self, store: Store) -> None:
        large = bytes(range(256)) * 20_000
        (ref,) = await stored(store, large)

        async with store.transaction(ALICE, write=False) as transaction:
            assert (await transaction.get([ref]))[ref] == large

    async def test_equal_contents_have_one_name_and_different_ones_two(self, store: Store) -> None:
        naming = await store.naming(ALICE)

        assert naming(b"same") == naming(b"same")
        assert naming(b"same") != naming(b"other")

    async def test_putting_a_content_again_changes_nothing(self, store: Store) -> None:
        first = await stored(store, b"once")
        again = await stored(store, b"once")

        async with store.transaction(ALICE, write=False) as transaction:
            assert first == again
            assert await transaction.get(first) == {first[0]: b"once"}

    async def test_nothing_is_put_and_nothing_got_without_asking(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.put({})

            assert await transaction.get([]) == {}
            assert await transaction.drop([]) == []

    async def test_a_content_that_is_asked_for_twice_comes_once(self, store: Store) -> None:
        (ref,) = await stored(store, b"once")

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.get([ref, ref]) == {ref: b"once"}

    async def test_a_missing_content_is_named(self, store: Store) -> None:
        (held,) = await stored(store, b"held")
        missing = (await store.naming(ALICE))(b"never put")

        async with store.transaction(ALICE, write=False) as transaction:
            with pytest.raises(NotFoundError) as caught:
                await transaction.get([held, missing])

        assert caught.value.fields["ref"] == missing

    async def test_a_ref_of_another_content_is_refused_and_nothing_is_put(self, store: Store) -> None:
        naming = await store.naming(ALICE)
        good, wrong = naming(b"good"), naming(b"wrong")

        async with store.transaction(ALICE) as transaction:
            with pytest.raises(IntegrityError) as caught:
                await transaction.put({good: b"good", wrong: b"not this"})

            assert caught.value.fields["ref"] == wrong
            with pytest.raises(NotFoundError):
                await transaction.get([good])

    @pytest.mark.parametrize("ref", ["sha256:", "md5:0123", "sha256:" + "0" * 63 + "G", "sha256:" + "A" * 64])
    async def test_a_ref_that_is_no_name_of_a_content_is_refused(self, store: Store, ref: str) -> None:
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(IntegrityError):
                await transaction.put({ref: b"content"})

    @pytest.mark.parametrize("content", ["text", None, 1, bytearray(b"x")])
    async def test_a_content_that_is_not_bytes_is_refused(self, store: Store, content: Any) -> None:
        ref = (await store.naming(ALICE))(b"x")

        async with store.transaction(ALICE) as transaction:
            with pytest.raises(InvalidInputError):
                await transaction.put({ref: content})

    async def test_a_content_of_another_owner_is_not_there(self, store: Store) -> None:
        refs = await stored(store, b"of alice", scope=ALICE)

        async with store.transaction(BOB, write=False) as transaction:
            with pytest.raises(NotFoundError):
                await transaction.get(refs)

    async def test_only_contents_that_no_row_names_are_dropped(self, store: Store) -> None:
        named, free = await stored(store, b"named", b"free")
        unknown = (await store.naming(ALICE))(b"unknown")

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, refs=(named,))], expected_head=0)

            assert await transaction.drop([named, free, unknown]) == [free]
            assert await transaction.get([named]) == {named: b"named"}

    async def test_dropping_leaves_the_same_content_of_another_owner(self, store: Store) -> None:
        (of_alice,) = await stored(store, b"the same", scope=ALICE)
        (of_bob,) = await stored(store, b"the same", scope=BOB)

        async with store.transaction(ALICE) as transaction:
            assert await transaction.drop([of_alice]) == [of_alice]

        async with store.transaction(BOB, write=False) as transaction:
            assert await transaction.get([of_bob]) == {of_bob: b"the same"}

    async def test_a_content_stays_while_any_agents_row_names_it(self, store: Store) -> None:
        (ref,) = await stored(store, b"shared")

        async with store.transaction(ALICE) as transaction:
            await transaction.append("first", [row(1, refs=(ref,))], expected_head=0)
            await transaction.append("second", [row(1, refs=(ref,))], expected_head=0)
            await transaction.replace("first", [row(1)])

            assert await transaction.drop([ref]) == []

            await transaction.replace("second", [row(1)])

            assert await transaction.drop([ref]) == [ref]
