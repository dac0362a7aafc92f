"""`MemoryStore`: everything in dictionaries; the reference that the other stores are held to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from msgspec import Struct, field

from threadline.errors import ConflictError, InvalidInputError, StoreError
from threadline.ports import Document, Naming, Row, Scope, StoreStatistics
from threadline.ports.scope import checked_name, checked_scope
from threadline.stores.arguments import (
    check_contents,
    check_document,
    check_rows,
    checked_names,
    checked_number,
    document_conflict,
    head_conflict,
    missing_content,
    missing_row,
    out_of_order,
    record_conflict,
    write_refused,
)
from threadline.stores.naming import check_content, plain_ref

__all__ = ["MemoryStore", "MemoryTransaction"]


class _Shelf(Struct):
    """All that one scope holds. Values are frozen, so a shallow copy is a snapshot."""

    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    rows: dict[str, tuple[Row, ...]] = field(default_factory=dict[str, tuple[Row, ...]])
    documents: dict[tuple[str, str], Document] = field(default_factory=dict[tuple[str, str], Document])

    def copy(self) -> _Shelf:
        return _Shelf(contents=dict(self.contents), rows=dict(self.rows), documents=dict(self.documents))


class MemoryStore:
    """A store that lives as long as its process. One writer at a time; readers see what was committed.

    Args:
        busy_timeout_ms: how long a writer waits for the one before it.
    """

    def __init__(self, *, busy_timeout_ms: int = 10_000) -> None:
        self._shelves: dict[Scope, _Shelf] = {}
        self._writing = anyio.Lock()
        self._patience_s = busy_timeout_ms / 1000
        self._transactions = self._statements = self._rows_read = 0
        self._closed = False

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[MemoryTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        self._check_open()
        self._transactions += 1
        if not write:
            transaction = MemoryTransaction(self._shelves.get(scope, _Shelf()).copy(), self._count, write=False)
            try:
                yield transaction
            finally:
                transaction.end()
            return
        await self._turn()
        try:
            self._check_open()
            shelf = self._shelves.get(scope, _Shelf()).copy()
            transaction = MemoryTransaction(shelf, self._count, write=True)
            try:
                yield transaction
            finally:
                transaction.end()
            self._shelves[scope] = shelf
        finally:
            self._writing.release()

    async def _turn(self) -> None:
        try:
            with anyio.fail_after(self._patience_s):
                await self._writing.acquire()
        except TimeoutError:
            raise ConflictError(f"another task has been writing for {self._patience_s:g} s; try again") from None
        except RuntimeError:
            raise InvalidInputError("this task holds a transaction that writes already", key="write") from None

    def _count(self, rows: int) -> None:
        self._statements += 1
        self._rows_read += rows

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed")

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        checked_scope(scope)
        return plain_ref

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        self._check_open()
        checked_number(limit, "limit", least=1)
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
        """See `Store.statistics`. A verb counts as a statement."""
        return StoreStatistics(transactions=self._transactions, statements=self._statements, rows_read=self._rows_read)

    async def close(self) -> None:
        """See `Store.close`."""
        self._closed = True
        self._shelves = {}


def _name(scope: Scope) -> tuple[str, str]:
    return scope.tenant, scope.owner


class MemoryTransaction:
    """See `Transaction`."""

    def __init__(self, shelf: _Shelf, count: Callable[[int], None], *, write: bool) -> None:
        self._shelf = shelf
        self._count = count
        self._write = write
        self._over = False

    def end(self) -> None:
        """Refuse every later verb."""
        self._over = True

    def _read(self, rows: int = 0) -> None:
        if self._over:
            raise StoreError("the transaction is over")
        self._count(rows)

    def _change(self) -> None:
        if not self._write:
            raise write_refused()
        self._read()

    # contents

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """See `Transaction.put`."""
        self._change()
        check_contents(contents)
        for ref, content in contents.items():
            check_content(ref, content)
        for ref, content in contents.items():
            self._shelf.contents.setdefault(ref, content)

    async def get(self, refs: Sequence[str]) -> dict[str, bytes]:
        """See `Transaction.get`."""
        wanted = checked_names(refs, "refs")
        self._read(len(wanted))
        self._check_refs(wanted)
        return {ref: self._shelf.contents[ref] for ref in wanted}

    async def drop(self, refs: Sequence[str]) -> list[str]:
        """See `Transaction.drop`."""
        self._change()
        named = {ref for rows in self._shelf.rows.values() for row in rows for ref in row.refs}
        wanted = checked_names(refs, "refs")
        return [ref for ref in wanted if ref not in named and self._shelf.contents.pop(ref, None) is not None]

    def _check_refs(self, refs: Sequence[str]) -> None:
        for ref in refs:
            if ref not in self._shelf.contents:
                raise missing_content(ref)

    # rows

    def _rows(self, agent_id: str) -> tuple[Row, ...]:
        return self._shelf.rows.get(checked_name(agent_id, "agent_id"), ())

    async def head(self, agent_id: str) -> int:
        """See `Transaction.head`."""
        self._read(1)
        return len(self._rows(agent_id))

    async def append(self, agent_id: str, rows: Sequence[Row], *, expected_head: int) -> None:
        """See `Transaction.append`."""
        self._change()
        check_rows(rows)
        for expected, row in enumerate(rows, checked_number(expected_head, "expected_head") + 1):
            if row.sequence != expected:
                raise out_of_order(row.sequence, expected)
        held = self._rows(agent_id)
        if len(held) != expected_head:
            raise head_conflict(agent_id, len(held), expected_head)
        self._set(agent_id, [*held, *rows], rows)

    async def replace(self, agent_id: str, rows: Sequence[Row]) -> None:
        """See `Transaction.replace`."""
        self._change()
        check_rows(rows)
        held = list(self._rows(agent_id))
        for row in rows:
            if row.sequence > len(held):
                raise missing_row(agent_id, row.sequence)
            held[row.sequence - 1] = row
        self._set(agent_id, held, rows)

    def _set(self, agent_id: str, held: Sequence[Row], new: Sequence[Row]) -> None:
        taken: set[str] = set()
        for row in held:
            if row.record_id in taken:
                raise record_conflict(agent_id, row.record_id)
            taken.add(row.record_id)
        for row in new:
            self._check_refs(row.refs)
        if held:
            self._shelf.rows[agent_id] = tuple(held)

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
        checked_number(limit, "limit", least=1)
        if branch is not None:
            checked_number(branch, "branch")
        stop = None if until is None else checked_number(until, "until")
        wanted = checked_names(kinds, "kinds")
        held = self._rows(agent_id)[checked_number(after, "after") : stop]
        found: list[Row] = []
        for row in reversed(held) if descending else held:
            if len(found) == limit:
                break
            if (branch is None or row.branch == branch) and (not wanted or row.kind in wanted):
                found.append(row)
        self._read(len(found))
        return found

    async def keyed(self, agent_id: str, keys: Sequence[str]) -> list[Row]:
        """See `Transaction.keyed`."""
        wanted = checked_names(keys, "keys")
        return self._found(agent_id, lambda row: row.key in wanted)

    async def recorded(self, agent_id: str, record_ids: Sequence[str]) -> list[Row]:
        """See `Transaction.recorded`."""
        wanted = checked_names(record_ids, "record_ids")
        return self._found(agent_id, lambda row: row.record_id in wanted)

    def _found(self, agent_id: str, wanted: Callable[[Row], bool]) -> list[Row]:
        found = [row for row in self._rows(agent_id) if wanted(row)]
        self._read(len(found))
        return found

    # documents

    async def document(self, kind: str, id: str) -> Document | None:
        """See `Transaction.document`."""
        self._read(1)
        return self._shelf.documents.get((checked_name(kind, "kind"), checked_name(id, "id")))

    async def documents(self, kind: str, *, agent_id: str | None = None, after: str = "", limit: int) -> list[Document]:
        """See `Transaction.documents`."""
        checked_name(kind, "kind")
        checked_number(limit, "limit", least=1)
        for name, key in ((agent_id, "agent_id"), (after, "after")):
            if name is not None and name != "":
                checked_name(name, key)
        held = sorted((one for one in self._shelf.documents.values() if one.kind == kind), key=lambda one: one.id)
        found = [one for one in held if one.id > after and (agent_id is None or one.agent_id == agent_id)][:limit]
        self._read(len(found))
        return found

    async def save(self, document: Document) -> None:
        """See `Transaction.save`."""
        self._change()
        check_document(document)
        place = document.kind, document.id
        held = self._shelf.documents.get(place)
        if document.revision != (1 if held is None else held.revision + 1):
            raise document_conflict(document)
        self._shelf.documents[place] = document

    async def delete(self, kind: str, ids: Sequence[str]) -> None:
        """See `Transaction.delete`."""
        self._change()
        for id_ in checked_names(ids, "ids"):
            self._shelf.documents.pop((checked_name(kind, "kind"), id_), None)

    # forgetting

    async def forget_agent(self, agent_id: str) -> None:
        """See `Transaction.forget_agent`."""
        self._change()
        gone = self._rows(agent_id)
        self._shelf.rows.pop(agent_id, None)
        documents = self._shelf.documents
        self._shelf.documents = {place: one for place, one in documents.items() if one.agent_id != agent_id}
        await self.drop(list({ref for row in gone for ref in row.refs}))

    async def forget_owner(self) -> None:
        """See `Transaction.forget_owner`."""
        self._change()
        self._shelf.contents.clear()
        self._shelf.rows.clear()
        self._shelf.documents.clear()
