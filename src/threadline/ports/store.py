"""`Store`: where contents, journal rows and documents live; one transaction domain over all three.

A store speaks `str`, `int` and `bytes` alone. What a body says is known to the room that wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from threadline.ports.scope import Scope

__all__ = ["Document", "Naming", "Row", "Store", "StoreStatistics", "Transaction"]


class Row(Struct, frozen=True, kw_only=True):
    """One line of an agent's journal.

    Attributes:
        sequence: place in the agent's journal, 1-based and dense over all its branches.
        record_id: unique within the agent.
        branch: the branch the row was written on; 0 is the first.
        kind: what the row is, for selection.
        key: the caller's idempotency key or message id; a journal may hold it more than once (on other branches).
        refs: the contents that the row names; they stay as long as it does.
        body: everything else.
    """

    sequence: int
    record_id: str
    branch: int = 0
    kind: str
    key: str | None = None
    refs: tuple[str, ...] = ()
    body: bytes


class Document(Struct, frozen=True, kw_only=True):
    """A revisioned value: `revision` is 1 at first and grows by one with each change.

    `agent_id` ties it to an agent ("" for none): it goes when the agent is forgotten.
    """

    kind: str
    id: str
    agent_id: str = ""
    revision: int
    body: bytes


class StoreStatistics(Struct, frozen=True, kw_only=True):
    """What a store did since it was opened: transactions begun, statements sent, rows given back by them.

    Beginning and ending a transaction count as no statement. A transaction may be counted when it ends.
    """

    transactions: int
    statements: int
    rows_read: int


class Naming(Protocol):
    """Gives a content its id: the SHA-256 of its bytes, or a keyed hash where contents are sealed."""

    def __call__(self, content: bytes) -> str:
        """The ref: `sha256:` or `hmac-sha256:` and 64 hex digits."""
        ...


class Transaction(Protocol):
    """All verbs see one consistent state and take effect together or not at all.

    Everything is within the scope the transaction was begun with. Order of rows is by sequence, of documents by id. A
    verb that raises has written nothing; after anything but a `StoreError` the transaction may go on. How many
    statements a verb sends does not depend on how many rows it is given. A transaction belongs to one task.

    Raises:
        InvalidInputError: a name, number or body that no store could hold; a verb that writes where `write=False`.
        StoreError: the transaction is over, or the place failed: then nothing of it can be kept.
    """

    async def put(self, contents: Mapping[str, bytes]) -> None:
        """Store contents under their refs; those already there are left as they are.

        Raises:
            IntegrityError: a ref is not the name of its content; nothing was stored.
        """
        ...

    async def get(self, refs: Sequence[str]) -> dict[str, bytes]:
        """The contents, each once.

        Raises:
            NotFoundError: one is missing; names the ref.
            IntegrityError: one is not what its ref says; names the ref.
        """
        ...

    async def drop(self, refs: Sequence[str]) -> list[str]:
        """Delete those of the contents that no row names any more; gives back which. Documents name none."""
        ...

    async def head(self, agent_id: str) -> int:
        """The sequence of the agent's last row; 0 when it has none."""
        ...

    async def append(self, agent_id: str, rows: Sequence[Row], *, expected_head: int) -> None:
        """Add rows, numbered from `expected_head + 1` on. No rows only hold the head against the expected one.

        Raises:
            InvalidInputError: they are numbered otherwise.
            ConflictError: the head is another one, or a record id is taken.
            NotFoundError: a row names a content that is not stored.
        """
        ...

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
        """Rows with `after < sequence <= until`, of one branch or all, of some kinds or all; at most `limit` (>= 1).

        No more rows are read than are given back, however long the journal is.
        """
        ...

    async def keyed(self, agent_id: str, keys: Sequence[str]) -> list[Row]:
        """The rows that hold one of the keys."""
        ...

    async def recorded(self, agent_id: str, record_ids: Sequence[str]) -> list[Row]:
        """The rows with one of the record ids."""
        ...

    async def replace(self, agent_id: str, rows: Sequence[Row]) -> None:
        """Put other rows in the place of those with the same sequence: how a tombstone is set.

        Raises:
            NotFoundError: there is no row of that sequence, or a row names a content that is not stored.
            ConflictError: another row has the record id.
        """
        ...

    async def document(self, kind: str, id: str) -> Document | None:
        """One document, or None."""
        ...

    async def documents(self, kind: str, *, agent_id: str | None = None, after: str = "", limit: int) -> list[Document]:
        """Documents of a kind whose id sorts after `after` (by code point); of one agent or all; at most `limit`."""
        ...

    async def save(self, document: Document) -> None:
        """Write the next revision: 1 where there is none, else the stored one plus one.

        Raises:
            ConflictError: the stored revision is another one; nothing was written.
        """
        ...

    async def delete(self, kind: str, ids: Sequence[str]) -> None:
        """Delete documents; those that are not there are ignored."""
        ...

    async def forget_agent(self, agent_id: str) -> None:
        """Delete the agent's rows and documents, and the contents that only the agent's rows name."""
        ...

    async def forget_owner(self) -> None:
        """Delete everything of the scope."""
        ...


class Store(Protocol):
    """A place to keep things. Safe to use from many tasks at once; several processes may open the same place."""

    def transaction(self, scope: Scope, *, write: bool = True) -> AbstractAsyncContextManager[Transaction]:
        """Begin; commit when the block ends, roll back when it raises or is cancelled.

        Writers of one scope take turns: what one has read stays true until it commits, so no update is lost. Writers of
        different scopes may take turns too. A transaction that only reads (`write=False`) never waits for a writer. Not
        to be held across a model call, a hook or a policy.

        Raises:
            InvalidInputError: `scope` is not a `Scope`, or a verb got bad input.
            ConflictError: somebody else changed the same thing first, or wrote for longer than the store waits.
            StoreError: the place cannot be reached, is full, read-only or damaged.
            ConfigurationError: the schema is older or newer than this release; says what to run.
        """
        ...

    async def naming(self, scope: Scope) -> Naming:
        """How contents of the scope are named."""
        ...

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """Scopes that hold anything, by tenant and owner: for whoever runs the store, not for a user."""
        ...

    async def migrate(self) -> list[str]:
        """Bring the schema up to date, forward only; gives back what was run."""
        ...

    async def scrub(self, scope: Scope) -> str:
        """Make what was deleted unreadable as far as the place allows; gives back what was done, in words."""
        ...

    def statistics(self) -> StoreStatistics:
        """Counters since the store was opened."""
        ...

    async def close(self) -> None:
        """Give back connections; later calls raise `StoreError`. Closing twice does nothing."""
        ...
