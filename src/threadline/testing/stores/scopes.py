"""What a store promises of scopes: that they fail closed."""

from __future__ import annotations

from typing import Any

import pytest

from threadline.errors import InvalidInputError
from threadline.ports import Scope, Store
from threadline.testing.stores.samples import ALICE, BOB, ODD_NAMES, OTHER_TENANT, document, row, rows, stored

__all__ = ["ScopePromises"]


class ScopePromises:
    """No scope is an error, not "all"; one scope sees nothing of another."""

    @pytest.mark.parametrize("scope", [None, "", "acme", ("acme", "alice"), {"tenant": "acme", "owner": "alice"}])
    async def test_a_call_without_a_scope_is_refused(self, store: Store, scope: Any) -> None:
        for write in (True, False):
            with pytest.raises(InvalidInputError):
                async with store.transaction(scope, write=write):
                    pass
        with pytest.raises(InvalidInputError):
            await store.naming(scope)
        with pytest.raises(InvalidInputError):
            await store.scrub(scope)

    @pytest.mark.parametrize("name", ["", "\0", "a\0b", "\udc00", "x" * 513, None, 7])
    async def test_a_scope_of_bad_names_cannot_be_made(self, name: Any) -> None:
        with pytest.raises(InvalidInputError):
            Scope(tenant=name, owner="alice")
        with pytest.raises(InvalidInputError):
            Scope(tenant="acme", owner=name)

    @pytest.mark.parametrize("other", [BOB, OTHER_TENANT])
    async def test_nothing_of_one_scope_is_seen_from_another(self, store: Store, other: Scope) -> None:
        (ref,) = await stored(store, b"of alice")
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", [row(1, key="key", refs=(ref,))], expected_head=0)
            await transaction.save(document(agent_id="agent"))

        async with store.transaction(other) as transaction:
            assert await transaction.head("agent") == 0
            assert await transaction.rows("agent", limit=9) == []
            assert await transaction.keyed("agent", ["key"]) == []
            assert await transaction.recorded("agent", ["record-1"]) == []
            assert await transaction.document("note", "one") is None
            assert await transaction.documents("note", limit=9) == []
            assert await transaction.drop([ref]) == []
            await transaction.delete("note", ["one"])
            await transaction.forget_agent("agent")
            await transaction.append("agent", rows(2), expected_head=0)
            await transaction.save(document(body=b"of the other"))

        async with store.transaction(ALICE, write=False) as transaction:
            assert await transaction.head("agent") == 1
            assert await transaction.get([ref]) == {ref: b"of alice"}
            assert await transaction.document("note", "one") == document(agent_id="agent")

    async def test_names_that_look_alike_are_different_owners(self, store: Store) -> None:
        scopes = [Scope(tenant=tenant, owner="o") for tenant in ODD_NAMES]
        scopes += [Scope(tenant="a", owner="bc"), Scope(tenant="ab", owner="c")]
        for scope in scopes:
            async with store.transaction(scope) as transaction:
                assert await transaction.head("agent") == 0
                await transaction.append("agent", rows(1), expected_head=0)

        assert len(await store.scopes(limit=100)) == len(scopes)

    async def test_scopes_are_listed_in_order_page_by_page(self, store: Store) -> None:
        contents, journal, papers = BOB, OTHER_TENANT, ALICE
        await stored(store, b"content", scope=contents)
        async with store.transaction(journal) as transaction:
            await transaction.append("agent", rows(1), expected_head=0)
        async with store.transaction(papers) as transaction:
            await transaction.save(document())

        assert await store.scopes(limit=9) == [ALICE, BOB, OTHER_TENANT]
        assert await store.scopes(limit=2) == [ALICE, BOB]
        assert await store.scopes(after=BOB, limit=9) == [OTHER_TENANT]
        assert await store.scopes(after=OTHER_TENANT, limit=9) == []
