"""Where things are kept: memory, SQLite, PostgreSQL."""

from __future__ import annotations

from typing import Any

from threadline.errors import ConfigurationError
from threadline.ports import Store
from threadline.stores.memory import MemoryStore

__all__ = ["MemoryStore", "open_store"]


def open_store(url: str, *, keys: Any = None) -> Store:
    """The store that a URL names.

    Raises:
        ConfigurationError: nobody knows such a URL.
    """
    del keys
    if url == "memory:":
        return MemoryStore()
    raise ConfigurationError("a store is memory:, sqlite:///path or postgresql://...")
