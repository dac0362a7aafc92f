"""Files: `-` is a standard stream, a write is whole or not at all, input is never overwritten unasked."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from threadline.errors import InvalidInputError

__all__ = ["guard", "name_of", "opened", "read", "write"]


def name_of(path: Path) -> str:
    """What messages call a path."""
    return "stdin" if str(path) == "-" else str(path)


def read(path: Path) -> bytes:
    """All bytes of a file, or of standard input for `-`."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"could not read {path}: {error.strerror}") from error


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """A file that can be read again and again; what comes from standard input is spooled to a temporary one."""
    if str(path) == "-":
        with tempfile.TemporaryFile() as spooled:
            shutil.copyfileobj(sys.stdin.buffer, spooled)
            yield spooled
        return
    try:
        file = path.open("rb")
        if not file.seekable():
            with file, tempfile.TemporaryFile() as spooled:
                shutil.copyfileobj(file, spooled)
                yield spooled
            return
    except OSError as error:
        raise InvalidInputError(f"could not read {path}: {error.strerror}") from error
    with file:
        yield file


def guard(source: Path, targets: Iterable[Path | None], *, force: bool) -> None:
    """Refuse targets that are the input, under whatever name, or one another.

    Raises:
        InvalidInputError: names the target.
    """
    seen: set[Path] = set()
    for target in targets:
        if target is None or str(target) == "-":
            continue
        if target.resolve() in seen:
            raise InvalidInputError(f"{target} is named for two outputs")
        seen.add(target.resolve())
        if not force and str(source) != "-" and target.exists() and source.exists() and target.samefile(source):
            raise InvalidInputError(f"{target} is the input; give --force to overwrite it")


def write(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file through a temporary one beside it; standard output for `-`.

    Raises:
        InvalidInputError: it cannot be written; names the path, and nothing is left behind.
    """
    if str(path) == "-":
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        target = path.resolve()  # a link keeps pointing to what it points to
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(chunks)
            Path(temporary).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInputError(f"could not write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
