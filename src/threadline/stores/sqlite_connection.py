"""One connection to a SQLite file: opened, migrated, asked, its errors told in our terms.

Everything here blocks and runs on a worker thread; `sqlite.py` says when.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Literal, TypeVar

from threadline.errors import ConfigurationError, ConflictError, StoreError, ThreadlineError
from threadline.stores.schema import check_version, pending
from threadline.stores.statements import statements
from threadline.stores.verbs import Answer, Query, Steps, Value

__all__ = ["SQLiteBusyError", "SQLiteConnection", "Synchronous"]

T = TypeVar("T")
Synchronous = Literal["full", "normal"]

_APPLICATION = 0x54684C6E
"""`ThLn`: how a file says that it is ours (PRAGMA application_id)."""

_PATIENCE_S = 0.25
"""How long SQLite itself waits for a lock before our own wait, which can be cancelled, takes over."""

_WORDS = {
    sqlite3.SQLITE_READONLY: "is read-only",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk failed or is full",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "may not be opened",
    sqlite3.SQLITE_AUTH: "may not be opened",
    sqlite3.SQLITE_TOOBIG: "cannot hold a value that large",
    sqlite3.SQLITE_NOMEM: "cannot be read: memory ran out",
    sqlite3.SQLITE_NOLFS: "cannot grow: the file system takes no file that large",
}


_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class SQLiteBusyError(Exception):
    """Another connection holds the file just now, and nothing was done; for `SQLiteStore` to wait and try again."""


class SQLiteConnection:
    """A connection that belongs to one worker at a time."""

    def __init__(self, path: Path, *, synchronous: Synchronous) -> None:
        self._path = path
        self._sql = statements("sqlite")
        self.failed = False
        self.statements = 0
        self.rows_read = 0
        try:
            self._inner = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._told(error) from error
        try:
            self._is_new()
            # Switching to WAL writes only where it is not on yet; two processes that both switch it on wait in turn.
            self._inner.execute("PRAGMA journal_mode = WAL")
            self._inner.execute(f"PRAGMA synchronous = {synchronous}")
            self._inner.execute("PRAGMA secure_delete = ON")
            # After a large transaction the log gives its room back.
            self._inner.execute("PRAGMA journal_size_limit = 67108864")
        except BaseException as error:
            self._inner.close()
            if isinstance(error, sqlite3.Error):
                raise self._refusal(error) from error
            raise

    def ready(self, place: str) -> None:
        """See that the schema is the one this release needs; make it where the file is new.

        Raises:
            ConfigurationError: it is another one, or the file is another program's.
        """
        try:
            if self._is_new():
                self.migrate()
            check_version("sqlite", self._pragma("user_version"), place)
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def migrate(self) -> list[str]:
        """Run the steps that are missing, in one transaction; gives back their names."""
        try:
            self._inner.execute("BEGIN IMMEDIATE")
            try:
                self._is_new()
                steps = pending("sqlite", self._pragma("user_version"))
                for step in steps:
                    for statement in step.sql.split(";\n"):
                        self._inner.execute(statement)
                    self._inner.execute(f"PRAGMA user_version = {step.number}")
                self._inner.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._inner.execute("COMMIT")
            finally:
                if self._inner.in_transaction:
                    self._inner.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._refusal(error) from error
        return [step.name for step in steps]

    def _is_new(self) -> bool:
        (tables,) = self._inner.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if tables and self._pragma("application_id") != _APPLICATION:
            raise ConfigurationError(f"{self._path} is another program's database")
        return not tables

    def _pragma(self, name: str) -> int:
        (value,) = self._inner.execute(f"PRAGMA {name}").fetchone()
        return value

    def drive(self, steps: Steps[T], *, write: bool) -> T:
        """Ask every statement of a verb; the first one of a transaction begins it.

        Raises:
            SQLiteBusyError: the transaction could not begin; no step was taken.
        """
        if not self._inner.in_transaction:
            self._begin(write=write)
        try:
            query = next(steps)
            while True:
                query = steps.send(self._ask(query))
        except StopIteration as stop:
            return stop.value
        except (sqlite3.Error, OverflowError) as error:
            self.failed = True
            raise self._told(error) from error

    def _begin(self, *, write: bool) -> None:
        try:
            self._inner.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            if not write:
                # The first read takes the snapshot; what could be in its way is met here, before any step.
                self._inner.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            self.end(commit=False)
            raise self._refusal(error) from error

    def _ask(self, query: Query) -> Answer:
        self.statements += 1
        sql = self._sql[query.name]
        shared = {key: _held(value) for key, value in query.values.items()}
        if query.batch is not None:
            self._inner.executemany(sql, (shared | item for item in query.batch))
            return []
        answer = self._inner.execute(sql, shared).fetchall()
        self.rows_read += len(answer)
        return answer

    def end(self, *, commit: bool) -> None:
        """Commit or roll back, if anything was begun.

        Raises:
            StoreError: it could not be committed; nothing of it is kept.
        """
        failed, self.failed = self.failed, False
        try:
            if commit and failed:
                raise StoreError("the transaction failed before it ended; nothing of it is kept", path=str(self._path))
            if commit and self._inner.in_transaction:
                self._inner.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            # Some failures end a transaction by themselves (disk full, for one).
            if self._inner.in_transaction:
                self._inner.execute("ROLLBACK")

    def scrub(self) -> None:
        """Write the file anew without what was deleted, and empty the log.

        Raises:
            SQLiteBusyError: somebody reads or writes; run it again.
        """
        try:
            self._empty_log()
            self._inner.execute("VACUUM")
            self._empty_log()
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _empty_log(self) -> None:
        busy, *_ = self._inner.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise SQLiteBusyError

    def close(self) -> None:
        """Close; what was not committed is rolled back."""
        self._inner.close()

    def _refusal(self, error: sqlite3.Error) -> Exception:
        """Of something that may be tried again as it was."""
        return SQLiteBusyError() if _code(error) in _BUSY else self._told(error)

    def _told(self, error: sqlite3.Error | OverflowError) -> ThreadlineError:
        code = _code(error)
        if code in _BUSY:
            return ConflictError(f"{self._path} is held by another connection; try again", path=str(self._path))
        words = _WORDS.get(code, f"failed: {type(error).__name__}, {getattr(error, 'sqlite_errorname', 'no code')}")
        return StoreError(f"{self._path} {words}", path=str(self._path))


def _code(error: sqlite3.Error | OverflowError) -> int:
    """SQLite's primary result code."""
    if isinstance(error, OverflowError | sqlite3.DataError):
        return sqlite3.SQLITE_TOOBIG
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _held(value: Value) -> str | int | bytes | None:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
