"""A forgotten message is gone from the calls that showed it as well, down to its hash."""

from __future__ import annotations

import pytest

from threadline.engine import Engine
from threadline.journal import content_ref
from threadline.stores import MemoryStore

pytestmark = pytest.mark.anyio


async def test_no_manifest_goes_on_naming_what_was_forgotten():
    store = MemoryStore()
    engine = Engine(store)
    thread = engine.thread("a", tenant="t", owner="o")
    await thread.append([{"role": "user", "content": "my number is 555-0199"}], message_ids=["m"])
    call = await thread.assemble(budget=5_000)
    await thread.record_reply(call, {"role": "assistant", "content": "noted"})
    shown = [segment.content_ref for segment in call.manifest.segments]

    certificate = await engine.forget(tenant="t", owner="o", agent_id="a", message_ids=["m"])

    assert certificate.derived == 2
    shelves = repr([(shelf.contents, shelf.rows) for shelf in store._shelves.values()])
    assert all(ref not in shelves for ref in shown)
    assert content_ref(b"my number is 555-0199") not in shelves
    assert "555-0199" not in shelves
