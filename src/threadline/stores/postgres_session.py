"""One transaction on one connection to PostgreSQL; its errors told in our terms."""

from __future__ import annotations

from typing import Any, LiteralString, TypeVar, cast

import psycopg
from psycopg import errors

from threadline.errors import ConflictError, StoreError, ThreadlineError
from threadline.stores.statements import statements
from threadline.stores.verbs import Answer, Query, Steps

__all__ = ["Connection", "PostgresSession", "told"]

T = TypeVar("T")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

_CHANGED = (errors.UniqueViolation, errors.SerializationFailure, errors.DeadlockDetected)


class PostgresSession:
    """Asks the statements of verbs, one transaction after the other."""

    def __init__(self, connection: Connection, place: str) -> None:
        self._connection = connection
        self._place = place
        self._sql = statements("postgres")
        self.failed = False
        self.statements = 0
        self.rows_read = 0

    async def drive(self, steps: Steps[T]) -> T:
        """See `Driver.drive`."""
        try:
            query = next(steps)
            while True:
                query = steps.send(await self._ask(query))
        except StopIteration as stop:
            return stop.value
        except psycopg.Error as error:
            self.failed = True
            raise told(error, self._place) from error

    async def _ask(self, query: Query) -> Answer:
        self.statements += 1
        values: dict[str, Any] = dict(query.values)
        if query.batch is not None:
            values |= {column: [item[column] for item in query.batch] for column in query.batch[0]}
        cursor = await self._connection.execute(cast("LiteralString", self._sql[query.name]), values, binary=True)
        if cursor.description is None:
            return []
        answer = await cursor.fetchall()
        self.rows_read += len(answer)
        return answer

    async def end(self, *, commit: bool) -> None:
        """Commit or roll back.

        Raises:
            StoreError: it could not be committed; nothing of it is kept.
        """
        try:
            cursor = await self._connection.execute("COMMIT" if commit else "ROLLBACK")
        except psycopg.Error as error:
            raise told(error, self._place) from error
        if commit and cursor.statusmessage != "COMMIT":
            raise StoreError("the transaction failed before it ended; nothing of it is kept", place=self._place)


def told(error: psycopg.Error, place: str) -> ThreadlineError:
    """A driver's error in our terms: conflicts are conflicts, everything else is the store's trouble."""
    if isinstance(error, _CHANGED):
        return ConflictError("somebody else changed the same thing first; read again and retry", place=place)
    if isinstance(error, errors.LockNotAvailable):
        return ConflictError("another writer has been at work for too long; try again", place=place)
    state = error.sqlstate
    match error:
        case errors.QueryCanceled():
            words = "took longer than the statement timeout"
        case errors.DiskFull():
            words = "cannot grow: the disk is full"
        case errors.ReadOnlySqlTransaction():
            words = "is read-only"
        case errors.InsufficientPrivilege():
            words = "does not let this user do that"
        case errors.DataCorrupted() | errors.IndexCorrupted():
            words = "is damaged"
        case psycopg.OperationalError() if state is None or state.startswith(("08", "57P")):
            words = "cannot be reached"
        case _:
            words = f"failed: {type(error).__name__}"
    return StoreError(f"{place} {words}", place=place, sqlstate=state)
