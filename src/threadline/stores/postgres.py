"""`PostgresStore`: PostgreSQL, by a pool of connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from threadline.errors import ConfigurationError, ConflictError, StoreError
from threadline.ports import Naming, Scope, StoreStatistics
from threadline.ports.scope import checked_name, checked_scope
from threadline.stores.naming import plain_ref
from threadline.stores.schema import check_version, pending
from threadline.stores.statements import statements
from threadline.stores.transaction import SqlTransaction
from threadline.stores.verbs import Steps, next_scopes

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

__all__ = ["PostgresStore"]

T = TypeVar("T")

_MIGRATING = 0x54684C6E
"""The advisory lock that one migration at a time holds."""


class PostgresStore:
    """A store in a schema of a PostgreSQL database; any number of processes may share it.

    Transactions are REPEATABLE READ: what somebody else changed first is a `ConflictError`, never a lost update. Works
    behind pgbouncer in transaction mode: nothing is prepared, and no setting outlives a transaction. A store belongs to
    the event loop that first uses it.

    Args:
        dsn: as libpq takes it.
        schema: where the tables are.
        max_connections: of the pool; more transactions wait.
        timeout_s: how long one waits for a connection, and for a lock.
    """

    def __init__(
        self, dsn: str, *, schema: str = "threadline", max_connections: int = 10, timeout_s: float = 30.0
    ) -> None:
        try:
            import psycopg
            import psycopg.conninfo
            import psycopg.sql
            import psycopg_pool
        except ImportError as error:
            raise ConfigurationError("PostgreSQL needs its driver: pip install 'threadline[postgres]'") from error
        self._psycopg = psycopg
        self._pools = psycopg_pool
        self._dsn = dsn
        self.schema = checked_name(schema, "schema")
        self._size = max_connections
        self._timeout_s = timeout_s
        self._sql = statements("postgres")
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_ready = False
        self._closed = False
        self._counts = [0, 0, 0]

    @property
    def place(self) -> str:
        """The store's URL without a password."""
        told = self._psycopg.conninfo.conninfo_to_dict(self._dsn)
        host, name = told.get("host", ""), told.get("dbname", "")
        return f"postgresql://{host}/{name}" if "/" not in str(host) else f"postgresql:///{name}?host={host}"

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[SqlTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        await self._made_ready()
        async with self._connection(write=write) as connection:
            self._counts[0] += 1
            transaction = SqlTransaction(_Drive(self, connection), scope, write=write)
            try:
                yield transaction
            finally:
                transaction.end()

    @asynccontextmanager
    async def _connection(self, *, write: bool) -> AsyncGenerator[AsyncConnection[Any]]:
        """A connection in a transaction that commits when the block ends."""
        pool = await self._opened()
        with self._told():
            async with pool.connection() as connection:
                await connection.set_isolation_level(self._psycopg.IsolationLevel.REPEATABLE_READ)
                await connection.set_read_only(not write)
                await connection.execute(
                    "SELECT set_config('search_path', quote_ident(%s), true), set_config('lock_timeout', %s, true)",
                    (self.schema, f"{int(self._timeout_s * 1000)}ms"),
                )
                yield connection

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        if self._closed:
            raise StoreError("the store is closed", place=self.place)
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            raise ConfigurationError("a PostgreSQL store belongs to one event loop; open another store in this one")
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    self._loop = loop
                    pool: AsyncConnectionPool[AsyncConnection[Any]] = self._pools.AsyncConnectionPool(
                        self._dsn,
                        min_size=1,
                        max_size=self._size,
                        timeout=self._timeout_s,
                        kwargs={"prepare_threshold": None},
                        open=False,
                    )
                    with self._told():
                        await pool.open(wait=True, timeout=self._timeout_s)
                    self._pool = pool
        return self._pool

    async def _made_ready(self) -> None:
        """See that the schema is the one this release needs; make it where there is none."""
        if self._is_ready:
            return
        async with self._connection(write=False) as connection:
            version = await self._version(connection)
        if version == 0:
            await self.migrate()
        else:
            check_version("postgres", version, self.place)
        self._is_ready = True

    async def _version(self, connection: AsyncConnection[Any]) -> int:
        cursor = await connection.execute("SELECT to_regclass('schema_version') IS NOT NULL")
        row = await cursor.fetchone()
        if row is None or not row[0]:
            return 0
        cursor = await connection.execute("SELECT max(version) FROM schema_version")
        row = await cursor.fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    async def migrate(self) -> list[str]:
        """See `Store.migrate`."""
        pool = await self._opened()
        with self._told():
            async with pool.connection() as connection:
                await connection.set_isolation_level(self._psycopg.IsolationLevel.READ_COMMITTED)
                await connection.set_read_only(False)
                await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
                name = self._psycopg.sql.Identifier(self.schema)
                await connection.execute(self._psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
                await connection.execute("SELECT set_config('search_path', quote_ident(%s), true)", (self.schema,))
                steps = pending("postgres", await self._version(connection))
                if steps:
                    await connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version bigint PRIMARY KEY)")
                for step in steps:
                    await connection.execute(step.sql.encode())
                    await connection.execute("INSERT INTO schema_version VALUES (%s)", (step.number,))
        return [step.name for step in steps]

    @contextmanager
    def _told(self) -> Generator[None]:
        """The driver's errors in our terms, with their cause."""
        errors = self._psycopg.errors
        try:
            yield
        except (
            errors.SerializationFailure,
            errors.DeadlockDetected,
            errors.UniqueViolation,
            errors.ForeignKeyViolation,
            errors.LockNotAvailable,
        ) as error:
            raise ConflictError("somebody else changed the same thing first; try again", place=self.place) from error
        except self._pools.PoolTimeout as error:
            raise StoreError(f"{self.place}: no connection within {self._timeout_s:g} s", place=self.place) from error
        except self._psycopg.Error as error:
            raise StoreError(
                f"{self.place} failed: {type(error).__name__} {error.sqlstate or ''}".rstrip(), place=self.place
            ) from error

    async def drive(self, connection: AsyncConnection[Any], steps: Steps[T]) -> T:
        """Ask every statement of a verb on a connection."""
        try:
            query = next(steps)
            while True:
                sql = self._sql[query.name].encode()
                self._counts[1] += 1
                if query.batch is not None:
                    async with connection.cursor() as cursor:
                        await cursor.executemany(sql, [query.values | item for item in query.batch])
                    query = steps.send([])
                    continue
                cursor = await connection.execute(sql, query.values)
                answer = await cursor.fetchall() if cursor.description is not None else []
                self._counts[2] += len(answer)
                query = steps.send(answer)
        except StopIteration as stop:
            return stop.value

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        checked_scope(scope)
        return plain_ref

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        await self._made_ready()
        async with self._connection(write=False) as connection:
            return await self.drive(connection, next_scopes(after, limit))

    async def scrub(self, scope: Scope) -> str:
        """See `Store.scrub`."""
        checked_scope(scope)
        return (
            "deleted in the database; the server reuses the pages at its next vacuum, and logs and backups keep "
            "them for their time: to be gone at once, contents must be sealed with a key that is destroyed"
        )

    def statistics(self) -> StoreStatistics:
        """See `Store.statistics`."""
        transactions, asked, read = self._counts
        return StoreStatistics(transactions=transactions, statements=asked, rows_read=read)

    async def close(self) -> None:
        """See `Store.close`."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()


class _Drive:
    """Takes the steps of verbs to a connection."""

    def __init__(self, store: PostgresStore, connection: AsyncConnection[Any]) -> None:
        self._store = store
        self._connection = connection

    async def drive(self, steps: Steps[T]) -> T:
        """See `Driver.drive`."""
        return await self._store.drive(self._connection, steps)
