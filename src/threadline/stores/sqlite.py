"""`SQLiteStore`: one file, several processes; one of them writes at a time, readers never wait."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TypeVar

import anyio
from anyio import to_thread

from threadline.errors import ConfigurationError, ConflictError, InvalidInputError, StoreError
from threadline.ports import Naming, Scope, StoreStatistics
from threadline.ports.scope import checked_scope
from threadline.stores.naming import plain_ref
from threadline.stores.sqlite_connection import SQLiteBusyError, SQLiteConnection, Synchronous
from threadline.stores.transaction import SqlTransaction
from threadline.stores.verbs import Steps, next_scopes

__all__ = ["SQLiteStore"]

T = TypeVar("T")


class SQLiteStore:
    """A store in one SQLite file in WAL mode.

    Each connection is used by one task at a time and blocks a worker thread, never the event loop. A verb is one trip
    to the thread, a commit another.

    Args:
        path: the file; made when it is not there, its folder is not.
        busy_timeout_ms: how long a writer waits for the one before it, in this process or another.
        synchronous: "full" survives a power cut; "normal" survives any crash of the program, and may lose the last
            transactions in a power cut.
        readers: most transactions that read at once; more wait for one of them.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        busy_timeout_ms: int = 10_000,
        synchronous: Synchronous = "full",
        readers: int = 4,
    ) -> None:
        if sqlite3.sqlite_version_info < (3, 37):  # STRICT tables
            raise ConfigurationError(f"SQLite 3.37 or later is needed; this Python brings {sqlite3.sqlite_version}")
        if synchronous not in {"full", "normal"}:
            raise ConfigurationError("synchronous is full or normal", key="synchronous")
        self.path = Path(path)
        self._synchronous: Synchronous = synchronous
        self._patience_s = busy_timeout_ms / 1000
        self._writing = anyio.Lock()
        self._reading = anyio.Semaphore(readers)
        self._threads = anyio.CapacityLimiter(readers + 1)
        self._writer: SQLiteConnection | None = None
        self._idle: list[SQLiteConnection] = []
        self._all: list[SQLiteConnection] = []
        self._transactions = 0
        self._closed = False

    @property
    def place(self) -> str:
        """The store's URL."""
        return f"sqlite:///{self.path}"

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[SqlTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        async with self._connection(write=write) as connection:
            self._transactions += 1
            transaction = SqlTransaction(_Drive(self, connection, write=write), scope, write=write)
            commit = False
            try:
                yield transaction
                commit = True
            finally:
                transaction.end()
                with anyio.CancelScope(shield=True):
                    await self._work(lambda: connection.end(commit=commit))

    @asynccontextmanager
    async def _connection(self, *, write: bool) -> AsyncGenerator[SQLiteConnection]:
        if self._writer is None or write:
            async with self._turn():
                writer = await self._opened()
                if write:
                    yield writer
                    return
        async with self._reading:
            self._check_open()
            connection = self._idle.pop() if self._idle else await self._patient(self._connect)
            try:
                yield connection
            finally:
                if self._closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """The writer's turn within this process."""
        try:
            with anyio.fail_after(self._patience_s):
                await self._writing.acquire()
        except TimeoutError:
            raise ConflictError(
                f"another task has been writing to {self.path} for {self._patience_s:g} s; try again",
                path=str(self.path),
            ) from None
        except RuntimeError:
            raise InvalidInputError("this task holds a transaction that writes already", key="write") from None
        try:
            self._check_open()
            yield
        finally:
            self._writing.release()

    async def _opened(self) -> SQLiteConnection:
        """The writer's connection; the first call makes or checks the schema."""
        if self._writer is None:
            connection = await self._patient(self._connect)
            await self._patient(lambda: connection.ready(self.place))
            self._writer = connection
        return self._writer

    def _connect(self) -> SQLiteConnection:
        connection = SQLiteConnection(self.path, synchronous=self._synchronous)
        self._all.append(connection)
        return connection

    async def _work(self, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._threads)

    async def _patient(self, work: Callable[[], T]) -> T:
        """Do work that may find the file held by another process: wait, then say so."""
        deadline = monotonic() + self._patience_s
        pause_s = 0.001
        while True:
            try:
                return await self._work(work)
            except SQLiteBusyError as busy:
                if monotonic() > deadline:
                    raise ConflictError(
                        f"another process has been writing to {self.path} for {self._patience_s:g} s; try again",
                        path=str(self.path),
                    ) from busy
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.05)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", path=str(self.path))

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        checked_scope(scope)
        return plain_ref

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        async with self._connection(write=False) as connection:
            try:
                return await self._work(lambda: connection.drive(next_scopes(after, limit), write=False))
            finally:
                with anyio.CancelScope(shield=True):
                    await self._work(lambda: connection.end(commit=False))

    async def migrate(self) -> list[str]:
        """See `Store.migrate`."""
        async with self._turn():
            if self._writer is not None:
                return []
            connection = await self._patient(self._connect)
            return await self._patient(connection.migrate)

    async def scrub(self, scope: Scope) -> str:
        """See `Store.scrub`. The whole file is written anew: it takes as long as the file is large."""
        checked_scope(scope)
        async with self._turn():
            writer = await self._opened()
            await self._patient(writer.scrub)
        return "the file was written anew without what was deleted, and its log emptied"

    def statistics(self) -> StoreStatistics:
        """See `Store.statistics`."""
        return StoreStatistics(
            transactions=self._transactions,
            statements=sum(connection.statements for connection in self._all),
            rows_read=sum(connection.rows_read for connection in self._all),
        )

    async def close(self) -> None:
        """See `Store.close`. Waits for the transaction that writes."""
        if self._closed:
            return
        async with self._writing:
            self._closed = True
            idle, self._idle = self._idle, []
            if self._writer is not None:
                idle.append(self._writer)
                self._writer = None
            for connection in idle:
                await self._work(connection.close)


class _Drive:
    """Takes the steps of verbs to a connection's thread."""

    def __init__(self, store: SQLiteStore, connection: SQLiteConnection, *, write: bool) -> None:
        self._store = store
        self._connection = connection
        self._write = write

    @property
    def failed(self) -> bool:
        return self._connection.failed

    async def drive(self, steps: Steps[T]) -> T:
        return await self._store._patient(lambda: self._connection.drive(steps, write=self._write))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
