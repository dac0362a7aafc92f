"""Scopes, rows and documents that the promises are tried on."""

from __future__ import annotations

from threadline.ports import Document, Row, Scope, Store

__all__ = ["ALICE", "BOB", "ODD_BODIES", "ODD_NAMES", "OTHER_TENANT", "document", "row", "rows", "stored"]

ALICE = Scope(tenant="acme", owner="alice")
BOB = Scope(tenant="acme", owner="bob")
OTHER_TENANT = Scope(tenant="globex", owner="alice")

ODD_BODIES = (b"", b"\0", b"\0\xff\xfe", b'{"text":"\\ud800 alone"}', "漢字 👩‍👩‍👧".encode(), bytes(range(256)) * 64)
"""Nothing, NUL, bytes that are no text, a lone surrogate as JSON has it, many scripts, every byte."""

ODD_NAMES = (
    "a",
    "A",
    "é",
    "e\u0301",
    "漢字",
    "👩‍👩‍👧",
    " ",
    "a b",
    "'",
    '"',
    "%",
    "_",
    ":x",
    "%(x)s",
    "\\",
    "x" * 512,
    "🧵" * 128,
)
"""Names that quoting, case, normalisation, patterns or lengths could trip over."""


def row(sequence: int, **fields: object) -> Row:
    """A row; what is not given follows from its sequence."""
    given: dict[str, object] = {"record_id": f"record-{sequence}", "kind": "message", "body": b"body %d" % sequence}
    return Row(sequence=sequence, **(given | fields))  # pyright: ignore[reportArgumentType]


def rows(count: int, *, after: int = 0) -> list[Row]:
    """Rows that follow a head."""
    return [row(sequence) for sequence in range(after + 1, after + count + 1)]


def document(id: str = "one", revision: int = 1, **fields: object) -> Document:
    """A document of the kind `note`."""
    given: dict[str, object] = {"kind": "note", "body": b"revision %d" % revision}
    return Document(id=id, revision=revision, **(given | fields))  # pyright: ignore[reportArgumentType]


async def stored(store: Store, *contents: bytes, scope: Scope = ALICE) -> list[str]:
    """Put contents; gives back their refs."""
    naming = await store.naming(scope)
    refs = [naming(content) for content in contents]
    async with store.transaction(scope) as transaction:
        await transaction.put(dict(zip(refs, contents, strict=True)))
    return refs
