"""Where things are kept: memory, SQLite, PostgreSQL."""

from threadline.stores.memory import MemoryStore
from threadline.stores.sqlite import SQLiteStore

__all__ = ["MemoryStore", "SQLiteStore"]
