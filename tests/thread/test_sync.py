"""A client that resends everything."""

from __future__ import annotations

import pytest

from threadline.errors import InvalidInputError, NotFoundError

pytestmark = pytest.mark.anyio


def u(text):
    return {"role": "user", "content": text}


def a(text):
    return {"role": "assistant", "content": text}


async def said(thread, branch=None):
    return [one.wire["content"] for one in (await thread.history(branch=branch)).messages]


async def test_what_is_known_is_recognised_and_the_rest_appended(thread):
    await thread.sync([u("one"), a("two")])
    done = await thread.sync([u("one"), a("two"), u("three")])

    assert (done.matched, done.forked) == (2, False)
    assert await said(thread) == ["one", "two", "three"]


async def test_the_order_of_keys_does_not_matter(thread):
    await thread.sync([{"role": "user", "content": "one"}])
    done = await thread.sync([{"content": "one", "role": "user"}])

    assert done.matched == 1


async def test_an_edited_message_begins_a_branch_that_shares_what_is_before(thread):
    await thread.sync([u("one"), a("two"), u("three")])
    done = await thread.sync([u("one"), a("two"), u("changed")])

    assert done.forked
    assert await said(thread) == ["one", "two", "changed"]
    assert await said(thread, branch=0) == ["one", "two", "three"]
    assert [one.is_current for one in await thread.branches()] == [False, True]


async def test_going_back_to_an_earlier_line_makes_no_new_branch(thread):
    await thread.sync([u("one"), a("two")])
    await thread.sync([u("one"), a("other")])
    done = await thread.sync([u("one"), a("two"), u("three")])

    assert done.branch == 0
    assert len(await thread.branches()) == 2


async def test_a_shorter_history_is_a_branch_of_its_own(thread):
    await thread.sync([u("one"), a("two")])
    await thread.sync([u("one")])

    assert await said(thread) == ["one"]
    assert await said(thread, branch=0) == ["one", "two"]


async def test_a_client_that_sends_back_what_it_was_shown_is_recognised(thread):
    for number in range(30):
        await thread.append([u(f"question {number} " + "ask " * 30), a(f"answer {number} " + "told " * 30)])
    await thread.append(u("now?"))
    call = await thread.assemble(model="gpt-4o", max_input_tokens=700)
    shown = await thread.view()
    assert len(shown) < 30

    done = await thread.sync([*shown, a("yes"), u("more")])

    assert (done.matched, done.forked) == (len(shown), False)
    assert len(await said(thread)) == 63
    assert (await thread.assemble(model="gpt-4o", max_input_tokens=700)).messages[: len(call.messages)] == call.messages


async def test_nothing_is_no_history(thread):
    with pytest.raises(InvalidInputError, match="history"):
        await thread.sync([])


async def test_a_branch_has_a_view_of_its_own(thread):
    await thread.append([u("one"), a("two"), u("three")])
    first = await thread.assemble(max_input_tokens=500)
    ids = [one.message_id for one in (await thread.history()).messages]
    branch = await thread.fork(after=ids[0])
    await thread.append(a("else"))

    assert [one["content"] for one in await thread.view()] == ["one", "else"]
    await thread.switch(0)
    assert [one["content"] for one in await thread.view()] == ["one", "two", "three"]
    assert (await thread.reassemble(first.manifest_ref)).same
    await thread.switch(branch)
    assert [one["content"] for one in await thread.view()] == ["one", "else"]


async def test_a_branch_that_is_none_says_so(thread):
    await thread.append(u("one"))
    with pytest.raises(NotFoundError):
        await thread.switch(4)
    with pytest.raises(NotFoundError):
        await thread.fork(after="nothing")
