"""Where things are kept: memory, SQLite, PostgreSQL, and sealed on any of them. The last two need extras."""

from threadline.stores.memory import MemoryStore
from threadline.stores.opening import open_store
from threadline.stores.sqlite import SQLiteStore

__all__ = ["MemoryStore", "SQLiteStore", "open_store"]
