"""`open_store`: the store that a URL names."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from threadline.errors import ConfigurationError
from threadline.ports import Store
from threadline.stores.memory import MemoryStore

__all__ = ["open_store"]

_KNOWN = "memory:, sqlite:///relative/path, sqlite:////absolute/path, postgresql://user@host/database"


def open_store(url: str, *, keys: Any = None) -> Store:
    """The store that a URL names; nothing is opened before the first transaction.

    Args:
        url: `memory:`, `sqlite:///path` or `postgresql://...`.
        keys: a `KeyProvider`: everything is then sealed with its owner's key.

    Raises:
        ConfigurationError: nobody knows such a URL, or what it needs is not installed.
    """
    store = _plain(url)
    if keys is None:
        return store
    raise ConfigurationError("sealing is not available for this store")


def _plain(url: str) -> Store:
    if url in ("memory:", "memory://"):
        return MemoryStore()
    parts = urlsplit(url)
    if parts.scheme == "sqlite" and not parts.netloc and len(parts.path) > 1:
        from threadline.stores.sqlite import SQLiteStore

        return SQLiteStore(unquote(parts.path[1:]))
    if parts.scheme in ("postgresql", "postgres"):
        from threadline.stores.postgres import PostgresStore

        return PostgresStore(url)
    raise ConfigurationError(f"{parts.scheme or 'this'} names no store; known are {_KNOWN}", key="url")
