"""Where things are kept: memory, SQLite, PostgreSQL."""

from threadline.stores.memory import MemoryStore
from threadline.stores.opening import open_store
from threadline.stores.postgres import PostgresStore
from threadline.stores.sqlite import SQLiteStore

__all__ = ["MemoryStore", "PostgresStore", "SQLiteStore", "open_store"]
