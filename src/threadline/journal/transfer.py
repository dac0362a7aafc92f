"""Whole journals as lines of JSON, out and in: what goes out comes in, and goes out again byte for byte.

One header with the root; then, for each hundred records, the contents they name and the records; then an end with a
count and a hash of all before it. Every line is canonical JSON. A content is text where it is UTF-8, else base64, and
stands there under the plain hash of its bytes, whatever the store calls it; it is written again when it was last
written long ago, so that neither side has to remember all of them. Tombstones go out as tombstones.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from threadline.errors import ConflictError, IntegrityError, InvalidInputError, NotFoundError, SerializationError
from threadline.journal.audit import Audit
from threadline.journal.book import Book
from threadline.journal.canonical import canonical_json, content_ref, parse_canonical
from threadline.journal.checking import CONTENTS_AT_ONCE, check_parents
from threadline.journal.envelope import Schema
from threadline.journal.root import AgentRoot
from threadline.journal.rows import encode_root, record_of, row_of
from threadline.ports import Row
from threadline.ports.scope import checked_name

__all__ = ["agent_of", "export_journal", "import_journal"]

_PAGE = 100
"""Records after which the contents of the next ones are written; part of the form."""

_REMEMBERED = 4096
"""Contents that are not written again while they are among the last written; part of the form."""


class _Header(Struct, frozen=True, kw_only=True):
    root: AgentRoot


class _Text(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    content: str
    ref: str


class _Base64(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    base64: str
    ref: str


class _Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row; its body keeps its envelope, and with it its version."""

    body: Any
    branch: int
    key: str | None
    kind: str
    record_id: str
    refs: tuple[str, ...]
    sequence: int


class _End(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    records: int
    sha256: str


_EXPORT = Schema("journal_export", 1)


async def export_journal(book: Book) -> AsyncIterator[bytes]:
    r"""An agent's journal, line by line, each with its `\n`; holds a page of records and few contents at a time.

    Raises:
        NotFoundError: there is no such agent, or a content is missing.
        SerializationError: the root is not one that this release reads.
    """
    root = await book.root()
    if root is None:
        raise NotFoundError(f"there is no agent {book.agent_id!r}", agent_id=book.agent_id)
    digest = sha256()
    async for line in _lines(book, root):
        digest.update(line)
        yield line
    end = _End(records=root.journal_position, sha256=digest.hexdigest())
    yield canonical_json(msgspec.to_builtins(end)) + b"\n"


async def _lines(book: Book, root: AgentRoot) -> AsyncIterator[bytes]:
    yield _EXPORT.encode(_Header(root=root)) + b"\n"
    written = _Recent()
    after = 0
    while rows := await book.transaction.rows(book.agent_id, after=after, limit=_PAGE):
        after = rows[-1].sequence
        new = [ref for ref in dict.fromkeys(ref for row in rows for ref in row.refs) if ref not in written]
        for start in range(0, len(new), CONTENTS_AT_ONCE):
            some = new[start : start + CONTENTS_AT_ONCE]
            contents = await book.transaction.get(some)
            for ref in some:
                written[ref] = content_ref(contents[ref])
                yield _content_line(written[ref], contents[ref])
        for row in rows:
            yield _record_line(_renamed(book.agent_id, row, written))
        written.trim()


def agent_of(line: bytes) -> str:
    """The name of the agent whose export begins with this line.

    Raises:
        SerializationError: the file is of a later release, or is no such file.
    """
    return _EXPORT.decode(line.rstrip(b"\r\n"), _Header).root.agent_id


async def import_journal(book: Book, lines: Iterable[bytes] | AsyncIterable[bytes]) -> AgentRoot:
    """Write an exported journal as the book's agent, whatever it was called; the transaction makes it all or nothing.

    Args:
        book: in a transaction that writes, to be rolled back when this raises.
        lines: as `export_journal` gave them, with or without their line ends.

    Returns:
        The root as it was.

    Raises:
        ConflictError: the agent exists.
        IntegrityError: something is missing, was changed, or does not follow from what is before it; names the line.
        SerializationError: the file is of a later release, or is no such file; names the line.
    """
    if await book.root() is not None or await book.transaction.head(book.agent_id):
        raise ConflictError(f"agent {book.agent_id!r} exists", agent_id=book.agent_id)
    arriving = _Arriving(book)
    try:
        if isinstance(lines, AsyncIterable):
            async for line in lines:
                await arriving.take(line)
        else:
            for line in lines:
                await arriving.take(line)
        return await arriving.finish()
    except (IntegrityError, SerializationError, InvalidInputError, msgspec.ValidationError) as error:
        kind = IntegrityError if isinstance(error, IntegrityError) else SerializationError
        raise kind(f"line {arriving.line}: {error}", line=arriving.line) from error


class _Arriving:
    """A journal as far as it was read."""

    def __init__(self, book: Book) -> None:
        self.line = 0
        self._book = book
        self._digest = sha256()
        self._root: AgentRoot | None = None
        self._audit = Audit(book.agent_id)
        self._stored = _Recent()  # by plain ref, what the store calls it
        self._contents: dict[str, bytes] = {}
        self._rows: list[Row] = []
        self._is_ended = False

    async def take(self, line: bytes) -> None:
        self.line += 1
        line = line.removesuffix(b"\n")
        if self._is_ended:
            raise IntegrityError("there is more after the end")
        if self._root is None:
            root = _EXPORT.decode(line, _Header).root
            self._root = replace(root, agent_id=self._book.agent_id)
            await self._book.transaction.save(encode_root(self._root, 1))
        else:
            await self._take_one(parse_canonical(line))
        self._digest.update(line + b"\n")

    async def _take_one(self, value: Any) -> None:
        match value:
            case {"content": _}:
                said = msgspec.convert(value, _Text)
                await self._take_content(said.ref, _encoded(said.content))
            case {"base64": _}:
                said = msgspec.convert(value, _Base64)
                await self._take_content(said.ref, _decoded(said.base64))
            case {"body": _}:
                await self._take_record(msgspec.convert(value, _Record))
            case _:
                self._take_end(msgspec.convert(value, _End))

    async def _take_content(self, ref: str, content: bytes) -> None:
        if content_ref(content) != ref:
            raise IntegrityError("the content is not what its ref says", ref=ref)
        self._stored[ref] = self._book.naming(content)
        self._contents[self._stored[ref]] = content
        if len(self._contents) == CONTENTS_AT_ONCE:
            await self._put()

    async def _take_record(self, said: _Record) -> None:
        row = Row(
            sequence=said.sequence,
            record_id=checked_name(said.record_id, "record_id"),
            branch=said.branch,
            kind=said.kind,
            key=None if said.key is None else checked_name(said.key, "key"),
            refs=said.refs,
            body=canonical_json(said.body),
        )
        record = record_of(self._book.agent_id, row)
        for finding in self._audit.take(record):
            raise IntegrityError(f"{finding.place} {finding.sentence}", sequence=record.sequence)
        self._rows.append(_renamed(self._book.agent_id, row, self._stored))
        if record.sequence % _PAGE == 0:
            await self._flush()
            self._stored.trim()

    def _take_end(self, end: _End) -> None:
        told = self._audit.root.journal_position
        if end.records != told or end.sha256 != self._digest.hexdigest():
            raise IntegrityError("the lines before are not those that were written")
        self._is_ended = True

    async def finish(self) -> AgentRoot:
        if self._root is None or not self._is_ended:
            raise IntegrityError("the file breaks off before its end")
        await self._flush()
        for finding in self._audit.end(self._root):
            raise IntegrityError(f"{finding.place} {finding.sentence}")
        return self._root

    async def _put(self) -> None:
        if self._contents:
            await self._book.transaction.put(self._contents)
            self._contents = {}

    async def _flush(self) -> None:
        await self._put()
        if self._rows:
            first = self._rows[0].sequence
            await self._book.transaction.append(self._book.agent_id, self._rows, expected_head=first - 1)
            self._rows = []
        for finding in await check_parents(self._book, self._audit):
            raise IntegrityError(f"{finding.place} {finding.sentence}")


class _Recent(dict[str, str]):
    """Names of contents by other names; of the oldest there are only as many kept as the form asks for."""

    def trim(self) -> None:
        for ref in list(self)[: max(len(self) - _REMEMBERED, 0)]:
            del self[ref]


def _renamed(agent_id: str, row: Row, names: _Recent) -> Row:
    """The row with its contents called otherwise; the very row, in whatever version, where they are called the same."""
    try:
        refs = tuple(names[ref] for ref in row.refs)
    except KeyError as error:
        text = f"record {row.sequence} names a content that is not there"
        raise IntegrityError(text, sequence=row.sequence) from error
    if refs == row.refs:
        return row
    record = record_of(agent_id, row)
    own = None if record.content_ref is None else names[record.content_ref]
    return row_of(replace(record, content_ref=own, refs=refs if own is None else refs[1:]))


def _content_line(ref: str, content: bytes) -> bytes:
    try:
        said: dict[str, str] = {"content": content.decode("utf-8"), "ref": ref}
    except UnicodeDecodeError:
        said = {"base64": b64encode(content).decode("ascii"), "ref": ref}
    return canonical_json(said) + b"\n"


def _record_line(row: Row) -> bytes:
    columns = {name: getattr(row, name) for name in ("branch", "key", "kind", "record_id", "refs", "sequence")}
    return b'{"body":%b,%b\n' % (row.body, canonical_json(columns)[1:])  # the body first, as its name sorts


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SerializationError("a content with a lone surrogate, which has no bytes") from error


def _decoded(text: str) -> bytes:
    try:
        content = b64decode(text, validate=True)
    except ValueError as error:
        raise SerializationError("not base64") from error
    if msgspec.json.decode(_content_line("", content)) != {"base64": text, "ref": ""}:
        raise SerializationError("base64 of what would be written otherwise")
    return content
