"""Any history leaves a store as it leaves the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings

from threadline.stores import SQLiteStore
from threadline.testing.stores import StoreMachine


class SQLiteMachine(StoreMachine):
    async def open_store(self):
        self.folder = tempfile.TemporaryDirectory()
        return SQLiteStore(Path(self.folder.name) / "store.db", synchronous="normal")

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


TestSQLite = SQLiteMachine.TestCase
TestSQLite.settings = settings(max_examples=25, stateful_step_count=8, deadline=None)
