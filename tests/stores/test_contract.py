"""Every store keeps the whole contract."""

from __future__ import annotations

import pytest

from threadline.stores import MemoryStore, SQLiteStore
from threadline.stores.postgres import PostgresStore
from threadline.testing.stores import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    async def store(self):
        store = MemoryStore()
        yield store
        await store.close()


class TestSQLite(StoreContract):
    @pytest.fixture
    async def store(self, tmp_path):
        store = SQLiteStore(tmp_path / "store.db")
        yield store
        await store.close()


class TestPostgres(StoreContract):
    @pytest.fixture
    async def store(self, empty_postgres):
        store = PostgresStore(**empty_postgres)
        yield store
        await store.close()
