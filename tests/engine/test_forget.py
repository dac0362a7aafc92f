"""Forgetting reaches everything that was made of a message."""

from __future__ import annotations

import pytest

from threadline.errors import ForgottenError, InvalidInputError, NotFoundError
from threadline.messages import Fate

pytestmark = pytest.mark.anyio

SECRET = "the-blue-heron-flies-at-noon"


async def everything(store, scope):
    """All bytes that the store holds of a scope."""
    shelf = store._shelves[scope]
    parts = [*shelf.contents.values(), *(one.body for one in shelf.documents.values())]
    parts += [row.body for rows in shelf.rows.values() for row in rows]
    parts += [(row.key or "").encode() for rows in shelf.rows.values() for row in rows]
    return b"\n".join(parts)


@pytest.fixture
async def told(thread):
    """A thread whose second message is to be forgotten: shown in a call, and later only in a summary."""
    await thread.append("hello")
    await thread.append(f"remember {SECRET} " + "please " * 30, message_id="secret")
    await thread.assemble(model="gpt-4o", max_input_tokens=500)
    for number in range(20):
        await thread.append({"role": "assistant", "content": f"answer {number} " + f"word{number} " * 30})
        await thread.append(f"question {number} " + f"ask{number} " * 30)
        await thread.assemble(model="gpt-4o", max_input_tokens=500)
    return thread


async def test_no_byte_of_a_forgotten_message_is_left(engine, told, store):
    assert SECRET.encode() in await everything(store, told.scope)

    certificate = await engine.forget(owner="ana", agent_id="agent", message_ids=["secret"], requested_by="ana")

    assert SECRET.encode() not in await everything(store, told.scope)
    assert certificate.requested_by == "ana"
    assert certificate.derived > 0
    assert "sha256" not in str(certificate)


async def test_the_thread_goes_on_without_it_and_says_what_became_of_it(engine, told, again):
    await engine.forget(owner="ana", agent_id="agent", message_ids=["secret"])

    for thread in (told, again()):
        page = await thread.history(limit=3)
        assert [said.fate for said in page.messages] == [Fate.KEPT, Fate.FORGOTTEN, Fate.KEPT]
        assert SECRET not in str((await thread.assemble(model="gpt-4o", max_input_tokens=500)).messages)
        assert (await thread.explain(page.messages[1].message_id)).fate is Fate.FORGOTTEN
        assert (await thread.reassemble()).same


async def test_making_a_call_again_that_showed_it_is_refused(engine, told):
    ref = (await told.assemble(model="gpt-4o", max_input_tokens=500)).manifest_ref
    await engine.forget(owner="ana", agent_id="agent", message_ids=["secret"])

    with pytest.raises(ForgottenError):
        await told.replay(ref)


async def test_the_store_is_sound_after_it(engine, told):
    await engine.forget(owner="ana", agent_id="agent", message_ids=["secret"])

    assert (await engine.check()).findings == ()


async def test_knowledge_can_be_forgotten(engine, thread, store):
    await thread.append("hello")
    await thread.add_knowledge(SECRET, knowledge_id="k")
    await thread.assemble(max_input_tokens=500)

    await engine.forget(owner="ana", agent_id="agent", message_ids=["k"])

    assert SECRET.encode() not in await everything(store, thread.scope)
    assert SECRET not in str((await thread.assemble(max_input_tokens=500)).messages)


async def test_an_agent_goes_with_everything(engine, told, store):
    await engine.forget(owner="ana", agent_id="agent")

    assert await everything(store, told.scope) == b""
    assert (await told.history()).messages == ()


async def test_an_owner_goes_and_others_stay(engine, told, store):
    await engine.thread("agent", owner="bob").append("mine")
    await engine.forget(owner="ana")

    assert await everything(store, told.scope) == b""
    assert len((await engine.thread("agent", owner="bob").history()).messages) == 1


async def test_what_does_not_exist_cannot_be_forgotten(engine, thread):
    await thread.append("hello")
    with pytest.raises(NotFoundError):
        await engine.forget(owner="ana", agent_id="nobody")
    with pytest.raises(NotFoundError):
        await engine.forget(owner="ana", agent_id="agent", message_ids=["nothing"])
    with pytest.raises(InvalidInputError):
        await engine.forget(owner="ana", message_ids=["nothing"])
