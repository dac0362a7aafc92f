"""Writers in processes of their own: killed, or many at once."""

from __future__ import annotations

import pytest

from threadline.testing.stores.processes import contending_writers, killed_writers


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """An empty store's URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    arguments = request.getfixturevalue("empty_postgres")
    return f"{arguments['dsn']}&schema={arguments['schema']}"


def kill(url, rounds):
    commits = killed_writers(url, rounds=rounds, seed=rounds)

    assert commits >= rounds // 2


def contend(url, appends):
    contention = contending_writers(url, writers=8, appends=appends)

    assert contention.failures == []
    assert len(contention.written) == len(set(contention.written)) == 8 * appends
    assert set(contention.written) == contention.acknowledged


def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_nothing_half_done(url):
    kill(url, rounds=4)


def test_eight_processes_append_to_one_agent_each_once_or_are_refused(url):
    contend(url, appends=3)


@pytest.mark.soak
def test_two_hundred_killed_writers_lose_nothing_acknowledged(url):
    kill(url, rounds=200)


@pytest.mark.soak
def test_eight_processes_append_a_thousand_rows_to_one_agent(url):
    contend(url, appends=125)
