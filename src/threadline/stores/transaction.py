"""`SqlTransaction`: the verbs of one transaction on a place that answers SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from threadline.errors import StoreError
from threadline.ports import Document, Row, Scope
from threadline.stores.arguments import write_refused
from threadline.stores.verbs import Steps, Verbs

__all__ = ["Driver", "SqlTransaction"]

T = TypeVar("T")


class Driver(Protocol):
    """Asks a place the statements of a verb, inside one open transaction."""

    @property
    def failed(self) -> bool:
        """The place itself refused a statement: nothing of the transaction can be kept."""
        ...

    async def drive(self, steps: Steps[T]) -> T:
        """What the verb gives back."""
        ...


class SqlTransaction:
    """See `Transaction`."""

    def __init__(self, driver: Driver, scope: Scope, *, write: bool) -> None:
        self._driver = driver
        self._verbs = Verbs(scope)
        self._write = write
        self._over = False

    def end(self) -> None:
        """Refuse every later verb."""
        self._over = True

    async def _read(self, steps: Steps[T]) -> T:
        if self._over:
            raise StoreError("the transaction is over")
        if self._driver.failed:
            raise StoreError("the transaction has failed; nothing of it is kept")
        return await self._driver.drive(steps)

    async def _change(self, steps: Steps[T]) -> T:
        if not self._write:
            raise write_refused()
        return await self._read(steps)

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """See `Transaction.put`."""
        await self._change(self._verbs.put(contents))

    async def get(self, refs: Sequence[str]) -> dict[str, bytes]:
        """See `Transaction.get`."""
        return await self._read(self._verbs.get(refs))

    async def drop(self, refs: Sequence[str]) -> list[str]:
        """See `Transaction.drop`."""
        return await self._change(self._verbs.drop(refs))

    async def head(self, agent_id: str) -> int:
        """See `Transaction.head`."""
        return await self._read(self._verbs.head(agent_id))

    async def append(self, agent_id: str, rows: Sequence[Row], *, expected_head: int) -> None:
        """See `Transaction.append`."""
        await self._change(self._verbs.append(agent_id, rows, expected_head))

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
        return await self._read(
            self._verbs.rows(
                agent_id, branch=branch, kinds=kinds, after=after, until=until, limit=limit, descending=descending
            )
        )

    async def keyed(self, agent_id: str, keys: Sequence[str]) -> list[Row]:
        """See `Transaction.keyed`."""
        return await self._read(self._verbs.keyed(agent_id, keys))

    async def recorded(self, agent_id: str, record_ids: Sequence[str]) -> list[Row]:
        """See `Transaction.recorded`."""
        return await self._read(self._verbs.recorded(agent_id, record_ids))

    async def replace(self, agent_id: str, rows: Sequence[Row]) -> None:
        """See `Transaction.replace`."""
        await self._change(self._verbs.replace(agent_id, rows))

    async def document(self, kind: str, id: str) -> Document | None:
        """See `Transaction.document`."""
        return await self._read(self._verbs.document(kind, id))

    async def documents(self, kind: str, *, agent_id: str | None = None, after: str = "", limit: int) -> list[Document]:
        """See `Transaction.documents`."""
        return await self._read(self._verbs.documents(kind, agent_id, after, limit))

    async def save(self, document: Document) -> None:
        """See `Transaction.save`."""
        await self._change(self._verbs.save(document))

    async def delete(self, kind: str, ids: Sequence[str]) -> None:
        """See `Transaction.delete`."""
        await self._change(self._verbs.delete(kind, ids))

    async def forget_agent(self, agent_id: str) -> None:
        """See `Transaction.forget_agent`."""
        await self._change(self._verbs.forget_agent(agent_id))

    async def forget_owner(self) -> None:
        """See `Transaction.forget_owner`."""
        await self._change(self._verbs.forget_owner())
