"""What SQLite alone has to get right: files, other processes, plans, bytes on the disk."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import sys
import time

import anyio
import pytest

from threadline.errors import ConfigurationError, ConflictError, IntegrityError, StoreError
from threadline.stores import SQLiteStore, open_store
from threadline.stores.sqlite_connection import SQLiteConnection
from threadline.stores.statements import statements
from threadline.testing.stores.samples import ALICE, BOB, document, row, rows, stored

pytestmark = pytest.mark.anyio

MARKER = b"a secret that is planted"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
async def store(path):
    store = SQLiteStore(path, busy_timeout_ms=300)
    yield store
    await store.close()


async def append(store, count=1):
    async with store.transaction(ALICE) as transaction:
        head = await transaction.head("agent")
        await transaction.append("agent", rows(count, after=head), expected_head=head)


async def head(store, scope=ALICE):
    async with store.transaction(scope, write=False) as transaction:
        return await transaction.head("agent")


@pytest.fixture
def another(path):
    """A connection of another program that knows the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


# schema


@pytest.mark.parametrize("name", sorted(statements("sqlite")))
async def test_no_statement_scans_a_table(store, another, name):
    await append(store)
    sql = statements("sqlite")[name]
    values = {key: json.dumps([]) if key.endswith("s") else 1 for key in re.findall(r"(?<!\w):(\w+)", sql)}

    plan = [line for *_, line in another.execute(f"EXPLAIN QUERY PLAN {sql}", values)]

    assert [line for line in plan if re.search(r"SCAN (?!json_each|wanted|walk|\(|CONSTANT|\d)", line)] == []


def test_both_dialects_have_the_same_statements_and_say_what_they_do(root):
    folder = root / "src/threadline/stores/sql"
    heads = {
        dialect: {
            name: sentence
            for file in (folder / dialect).glob("*.sql")
            for name, sentence in re.findall(r"^-- (\w+): (.+)$", file.read_text("utf-8"), re.MULTILINE)
        }
        for dialect in ("sqlite", "postgres")
    }

    assert heads["sqlite"].keys() <= heads["postgres"].keys()
    assert [one for names in heads.values() for one in names.values() if not re.fullmatch(r"[A-Z].+\.", one)] == []


async def test_a_new_file_is_migrated_by_itself_and_says_whose_it_is(store, another):
    await append(store)

    assert another.execute("PRAGMA user_version").fetchone() == (1,)
    assert another.execute("PRAGMA application_id").fetchone() == (0x54684C6E,)
    assert another.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_every_row_of_every_table_names_tenant_and_owner(store, another):
    await append(store)
    tables = [name for (name,) in another.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]

    for table in tables:
        columns = another.execute(f"PRAGMA table_info({table})").fetchall()
        assert [(name, kind, required) for _, name, kind, required, *_ in columns][:2] == [
            ("tenant", "TEXT", 1),
            ("owner", "TEXT", 1),
        ]


@pytest.mark.parametrize(("version", "command"), [(0, "threadline db migrate --db sqlite:///"), (99, "pip install")])
async def test_an_older_or_newer_schema_is_refused_with_what_to_run(path, another, version, command):
    await append(first := SQLiteStore(path))
    await first.close()
    another.execute(f"PRAGMA user_version = {version}")

    store = SQLiteStore(path)
    with pytest.raises(ConfigurationError, match=command):
        await head(store)
    await store.close()


async def test_another_programs_database_is_refused_and_left_alone(path, store, another):
    another.execute("CREATE TABLE theirs (value)")
    before = path.read_bytes()

    with pytest.raises(ConfigurationError, match="another program"):
        await append(store)
    with pytest.raises(ConfigurationError, match="another program"):
        await store.migrate()

    assert path.read_bytes() == before


async def test_two_stores_that_open_a_new_file_at_once_both_succeed(path):
    stores = [SQLiteStore(path) for _ in range(6)]

    async with anyio.create_task_group() as tasks:
        for store in stores:
            tasks.start_soon(head, store)

    for store in stores:
        await store.close()


# other writers


async def test_a_writer_that_waited_too_long_is_told_in_plain_words(store, another):
    await append(store)
    another.execute("BEGIN IMMEDIATE")

    with pytest.raises(ConflictError) as caught:
        await append(store)

    assert "another process has been writing" in str(caught.value)
    assert "locked" not in str(caught.value)
    another.execute("COMMIT")
    await append(store)
    assert await head(store) == 2


async def test_a_task_that_waited_too_long_is_told_in_plain_words(store):
    async def late():
        with pytest.raises(ConflictError, match="another task has been writing"):
            await append(store)

    async with store.transaction(ALICE), anyio.create_task_group() as tasks:
        tasks.start_soon(late)
    await append(store)


async def test_readers_do_not_wait_for_a_writer_of_another_process(store, another):
    await append(store)
    another.execute("BEGIN IMMEDIATE")

    with anyio.fail_after(0.25):
        assert await head(store) == 1


async def test_waiting_for_another_process_can_be_cancelled(path, another):
    store = SQLiteStore(path, busy_timeout_ms=60_000)
    await append(store)
    another.execute("BEGIN IMMEDIATE")

    start = time.monotonic()
    with anyio.move_on_after(0.1):
        await append(store)

    assert time.monotonic() - start < 5
    another.execute("ROLLBACK")
    await append(store)
    await store.close()


async def test_a_task_that_writes_already_is_refused_a_second_transaction_at_once(store):
    async with store.transaction(ALICE):
        with pytest.raises(ValueError, match="holds a transaction"):
            async with store.transaction(BOB):
                pass


def test_a_store_belongs_to_one_loop_until_that_is_closed(path):
    store = SQLiteStore(path)
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(append(store))
        with pytest.raises(ConfigurationError, match="another event loop"):
            second.run(append(store))
    with asyncio.Runner() as third:
        third.run(append(store))
        third.run(store.close())


# faults of the place


async def test_a_missing_folder_is_a_store_error(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        await head(SQLiteStore(tmp_path / "no" / "such" / "folder.db"))


@pytest.mark.parametrize("garbage", [b"this is no database, whatever its name says. " * 50, b"SQLite format 3\0" * 99])
async def test_a_file_that_is_no_database_is_a_store_error(path, store, garbage):
    path.write_bytes(garbage)

    with pytest.raises(StoreError, match=r"is not a SQLite database|is damaged"):
        await head(store)


async def test_a_damaged_page_is_a_store_error(path):
    store = SQLiteStore(path)
    await append(store, 500)
    await store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))

    store = SQLiteStore(path)
    with pytest.raises(StoreError):
        async with store.transaction(ALICE, write=False) as transaction:
            await transaction.rows("agent", limit=500)
    await store.close()


async def test_a_changed_content_is_named_and_others_are_not_affected(store, another):
    broken, sound = await stored(store, b"broken", b"sound")
    (of_bob,) = await stored(store, b"broken", scope=BOB)
    another.execute("UPDATE contents SET body = x'00' WHERE ref = ? AND owner = 'alice'", (broken,))

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises(IntegrityError) as caught:
            await transaction.get([sound, broken])
        assert await transaction.get([sound]) == {sound: b"sound"}
    async with store.transaction(BOB, write=False) as transaction:
        assert await transaction.get([of_bob]) == {of_bob: b"broken"}

    assert caught.value.fields["ref"] == broken


async def run(code, path):
    """The lines that a process of its own prints."""
    done = await anyio.run_process([sys.executable, "-c", code, str(path)])
    return done.stdout.decode().splitlines()


WRITER = """
import asyncio, os, resource, sys
from threadline.errors import StoreError
from threadline.ports import Document, Row, Scope
from threadline.stores import SQLiteStore

SCOPE = Scope(tenant="acme", owner="alice")
store = SQLiteStore(sys.argv[1])

async def append():
    async with store.transaction(SCOPE) as transaction:
        head = await transaction.head("agent")
        new = [Row(sequence=head + n, record_id=f"record-{head + n}", kind="message", body=b"") for n in range(1, 51)]
        await transaction.append("agent", new, expected_head=head)
        counter = Document(kind="note", id="counter", revision=head // 50 + 1, body=b"")
        await transaction.save(counter)
    print(head + 50, flush=True)

async def main(stint):
    try:
        await append()
        stint()
        while True:
            await append()
    except StoreError as error:
        print(error, flush=True)
    async with store.transaction(SCOPE, write=False) as transaction:
        print(await transaction.head("agent"))
"""
FULL = f"{WRITER}asyncio.run(main(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))))"
READ_ONLY = f"{WRITER}asyncio.run(main(lambda: store._writer._inner.execute('PRAGMA query_only = 1')))"


@pytest.mark.parametrize(("code", "words"), [(FULL, "full"), (READ_ONLY, "is read-only")])
async def test_a_place_that_takes_no_more_is_a_store_error_and_the_journal_stays_whole(path, code, words):
    *told, error, found = await run(code, path)
    store = SQLiteStore(path)

    assert words in error
    assert found == told[-1]
    async with store.transaction(ALICE, write=False) as transaction:
        counter = await transaction.document("note", "counter")
        assert await transaction.head("agent") == int(told[-1]) == counter.revision * 50
    await append(store)
    await store.close()


async def test_what_failed_in_a_transaction_is_never_committed(path, monkeypatch):
    store = SQLiteStore(path)
    await append(store)
    full = SQLiteConnection._ask

    def ask(self, query):
        if query.name == "insert_refs":
            raise sqlite3.OperationalError("disk I/O error")
        return full(self, query)

    (ref,) = await stored(store, b"content")
    monkeypatch.setattr(SQLiteConnection, "_ask", ask)

    async def carry_on():
        async with store.transaction(ALICE) as transaction:
            with pytest.raises(StoreError):
                await transaction.append("agent", [row(2, refs=(ref,))], expected_head=1)
            with pytest.raises(StoreError, match="has failed"):
                await transaction.head("agent")

    with pytest.raises(StoreError, match="nothing of it is kept"):
        await carry_on()

    assert await head(store) == 1
    await append(store)
    await store.close()


# forgetting


def bytes_of(path):
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.name.startswith(path.name))


async def test_after_forgetting_and_scrubbing_no_byte_is_left_in_any_file(path):
    store = SQLiteStore(path)
    long = MARKER * 2_000
    refs = await stored(store, MARKER, long)
    await stored(store, b"of bob", scope=BOB)
    async with store.transaction(ALICE) as transaction:
        marked = MARKER.decode()
        await transaction.append(
            marked,
            [row(1, refs=tuple(refs), body=MARKER, key=marked, record_id=marked), row(2, body=long)],
            expected_head=0,
        )
        await transaction.save(document(marked, kind=marked, agent_id=marked, body=long))
    assert MARKER in bytes_of(path)

    async with store.transaction(ALICE) as transaction:
        await transaction.forget_owner()
    await store.scrub(ALICE)

    assert MARKER not in bytes_of(path)
    async with store.transaction(BOB, write=False) as transaction:
        of_bob = (await store.naming(BOB))(b"of bob")
        assert await transaction.get([of_bob]) == {of_bob: b"of bob"}
    await store.close()
    assert MARKER not in bytes_of(path)


async def test_scrubbing_that_a_reader_is_in_the_way_of_does_not_claim_to_be_done(store):
    await append(store)
    async with store.transaction(ALICE, write=False) as reader:
        await reader.head("agent")
        await append(store)
        with pytest.raises(ConflictError):
            await store.scrub(ALICE)

    assert await store.scrub(ALICE)


# size


@pytest.mark.soak
async def test_a_content_of_fifty_megabytes_comes_back_to_the_byte(store):
    large = os.urandom(1_000_000) * 50
    (ref,) = await stored(store, large)

    async with store.transaction(ALICE, write=False) as transaction:
        assert (await transaction.get([ref]))[ref] == large


async def test_reading_from_the_middle_of_a_long_journal_touches_few_rows(path):
    store = open_store(f"sqlite:///{path}?synchronous=normal")
    await append(store, 20_000)
    reading = store.statistics().rows_read
    async with store.transaction(ALICE, write=False) as transaction:
        await transaction.head("agent")
        await transaction.rows("agent", limit=10, descending=True)
        await transaction.rows("agent", kinds=["never", "message"], limit=10, after=10_000)
        await transaction.recorded("agent", ["record-17"])

    assert store.statistics().rows_read - reading <= 22
    await store.close()
