"""`SealedStore`: any store, with everything that was said sealed by its owner's key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from threadline.ports import Document, KeyProvider, Naming, Row, Scope, Store, StoreStatistics, Transaction
from threadline.ports.scope import checked_scope
from threadline.stores.arguments import check_contents, check_document, check_rows, checked_names, write_refused
from threadline.stores.ring import Ring

__all__ = ["SealedStore", "SealedTransaction"]


class SealedStore:
    """Encryption at rest, an owner at a time.

    Contents, bodies of rows and documents, and idempotency keys are sealed (AES-256-GCM, bound to their place, so that
    none can stand for another); contents are named by a keyed hash, so that nobody can probe for a text by its hash.
    Agent, record and document ids, kinds, sequences, and sizes are not hidden.

    A scope's first key is made when it first names or writes something. Forgetting an owner destroys its keys as the
    transaction ends, before it commits: then every copy and backup is unreadable. What is written later in that same
    transaction is sealed with a new key; contents put there must be named after it.
    """

    def __init__(self, store: Store, keys: KeyProvider) -> None:
        self._store = store
        self._keys = keys

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[SealedTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        async with self._store.transaction(scope, write=write) as inner:
            # A writer asks for the keys when nobody else can write, so that nobody destroys them in between.
            ring = Ring(scope, await self._keys.keys(scope))
            transaction = SealedTransaction(inner, scope, self._keys, ring, write=write)
            yield transaction
            await transaction.destroy_forgotten()

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        scope = checked_scope(scope)
        keys = await self._keys.keys(scope)
        return Ring(scope, keys or [await self._keys.create(scope)]).name

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        return await self._store.scopes(after=after, limit=limit)

    async def migrate(self) -> list[str]:
        """See `Store.migrate`."""
        return await self._store.migrate()

    async def scrub(self, scope: Scope) -> str:
        """See `Store.scrub`."""
        done = await self._store.scrub(scope)
        if await self._keys.keys(scope):
            return f"{done}; what was sealed can be read as long as the owner has the key"
        return f"{done}; the owner has no key any more: whatever was sealed is unreadable, in every copy"

    def statistics(self) -> StoreStatistics:
        """See `Store.statistics`."""
        return self._store.statistics()

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()


class SealedTransaction:
    """See `Transaction`.

    Raises:
        ForgottenError: what is asked for was sealed with a key that is destroyed.
        IntegrityError: a sealed value was changed, or moved from its place.
    """

    def __init__(self, inner: Transaction, scope: Scope, keys: KeyProvider, ring: Ring, *, write: bool) -> None:
        self._inner = inner
        self._scope = scope
        self._keys = keys
        self._ring = ring
        self._write = write
        self._forgotten: list[str] = []

    async def destroy_forgotten(self) -> None:
        """Destroy the keys of what was forgotten."""
        if self._forgotten:
            await self._keys.destroy(self._scope, self._forgotten)

    async def _sealing(self) -> Ring:
        """The ring, with a key to seal with."""
        if not self._write:
            raise write_refused()
        if not self._ring:
            self._ring = Ring(self._scope, [await self._keys.create(self._scope)])
        return self._ring

    async def _opening(self, sealed: Sequence[bytes]) -> Ring:
        """The ring that opens them."""
        return self._ring if self._ring.knows(sealed) else await self._renewed()

    async def _renewed(self) -> Ring:
        """The ring with keys that were made since the transaction began."""
        held = [key for key in await self._keys.keys(self._scope) if key.id not in self._forgotten]
        self._ring = Ring(self._scope, held)
        return self._ring

    # contents

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """See `Transaction.put`."""
        check_contents(contents)
        ring = await self._sealing()
        if not ring.named(contents):
            ring = await self._renewed()
        await self._inner.put({ref: ring.seal_content(ref, content) for ref, content in contents.items()})

    async def get(self, refs: Sequence[str]) -> dict[str, bytes]:
        """See `Transaction.get`."""
        found = await self._inner.get(refs)
        ring = await self._opening(list(found.values()))
        return {ref: ring.open_content(ref, sealed) for ref, sealed in found.items()}

    async def drop(self, refs: Sequence[str]) -> list[str]:
        """See `Transaction.drop`."""
        return await self._inner.drop(refs)

    # rows

    async def head(self, agent_id: str) -> int:
        """See `Transaction.head`."""
        return await self._inner.head(agent_id)

    async def append(self, agent_id: str, rows: Sequence[Row], *, expected_head: int) -> None:
        """See `Transaction.append`."""
        await self._inner.append(agent_id, await self._sealed(agent_id, rows), expected_head=expected_head)

    async def replace(self, agent_id: str, rows: Sequence[Row]) -> None:
        """See `Transaction.replace`."""
        await self._inner.replace(agent_id, await self._sealed(agent_id, rows))

    async def _sealed(self, agent_id: str, rows: Sequence[Row]) -> list[Row]:
        check_rows(rows)
        ring = await self._sealing()
        return [ring.seal_row(agent_id, row) for row in rows]

    async def _opened(self, agent_id: str, rows: Sequence[Row]) -> list[Row]:
        ring = await self._opening([row.body for row in rows])
        return [ring.open_row(agent_id, row) for row in rows]

    async def rows(
        self,
        agent_id: str,
        *,
        branch: int | None = None,
        kinds: Sequence[str] = (),
        after: int = 0,
        until: int | None = None,
        limit: int,
        descending: bool = False,
    ) -> list[Row]:
        """See `Transaction.rows`."""
        found = await self._inner.rows(
            agent_id, branch=branch, kinds=kinds, after=after, until=until, limit=limit, descending=descending
        )
        return await self._opened(agent_id, found)

    async def keyed(self, agent_id: str, keys: Sequence[str]) -> list[Row]:
        """See `Transaction.keyed`."""
        wanted = [name for key in checked_names(keys, "keys") for name in self._ring.key_names(key)]
        return await self._opened(agent_id, await self._inner.keyed(agent_id, wanted))

    async def recorded(self, agent_id: str, record_ids: Sequence[str]) -> list[Row]:
        """See `Transaction.recorded`."""
        return await self._opened(agent_id, await self._inner.recorded(agent_id, record_ids))

    # documents

    async def document(self, kind: str, id: str) -> Document | None:
        """See `Transaction.document`."""
        found = await self._inner.document(kind, id)
        return None if found is None else (await self._opened_documents([found]))[0]

    async def documents(self, kind: str, *, agent_id: str | None = None, after: str = "", limit: int) -> list[Document]:
        """See `Transaction.documents`."""
        return await self._opened_documents(
            await self._inner.documents(kind, agent_id=agent_id, after=after, limit=limit)
        )

    async def _opened_documents(self, documents: Sequence[Document]) -> list[Document]:
        ring = await self._opening([document.body for document in documents])
        return [ring.open_document(document) for document in documents]

    async def save(self, document: Document) -> None:
        """See `Transaction.save`."""
        check_document(document)
        await self._inner.save((await self._sealing()).seal_document(document))

    async def delete(self, kind: str, ids: Sequence[str]) -> None:
        """See `Transaction.delete`."""
        await self._inner.delete(kind, ids)

    # forgetting

    async def forget_agent(self, agent_id: str) -> None:
        """See `Transaction.forget_agent`."""
        await self._inner.forget_agent(agent_id)

    async def forget_owner(self) -> None:
        """See `Transaction.forget_owner`."""
        await self._inner.forget_owner()
        self._forgotten += self._ring.ids
        self._ring = Ring(self._scope, [])
