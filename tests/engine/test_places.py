"""Threads on every store: what was acknowledged is there, what was forgotten is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import anyio
import pytest

from threadline.engine import Engine
from threadline.errors import ConflictError, StoreError
from threadline.messages import Fate
from threadline.stores import open_store
from threadline.stores.postgres import PostgresStore

pytestmark = pytest.mark.anyio

SECRET = "the-blue-heron-flies-at-noon"


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request, tmp_path):
    """Opens the same place again and again, as another process would."""
    if request.param == "sqlite":
        return lambda: Engine(open_store(f"sqlite:///{tmp_path / 'agent.db'}"))
    dsn = request.getfixturevalue("postgres_dsn")
    return lambda: Engine(PostgresStore(dsn, schema=f"places_{abs(hash(tmp_path)):x}"))


async def test_a_thread_survives_its_process_byte_for_byte(opened):
    async with opened() as engine:
        thread = engine.thread("agent", owner="ana")
        for number in range(12):
            await thread.append(f"question {number} " + f"ask{number} " * 30)
            call = await thread.assemble(model="gpt-4o", max_input_tokens=500, instructions="be brief")
            await thread.record_reply(call, f"answer {number} " + f"told{number} " * 30)
        view = await thread.view()
    async with opened() as engine:
        thread = engine.thread("agent", owner="ana")
        assert await thread.view() == view
        assert (await thread.replay(call.manifest_ref)).same
        assert (await thread.reassemble(call.manifest_ref)).same
        assert (await engine.check()).findings == ()


async def test_a_turn_takes_the_same_statements_and_rows_whatever_came_before(opened):
    async with opened() as engine:
        thread = engine.thread("agent", owner="ana")
        costs = []
        for number in range(24):
            before = engine.statistics()
            await thread.append(f"question {number} " + f"ask{number} " * 30)
            call = await thread.assemble(model="gpt-4o", max_input_tokens=500)
            await thread.record_reply(call, f"answer {number}")
            after = engine.statistics()
            costs.append((after.statements - before.statements, after.rows_read - before.rows_read))
    assert len(set(costs[4:])) == 1


async def test_two_engines_on_one_place_lose_nothing(opened):
    async with opened() as one, opened() as other:
        threads = [one.thread("agent", owner="ana"), other.thread("agent", owner="ana")]

        async def work(thread, name):
            for number in range(6):
                await thread.append(f"{name} {number}")
                try:
                    await thread.assemble(max_input_tokens=2000)
                except ConflictError:
                    continue

        async with anyio.create_task_group() as tasks:
            for number, thread in enumerate(threads):
                tasks.start_soon(work, thread, f"writer {number}")
        said = [one.wire["content"] for one in (await threads[0].history()).messages]
        assert sorted(said) == sorted(f"writer {a} {b}" for a in range(2) for b in range(6))
        assert await threads[0].view() == await threads[1].view()
        assert (await one.check()).findings == ()


async def test_forgetting_on_sqlite_leaves_no_byte_in_any_file(tmp_path):
    async with Engine(open_store(f"sqlite:///{tmp_path / 'agent.db'}")) as engine:
        thread = engine.thread("agent", owner="ana")
        await thread.append(f"remember {SECRET}", message_id="secret")
        await thread.append({"role": "assistant", "content": "yes"})
        await thread.assemble(max_input_tokens=500)
        await engine.forget(owner="ana", agent_id="agent", message_ids=["secret"])
        for file in tmp_path.iterdir():
            assert SECRET.encode() not in file.read_bytes(), file.name
        assert (await thread.history()).messages[0].fate is Fate.FORGOTTEN


async def test_a_read_only_file_is_a_typed_error(tmp_path):
    async with Engine(open_store(f"sqlite:///{tmp_path / 'nowhere' / 'agent.db'}")) as engine:
        with pytest.raises(StoreError):
            await engine.thread("agent", owner="ana").append("hello")


WRITER = """
    import sys
    from threadline import SyncEngine

    with SyncEngine.open(sys.argv[1]) as engine:
        thread = engine.thread("agent", owner="ana")
        for number in range(10_000):
            thread.append(f"message {number}", message_id=f"m{number}")
            print(number, flush=True)
            if number % 3 == 0:
                thread.assemble(max_input_tokens=600)
"""


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path):
    url = f"sqlite:///{tmp_path / 'agent.db'}"
    writer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), url], stdout=subprocess.PIPE, encoding="utf-8"
    )
    acknowledged = [writer.stdout.readline() for _ in range(10)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += writer.stdout.readlines()
    writer.wait()
    writer.stdout.close()

    async def look():
        async with Engine(open_store(url)) as engine:
            said = (await engine.thread("agent", owner="ana").history(limit=1000)).messages
            return [one.message_id for one in said], await engine.check()

    ids, report = anyio.run(look)
    done = [line for line in acknowledged if line.endswith("\n")]
    assert ids[: len(done)] == [f"m{number}" for number in range(len(done))]
    assert len(ids) <= len(done) + 1
    assert report.findings == ()
