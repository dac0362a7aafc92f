"""`MemoryStore`: everything in dictionaries; the reference that the other stores are held to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256

import anyio
from msgspec import Struct, field

from threadline.errors import ConflictError, IntegrityError, NotFoundError, StoreError
from threadline.ports import Document, Naming, Row, Scope, StoreStatistics
from threadline.ports.scope import checked_scope

__all__ = ["MemoryStore", "plain_ref"]


def plain_ref(content: bytes) -> str:
    """The name of a content: the SHA-256 of its bytes."""
    return f"sha256:{sha256(content).hexdigest()}"


class _Shelf(Struct):
    """All that one scope holds. Values are frozen, so a shallow copy is a snapshot."""

    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    rows: dict[str, tuple[Row, ...]] = field(default_factory=dict[str, tuple[Row, ...]])
    documents: dict[tuple[str, str], Document] = field(default_factory=dict[tuple[str, str], Document])

    def copy(self) -> _Shelf:
        return _Shelf(contents=dict(self.contents), rows=dict(self.rows), documents=dict(self.documents))


class MemoryStore:
    """A store that lives as long as its process. One writer at a time; readers see what was committed."""

    def __init__(self) -> None:
        self._shelves: dict[Scope, _Shelf] = {}
        self._writing = anyio.Lock()
        self._transactions = self._statements = self._rows_read = 0
        self._closed = False

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[MemoryTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        if self._closed:
            raise StoreError("the store is closed")
        self._transactions += 1
        committed = self._shelves.get(scope, _Shelf())
        if not write:
            yield MemoryTransaction(committed.copy(), self._count)
            return
        async with self._writing:
            shelf = self._shelves.get(scope, _Shelf()).copy()
            yield MemoryTransaction(shelf, self._count)
            self._shelves[scope] = shelf

    def _count(self, rows: int) -> None:
        self._statements += 1
        self._rows_read += rows

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        checked_scope(scope)
        return plain_ref

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        held = sorted(
            (scope for scope, shelf in self._shelves.items() if shelf.contents or shelf.rows or shelf.documents),
            key=_name,
        )
        return [scope for scope in held if after is None or _name(scope) > _name(after)][:limit]

    async def migrate(self) -> list[str]:
        """See `Store.migrate`."""
        return []

    async def scrub(self, scope: Scope) -> str:
        """See `Store.scrub`."""
        checked_scope(scope)
        return "nothing was ever written outside this process"

    def statistics(self) -> StoreStatistics:
        """See `Store.statistics`."""
        return StoreStatistics(transactions=self._transactions, statements=self._statements, rows_read=self._rows_read)

    async def close(self) -> None:
        """See `Store.close`."""
        self._closed = True


def _name(scope: Scope) -> tuple[str, str]:
    return scope.tenant, scope.owner


class MemoryTransaction:
    """See `Transaction`."""

    def __init__(self, shelf: _Shelf, count: Callable[[int], None]) -> None:
        self._shelf = shelf
        self._count = count

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """See `Transaction.put`."""
        self._told()
        for ref, content in contents.items():
            if plain_ref(content) != ref:
                raise IntegrityError("a ref is not the name of its content", ref=ref)
        for ref, content in contents.items():
            self._shelf.contents.setdefault(ref, bytes(content))

    async def get(self, refs: Sequence[str]) -> dict[str, bytes]:
        """See `Transaction.get`."""
        self._told(len(refs))
        for ref in refs:
            if ref not in self._shelf.contents:
                raise NotFoundError(f"there is no content {ref}", ref=ref)
        return {ref: self._shelf.contents[ref] for ref in refs}

    async def drop(self, refs: Sequence[str]) -> list[str]:
        """See `Transaction.drop`."""
        self._told()
        named = {ref for rows in self._shelf.rows.values() for row in rows for ref in row.refs}
        return [ref for ref in refs if ref not in named and self._shelf.contents.pop(ref, None) is not None]

    async def head(self, agent_id: str) -> int:
        """See `Transaction.head`."""
        self._told(1)
        return len(self._shelf.rows.get(agent_id, ()))

    async def append(self, agent_id: str, rows: Sequence[Row], *, expected_head: int) -> None:
        """See `Transaction.append`."""
        self._told()
        held = self._shelf.rows.get(agent_id, ())
        if len(held) != expected_head:
            raise ConflictError("the journal has another head", agent_id=agent_id, found=len(held))
        taken = {row.record_id for row in held}
        for sequence, row in enumerate(rows, expected_head + 1):
            if row.sequence != sequence or row.record_id in taken:
                raise ConflictError("a record id is taken, or out of order", record_id=row.record_id)
            taken.add(row.record_id)
            self._check_refs(row)
        self._shelf.rows[agent_id] = (*held, *rows)

    def _check_refs(self, row: Row) -> None:
        for ref in row.refs:
            if ref not in self._shelf.contents:
                raise NotFoundError(f"there is no content {ref}", ref=ref)

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
        held = self._shelf.rows.get(agent_id, ())[max(after, 0) : until]
        found: list[Row] = []
        for row in reversed(held) if descending else held:
            if len(found) == limit:
                break
            if (branch is None or row.branch == branch) and (not kinds or row.kind in kinds):
                found.append(row)
        self._told(len(found))
        return found

    async def keyed(self, agent_id: str, keys: Sequence[str]) -> list[Row]:
        """See `Transaction.keyed`."""
        return self._found(agent_id, lambda row: row.key in keys)

    async def recorded(self, agent_id: str, record_ids: Sequence[str]) -> list[Row]:
        """See `Transaction.recorded`."""
        return self._found(agent_id, lambda row: row.record_id in record_ids)

    def _found(self, agent_id: str, wanted: Callable[[Row], bool]) -> list[Row]:
        found = [row for row in self._shelf.rows.get(agent_id, ()) if wanted(row)]
        self._told(len(found))
        return found

    async def replace(self, agent_id: str, rows: Sequence[Row]) -> None:
        """See `Transaction.replace`."""
        self._told()
        held = list(self._shelf.rows.get(agent_id, ()))
        for row in rows:
            if not 0 < row.sequence <= len(held):
                raise NotFoundError("there is no row of that sequence", agent_id=agent_id, sequence=row.sequence)
            self._check_refs(row)
            held[row.sequence - 1] = row
        self._shelf.rows[agent_id] = tuple(held)

    async def document(self, kind: str, id: str) -> Document | None:
        """See `Transaction.document`."""
        self._told(1)
        return self._shelf.documents.get((kind, id))

    async def documents(self, kind: str, *, agent_id: str | None = None, after: str = "", limit: int) -> list[Document]:
        """See `Transaction.documents`."""
        held = sorted((one for one in self._shelf.documents.values() if one.kind == kind), key=lambda one: one.id)
        found = [one for one in held if one.id > after and (agent_id is None or one.agent_id == agent_id)][:limit]
        self._told(len(found))
        return found

    async def save(self, document: Document) -> None:
        """See `Transaction.save`."""
        self._told()
        place = document.kind, document.id
        held = self._shelf.documents.get(place)
        if document.revision != (1 if held is None else held.revision + 1):
            raise ConflictError("the document was changed by somebody else", kind=document.kind, id=document.id)
        self._shelf.documents[place] = document

    async def delete(self, kind: str, ids: Sequence[str]) -> None:
        """See `Transaction.delete`."""
        self._told()
        for id_ in ids:
            self._shelf.documents.pop((kind, id_), None)

    async def forget_agent(self, agent_id: str) -> None:
        """See `Transaction.forget_agent`."""
        gone = self._shelf.rows.pop(agent_id, ())
        self._drop_documents(place for place, one in self._shelf.documents.items() if one.agent_id == agent_id)
        await self.drop(list({ref for row in gone for ref in row.refs}))

    def _drop_documents(self, places: Iterable[tuple[str, str]]) -> None:
        for place in list(places):
            del self._shelf.documents[place]

    async def forget_owner(self) -> None:
        """See `Transaction.forget_owner`."""
        self._told()
        self._shelf.contents.clear()
        self._shelf.rows.clear()
        self._shelf.documents.clear()

    def _told(self, rows: int = 0) -> None:
        self._count(rows)
