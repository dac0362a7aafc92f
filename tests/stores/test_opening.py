"""A URL names a store."""

from __future__ import annotations

import sys

import pytest

from threadline.errors import ConfigurationError
from threadline.stores import MemoryStore, SQLiteStore, open_store
from threadline.stores.keys import MemoryKeys
from threadline.stores.postgres import PostgresStore
from threadline.stores.sealed import SealedStore


@pytest.mark.parametrize("url", ["memory:", "memory://"])
def test_memory_is_a_store(url):
    assert isinstance(open_store(url), MemoryStore)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///file.db", "file.db"),
        ("sqlite:///a/b%20c.db", "a/b c.db"),
        ("sqlite:////tmp/file.db", "/tmp/file.db"),
        ("sqlite:///file.db?synchronous=normal&busy_timeout_ms=5&readers=2", "file.db"),
    ],
)
def test_a_sqlite_url_names_a_relative_or_absolute_path(url, path):
    store = open_store(url)

    assert isinstance(store, SQLiteStore)
    assert str(store.path) == path


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://user:hunter2@host:5433/db", "postgresql://user@host:5433/db?schema=threadline"),
        ("postgres://host/db?schema=ours&pool_size=3&sslmode=require", "postgresql://host/db?schema=ours"),
        ("postgresql:///db?host=/run/postgresql", "postgresql:///db?host=/run/postgresql&schema=threadline"),
    ],
)
def test_a_postgresql_url_names_server_database_and_schema(url, place):
    store = open_store(url)

    assert isinstance(store, PostgresStore)
    assert store.place == place


def test_with_keys_any_store_is_sealed():
    assert isinstance(open_store("memory:", keys=MemoryKeys()), SealedStore)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "file.db",
        "mysql://user:hunter2@host/db",
        "sqlite://",
        "sqlite:///",
        "sqlite://file.db",
        "memory:x",
        "redis:",
    ],
)
def test_a_url_that_names_no_store_is_refused_with_those_that_do(url):
    with pytest.raises(ConfigurationError, match=r"memory:.+sqlite:///.+postgresql://") as caught:
        open_store(url)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///file.db?timeout=3",
        "sqlite:///file.db?readers=many",
        "sqlite:///file.db?synchronous=off",
        "postgresql://host/db?schema=No",
        "postgresql://host/db?nonsense=1",
    ],
)
def test_an_option_that_nobody_knows_is_refused(url):
    with pytest.raises(ConfigurationError):
        open_store(url)


@pytest.mark.parametrize(
    ("missing", "url", "keys", "extra"),
    [
        ("psycopg", "postgresql://host/db", None, "postgres"),
        ("cryptography", "memory:", MemoryKeys(), "crypto"),
    ],
)
def test_what_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch, missing, url, keys, extra):
    for name in list(sys.modules):
        if name.partition(".")[0] == missing or name in {
            "threadline.stores.postgres",
            "threadline.stores.postgres_session",
            "threadline.stores.sealed",
            "threadline.stores.ring",
        }:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(ConfigurationError, match=rf"pip install 'threadline\[{extra}\]'"):
        open_store(url, keys=keys)
