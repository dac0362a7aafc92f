"""`MemoryKeys` and `FileKeys`: keys of owners, in this process or in a folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from threadline.errors import StoreError
from threadline.ports import Key, Scope
from threadline.ports.scope import checked_scope

__all__ = ["FileKeys", "MemoryKeys"]

T = TypeVar("T")


def _new() -> Key:
    return Key(id=secrets.token_hex(8), secret=secrets.token_bytes(32))


class MemoryKeys:
    """Keys that live as long as their process: what they sealed is unreadable afterwards."""

    def __init__(self) -> None:
        self._keys: dict[Scope, tuple[Key, ...]] = {}

    async def keys(self, scope: Scope) -> Sequence[Key]:
        """See `KeyProvider.keys`."""
        return self._keys.get(checked_scope(scope), ())

    async def create(self, scope: Scope) -> Key:
        """See `KeyProvider.create`."""
        key = _new()
        self._keys[scope] = (key, *await self.keys(scope))
        return key

    async def destroy(self, scope: Scope, ids: Sequence[str] | None = None) -> None:
        """See `KeyProvider.destroy`."""
        self._keys[scope] = tuple(key for key in await self.keys(scope) if ids is not None and key.id not in ids)


class FileKeys:
    """Keys in a folder: a folder a scope, named by a hash, with a file a key. Several processes may share it.

    Keep it off the disk, and out of the backups, that hold the data: whoever has both can read everything, and a copy
    of a key outlives its destruction. A destroyed key's file is overwritten and removed; whether the medium forgets
    the bytes is its own affair (solid-state disks may keep them for a while).
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    async def keys(self, scope: Scope) -> Sequence[Key]:
        """See `KeyProvider.keys`."""
        return await self._work(lambda place: [_read(file) for file in _files(place)], scope)

    async def create(self, scope: Scope) -> Key:
        """See `KeyProvider.create`. The key is on the disk before it is given."""

        def work(place: Path) -> Key:
            key = _new()
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            newest = _files(place)
            number = int(newest[0].name.partition("-")[0]) + 1 if newest else 1
            draft = place / f"{key.id}.draft"
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(key.secret)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(place / f"{number:08}-{key.id}.key")
            _settle(place)
            _settle(place.parent)
            return key

        return await self._work(work, scope)

    async def destroy(self, scope: Scope, ids: Sequence[str] | None = None) -> None:
        """See `KeyProvider.destroy`."""

        def work(place: Path) -> None:
            for file in _files(place):
                if ids is None or _id(file) in ids:
                    with file.open("r+b") as opened:
                        opened.write(bytes(32))
                        opened.flush()
                        os.fsync(opened.fileno())
                    file.unlink(missing_ok=True)
            if place.is_dir():
                _settle(place)

        await self._work(work, scope)

    async def _work(self, work: Callable[[Path], T], scope: Scope) -> T:
        checked_scope(scope)
        place = self._folder / sha256(f"{scope.tenant}\0{scope.owner}".encode()).hexdigest()
        try:
            return await to_thread.run_sync(work, place)
        except OSError as error:
            raise StoreError(f"the keys in {self._folder} cannot be read or written", path=str(self._folder)) from error


def _files(place: Path) -> list[Path]:
    """A scope's key files, newest first."""
    return sorted(place.glob("*.key"), key=lambda file: file.name, reverse=True)


def _id(file: Path) -> str:
    return file.stem.partition("-")[2]


def _read(file: Path) -> Key:
    return Key(id=_id(file), secret=file.read_bytes())


def _settle(folder: Path) -> None:
    """Bring a folder's entries to the disk, where the system can."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
