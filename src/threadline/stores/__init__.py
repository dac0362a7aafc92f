"""Where things are kept: memory, SQLite, PostgreSQL."""

from threadline.stores.memory import MemoryStore

__all__ = ["MemoryStore"]
