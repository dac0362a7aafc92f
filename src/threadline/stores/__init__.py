"""Where things are kept: memory, SQLite, PostgreSQL."""

from threadline.stores.memory import MemoryStore
from threadline.stores.opening import open_store

__all__ = ["MemoryStore", "open_store"]
