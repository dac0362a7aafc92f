"""Journals go out and come in, to the byte, or not at all."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings

from threadline.errors import ConflictError, IntegrityError, NotFoundError, SerializationError, ThreadlineError
from threadline.journal import Book, canonical_json, check, export_journal, import_journal
from threadline.journal.transfer import _REMEMBERED, agent_of
from threadline.stores import MemoryStore
from threadline.stores.memory import MemoryTransaction, _Shelf

from .journals import PROGRAMS, answered, event, new_root, opened, said, step, stored


async def lines_of(store, agent_id="a", **options):
    async with opened(store, agent_id, write=False, **options) as book:
        return [line async for line in export_journal(book)]


async def taken_in(lines, agent_id="a"):
    store = MemoryStore()
    async with opened(store, agent_id) as book:
        root = await import_journal(book, lines)
    return store, root


@given(PROGRAMS)
@settings(max_examples=30)
def test_what_comes_in_goes_out_again_byte_for_byte(program):
    async def scenario():
        store = MemoryStore()
        async with opened(store) as book:
            root = await book.create(new_root(metadata={"dialect": "openai"}))
            for number, (what, amount) in enumerate(program):
                root = await step(book, root, number, what, amount)
        lines = await lines_of(store)
        copy, copied = await taken_in(lines)
        assert copied == root
        assert await lines_of(copy) == lines
        async with opened(copy) as book:
            assert [finding async for finding in check(book)] == []
            root, _ = await book.append(copied, [said("next")], now_ms=999)
            assert root.journal_position == copied.journal_position + 1

    anyio.run(scenario)


CONTENTS = [
    b"plain",
    b"\0",
    b"\xff\xfe",
    "€ \U0001f600".encode(),
    '"\ud800"'.encode("utf-8", "surrogatepass"),
    b"",
    b"plain",
]


async def mixed():
    store = MemoryStore()
    entries = [said(f"m{n}", content=content, key=f"k{n}") for n, content in enumerate(CONTENTS)]
    await stored(store, entries, [event("transcript_cleared", "c"), answered("r", metadata={"a": {"b": [1.5]}})])
    return store


@pytest.mark.anyio
async def test_a_file_holds_each_content_verbatim_and_once():
    lines = [json.loads(line) for line in await lines_of(await mixed())]

    assert lines[0]["record_type"] == "journal_export"
    assert [line["content"] for line in lines if "content" in line] == ["plain", "\0", "€ \U0001f600", "", "answer r"]
    assert [line["base64"] for line in lines if "base64" in line] == ["//4=", "Iu2ggCI="]
    assert sum("body" in line for line in lines) == lines[-1]["records"] == 9


@pytest.mark.anyio
async def test_lines_may_come_asynchronously_and_without_line_ends():
    lines = await lines_of(await mixed())

    async def arriving():
        for line in lines:
            yield line.rstrip(b"\n")

    store, _ = await taken_in(arriving())

    assert await lines_of(store) == lines


@pytest.mark.anyio
async def test_contents_of_long_ago_are_written_again_and_memory_stays_bounded():
    store = MemoryStore()
    texts = [*(f"text {n}" for n in range(_REMEMBERED + 100)), "text 0", f"text {_REMEMBERED}"]
    await stored(store, [said(f"m{n}", text=text) for n, text in enumerate(texts)])

    lines = await lines_of(store)
    copy, _ = await taken_in(lines)

    assert await lines_of(copy) == lines
    assert sum(line.startswith(b'{"content"') for line in lines) == len(texts) - 1


def keyed_name(content):
    return f"hmac-sha256:{hmac.new(b'key', content, hashlib.sha256).hexdigest()}"


class Sealed(MemoryTransaction):
    """Names contents by a keyed hash, as a store that seals them does."""

    def __init__(self):
        super().__init__(_Shelf(), lambda rows: None, write=True)

    async def put(self, contents):
        assert all(keyed_name(content) == ref for ref, content in contents.items())
        self._shelf.contents.update(contents)


@pytest.mark.anyio
async def test_a_file_names_contents_by_their_plain_hash_whatever_the_store_calls_them():
    lines = await lines_of(await mixed())
    sealed = Book(Sealed(), "a", keyed_name)

    await import_journal(sealed, lines)

    rows = [row for page in [page async for page in sealed.pages()] for row in page]
    assert all(ref.startswith("hmac-") for row in rows for ref in row.refs)
    assert [line async for line in export_journal(sealed)] == lines
    assert [finding async for finding in check(sealed)] == []


@pytest.mark.anyio
async def test_an_agent_that_exists_is_left_alone():
    store = await mixed()
    lines = await lines_of(store)

    with pytest.raises(ConflictError):
        async with opened(store) as book:
            await import_journal(book, lines)

    assert await lines_of(store) == lines


@pytest.mark.anyio
async def test_a_journal_may_come_in_under_another_name():
    store, root = await taken_in(await lines_of(await mixed()), agent_id="b")

    assert root.agent_id == "b"
    async with opened(store, "b") as book:
        assert [finding async for finding in check(book)] == []


@pytest.mark.anyio
async def test_the_first_line_of_a_file_names_the_agent():
    lines = await lines_of(await mixed())

    assert agent_of(lines[0]) == "a"
    with pytest.raises(SerializationError):
        agent_of(lines[1])


@pytest.mark.anyio
async def test_an_agent_that_there_is_not_cannot_go_out():
    with pytest.raises(NotFoundError):
        await lines_of(MemoryStore())


def changed(line, **more):
    return canonical_json({**json.loads(line), **more}) + b"\n"


def without(lines, start):
    return [line for line in lines if not line.startswith(start)]


DAMAGES = {
    "no header": lambda lines: lines[1:],
    "nothing": lambda lines: [],
    "a later release": lambda lines: [changed(lines[0], format_version=2), *lines[1:]],
    "no end": lambda lines: lines[:-1],
    "half a line": lambda lines: [*lines[:-3], lines[-3][:20]],
    "more after the end": lambda lines: [*lines, lines[-2]],
    "a record is missing": lambda lines: [*lines[:-2], lines[-1]],
    "a record twice": lambda lines: [*lines[:-1], lines[-2], lines[-1]],
    "two records changed places": lambda lines: [*lines[:-3], lines[-2], lines[-3], lines[-1]],
    "a content is missing": lambda lines: without(lines, b'{"content":"answer'),
    "a content was changed": lambda lines: [line.replace(b"answer r", b"answer q") for line in lines],
    "base64 of text": lambda lines: [
        changed(line, base64="cGxhaW4=") if b'"base64"' in line else line for line in lines
    ],
    "no base64": lambda lines: [changed(line, base64="***") if b'"base64"' in line else line for line in lines],
    "a lone surrogate": lambda lines: [
        changed(line, content="\ud800") if b'"plain"' in line else line for line in lines
    ],
    "another spelling": lambda lines: [line.replace(b'":"', b'": "', 1) for line in lines],
    "an unknown line": lambda lines: [lines[0], b'{"what":1}\n', *lines[1:]],
    "an unknown key": lambda lines: [*lines[:-2], changed(lines[-2], what=1), lines[-1]],
    "a wrong type": lambda lines: [*lines[:-2], changed(lines[-2], sequence="9"), lines[-1]],
    "a bad record id": lambda lines: [*lines[:-2], changed(lines[-2], record_id="\0"), lines[-1]],
    "an unknown kind": lambda lines: [*lines[:-2], changed(lines[-2], kind="rumour"), lines[-1]],
    "a branch from nowhere": lambda lines: [*lines[:-2], changed(lines[-2], branch=4), lines[-1]],
    "a changed root": lambda lines: [lines[0].replace(b'"journal_position":9', b'"journal_position":8'), *lines[1:]],
    "a changed record": lambda lines: [*lines[:-2], lines[-2].replace(b'"assistant"', b'"user"'), lines[-1]],
    "no parent": lambda lines: [*lines[:-2], lines[-2].replace(b'"parent_id":"m6"', b'"parent_id":"zz"'), lines[-1]],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.anyio
async def test_a_damaged_file_is_refused_and_leaves_nothing(damage):
    lines = damage(await lines_of(await mixed()))
    store = MemoryStore()

    with pytest.raises((IntegrityError, SerializationError)) as caught:
        async with opened(store) as book:
            await import_journal(book, lines)

    assert "line" in caught.value.fields
    assert await store.scopes(limit=1) == []


GOLDEN = Path(__file__).parent / "golden" / "journal_export.1.jsonl"


@pytest.mark.anyio
async def test_the_golden_file_comes_in_and_the_current_form_is_as_it_shows():
    golden = GOLDEN.read_bytes().splitlines(keepends=True)

    store, _ = await taken_in(golden)

    assert await lines_of(store) == golden == await lines_of(await mixed())


@pytest.mark.anyio
async def test_a_missing_content_stops_the_way_out_too():
    store = await mixed()
    async with opened(store) as book:
        (record,) = await book.recorded(["m2"])
        del book.transaction._shelf.contents[record.content_ref]

    with pytest.raises(ThreadlineError):
        await lines_of(store)
