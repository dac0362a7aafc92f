"""Rules of the house that no linter knows."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import PurePosixPath

import pytest

DATA = {".json", ".jsonl", ".traj", ".gz", ".zst", ".png"}  # recorded elsewhere: their paths are not ours
# Assembled, so that this file does not name what it forbids.
HOME = re.compile("|".join(("/(?:home|Users)" + r"/\w", r"(?<![\w.])/" + "root/", r"[A-Za-z]:\\+" + "Users")))


@pytest.fixture(scope="session")
def files(root):
    """Paths of everything that is or could be committed."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    return [PurePosixPath(name) for name in listed.split("\0") if name and (root / name).is_file()]


def test_no_source_file_is_longer_than_500_lines(root):
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "src").rglob("*.py")}

    assert {path.name: length for path, length in lengths.items() if length > 500} == {}


def test_no_module_is_named_for_nothing(root):
    vague = {"base", "common", "helpers", "manager", "misc", "util", "utils"}

    assert [path.name for path in (root / "src").rglob("*") if path.stem.lower() in vague] == []


def test_every_room_marks_the_package_as_typed(root):
    assert (root / "src/threadline/py.typed").read_bytes() == b""


def test_the_lock_that_names_hosts_is_not_committed(files):
    assert PurePosixPath("uv.lock") not in files


@pytest.mark.parametrize("name", ["uv", "run", "dev", "model", "bench"])
def test_a_lock_file_names_no_address_and_hashes_every_pin(root, name):
    text = (root / "requirements" / f"{name}.txt").read_text(encoding="utf-8")

    pins = re.findall(r"^\S+==\S+.*(?:\n    .*)*", text, re.MULTILINE)

    assert re.findall(r"://|^-|^\S+ @ |[\w-]+\.(?:com|io|net|org)\b", text, re.MULTILINE) == []
    assert pins
    assert [pin.split()[0] for pin in pins if "--hash=sha256:" not in pin] == []


def test_the_development_lock_agrees_with_the_others(root):
    pins = {
        name: dict(re.findall(r"^(\S+)==(\S+)", (root / f"requirements/{name}.txt").read_text("utf-8"), re.MULTILINE))
        for name in ("run", "dev", "bench")
    }

    assert pins["run"].items() <= pins["dev"].items()
    assert {
        name for name in pins["bench"].keys() & pins["dev"].keys() if pins["bench"][name] != pins["dev"][name]
    } == set()


def test_no_file_names_a_home_directory(root, files):
    found = [
        str(path)
        for path in files
        if path.suffix not in DATA and HOME.search((root / path).read_text(encoding="utf-8", errors="replace"))
    ]

    assert found == []
