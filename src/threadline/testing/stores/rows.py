"""What a store promises of journal rows."""

from __future__ import annotations

from typing import Any

import pytest

from threadline.errors import ConflictError, InvalidInputError, NotFoundError
from threadline.ports import Row, Store
from threadline.testing.stores.samples import ALICE, ODD_BODIES, ODD_NAMES, row, rows, stored

__all__ = ["RowPromises"]

_MANY = 1_000
_NINE: dict[str, Any] = {"limit": 9}


def _sequences(found: list[Row]) -> list[int]:
    return [one.sequence for one in found]


class RowPromises:
    """Rows are dense, in order, appended at a known head, and found by what they are."""

    async def test_a_row_comes_back_with_every_field(self, store: Store) -> None:
        first, second = await stored(store, b"first", b"second")
        written = [
            row(1, branch=3, kind="knowledge", key="key", refs=(second, first, second), body=b"\0body"),
            row(2),
        ]

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", written, expected_head=0)
        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.rows("agent", limit=10) == written

    async def test_bodies_come_back_to_the_byte(self, store: Store) -> None:
        written = [row(sequence, body=body) for sequence, body in enumerate(ODD_BODIES, 1)]

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", written, expected_head=0)

            assert await transaction.rows("agent", limit=100) == written

    async def test_every_legal_name_names_one_thing(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            for name in ODD_NAMES:
                written = row(1, record_id=name, kind=name, key=name)
                await transaction.append(name, [written], expected_head=0)
            for name in ODD_NAMES:
                expected = [row(1, record_id=name, kind=name, key=name)]
                assert await transaction.rows(name, kinds=[name], limit=9) == expected
                assert await transaction.keyed(name, ODD_NAMES) == expected
                assert await transaction.recorded(name, ODD_NAMES) == expected

    async def test_the_head_is_zero_at_first_and_then_the_last_sequence(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            assert await transaction.head("agent") == 0

            await transaction.append("agent", rows(3), expected_head=0)

            assert await transaction.head("agent") == 3
            assert await transaction.head("another") == 0

    @pytest.mark.parametrize("expected", [0, 1, 3])
    async def test_an_append_at_another_head_is_a_conflict_and_writes_nothing(
        self, store: Store, expected: int
    ) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(ConflictError) as caught:
                await transaction.append("agent", rows(1, after=expected), expected_head=expected)

            assert caught.value.fields["head"] == 2
            assert _sequences(await transaction.rows("agent", limit=10)) == [1, 2]

    async def test_an_append_of_nothing_still_holds_the_head_against_the_expected_one(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [], expected_head=0)
            with pytest.raises(ConflictError):
                await transaction.append("agent", [], expected_head=1)

            assert await transaction.head("agent") == 0

    async def test_a_taken_record_id_is_a_conflict_and_writes_nothing(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            with pytest.raises(ConflictError) as caught:
                await transaction.append("agent", [row(3), row(4, record_id="record-1")], expected_head=2)

            assert caught.value.fields["record_id"] == "record-1"
            assert await transaction.head("agent") == 2

    async def test_one_record_id_twice_in_one_append_is_a_conflict(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(ConflictError):
                await transaction.append("agent", [row(1), row(2, record_id="record-1")], expected_head=0)

            assert await transaction.head("agent") == 0

    async def test_a_record_id_is_taken_within_its_agent_alone(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            await transaction.append("another", rows(2), expected_head=0)

            assert await transaction.recorded("another", ["record-2"]) == [row(2)]

    @pytest.mark.parametrize("numbers", [[2], [1, 3], [2, 1], [1, 1]])
    async def test_rows_that_do_not_follow_the_head_one_by_one_are_refused(
        self, store: Store, numbers: list[int]
    ) -> None:
        written = [row(sequence, record_id=f"id-{place}") for place, sequence in enumerate(numbers)]

        async with store.transaction(ALICE) as transaction:
            with pytest.raises(InvalidInputError):
                await transaction.append("agent", written, expected_head=0)

            assert await transaction.head("agent") == 0

    async def test_a_row_that_names_a_missing_content_is_refused(self, store: Store) -> None:
        missing = (await store.naming(ALICE))(b"never put")

        async with store.transaction(ALICE) as transaction:
            with pytest.raises(NotFoundError) as caught:
                await transaction.append("agent", [row(1, refs=(missing,))], expected_head=0)

            assert caught.value.fields["ref"] == missing
            assert await transaction.head("agent") == 0

    async def test_a_content_put_in_the_same_transaction_may_be_named(self, store: Store) -> None:
        ref = (await store.naming(ALICE))(b"just now")

        async with store.transaction(ALICE) as transaction:
            await transaction.put({ref: b"just now"})
            await transaction.append("agent", [row(1, refs=(ref,))], expected_head=0)

            assert (await transaction.rows("agent", limit=1))[0].refs == (ref,)

    @pytest.mark.parametrize(
        ("selection", "expected"),
        [
            ({}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            ({"after": 3}, [4, 5, 6, 7, 8, 9]),
            ({"until": 3}, [1, 2, 3]),
            ({"after": 3, "until": 5}, [4, 5]),
            ({"after": 5, "until": 5}, []),
            ({"after": 7, "until": 3}, []),
            ({"after": 99}, []),
            ({"until": 0}, []),
            ({"branch": 1}, [2, 4, 6, 8]),
            ({"branch": 1, "after": 2, "until": 7}, [4, 6]),
            ({"branch": 7}, []),
            ({"kinds": ["three"]}, [3, 6, 9]),
            ({"kinds": ["three", "other"]}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
            ({"kinds": ["three", "three", "unknown"]}, [3, 6, 9]),
            ({"kinds": ["unknown"]}, []),
            ({"kinds": ["three", "unknown"], "branch": 1}, [6]),
            ({"kinds": ["three"], "after": 3, "until": 8}, [6]),
            ({"kinds": ["three"], "branch": 0, "after": 3}, [9]),
        ],
    )
    async def test_rows_are_selected_by_range_branch_and_kind_in_both_directions(
        self, store: Store, selection: dict[str, Any], expected: list[int]
    ) -> None:
        written = [
            row(number, branch=(number + 1) % 2, kind="other" if number % 3 else "three") for number in range(1, 10)
        ]

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", written, expected_head=0)
            for limit in (1, 2, 100):
                forward = await transaction.rows("agent", limit=limit, **selection)
                backward = await transaction.rows("agent", limit=limit, descending=True, **selection)

                assert _sequences(forward) == expected[:limit]
                assert _sequences(backward) == expected[::-1][:limit]

    async def test_rows_are_found_by_any_of_some_keys_in_order(self, store: Store) -> None:
        written = [row(1, key="a"), row(2, key="b"), row(3), row(4, key="a", branch=1), row(5, key="c")]

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", written, expected_head=0)

            assert _sequences(await transaction.keyed("agent", ["c", "a", "unknown"])) == [1, 4, 5]
            assert [one.key for one in await transaction.keyed("agent", ["a"])] == ["a", "a"]
            assert await transaction.keyed("agent", []) == []
            assert await transaction.keyed("another", ["a"]) == []

    async def test_rows_are_found_by_record_id_in_order(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(5), expected_head=0)

            assert _sequences(await transaction.recorded("agent", ["record-4", "record-2", "no"])) == [2, 4]
            assert await transaction.recorded("agent", []) == []

    async def test_a_replaced_row_stands_in_the_same_place(self, store: Store) -> None:
        old, new = await stored(store, b"old", b"new")
        tombstone = row(2, kind="forgotten", record_id="tombstone", refs=(new,), body=b"")

        async with store.transaction(ALICE) as transaction:
            written = [row(1), row(2, key="key", refs=(old,)), row(3)]
            await transaction.append("agent", written, expected_head=0)
            await transaction.replace("agent", [tombstone])

            assert await transaction.rows("agent", limit=9) == [row(1), tombstone, row(3)]
            assert await transaction.keyed("agent", ["key"]) == []
            assert await transaction.recorded("agent", ["record-2"]) == []
            assert await transaction.head("agent") == 3
            assert await transaction.drop([old, new]) == [old]

    async def test_a_row_may_be_replaced_under_its_own_record_id(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            await transaction.replace("agent", [row(1, record_id="record-2"), row(2, record_id="record-1")])

            assert [one.record_id for one in await transaction.rows("agent", limit=9)] == ["record-2", "record-1"]

    async def test_replacing_with_a_taken_record_id_is_a_conflict(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            with pytest.raises(ConflictError):
                await transaction.replace("agent", [row(1, record_id="record-2")])

            assert await transaction.rows("agent", limit=9) == rows(2)

    async def test_replacing_a_row_that_is_not_there_writes_nothing(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            with pytest.raises(NotFoundError) as caught:
                await transaction.replace("agent", [row(2, body=b"new"), row(3)])

            assert caught.value.fields["sequence"] == 3
            assert await transaction.rows("agent", limit=9) == rows(2)

    async def test_a_replacement_that_names_a_missing_content_writes_nothing(self, store: Store) -> None:
        missing = (await store.naming(ALICE))(b"never put")

        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(2), expected_head=0)
            with pytest.raises(NotFoundError):
                await transaction.replace("agent", [row(1, refs=(missing,))])

            assert await transaction.rows("agent", limit=9) == rows(2)

    async def test_a_thousand_rows_take_as_many_statements_as_one(self, store: Store) -> None:
        def sent() -> int:
            return store.statistics().statements

        (ref,) = await stored(store, b"content")
        costs: list[int] = []
        for agent_id, count in (("one", 1), ("many", _MANY)):
            written = [row(sequence, key="k", refs=(ref,)) for sequence in range(1, count + 1)]
            before = sent()
            async with store.transaction(ALICE) as transaction:
                await transaction.append(agent_id, written, expected_head=0)
                await transaction.rows(agent_id, limit=_MANY)
                await transaction.keyed(agent_id, ["k"])
                await transaction.recorded(agent_id, [one.record_id for one in written])
                await transaction.replace(agent_id, written)
            costs.append(sent() - before)

        assert costs[0] == costs[1]

    async def test_no_more_rows_are_read_than_are_given_back(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(100), expected_head=0)
        before = store.statistics().rows_read
        async with store.transaction(ALICE, write=False) as transaction:
            found = await transaction.rows("agent", kinds=["message", "other"], limit=5, descending=True)

        assert len(found) == 5
        assert store.statistics().rows_read - before <= 5

    @pytest.mark.parametrize(
        "fields",
        [
            {"record_id": ""},
            {"record_id": "nul \0"},
            {"record_id": "x" * 513},
            {"kind": "\ud800"},
            {"kind": ""},
            {"key": ""},
            {"key": "🧵" * 129},
            {"branch": -1},
            {"branch": True},
            {"sequence": 2**60},
            {"refs": "sha256:"},
            {"body": "text"},
            {"body": None},
        ],
    )
    async def test_a_row_that_no_store_could_hold_is_refused(self, store: Store, fields: dict[str, Any]) -> None:
        given = {"sequence": 1} | fields

        async with store.transaction(ALICE) as transaction:
            with pytest.raises(InvalidInputError):
                await transaction.append("agent", [row(**given)], expected_head=0)

            assert await transaction.head("agent") == 0

    @pytest.mark.parametrize("selection", [{"limit": 0}, {"limit": -1}, {"after": -1}, {"until": -1}, {"branch": -1}])
    async def test_a_selection_that_makes_no_sense_is_refused(self, store: Store, selection: dict[str, Any]) -> None:
        async with store.transaction(ALICE, write=False) as transaction:
            with pytest.raises(InvalidInputError):
                await transaction.rows("agent", **dict(_NINE, **selection))
