"""`open_store`: the store that a URL names."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from threadline.errors import ConfigurationError
from threadline.ports import Store
from threadline.ports.keys import KeyProvider
from threadline.stores.memory import MemoryStore
from threadline.stores.sqlite import SQLiteStore

__all__ = ["open_store"]

_KNOWN = "memory:, sqlite:///relative/path, sqlite:////absolute/path, postgresql://user@host/database"

_SQLITE = {"busy_timeout_ms": int, "synchronous": str, "readers": int}
_POSTGRES = {"schema": str, "pool_size": int, "lock_timeout_ms": int, "statement_timeout_ms": int}


def open_store(url: str, *, keys: KeyProvider | None = None) -> Store:
    """The store that a URL names; nothing is opened before the first transaction.

    Args:
        url: `memory:`, `sqlite:///path`, `postgresql://...`. After `?` what `SQLiteStore` and `PostgresStore` take by
            the same names (`sqlite:///file.db?synchronous=normal`); the rest of a `postgresql` URL is libpq's.
        keys: everything is sealed with its owner's key.

    Raises:
        ConfigurationError: nobody knows such a URL or option, or what it needs is not installed.
    """
    store = _plain(url)
    if keys is None:
        return store
    raise ConfigurationError("sealing is not available for this store")


def _plain(url: str) -> Store:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    match parts.scheme:
        case "memory" if not parts.netloc and not parts.path and not options:
            return MemoryStore()
        case "sqlite" if not parts.netloc and len(parts.path) > 1:
            given = _taken(options, _SQLITE)
            if options:
                raise ConfigurationError(f"sqlite knows no option {min(options)}; known are {', '.join(_SQLITE)}")
            return SQLiteStore(unquote(parts.path[1:]), **given)
        case "postgresql" | "postgres":
            given = _taken(options, _POSTGRES)
            with _extra("postgres", "psycopg", "psycopg_pool"):
                from threadline.stores.postgres import PostgresStore

                return PostgresStore(parts._replace(query=urlencode(options)).geturl(), **given)
        case scheme:
            # The URL itself is not shown: it may hold a password.
            raise ConfigurationError(f"{scheme or 'this'} names no store; known are {_KNOWN}", key="url")


def _taken(options: dict[str, str], known: Mapping[str, type]) -> dict[str, Any]:
    """The options that are ours, each in its type; they leave `options`."""
    given: dict[str, Any] = {}
    for name in known.keys() & options.keys():
        try:
            given[name] = known[name](options.pop(name))
        except ValueError:
            raise ConfigurationError(f"{name} must be a whole number", key=name) from None
    return given


@contextmanager
def _extra(name: str, *packages: str) -> Generator[None]:
    """Says which extra to install when one of its packages is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in packages:
            raise
        raise ConfigurationError(
            f"{error.name} is not installed; run: pip install 'threadline[{name}]'", key="url", extra=name
        ) from error
