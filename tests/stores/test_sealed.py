"""What sealing adds: nothing readable on the disk, nothing readable without the key."""

from __future__ import annotations

import sqlite3

import pytest

from threadline.errors import ForgottenError, IntegrityError, StoreError
from threadline.ports import Scope
from threadline.stores import MemoryStore, SQLiteStore
from threadline.stores.keys import FileKeys, MemoryKeys
from threadline.stores.sealed import SealedStore
from threadline.testing.stores.samples import ALICE, BOB, document, row, stored

pytestmark = pytest.mark.anyio

SECRET = b"a sentence that only its owner may read"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def keys(tmp_path):
    return FileKeys(tmp_path / "keys")


@pytest.fixture
async def store(path, keys):
    store = SealedStore(SQLiteStore(path), keys)
    yield store
    await store.close()


@pytest.fixture
def behind(store, path):
    """A look, and a hand, behind the store."""
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


async def fill(store, scope=ALICE):
    """One of everything; gives back the content's ref."""
    (ref,) = await stored(store, SECRET, scope=scope)
    async with store.transaction(scope) as transaction:
        await transaction.append("agent", [row(1, refs=(ref,), key=SECRET.decode(), body=SECRET)], expected_head=0)
        await transaction.save(document(body=SECRET))
    return ref


READS = {
    "get": lambda one, ref: one.get([ref]),
    "rows": lambda one, _: one.rows("agent", limit=9),
    "recorded": lambda one, _: one.recorded("agent", ["record-1"]),
    "document": lambda one, _: one.document("note", "one"),
    "documents": lambda one, _: one.documents("note", limit=9),
}


async def test_nothing_that_was_said_is_readable_in_any_file(store, path):
    ref = await fill(store)
    files = b"".join(file.read_bytes() for file in path.parent.glob("store.db*"))

    assert SECRET not in files
    assert ref.startswith("hmac-sha256:")


async def test_the_same_text_of_two_owners_has_two_names(store):
    assert await fill(store, ALICE) != await fill(store, BOB)


async def test_what_was_sealed_is_read_by_whoever_opens_store_and_keys_again(store, path, tmp_path):
    ref = await fill(store)
    await store.close()

    again = SealedStore(SQLiteStore(path), FileKeys(tmp_path / "keys"))
    async with again.transaction(ALICE, write=False) as transaction:
        assert await transaction.get([ref]) == {ref: SECRET}
        assert len(await transaction.keyed("agent", [SECRET.decode()])) == 1
    await again.close()


@pytest.mark.parametrize("read", READS)
async def test_without_its_key_what_an_owner_said_is_forgotten(store, keys, read):
    ref = await fill(store, ALICE)
    of_bob = await fill(store, BOB)

    await keys.destroy(ALICE)

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises(ForgottenError):
            await READS[read](transaction, ref)
    async with store.transaction(BOB, write=False) as transaction:
        assert await READS[read](transaction, of_bob)


async def test_a_key_made_after_the_old_one_was_destroyed_opens_nothing_old(store, keys):
    ref = await fill(store)
    await keys.destroy(ALICE)

    await stored(store, b"new")

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises(ForgottenError):
            await transaction.get([ref])


async def test_forgetting_an_owner_destroys_the_keys_so_that_a_backup_is_unreadable(store, keys, path, tmp_path):
    ref = await fill(store)
    await store.close()
    backup = tmp_path / "backup.db"
    backup.write_bytes(path.read_bytes())

    store = SealedStore(SQLiteStore(path), keys)
    async with store.transaction(ALICE) as transaction:
        await transaction.forget_owner()
    told = await store.scrub(ALICE)
    await store.close()

    restored = SealedStore(SQLiteStore(backup), keys)
    async with restored.transaction(ALICE, write=False) as transaction:
        with pytest.raises(ForgottenError):
            await transaction.get([ref])
    await restored.close()
    assert await keys.keys(ALICE) == []
    assert "no key any more" in told


async def test_an_older_key_still_opens_what_it_sealed(store, keys):
    ref = await fill(store)
    await keys.create(ALICE)

    (newer,) = await stored(store, SECRET)
    async with store.transaction(ALICE) as transaction:
        await transaction.append("agent", [row(2, key=SECRET.decode())], expected_head=1)

        assert newer != ref
        assert await transaction.get([ref, newer]) == {ref: SECRET, newer: SECRET}
        assert [one.sequence for one in await transaction.keyed("agent", [SECRET.decode()])] == [1, 2]


@pytest.mark.parametrize("table", ["contents", "journal_rows", "documents"])
@pytest.mark.parametrize("place", [1, 20, 30, -1])
async def test_a_changed_byte_is_an_integrity_error_or_a_key_nobody_has(store, behind, table, place):
    ref = await fill(store)
    (body,) = behind.execute(f"SELECT body FROM {table}").fetchone()
    changed = bytearray(body)
    changed[place] ^= 1
    behind.execute(f"UPDATE {table} SET body = ?", (bytes(changed),))

    read = {"contents": "get", "journal_rows": "rows", "documents": "document"}[table]
    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises((IntegrityError, ForgottenError)):
            await READS[read](transaction, ref)


@pytest.mark.parametrize("damage", [b"", b"\x01", b"\x01\x10short", b"plain text", b"\x02" + b"x" * 60])
async def test_a_value_that_was_never_sealed_is_an_error(store, behind, damage):
    ref = await fill(store)
    behind.execute("UPDATE contents SET body = ?", (damage,))

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises((IntegrityError, ForgottenError)):
            await transaction.get([ref])


@pytest.mark.parametrize(
    ("table", "key", "read"),
    [
        ("journal_rows", "sequence", lambda one: one.rows("agent", limit=9)),
        ("documents", "id", lambda one: one.documents("note", limit=9)),
    ],
)
async def test_sealed_values_cannot_stand_for_one_another(store, behind, table, key, read):
    async with store.transaction(ALICE) as transaction:
        await transaction.append("agent", [row(1), row(2)], expected_head=0)
        await transaction.save(document("one"))
        await transaction.save(document("two"))
    (first, one), (second, two) = behind.execute(f"SELECT {key}, body FROM {table} ORDER BY {key}").fetchall()
    behind.executemany(f"UPDATE {table} SET body = ? WHERE {key} = ?", [(two, first), (one, second)])

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises(IntegrityError):
            await read(transaction)


@pytest.mark.parametrize("change", ["kind = 'other'", "record_id = 'other'", "branch = 7", "key = 'x'", "refs = ''"])
async def test_what_stays_in_the_clear_of_a_row_cannot_be_changed_either(store, behind, change):
    await fill(store)
    behind.execute(f"UPDATE journal_rows SET {change}")

    async with store.transaction(ALICE, write=False) as transaction:
        with pytest.raises(IntegrityError) as caught:
            await transaction.rows("agent", limit=9)

    assert caught.value.fields["sequence"] == 1


async def test_a_row_of_one_owner_cannot_be_given_to_another(store, behind):
    await fill(store)
    behind.execute("UPDATE journal_rows SET owner = 'bob'")
    await stored(store, b"bob has a key", scope=BOB)

    async with store.transaction(BOB, write=False) as transaction:
        with pytest.raises(ForgottenError):
            await transaction.rows("agent", limit=9)


async def test_reading_an_owner_nobody_knows_makes_no_key():
    keys = MemoryKeys()
    store = SealedStore(MemoryStore(), keys)

    async with store.transaction(ALICE, write=False) as transaction:
        assert await transaction.rows("agent", limit=9) == []
        assert await transaction.keyed("agent", ["key"]) == []

    assert await keys.keys(ALICE) == ()


# keys


@pytest.mark.parametrize("provider", [MemoryKeys, FileKeys])
async def test_keys_are_kept_a_scope_newest_first_and_destroyed_one_by_one(tmp_path, provider):
    keys = provider(tmp_path) if provider is FileKeys else provider()
    first, second = await keys.create(ALICE), await keys.create(ALICE)
    of_bob = await keys.create(BOB)

    assert list(await keys.keys(ALICE)) == [second, first]
    assert len({first.secret, second.secret, of_bob.secret}) == 3

    await keys.destroy(ALICE, [first.id, "unknown"])
    assert list(await keys.keys(ALICE)) == [second]

    await keys.destroy(ALICE)
    await keys.destroy(ALICE)
    assert list(await keys.keys(ALICE)) == []
    assert list(await keys.keys(BOB)) == [of_bob]


async def test_a_key_file_is_its_owners_alone_and_goes_with_the_key(tmp_path):
    keys = FileKeys(tmp_path / "keys")
    await keys.create(ALICE)
    (file,) = (tmp_path / "keys").rglob("*.key")

    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0
    assert "alice" not in str(file)

    await keys.destroy(ALICE)
    assert list((tmp_path / "keys").rglob("*.key")) == []


async def test_keys_that_cannot_be_reached_are_a_store_error(tmp_path):
    (tmp_path / "keys").write_bytes(b"a file where the folder should be")

    with pytest.raises(StoreError):
        await FileKeys(tmp_path / "keys").create(ALICE)


async def test_a_key_does_not_show_its_secret():
    key = await MemoryKeys().create(Scope(tenant="t", owner="o"))

    assert key.secret not in repr(key).encode()
    assert repr(key.secret) not in repr(key)
