"""What `append` stores, and what it refuses."""

from __future__ import annotations

import json

import anyio
import pytest

from threadline.errors import ConflictError, InvalidInputError
from threadline.messages import Fate
from threadline.redaction import SecretDetector

pytestmark = pytest.mark.anyio


async def kinds(thread, limit=100):
    return [said.kind for said in (await thread.history(limit=limit)).messages]


async def test_a_text_is_a_user_turn(thread):
    await thread.append("hello")

    [said] = (await thread.history()).messages
    assert (said.role, said.wire) == ("user", {"role": "user", "content": "hello"})


async def test_each_role_becomes_its_kind(thread):
    await thread.append(
        [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "seen"},
        ]
    )

    assert await kinds(thread) == ["instruction", "external_message", "assistant_message", "tool_message"]


async def test_bytes_are_stored_verbatim(thread, store):
    data = b'{"role": "user",  "content": "two  spaces", "odd": 1e2}'
    await thread.append(data)

    async with store.transaction(thread.scope, write=False) as tx:
        [row] = await tx.rows("agent", limit=10)
        contents = await tx.get(row.refs)

    assert list(contents.values()) == [data]


async def test_appending_under_the_same_name_again_does_nothing(thread):
    first = await thread.append("hello", message_id="m1")
    second = await thread.append("hello", message_id="m1")

    assert (first.is_new, second.is_new) == (True, False)
    assert first.record_ids == second.record_ids
    assert len((await thread.history()).messages) == 1


async def test_the_same_name_with_another_content_is_a_conflict_and_stores_nothing(thread):
    await thread.append("hello", message_id="m1")

    with pytest.raises(ConflictError, match="m1"):
        await thread.append(["before", "goodbye"], message_ids=["m0", "m1"])

    assert len((await thread.history()).messages) == 1


async def test_a_batch_under_an_idempotency_key_is_stored_once(thread):
    batch = ["one", {"role": "assistant", "content": "two"}]
    await thread.append(batch, idempotency_key="k")
    again = await thread.append(batch, idempotency_key="k")

    assert not again.is_new
    assert len((await thread.history()).messages) == 2


async def test_the_same_text_twice_without_a_name_is_said_twice(thread):
    await thread.append("yes")
    await thread.append("yes")

    assert len((await thread.history()).messages) == 2


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([{"role": "user", "content": "a"}, {"role": "user"}], 1),
        ([3], 0),
        ([{"role": "user", "content": "a"}, {"role": "tool", "content": 7, "tool_call_id": "x"}], 1),
    ],
)
async def test_a_malformed_message_is_named_and_nothing_is_stored(thread, messages, place):
    with pytest.raises(InvalidInputError) as caught:
        await thread.append(messages)

    assert caught.value.fields["index"] == place
    assert (await thread.history()).messages == ()


async def test_a_user_message_begins_a_run_that_later_messages_belong_to(thread):
    first = await thread.append("question")
    reply = await thread.append({"role": "assistant", "content": "answer"})
    second = await thread.append("another")

    assert first.execution_id == reply.execution_id
    assert second.execution_id != first.execution_id


async def test_a_thread_takes_the_dialect_of_the_first_message_that_tells(thread):
    await thread.append("hello")
    await thread.append({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]})
    await thread.append({"role": "tool", "tool_call_id": "a", "content": "seen"})

    last = (await thread.history()).messages[-1]
    assert last.wire["content"][0]["type"] == "tool_result"
    assert last.original == {"role": "tool", "tool_call_id": "a", "content": "seen"}


@pytest.mark.parametrize("text", ["\0", "\ud800", "a\udfffb", "\U0001f9f5", "\r\n\u2028"])
async def test_any_string_comes_back_as_it_was(thread, text):
    await thread.append(text)

    assert (await thread.history()).messages[0].wire["content"] == text


async def test_a_number_that_doubles_cannot_hold_comes_back_as_it_was(thread):
    await thread.append({"role": "user", "content": "a", "seed": 2**63})

    assert (await thread.history()).messages[0].wire["seed"] == 2**63


async def test_what_json_cannot_say_is_refused(thread):
    with pytest.raises(InvalidInputError):
        await thread.append({"role": "user", "content": "a", "when": float("nan")})


async def test_twenty_tasks_that_append_at_once_all_take_effect(again):
    threads = [again() for _ in range(4)]

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(threads[number % 4].append, f"message {number}")

    said = [one.wire["content"] for one in (await again().history()).messages]
    assert sorted(said) == sorted(f"message {number}" for number in range(20))


async def test_a_secret_is_replaced_before_it_is_stored_and_recorded_by_its_kind_alone(again, store):
    thread = again(redactor=SecretDetector())
    key = "AKIAIOSFODNN7EXAMPLE"
    await thread.append(f"use {key} please")

    async with store.transaction(thread.scope, write=False) as tx:
        rows = await tx.rows("agent", limit=10)
        contents = await tx.get([ref for row in rows for ref in row.refs])
    stored = json.dumps([row.body.decode() for row in rows]) + str(contents)
    assert key not in stored
    assert [row.kind for row in rows] == ["external_message", "secret_found"]
    assert "aws access key" in rows[1].body.decode()


async def test_a_closed_thread_takes_nothing_more_and_can_still_be_read(thread):
    await thread.append("hello")
    await thread.close()

    with pytest.raises(InvalidInputError, match="closed"):
        await thread.append("more")
    assert len((await thread.history()).messages) == 1


async def test_clearing_hides_messages_and_deletes_none(thread):
    await thread.append("before")
    await thread.clear_transcript()
    await thread.append("after")

    assert [said.fate for said in (await thread.history()).messages] == [Fate.HIDDEN, Fate.KEPT]


async def test_history_comes_in_pages_that_join_without_a_gap(thread):
    await thread.append([f"m{number}" for number in range(7)])

    pages, after = [], 0
    while after is not None:
        page = await thread.history(after=after, limit=3)
        pages.append([said.wire["content"] for said in page.messages])
        after = page.next_after

    assert pages == [["m0", "m1", "m2"], ["m3", "m4", "m5"], ["m6"]]


async def test_owners_see_nothing_of_one_another(engine, thread):
    await thread.append("mine")

    assert (await engine.thread("agent", owner="bob").history()).messages == ()
    assert [one.agent_id for one in await engine.threads(owner="ana")] == ["agent"]
    assert await engine.threads(owner="bob") == []


@pytest.mark.parametrize("owner", ["", None, 3, "a\0b", "x" * 600])
async def test_a_thread_without_an_owner_is_refused(engine, owner):
    with pytest.raises(InvalidInputError, match="owner"):
        engine.thread("agent", owner=owner)
