"""An engine, awaited and blocking."""

from __future__ import annotations

import asyncio
import threading

import pytest

from threadline.engine import Engine, SyncEngine
from threadline.errors import ConfigurationError, ConflictError, IntegrityError, InvalidInputError, SerializationError
from threadline.observers import OpenTelemetryObserver


async def exported(engine, agent="agent", owner="ana"):
    lines = []
    await engine.export_journal(agent, owner=owner, write=lines.append)
    return lines


@pytest.mark.anyio
async def test_a_journal_that_is_exported_and_imported_is_the_same(engine, thread):
    await thread.append([{"role": "system", "content": "rules"}, "hello \ud800"], message_ids=["a", "b"])
    await thread.add_knowledge("known")
    call = await thread.assemble(max_input_tokens=500)
    lines = await exported(engine)

    info = await engine.import_journal(lines, owner="bob")

    assert info.agent_id == "agent"
    assert await exported(engine, owner="bob") == lines
    copy = engine.thread("agent", owner="bob")
    assert (await copy.replay(call.manifest_ref)).same
    assert await copy.view() == await thread.view()


@pytest.mark.anyio
async def test_an_import_of_a_damaged_file_writes_nothing(engine, thread):
    await thread.append(["one", "two"])
    lines = await exported(engine)

    for damaged in (lines[:-1], [*lines[:1], *lines[2:]], [line.replace(b"one", b"own") for line in lines], [b"{}"]):
        with pytest.raises((IntegrityError, SerializationError)):
            await engine.import_journal(damaged, owner="bob")
    assert await engine.threads(owner="bob") == []


@pytest.mark.anyio
async def test_an_import_over_an_agent_that_exists_is_a_conflict(engine, thread):
    await thread.append("one")
    with pytest.raises(ConflictError):
        await engine.import_journal(await exported(engine), owner="ana")


@pytest.mark.anyio
async def test_threads_are_listed_by_name_in_pages(engine):
    for name in ("b", "a", "c"):
        await engine.thread(name, owner="ana").append("hello")

    first = await engine.threads(owner="ana", limit=2)

    assert [one.agent_id for one in first] == ["a", "b"]
    assert [one.agent_id for one in await engine.threads(owner="ana", after="b")] == ["c"]


@pytest.mark.anyio
async def test_an_unknown_habit_is_named(engine):
    with pytest.raises(InvalidInputError, match="polcy"):
        engine.thread("a", owner="ana", polcy=None)


def test_an_unknown_url_lists_those_that_are_known():
    with pytest.raises(ConfigurationError, match="sqlite"):
        Engine.open("redis://here")


def test_the_blocking_form_does_the_same():
    with SyncEngine.open("memory:") as engine:
        thread = engine.thread("agent", owner="ana")
        thread.append("hello")
        call = thread.assemble(max_input_tokens=500)
        thread.record_reply(call, "hi")

        assert [said.role for said in thread.history().messages] == ["user", "assistant"]
        assert thread.replay().same
        assert engine.threads(owner="ana")[0].records == 4


def test_the_blocking_form_works_from_many_threads_at_once():
    with SyncEngine.open("memory:") as engine:
        thread = engine.thread("agent", owner="ana")
        workers = [threading.Thread(target=thread.append, args=(f"m{number}",)) for number in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

        assert len(thread.history().messages) == 8


@pytest.mark.parametrize("factory", [None, "uvloop"])
def test_inside_a_running_loop_the_blocking_form_says_to_await(factory):
    async def inside():
        with pytest.raises(ConfigurationError, match="await"):
            thread.append("hello")

    with SyncEngine.open("memory:") as engine:
        thread = engine.thread("agent", owner="ana")
        if factory is None:
            asyncio.run(inside())
        else:
            import uvloop

            uvloop.run(inside())


@pytest.mark.anyio
async def test_spans_name_the_agent_and_hold_no_content(store, steps):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    engine = Engine(
        store, now_ms=steps.now_ms, new_id=steps.new_id, observer=OpenTelemetryObserver(tracer_provider=provider)
    )
    thread = engine.thread("agent", owner="ana")
    await thread.append("a very private question")
    call = await thread.assemble(model="gpt-4o", max_input_tokens=500)
    await thread.record_reply(call, "a very private answer")

    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["threadline.append", "threadline.assemble", "threadline.record_reply"]
    assert spans[1].attributes["gen_ai.agent.id"] == "agent"
    assert spans[1].attributes["gen_ai.request.model"] == "gpt-4o"
    assert spans[1].attributes["gen_ai.usage.input_tokens"] == call.tokens
    assert "private" not in str([dict(span.attributes) for span in spans])


@pytest.mark.anyio
async def test_an_observer_that_fails_disturbs_nothing(store, steps):
    class Broken:
        def span(self, name, attributes):
            raise RuntimeError

        def count(self, name, amount, attributes):
            raise RuntimeError

    engine = Engine(store, now_ms=steps.now_ms, new_id=steps.new_id, observer=Broken())

    await engine.thread("agent", owner="ana").append("hello")

    assert len((await engine.thread("agent", owner="ana").history()).messages) == 1
