"""`KeyProvider`: keys of owners, kept outside the place where the data is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from threadline.ports.scope import Scope

__all__ = ["Key", "KeyProvider"]


class Key(Struct, frozen=True, kw_only=True):
    """A secret of one scope.

    Attributes:
        id: names the key where it was used; never used again for another key. 1 to 64 ASCII characters.
        secret: 32 random bytes.
    """

    id: str
    secret: bytes

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Key(id={self.id!r})"


@runtime_checkable
class KeyProvider(Protocol):
    """Keeps the keys of scopes. `keys` is asked in every transaction: a remote provider should keep them for a while.

    A scope's newest key seals what is written; the older ones still open what they sealed. Destroying a scope's keys
    makes all of its data unreadable, in every copy and backup.
    """

    async def keys(self, scope: Scope) -> Sequence[Key]:
        """The scope's keys, newest first; empty when none was made or all were destroyed.

        Raises:
            StoreError: the keys cannot be reached.
        """
        ...

    async def create(self, scope: Scope) -> Key:
        """Make the scope's next key.

        Raises:
            StoreError: the keys cannot be reached or written.
        """
        ...

    async def destroy(self, scope: Scope, ids: Sequence[str] | None = None) -> None:
        """Destroy some of the scope's keys, or all. Those that are not there are ignored.

        Raises:
            StoreError: the keys cannot be reached or written.
        """
        ...
