"""Journals in a store in memory, and programs that write them."""

from __future__ import annotations

from contextlib import asynccontextmanager

from hypothesis import strategies as st

from threadline.journal import AgentRoot, Book, Derived, Entry, forget_messages
from threadline.ports import Scope

SCOPE = Scope(tenant="t", owner="o")


def new_root(agent_id="a", **fields):
    return AgentRoot(agent_id=agent_id, created_at_ms=1, updated_at_ms=1, **fields)


def said(id, text=None, **fields):
    """A user's message; its content is its id unless there is a text."""
    content = (text if text is not None else f"text of {id}").encode()
    defaults = {"role": "user", "content": content, "context_candidate": True}
    return Entry(kind="external_message", channel="external", record_id=id, **{**defaults, **fields})


def answered(id, **fields):
    content = f"answer {id}".encode()
    fields = {"role": "assistant", "content": content, "context_candidate": True, **fields}
    return Entry(kind="assistant_message", channel="llm", record_id=id, **fields)


def known(id, **fields):
    content = f"fact {id}".encode()
    return Entry(
        kind="knowledge", channel="external", record_id=id, **{"content": content, "context_candidate": True, **fields}
    )


def event(kind, id, **fields):
    return Entry(kind=kind, channel="state", record_id=id, **fields)


@asynccontextmanager
async def opened(store, agent_id="a", *, write=True, scope=SCOPE, **options):
    naming = await store.naming(scope)
    async with store.transaction(scope, write=write) as transaction:
        yield Book(transaction, agent_id, naming, **options)


async def stored(store, *batches, agent_id="a"):
    """Create the agent and append each batch in one call; gives back the root."""
    async with opened(store, agent_id) as book:
        root = await book.create(new_root(agent_id))
        for number, batch in enumerate(batches):
            root, _ = await book.append(root, batch, now_ms=10 + number)
    return root


STEPS = st.one_of(
    st.tuples(st.just("say"), st.integers(1, 3)),
    st.tuples(st.just("say"), st.integers(1, 3)),
    st.tuples(
        st.sampled_from(["know", "clear_transcript", "clear_knowledge", "reset", "decide", "calibrate"]), st.just(0)
    ),
    st.tuples(st.sampled_from(["fork", "switch", "forget"]), st.integers(0, 30)),
)
PROGRAMS = st.lists(STEPS, max_size=14)


async def step(book, root, number, what, amount):
    """One step of a program; every record id is made of the step's number."""
    id_, now_ms = f"s{number}", 100 + number
    match what:
        case "say":
            entries = [said(f"{id_}.{n}", text=f"text {amount} {n}", key=f"k{amount}.{n}") for n in range(amount)]
            return (await book.append(root, entries, now_ms=now_ms))[0]
        case "know":
            entries = [known(id_)]
        case "clear_transcript":
            entries = [event("transcript_cleared", id_)]
        case "clear_knowledge":
            entries = [event("knowledge_cleared", id_)]
        case "reset":
            entries = [event("context_reset", id_)]
        case "decide":
            tip = await book.record(root.current.tip) if root.current.tip else None
            refs = (tip.content_ref,) if tip is not None and tip.content_ref is not None else ()
            entries = [event("decided", id_, content=id_.encode(), refs=refs)]
        case "calibrate":
            entries = [event("calibrated", id_, metadata={"factors": {"m": 1 + number / 8}})]
        case "fork":
            after = amount % (root.journal_position + 1)
            source = amount % len(root.branches)
            return (await book.fork(root, after=after, branch_from=source, now_ms=now_ms, record_id=id_))[0]
        case "switch":
            return await book.switch(root, amount % len(root.branches), now_ms)
        case _:
            row = await book.transaction.rows(book.agent_id, kinds=["external_message", "knowledge"], limit=100)
            if not row:
                return root
            chosen = row[amount % len(row)].record_id
            return (await forget_messages(book, root, [chosen], now_ms, record_id=id_, derived=Derived()))[0]
    return (await book.append(root, entries, now_ms=now_ms))[0]
