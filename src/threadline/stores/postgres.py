"""`PostgresStore`: a schema in a PostgreSQL database; writers of one scope take turns, readers never wait."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, LiteralString, cast

import anyio
import psycopg
from psycopg import conninfo
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from threadline.errors import ConfigurationError, StoreError
from threadline.ports import Naming, Scope, StoreStatistics
from threadline.ports.scope import checked_scope
from threadline.stores.naming import plain_ref
from threadline.stores.postgres_session import Connection, PostgresSession, told
from threadline.stores.schema import check_version, pending
from threadline.stores.statements import statements
from threadline.stores.transaction import SqlTransaction
from threadline.stores.verbs import next_scopes

__all__ = ["PostgresStore"]

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class PostgresStore:
    """A store in one schema of a PostgreSQL database.

    A transaction that writes first takes the scope's advisory lock, so writers of one owner take turns as on SQLite,
    and those of different owners do not meet. Nothing outlives a transaction on a connection (no prepared statements,
    no session settings): a pooler in transaction mode is fine in between. The store belongs to the event loop that
    used it first.

    Args:
        dsn: `postgresql://...` or libpq's `key=value` form.
        schema: where the tables are.
        pool_size: most connections at once.
        lock_timeout_ms: how long a writer waits for the one before it.
        statement_timeout_ms: how long one statement may take.
        connect_timeout_s: how long to wait for the server, or for a connection of the pool to be free.
    """

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "threadline",
        pool_size: int = 10,
        lock_timeout_ms: int = 10_000,
        statement_timeout_ms: int = 30_000,
        connect_timeout_s: int = 10,
    ) -> None:
        if not _SCHEMA.fullmatch(schema):
            raise ConfigurationError("schema must be lower case letters, digits and _", key="schema")
        try:
            parts = conninfo.conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:
            raise ConfigurationError("the connection string is not one that libpq understands", key="dsn") from None
        self._arguments: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": None,
            "connect_timeout": parts.get("connect_timeout") or connect_timeout_s,
            "application_name": parts.get("application_name") or "threadline",
        }
        self._dsn = dsn
        self._schema = schema
        self._pool_size = pool_size
        self._patience_s = connect_timeout_s
        self._settings = (
            f'SET LOCAL search_path TO "{schema}"; '
            f"SET LOCAL statement_timeout = {int(statement_timeout_ms)}; "
            f"SET LOCAL lock_timeout = {int(lock_timeout_ms)}; "
            # A client that hangs or was cut off must not keep an owner's lock.
            f"SET LOCAL idle_in_transaction_session_timeout = {max(60_000, int(statement_timeout_ms))}"
        )
        host, database = parts.get("host") or "", parts.get("dbname") or parts.get("user") or ""
        port = f":{parts['port']}" if parts.get("port") else ""
        place = f"{database}?host={host}&" if "/" in str(host) else f"{host}{port}/{database}?"
        self.place = f"postgresql://{place if '/' in place else f'/{place}'}schema={schema}"
        self._opening = anyio.Lock()
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._transactions = self._statements = self._rows_read = 0
        self._closed = False

    @asynccontextmanager
    async def transaction(self, scope: Scope, *, write: bool = True) -> AsyncGenerator[SqlTransaction]:
        """See `Store.transaction`."""
        scope = checked_scope(scope)
        begin = f"BEGIN; {self._settings}; SELECT pg_advisory_xact_lock({self._lock(scope.tenant, scope.owner)})"
        async with self._session(begin if write else self._reading) as session:
            self._transactions += 1
            transaction = SqlTransaction(session, scope, write=write)
            commit = False
            try:
                yield transaction
                commit = True
            finally:
                transaction.end()
                with anyio.CancelScope(shield=True):
                    await session.end(commit=commit)

    @property
    def _reading(self) -> str:
        return f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._settings}"

    def _lock(self, *names: str) -> int:
        """The advisory lock of a scope: 64 bits of a hash; two scopes that share one only wait for each other."""
        digest = sha256("\0".join((self._schema, *names)).encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    @asynccontextmanager
    async def _session(self, begin: str) -> AsyncGenerator[PostgresSession]:
        pool = await self._opened()
        connection = await self._begun(pool, begin)
        session = PostgresSession(connection, self.place)
        try:
            yield session
        finally:
            self._statements += session.statements
            self._rows_read += session.rows_read
            with anyio.CancelScope(shield=True):
                await pool.putconn(connection)

    async def _begun(self, pool: AsyncConnectionPool[Connection], begin: str) -> Connection:
        """A connection in a transaction; those that died in the pool are passed over."""
        cause: psycopg.Error | None = None
        for _ in range(self._pool_size + 1):
            try:
                connection = await pool.getconn(self._patience_s)
            except PoolClosed:
                raise self._closed_error() from None
            except (PoolTimeout, TooManyRequests) as error:
                raise StoreError(
                    f"{self.place} had no free connection for {self._patience_s} s", place=self.place
                ) from error
            try:
                await connection.execute(cast("LiteralString", begin))
            except BaseException as error:
                dead = connection.broken
                with anyio.CancelScope(shield=True):
                    await pool.putconn(connection)
                if not isinstance(error, psycopg.Error):
                    raise
                if not dead:
                    raise told(error, self.place) from error
                cause = error
            else:
                return connection
        raise StoreError(f"{self.place} cannot be reached", place=self.place) from cause

    async def _opened(self) -> AsyncConnectionPool[Connection]:
        """The pool; the first call makes or checks the schema."""
        if self._closed:
            raise self._closed_error()
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise ConfigurationError("this store belongs to another event loop; open one in each loop", key="store")
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    await self._prepare()
                    self._pool = await self._filled()
        return self._pool

    async def _filled(self) -> AsyncConnectionPool[Connection]:
        pool = AsyncConnectionPool(
            self._dsn,
            connection_class=Connection,
            kwargs=self._arguments,
            min_size=1,
            max_size=self._pool_size,
            open=False,
            name="threadline",
        )
        await pool.open()
        return pool

    async def _prepare(self) -> None:
        """See that the schema is there and the one this release needs; make it where there is none."""
        try:
            async with await Connection.connect(self._dsn, **self._arguments) as connection:
                version = await self._version(connection)
                if version is None:
                    await self._migrate(connection)
                    version = await self._version(connection)
                check_version("postgres", version or 0, self.place)
        except psycopg.Error as error:
            raise told(error, self.place) from error

    async def _version(self, connection: Connection) -> int | None:
        """The schema's version; None where it is not there."""
        answer = await connection.execute(_sql("is_there"), {"schema": self._schema})
        (_, versions) = await answer.fetchone() or (False, False)
        if not versions:
            return None
        async with connection.transaction():
            await connection.execute(cast("LiteralString", self._settings))
            answer = await connection.execute(_sql("newest_version"))
            (version,) = await answer.fetchone() or (0,)
        return version

    async def _migrate(self, connection: Connection) -> list[str]:
        async with connection.transaction():
            await connection.execute(cast("LiteralString", self._settings))
            # Whoever comes second waits here, and then finds everything made.
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock("schema"),))
            answer = await connection.execute(_sql("is_there"), {"schema": self._schema})
            schema, versions = await answer.fetchone() or (False, False)
            if not schema:
                await connection.execute(cast("LiteralString", f'CREATE SCHEMA "{self._schema}"'))
            if not versions:
                await connection.execute(_sql("make_versions"))
            answer = await connection.execute(_sql("newest_version"))
            (version,) = await answer.fetchone() or (0,)
            steps = pending("postgres", version)
            for step in steps:
                try:
                    await connection.execute(cast("LiteralString", step.sql))
                except psycopg.errors.DuplicateTable:
                    raise ConfigurationError(
                        f"{self.place} holds another program's tables; choose another schema", key="schema"
                    ) from None
                await connection.execute(_sql("insert_version"), {"number": step.number, "name": step.name})
        return [step.name for step in steps]

    def _closed_error(self) -> StoreError:
        return StoreError("the store is closed", place=self.place)

    async def naming(self, scope: Scope) -> Naming:
        """See `Store.naming`."""
        checked_scope(scope)
        return plain_ref

    async def scopes(self, *, after: Scope | None = None, limit: int) -> list[Scope]:
        """See `Store.scopes`."""
        async with self._session(self._reading) as session:
            try:
                return await session.drive(next_scopes(after, limit))
            finally:
                with anyio.CancelScope(shield=True):
                    await session.end(commit=False)

    async def migrate(self) -> list[str]:
        """See `Store.migrate`."""
        if self._closed:
            raise self._closed_error()
        try:
            async with await Connection.connect(self._dsn, **self._arguments) as connection:
                return await self._migrate(connection)
        except psycopg.Error as error:
            raise told(error, self.place) from error

    async def scrub(self, scope: Scope) -> str:
        """See `Store.scrub`. Nothing is done here: what PostgreSQL deleted it overwrites in its own time."""
        checked_scope(scope)
        return (
            "what was deleted is gone for every query, but its bytes stay in PostgreSQL's files until vacuum reuses "
            "their place, and in write-ahead logs and backups as long as those are kept; to make them unreadable now, "
            "keep the owner's contents sealed and destroy the owner's key"
        )

    def statistics(self) -> StoreStatistics:
        """See `Store.statistics`."""
        return StoreStatistics(transactions=self._transactions, statements=self._statements, rows_read=self._rows_read)

    async def close(self) -> None:
        """See `Store.close`."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()


def _sql(name: str) -> LiteralString:
    return cast("LiteralString", statements("postgres")[name])
