"""Engines for the tests of threads: in memory, and on a file."""

from __future__ import annotations

from itertools import count

import pytest

from threadline.engine import Engine
from threadline.stores import MemoryStore


class Steps:
    """A clock and a source of ids that only count."""

    def __init__(self):
        self._count = count(1)

    def now_ms(self):
        return 1_700_000_000_000 + next(self._count)

    def new_id(self):
        return f"id-{next(self._count)}"


@pytest.fixture
def steps():
    return Steps()


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def engine(store, steps):
    return Engine(store, now_ms=steps.now_ms, new_id=steps.new_id)


@pytest.fixture
def thread(engine):
    return engine.thread("agent", owner="ana")


@pytest.fixture
def again(engine):
    """The same thread as another process would open it: nothing is warm."""
    return lambda **habits: engine.thread("agent", owner="ana", **habits)
