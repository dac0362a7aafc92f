"""Stores to try: each empty and open."""

from __future__ import annotations

import psycopg
import pytest

pytest.register_assert_rewrite("threadline.testing.stores")

TABLES = ("contents", "journal_rows", "journal_refs", "documents")


@pytest.fixture(scope="session")
def postgres_schema(worker_id):
    """A schema of this worker's own, migrated when a store first opens it."""
    return f"stores_{worker_id}"


@pytest.fixture(scope="session")
def postgres_connection(postgres_dsn):
    """A driver's own connection, to prepare and to look behind a store."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def empty_postgres(postgres_dsn, postgres_schema, postgres_connection):
    """Arguments of a `PostgresStore` on tables without rows."""
    (there,) = postgres_connection.execute("SELECT to_regclass(%s)", (f"{postgres_schema}.documents",)).fetchone()
    if there is not None:
        postgres_connection.execute(";".join(f'DELETE FROM "{postgres_schema}".{table}' for table in TABLES))
    return {"dsn": postgres_dsn, "schema": postgres_schema, "pool_size": 4}
