"""What a store promises of documents."""

from __future__ import annotations

from typing import Any

import pytest

from threadline.errors import ConflictError, InvalidInputError
from threadline.ports import Store
from threadline.testing.stores.samples import ALICE, BOB, ODD_BODIES, ODD_NAMES, document

__all__ = ["DocumentPromises"]

_NINE: dict[str, Any] = {"limit": 9}


class DocumentPromises:
    """Documents change one revision at a time."""

    async def test_a_document_comes_back_with_every_field(self, store: Store) -> None:
        written = document(agent_id="agent", body=b"\0body")

        async with store.transaction(ALICE) as transaction:
            await transaction.save(written)
        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.document("note", "one") == written
            assert await transaction.document("note", "two") is None
            assert await transaction.document("other", "one") is None

    async def test_bodies_of_documents_come_back_to_the_byte(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            for number, body in enumerate(ODD_BODIES):
                await transaction.save(document(f"body-{number}", body=body))
            for number, body in enumerate(ODD_BODIES):
                found = await transaction.document("note", f"body-{number}")
                assert found is not None
                assert found.body == body

    async def test_the_next_revision_takes_the_place_of_the_one_before(self, store: Store) -> None:
        second = document(revision=2, agent_id="agent", body=b"new")

        async with store.transaction(ALICE) as transaction:
            await transaction.save(document())
            await transaction.save(second)

            assert await transaction.document("note", "one") == second
            assert await transaction.documents("note", limit=9) == [second]

    @pytest.mark.parametrize("revision", [1, 2, 4])
    async def test_any_revision_but_the_next_is_a_conflict_and_writes_nothing(
        self, store: Store, revision: int
    ) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.save(document())
            await transaction.save(document(revision=2))
            with pytest.raises(ConflictError) as caught:
                await transaction.save(document(revision=revision, body=b"stale"))

            assert (caught.value.fields["kind"], caught.value.fields["id"]) == ("note", "one")
            assert await transaction.document("note", "one") == document(revision=2)

    async def test_the_first_revision_is_one(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(ConflictError):
                await transaction.save(document(revision=2))

            assert await transaction.document("note", "one") is None

    async def test_a_deleted_document_begins_at_one_again(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            await transaction.save(document())
            await transaction.save(document(revision=2))
            await transaction.delete("note", ["one", "never there"])

            assert await transaction.document("note", "one") is None

            await transaction.save(document())

            assert await transaction.document("note", "one") == document()

    async def test_deleting_leaves_documents_of_other_kinds_and_owners(self, store: Store) -> None:
        other_kind = document(kind="other")
        async with store.transaction(BOB) as transaction:
            await transaction.save(document())

        async with store.transaction(ALICE) as transaction:
            await transaction.save(document())
            await transaction.save(other_kind)
            await transaction.delete("note", ["one"])
            await transaction.delete("note", [])

            assert await transaction.document("other", "one") == other_kind
        async with store.transaction(BOB, write=False) as transaction:
            assert await transaction.document("note", "one") == document()

    async def test_documents_come_by_id_in_code_point_order(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            for name in ODD_NAMES:
                await transaction.save(document(name))

            found = await transaction.documents("note", limit=100)

        assert [one.id for one in found] == sorted(ODD_NAMES)

    async def test_documents_are_paged_by_the_last_id(self, store: Store) -> None:
        names = [f"id-{number:02}" for number in range(7)]
        paged: list[str] = []

        async with store.transaction(ALICE) as transaction:
            for name in names:
                await transaction.save(document(name))
            while page := await transaction.documents("note", after=paged[-1] if paged else "", limit=3):
                assert len(page) <= 3
                paged += [one.id for one in page]

        assert paged == names

    async def test_documents_are_selected_by_agent(self, store: Store) -> None:
        async with store.transaction(ALICE) as transaction:
            for name, agent_id in (("a", "x"), ("b", ""), ("c", "x"), ("d", "y"), ("e", "x")):
                await transaction.save(document(name, agent_id=agent_id))
            await transaction.save(document("f", kind="other", agent_id="x"))

            async def ids(**selection: Any) -> list[str]:
                return [one.id for one in await transaction.documents("note", **dict(_NINE, **selection))]

            assert await ids() == ["a", "b", "c", "d", "e"]
            assert await ids(agent_id="x") == ["a", "c", "e"]
            assert await ids(agent_id="x", after="a", limit=1) == ["c"]
            assert await ids(agent_id="") == ["b"]
            assert await ids(agent_id="unknown") == []

    @pytest.mark.parametrize(
        "fields",
        [{"kind": ""}, {"id": ""}, {"id": "\0"}, {"agent_id": "\ud800"}, {"revision": 0}, {"body": "text"}],
    )
    async def test_a_document_that_no_store_could_hold_is_refused(self, store: Store, fields: dict[str, Any]) -> None:
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(InvalidInputError):
                await transaction.save(document(**fields))

            assert await transaction.documents("note", limit=1) == []
