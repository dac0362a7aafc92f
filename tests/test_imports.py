"""`import threadline` is cheap and brings along nothing that is optional."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest

# The last are what msgspec and anyio take where they are installed.
CORE = {"anyio", "msgspec", "regex", "idna", "sniffio", "typing_extensions"}
CORE_ROOMS = ["errors", "text", "messages", "tokens", "transcript", "boundary", "compat", "compat.everalgo"]


def run(code):
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def third_party_after(statement):
    """Installed top-level packages that a statement loads, beyond those a bare interpreter starts with."""
    loaded = run(f"import sys; bare = set(sys.modules); {statement}; print(*(set(sys.modules) - bare))")
    installed = set(packages_distributions()) - {"threadline"}
    return {name.partition(".")[0] for name in loaded.split()} & installed


def test_importing_the_root_loads_no_other_package():
    assert third_party_after("import threadline") == set()


@pytest.mark.parametrize("room", CORE_ROOMS)
def test_importing_a_room_loads_only_the_core_packages(room):
    assert third_party_after(f"import threadline.{room}") <= CORE


def test_using_every_root_name_loads_only_the_core_packages():
    assert third_party_after("from threadline import *") <= CORE


def test_importing_the_root_loads_no_room():
    loaded = run("import sys, threadline; print(*(name for name in sys.modules if name.startswith('threadline')))")

    assert loaded == "threadline"


def test_importing_the_root_adds_less_than_150_ms():
    timed = "import time; start = time.perf_counter(); import threadline; print(time.perf_counter() - start)"

    best_s = min(float(run(timed)) for _ in range(5))

    assert best_s < 0.150
