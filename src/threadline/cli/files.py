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


def guard(sources: Iterable[Path], targets: Iterable[Path | None], *, force: bool) -> None:
    """Refuse targets that are an input, under whatever name, or one another.

    Raises:
        InvalidInputError: names the target.
    """
    inputs = [source for source in sources if str(source) != "-" and source.exists()]
    seen: set[str] = set()
    for target in targets:
        if target is None:
            continue
        name = "-" if str(target) == "-" else str(target.resolve())
        if name in seen:
            raise InvalidInputError(f"{'standard output' if name == '-' else target} is named for two outputs")
        seen.add(name)
        if name == "-" or force or not target.exists():
            continue
        if any(target.samefile(source) for source in inputs):
            raise InvalidInputError(f"{target} is an input; give --force to overwrite it")


def write(*outputs: tuple[Path, Iterable[bytes]]) -> None:
    """Write files, all or none: each into a temporary one beside it first; `-` is standard output.

    Raises:
        InvalidInputError: one cannot be written; names the path, and nothing is left behind.
    """
    staged: list[tuple[Path, Path, Path]] = []
    try:
        for path, chunks in outputs:
            if str(path) == "-":
                sys.stdout.buffer.writelines(chunks)
                sys.stdout.buffer.flush()
            else:
                with _failing_at(path):
                    staged.append((path, *_stage(path, chunks)))
        for path, temporary, target in staged:
            with _failing_at(path):
                temporary.replace(target)
    finally:
        for _, temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _stage(path: Path, chunks: Iterable[bytes]) -> tuple[Path, Path]:
    """The temporary file with the content, and where it belongs."""
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    target = path.resolve()  # a link keeps pointing to what it points to
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary, target


@contextmanager
def _failing_at(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"could not write {path}: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
