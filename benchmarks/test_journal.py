"""Threads on SQLite at length: what a turn costs at 1,000 records and at many more; beside it what others use."""

from __future__ import annotations

import asyncio
import os
import time
from itertools import count
from statistics import median

import pytest

from threadline.engine import Engine
from threadline.journal import Entry
from threadline.stores import open_store

pytestmark = pytest.mark.bench

SIZES = [1_000, 100_000] if os.environ.get("THREADLINE_BENCH") != "long" else [1_000, 100_000, 1_000_000]
"""`THREADLINE_BENCH=long make bench` goes to a million records; writing those takes minutes."""

TURNS = 40


async def filled(engine, records):
    """A thread whose journal holds this many messages, most of them summarised in earlier calls."""
    thread = engine.thread("agent", owner="bench")
    numbers = count()
    await thread.append("begin")
    made = 1
    while made < records:
        size = min(1000, records - made)
        async with thread._desk.book() as book:  # noqa: SLF001 - many records at once, as no caller writes them
            root = await book.root()
            entries = [
                Entry(
                    kind="assistant_message" if n % 2 else "external_message",
                    channel="llm" if n % 2 else "external",
                    record_id=f"r{next(numbers)}",
                    role="assistant" if n % 2 else "user",
                    content=b'{"role":"%s","content":"message %d about one thing or another"}'
                    % (b"assistant" if n % 2 else b"user", made + n),
                    execution_id=f"x{made + n}",
                    context_candidate=True,
                    metadata={"digest": f"{made + n:032x}"},
                )
                for n in range(size)
            ]
            await book.append(root, entries, now_ms=0)
        made += size
        await thread.clear_transcript() if made < records else None
    return thread


async def turn_costs(path, records):
    """Median seconds to append and to assemble, warm; statements and rows read a turn; seconds of a cold view."""
    async with Engine(open_store(f"sqlite:///{path}")) as engine:
        thread = await filled(engine, records)
        appended, assembled, statements, rows = [], [], [], []
        for turn in range(TURNS):
            before = engine.statistics()
            start = time.perf_counter()
            await thread.append(f"question {turn} " + "word " * 30)
            middle = time.perf_counter()
            call = await thread.assemble(model="gpt-4o", max_input_tokens=4000)
            end = time.perf_counter()
            await thread.record_reply(call, f"answer {turn} " + "word " * 30)
            after = engine.statistics()
            appended.append(middle - start)
            assembled.append(end - middle)
            statements.append(after.statements - before.statements)
            rows.append(after.rows_read - before.rows_read)
    async with Engine(open_store(f"sqlite:///{path}")) as engine:
        start = time.perf_counter()
        await engine.thread("agent", owner="bench").view()
        cold = time.perf_counter() - start
    half = TURNS // 2
    return median(appended[half:]), median(assembled[half:]), statements[half:], rows[half:], cold


def test_a_turn_costs_the_same_however_long_the_journal_is(tmp_path):
    results = {}
    for size in SIZES:
        results[size] = asyncio.run(turn_costs(tmp_path / f"{size}.db", size))
    first = results[SIZES[0]]
    print(f"\n{'records':>10} {'append ms':>10} {'assemble ms':>12} {'statements':>11} {'rows':>6} {'cold ms':>8}")
    for size, (append, assemble, statements, rows, cold) in results.items():
        print(
            f"{size:>10,} {append * 1000:>10.1f} {assemble * 1000:>12.1f} {max(statements):>11} {max(rows):>6} "
            f"{cold * 1000:>8.0f}"
        )
    for size in SIZES[1:]:
        append, assemble, statements, rows, _ = results[size]
        print(f"{size:,} against {SIZES[0]:,}: append {append / first[0]:.2f}, assemble {assemble / first[1]:.2f}")
        assert append <= 1.5 * first[0]
        assert assemble <= 1.5 * first[1]
        assert set(statements) == set(first[2])
        assert max(rows) == max(first[3])


def test_others_beside_it(tmp_path):
    agents = pytest.importorskip("agents")
    langgraph = pytest.importorskip("langgraph.checkpoint.sqlite")

    async def openai_agents(records):
        session = agents.SQLiteSession("s", tmp_path / f"agents-{records}.db")
        await session.add_items([{"role": "user", "content": f"message {n}"} for n in range(records)])
        times = []
        for turn in range(10):
            start = time.perf_counter()
            await session.add_items([{"role": "user", "content": f"question {turn}"}])
            await session.get_items()
            times.append(time.perf_counter() - start)
        return median(times)

    def graph(records):
        from langgraph.checkpoint.base import empty_checkpoint

        with langgraph.SqliteSaver.from_conn_string(str(tmp_path / f"graph-{records}.db")) as saver:
            config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
            messages = [{"role": "user", "content": f"message {n}"} for n in range(records)]
            times = []
            for turn in range(5):
                messages.append({"role": "user", "content": f"question {turn}"})
                start = time.perf_counter()
                checkpoint = empty_checkpoint()
                checkpoint["channel_values"] = {"messages": messages}
                config = saver.put(config, checkpoint, {}, {})
                saver.get_tuple(config)
                times.append(time.perf_counter() - start)
            return median(times)

    print(f"\n{'a turn, ms':28} {'1,000':>8} {'100,000':>8}")
    for name, run in (
        ("OpenAI Agents SQLiteSession", lambda n: asyncio.run(openai_agents(n))),
        ("LangGraph SqliteSaver", graph),
    ):
        print(f"{name:28} {run(1_000) * 1000:>8.1f} {run(100_000) * 1000:>8.1f}")
