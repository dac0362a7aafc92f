"""`Ring`: the keys of one scope, and what they seal, open and name."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec.structs import replace

from threadline.errors import ForgottenError, IntegrityError
from threadline.ports import Document, Key, Row, Scope
from threadline.stores.naming import SEALED

__all__ = ["Ring"]

_VERSION = b"\x01"
_NONCE = 12
"""Bytes; random, which NIST SP 800-38D (8.3) allows for 2**32 values under one key."""


class _Lock:
    """One key, and the keys made from it: one for each use."""

    def __init__(self, key: Key) -> None:
        self.id = key.id.encode("ascii")
        self._naming = self._made(key.secret, b"naming")
        self._cipher = AESGCM(self._made(key.secret, b"sealing"))

    @staticmethod
    def _made(secret: bytes, use: bytes) -> bytes:
        return hmac.digest(secret, b"threadline/1/" + use, "sha256")

    def name(self, use: bytes, value: bytes) -> str:
        return SEALED + hmac.digest(self._naming, use + b"\0" + value, "sha256").hex()

    def seal(self, plain: bytes, place: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        head = _VERSION + bytes([len(self.id)]) + self.id
        return head + nonce + self._cipher.encrypt(nonce, plain, head + place)

    def open(self, sealed: bytes, place: bytes) -> bytes:
        head = 2 + len(self.id)
        nonce, body = sealed[head : head + _NONCE], sealed[head + _NONCE :]
        return self._cipher.decrypt(nonce, body, sealed[:head] + place)


class Ring:
    """The keys of one scope, newest first.

    A sealed value is: version (1 byte), length of the key's id (1), the id, nonce (12), ciphertext and tag. What it is
    bound to is its whole place: scope, table and every field that stays in the clear.
    """

    def __init__(self, scope: Scope, keys: Sequence[Key]) -> None:
        self._scope = scope
        self._locks = [_Lock(key) for key in keys]
        self.ids = [key.id for key in keys]

    def __bool__(self) -> bool:
        return bool(self._locks)

    def knows(self, sealed: Sequence[bytes]) -> bool:
        """Whether there is a key to each of them."""
        held = {lock.id for lock in self._locks}
        return all(_key_id(value) in held for value in sealed)

    def _place(self, *fields: object) -> bytes:
        return json.dumps([self._scope.tenant, self._scope.owner, *fields]).encode()

    def _seal(self, plain: bytes, *place: object) -> bytes:
        return self._locks[0].seal(plain, self._place(*place))

    def _open(self, sealed: bytes, *place: object, **fields: object) -> tuple[_Lock, bytes]:
        """The plain value and the lock it was under.

        Raises:
            ForgottenError: its key is destroyed.
            IntegrityError: it was changed, or stands where it was not written.
        """
        key_id = _key_id(sealed)
        what = " ".join(f"{name} {value}" for name, value in fields.items())
        for lock in self._locks:
            if lock.id == key_id:
                try:
                    return lock, lock.open(sealed, self._place(*place))
                except (InvalidTag, ValueError) as error:
                    raise IntegrityError(f"a sealed value was changed or moved: {what}", **fields) from error
        if key_id is None:
            raise IntegrityError(f"a value is not sealed: {what}", **fields)
        raise ForgottenError(f"the key of a sealed value is destroyed: {what}", **fields)

    # contents

    def name(self, content: bytes) -> str:
        """The newest key's name for a content."""
        return self._locks[0].name(b"content", content)

    def _namer(self, ref: str, content: bytes) -> _Lock | None:
        """The lock whose name for a content it is."""
        for lock in self._locks:
            if lock.name(b"content", content) == ref:
                return lock
        return None

    def named(self, contents: Mapping[str, bytes]) -> bool:
        """Whether each ref is the name of its content."""
        return all(self._namer(ref, content) for ref, content in contents.items())

    def seal_content(self, ref: str, content: bytes) -> bytes:
        """Seal a content with the key that named it.

        Raises:
            IntegrityError: none did.
        """
        if lock := self._namer(ref, content):
            return lock.seal(content, self._place("content", ref))
        raise IntegrityError(f"a content is not what its ref says: {ref}", ref=ref)

    def open_content(self, ref: str, sealed: bytes) -> bytes:
        """The content."""
        lock, content = self._open(sealed, "content", ref, ref=ref)
        if lock.name(b"content", content) != ref:
            raise IntegrityError(f"a content is not what its ref says: {ref}", ref=ref)
        return content

    # rows

    def key_names(self, key: str) -> list[str]:
        """What an idempotency key may be stored as."""
        return [lock.name(b"key", key.encode()) for lock in self._locks]

    def seal_row(self, agent_id: str, row: Row) -> Row:
        """The row with its body sealed; an idempotency key is sealed with it, a keyed hash stands in its place."""
        key = b"" if row.key is None else row.key.encode()
        hidden = replace(row, key=None if row.key is None else self.key_names(row.key)[0])
        plain = len(key).to_bytes(2, "big") + key + row.body
        return replace(hidden, body=self._seal(plain, *_of_row(agent_id, hidden)))

    def open_row(self, agent_id: str, row: Row) -> Row:
        """The row as it was written."""
        _, plain = self._open(row.body, *_of_row(agent_id, row), agent_id=agent_id, sequence=row.sequence)
        end = 2 + int.from_bytes(plain[:2], "big")
        return replace(row, key=plain[2:end].decode() if row.key is not None else None, body=plain[end:])

    # documents

    def seal_document(self, document: Document) -> Document:
        """The document with its body sealed."""
        return replace(document, body=self._seal(document.body, *_of_document(document)))

    def open_document(self, document: Document) -> Document:
        """The document as it was written."""
        _, body = self._open(document.body, *_of_document(document), kind=document.kind, id=document.id)
        return replace(document, body=body)


def _key_id(sealed: bytes) -> bytes | None:
    """The id of the key that a value is sealed with; None when it is no sealed value."""
    if len(sealed) < 2 or sealed[:1] != _VERSION:
        return None
    return sealed[2 : 2 + sealed[1]]


def _of_row(agent_id: str, row: Row) -> tuple[object, ...]:
    return "row", agent_id, row.sequence, row.record_id, row.branch, row.kind, row.key, row.refs


def _of_document(document: Document) -> tuple[object, ...]:
    return "document", document.kind, document.id, document.agent_id, document.revision
