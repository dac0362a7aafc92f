"""What PostgreSQL alone has to get right: connections, locks, loops, poolers."""

from __future__ import annotations

import asyncio
import json
import os
import re

import anyio
import pytest

from threadline.errors import ConfigurationError, ConflictError, StoreError
from threadline.stores.postgres import PostgresStore
from threadline.stores.statements import statements
from threadline.testing.stores.samples import ALICE, BOB, rows, stored

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(empty_postgres):
    store = PostgresStore(**empty_postgres, lock_timeout_ms=300)
    yield store
    await store.close()


@pytest.fixture
def new_schema(postgres_connection, worker_id):
    """The name of a schema that is not there."""
    name = f"new_{worker_id}"
    postgres_connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
    yield name
    postgres_connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


async def append(store, scope=ALICE):
    async with store.transaction(scope) as transaction:
        head = await transaction.head("agent")
        await transaction.append("agent", rows(1, after=head), expected_head=head)


async def head(store, scope=ALICE):
    async with store.transaction(scope, write=False) as transaction:
        return await transaction.head("agent")


def end_connections(postgres_connection):
    postgres_connection.execute(
        "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = 'threadline'"
    )


# schema


async def test_stores_that_open_a_new_schema_at_once_all_succeed(postgres_dsn, new_schema):
    stores = [PostgresStore(postgres_dsn, schema=new_schema) for _ in range(5)]

    async with anyio.create_task_group() as tasks:
        for store in stores:
            tasks.start_soon(head, store)

    assert await stores[0].migrate() == []
    for store in stores:
        await store.close()


@pytest.mark.parametrize(
    ("change", "command"), [("DELETE FROM", "threadline db migrate --db postgresql://"), ("", "pip")]
)
async def test_an_older_or_newer_schema_is_refused_with_what_to_run(
    postgres_dsn, postgres_connection, new_schema, change, command
):
    first = PostgresStore(postgres_dsn, schema=new_schema)
    await head(first)
    await first.close()
    versions = f"{new_schema}.schema_versions"
    postgres_connection.execute(f"DELETE FROM {versions}" if change else f"INSERT INTO {versions} VALUES (99, 'later')")

    store = PostgresStore(postgres_dsn, schema=new_schema)
    with pytest.raises(ConfigurationError, match=command):
        await head(store)
    await store.close()


async def test_another_programs_tables_are_refused(postgres_dsn, postgres_connection, new_schema):
    postgres_connection.execute(f"CREATE SCHEMA {new_schema}; CREATE TABLE {new_schema}.documents (theirs text)")

    store = PostgresStore(postgres_dsn, schema=new_schema)
    with pytest.raises(ConfigurationError, match="another program"):
        await head(store)
    await store.close()


@pytest.mark.parametrize("schema", ["", "Robert'); DROP TABLE", 'a"b', "UPPER", "x" * 64])
def test_a_schema_name_that_needs_quoting_is_refused(schema):
    with pytest.raises(ConfigurationError):
        PostgresStore("postgresql://localhost/db", schema=schema)


@pytest.mark.parametrize("name", sorted(statements("postgres").keys() - {"is_there", "make_versions"}))
async def test_no_statement_needs_to_scan_a_table(store, postgres_connection, postgres_schema, name):
    await append(store)
    sql = re.sub(r"%\((\w+)\)[sb](::(\w+)(\[\])?)?", _literal, statements("postgres")[name])

    with postgres_connection.transaction():
        postgres_connection.execute(f'SET LOCAL search_path TO "{postgres_schema}"; SET LOCAL enable_seqscan = off')
        (plan,) = postgres_connection.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchone()

    assert not re.search(r"Seq Scan", re.sub(r"schema_versions.*", "", json.dumps(plan)))


def _literal(match):
    _, _, kind, many = match.groups()
    if many:
        return f"'{{}}'::{kind}[]"
    return "'1'"


# connections


async def test_a_server_that_is_not_there_is_a_store_error_at_once(tmp_path):
    store = PostgresStore(f"postgresql://user:hunter2@/db?host={tmp_path}")

    with anyio.fail_after(5), pytest.raises(StoreError, match="cannot be reached") as caught:
        await head(store)

    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in str(caught.value.fields)
    await store.close()


async def test_connections_that_died_in_the_pool_are_passed_over(store, postgres_connection):
    async with anyio.create_task_group() as tasks:
        for scope in (ALICE, BOB, ALICE, BOB):
            tasks.start_soon(append, store, scope)
    end_connections(postgres_connection)

    await append(store)

    assert await head(store) == 3


async def test_a_connection_that_dies_at_work_is_a_store_error_and_leaves_nothing(store, postgres_connection):
    await append(store)

    async def interrupted():
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(1, after=1), expected_head=1)
            end_connections(postgres_connection)
            await transaction.head("agent")

    with pytest.raises(StoreError, match="cannot be reached"):
        await interrupted()

    assert await head(store) == 1
    await append(store)


async def test_a_commit_that_cannot_be_is_a_store_error(store, postgres_connection):
    await append(store)

    async def interrupted():
        async with store.transaction(ALICE) as transaction:
            await transaction.append("agent", rows(1, after=1), expected_head=1)
            end_connections(postgres_connection)

    with pytest.raises(StoreError):
        await interrupted()

    assert await head(store) == 1


async def test_a_pool_without_a_free_connection_is_a_store_error(empty_postgres):
    store = PostgresStore(**(empty_postgres | {"pool_size": 1}), connect_timeout_s=1)

    async with store.transaction(ALICE, write=False):
        with pytest.raises(StoreError, match="no free connection"):
            await head(store)
    await store.close()


async def test_nothing_outlives_a_transaction_on_a_connection(empty_postgres):
    store = PostgresStore(**(empty_postgres | {"pool_size": 1}))
    await append(store)
    pool = await store._opened()

    async with pool.connection() as connection:
        for setting, theirs in (("search_path", '"$user", public'), ("statement_timeout", "0"), ("lock_timeout", "0")):
            assert await (await connection.execute(f"SHOW {setting}")).fetchone() == (theirs,)
        for kept in ("pg_prepared_statements", "pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"):
            assert await (await connection.execute(f"SELECT count(*) FROM {kept}")).fetchone() == (0,)
    await store.close()


def test_a_store_belongs_to_the_loop_that_used_it_first(empty_postgres):
    store = PostgresStore(**empty_postgres)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(append(store))
        with pytest.raises(ConfigurationError, match="another event loop"):
            second.run(append(store))
        first.run(store.close())


# writers


async def test_a_writer_that_waited_too_long_is_a_conflict(store, empty_postgres):
    other = PostgresStore(**empty_postgres)
    await append(store)

    async with other.transaction(ALICE) as transaction:
        await transaction.head("agent")
        with pytest.raises(ConflictError, match="at work for too long"):
            await append(store)
        await append(store, BOB)
        assert await head(store) == 1

    await append(store)
    await other.close()


async def test_rows_that_somebody_else_wrote_in_between_are_a_conflict(store, postgres_connection, postgres_schema):
    await append(store)
    table = f'"{postgres_schema}".journal_rows'
    copied = f"""INSERT INTO {table} SELECT tenant, owner, agent_id, sequence + 1, record_id || '+', branch, kind, key,
        refs, body FROM {table}"""

    async def append_late():
        async with store.transaction(ALICE) as transaction:
            before = await transaction.head("agent")
            postgres_connection.execute(copied)
            await transaction.append("agent", rows(1, after=before), expected_head=before)

    with pytest.raises(ConflictError):
        await append_late()
    assert await head(store) == 2


async def test_scrubbing_says_what_it_cannot_do(store):
    await stored(store, b"content")

    assert re.search(r"until vacuum.+destroy the owner's key", await store.scrub(ALICE))


@pytest.mark.soak
async def test_a_content_of_fifty_megabytes_comes_back_to_the_byte(store):
    large = os.urandom(1_000_000) * 50
    (ref,) = await stored(store, large)

    async with store.transaction(ALICE, write=False) as transaction:
        assert (await transaction.get([ref]))[ref] == large
