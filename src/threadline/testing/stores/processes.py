"""Writers in processes of their own: killed at any moment, and many at once on one agent."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

from msgspec import Struct

from threadline.errors import ConflictError, ThreadlineError
from threadline.ports import Store
from threadline.stores import open_store
from threadline.testing.stores.samples import ALICE, document, row

__all__ = ["Contention", "contending_writers", "killed_writers"]

_ROWS = 3
"""Rows a transaction: one that is half applied shows."""


class Contention(Struct, frozen=True, kw_only=True):
    """What became of writers that all appended to one agent.

    Attributes:
        written: the record ids in the journal, in their order.
        acknowledged: those that a writer was told of.
        conflicts: how often a writer was refused and tried again.
        failures: every other error, in words.
    """

    written: list[str]
    acknowledged: set[str]
    conflicts: int
    failures: list[str]


def killed_writers(url: str, *, rounds: int, seed: int, longest_s: float = 0.05) -> int:
    """Kill a writer at a random moment, look at what it left, and start the next one; gives back the commits.

    Raises:
        AssertionError: an acknowledged transaction is lost, or half of one is there.
    """
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    commits = 0
    for turn in range(rounds):
        writer, acknowledgements = _started(_write_on, url, commits)
        told = commits
        try:
            # The first word comes before anything is opened; half of the writers die young, half after a commit.
            for _ in range(1 + turn % 2):
                told = acknowledgements.recv()
            writer.join(chance.uniform(0, longest_s))
        finally:
            writer.kill()
            writer.join()
        while acknowledgements.poll():
            try:
                told = acknowledgements.recv()
            except EOFError:
                break
        acknowledgements.close()
        found = asyncio.run(_whole(url))
        assert told <= found <= told + 1, f"{told} transactions were acknowledged, {found} are there"
        commits = found
    return commits


def _write_on(url: str, commits: int, acknowledge: Connection) -> None:
    async def write() -> None:
        async with _opened(url) as store:
            naming = await store.naming(ALICE)
            number = commits
            acknowledge.send(number)
            while True:
                number += 1
                content = b"content %d" % number
                written = [
                    row(sequence, refs=(naming(content),))
                    for sequence in range((number - 1) * _ROWS + 1, number * _ROWS + 1)
                ]
                async with store.transaction(ALICE) as transaction:
                    await transaction.put({naming(content): content})
                    await transaction.append("agent", written, expected_head=(number - 1) * _ROWS)
                    await transaction.save(document("counter", number))
                acknowledge.send(number)

    asyncio.run(write())


async def _whole(url: str) -> int:
    """How many transactions are there, each whole; whatever the killed writer still had under way ends first."""
    async with _opened(url) as store, store.transaction(ALICE) as transaction:
        counter = await transaction.document("note", "counter")
        found = 0 if counter is None else counter.revision
        assert await transaction.head("agent") == found * _ROWS, "half of a transaction is there"
        last = await transaction.rows("agent", limit=_ROWS * 2, descending=True)
        assert [one.sequence for one in last] == list(range(found * _ROWS, max(0, (found - 2) * _ROWS), -1))
        await transaction.get([ref for one in last for ref in one.refs])
        return found


def contending_writers(url: str, *, writers: int, appends: int) -> Contention:
    """Let processes append to one agent at once, each until it has appended so many."""
    started = [_started(_contend, url, f"writer-{number}", appends) for number in range(writers)]
    reports: list[tuple[list[str], int, list[str]]] = []
    waiting = [receiver for _, receiver in started]
    while waiting:
        for ready in wait(waiting):
            assert isinstance(ready, Connection)
            try:
                reports.append(ready.recv())
            except EOFError:
                waiting.remove(ready)
                ready.close()
    for process, _ in started:
        process.join()

    async def written() -> list[str]:
        async with _opened(url) as store, store.transaction(ALICE, write=False) as transaction:
            return [one.record_id for one in await transaction.rows("agent", limit=writers * appends + 1)]

    return Contention(
        written=asyncio.run(written()),
        acknowledged={record_id for record_ids, _, _ in reports for record_id in record_ids},
        conflicts=sum(conflicts for _, conflicts, _ in reports),
        failures=[failure for _, _, failures in reports for failure in failures],
    )


def _contend(url: str, name: str, appends: int, report: Connection) -> None:
    async def contend() -> None:
        mine: list[str] = []
        failures: list[str] = []
        conflicts = 0
        async with _opened(url) as store:
            while len(mine) < appends and not failures:
                record_id = f"{name}-{len(mine)}"
                try:
                    async with store.transaction(ALICE, write=False) as transaction:
                        head = await transaction.head("agent")
                    async with store.transaction(ALICE) as transaction:
                        await transaction.append("agent", [row(head + 1, record_id=record_id)], expected_head=head)
                except ConflictError:
                    conflicts += 1
                except ThreadlineError as error:
                    failures.append(repr(error))
                else:
                    mine.append(record_id)
        report.send((mine, conflicts, failures))

    asyncio.run(contend())


@asynccontextmanager
async def _opened(url: str) -> AsyncGenerator[Store]:
    store = open_store(url)
    try:
        yield store
    finally:
        await store.close()


def _started(work: Callable[..., None], *arguments: Any) -> tuple[Any, Connection]:
    """A process that does some work, and what it says."""
    # Forked from a server without threads that has everything imported: quick, and safe to kill.
    context: Any = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload([__name__, *_DRIVERS])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, sender), daemon=True)
    process.start()
    sender.close()
    return process, receiver


_DRIVERS: Sequence[str] = ("threadline.stores.postgres",)
