"""Any history leaves a store as it leaves the model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings

from threadline.stores import SQLiteStore
from threadline.stores.postgres import PostgresStore
from threadline.testing.stores import StoreMachine
from threadline.testing.stores.samples import ALICE, BOB

QUICK = settings(max_examples=25, stateful_step_count=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class SQLiteMachine(StoreMachine):
    async def open_store(self):
        self.folder = tempfile.TemporaryDirectory()
        return SQLiteStore(Path(self.folder.name) / "store.db", synchronous="normal")

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


class PostgresMachine(StoreMachine):
    arguments: ClassVar = {}

    async def open_store(self):
        store = PostgresStore(**self.arguments)
        for scope in (ALICE, BOB):
            async with store.transaction(scope) as transaction:
                await transaction.forget_owner()
        return store


class TestSQLite(SQLiteMachine.TestCase):
    settings = QUICK


class TestPostgres(PostgresMachine.TestCase):
    settings = QUICK

    @pytest.fixture(autouse=True)
    def place(self, empty_postgres):
        PostgresMachine.arguments = empty_postgres


@pytest.mark.fuzz
class TestSQLiteAtLength(SQLiteMachine.TestCase):
    settings = settings(QUICK, max_examples=1_000, stateful_step_count=20)
