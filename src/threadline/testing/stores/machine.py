"""`StoreMachine`: drives a store and `MemoryStore` through the same histories and compares every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from msgspec.structs import replace

from threadline.errors import ThreadlineError
from threadline.ports import Document, Naming, Row, Scope, Store, Transaction
from threadline.stores import MemoryStore
from threadline.testing.stores.samples import ALICE, BOB

__all__ = ["StoreMachine"]

Verb: TypeAlias = Callable[[Transaction, Naming], Awaitable[Any]]

_CONTENTS = (b"", b"\0", b"one", b"two", b"three")
_AGENTS = st.sampled_from(["x", "y", "é"])
_KINDS = st.sampled_from(["message", "decided", "knowledge"])
_KEYS = st.sampled_from(["k1", "k2", "k3"])
_IDS = st.sampled_from(["a", "B", "b", "é"])
_RECORDS = st.integers(0, 40).map("record-{}".format)
_SOME = st.lists(st.sampled_from(_CONTENTS), max_size=3)
_NUMBERS = st.integers(0, 8)


class _RollbackError(Exception):
    """Ends a transaction that is to leave nothing behind."""


def _put(contents: list[bytes]) -> Verb:
    return lambda transaction, naming: transaction.put({naming(one): one for one in contents})


def _get(contents: list[bytes]) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> list[bytes]:
        return list((await transaction.get([naming(one) for one in contents])).values())

    return verb


def _drop(contents: list[bytes]) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> list[bytes]:
        gone = await transaction.drop([naming(one) for one in contents])
        return [one for one in dict.fromkeys(contents) if naming(one) in gone]

    return verb


def _append(agent_id: str, rows: list[Row], off: int) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> None:
        head = max(0, await transaction.head(agent_id) + off)
        placed = [replace(one, sequence=head + 1 + place) for place, one in enumerate(rows)]
        await transaction.append(agent_id, [_named(one, naming) for one in placed], expected_head=head)

    return verb


def _replace(agent_id: str, rows: list[Row]) -> Verb:
    return lambda transaction, naming: transaction.replace(agent_id, [_named(one, naming) for one in rows])


def _rows(agent_id: str, selection: dict[str, Any]) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> list[Row]:
        return _unnamed(await transaction.rows(agent_id, **selection), naming)

    return verb


def _keyed(agent_id: str, keys: list[str]) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> list[Row]:
        return _unnamed(await transaction.keyed(agent_id, keys), naming)

    return verb


def _recorded(agent_id: str, record_ids: list[str]) -> Verb:
    async def verb(transaction: Transaction, naming: Naming) -> list[Row]:
        return _unnamed(await transaction.recorded(agent_id, record_ids), naming)

    return verb


def _save(kind: str, id_: str, agent_id: str, step: int) -> Verb:
    async def verb(transaction: Transaction, _: Naming) -> None:
        held = await transaction.document(kind, id_)
        revision = max(1, (held.revision if held else 0) + step)
        body = b"%d" % revision
        await transaction.save(Document(kind=kind, id=id_, agent_id=agent_id, revision=revision, body=body))

    return verb


def _documents(kind: str, agent_id: str | None, after: str, limit: int) -> Verb:
    return lambda transaction, _: transaction.documents(kind, agent_id=agent_id, after=after, limit=limit)


def _delete(kind: str, ids: list[str]) -> Verb:
    return lambda transaction, _: transaction.delete(kind, ids)


def _forget_agent(agent_id: str) -> Verb:
    return lambda transaction, _: transaction.forget_agent(agent_id)


def _forget_owner() -> Verb:
    return lambda transaction, _: transaction.forget_owner()


def _named(row: Row, naming: Naming) -> Row:
    """Refs by content, as drawn, turned into a store's own names."""
    return replace(row, refs=tuple(naming(bytes.fromhex(ref)) for ref in row.refs))


def _unnamed(rows: list[Row], naming: Naming) -> list[Row]:
    content_of = {naming(one): one.hex() for one in _CONTENTS}
    return [replace(row, refs=tuple(content_of[ref] for ref in row.refs)) for row in rows]


_ROWS = st.lists(
    st.builds(
        Row,
        sequence=st.integers(1, 8),
        record_id=_RECORDS,
        branch=st.integers(0, 2),
        kind=_KINDS,
        key=st.none() | _KEYS,
        refs=_SOME.map(lambda contents: tuple(one.hex() for one in contents)),
        body=st.binary(max_size=4),
    ),
    max_size=4,
    unique_by=lambda row: row.sequence,
)
_SELECTIONS = st.fixed_dictionaries(
    {"limit": st.integers(1, 6), "descending": st.booleans(), "after": _NUMBERS},
    optional={"branch": st.integers(0, 2), "kinds": st.lists(_KINDS, max_size=3), "until": _NUMBERS},
)
_STEPS = st.sampled_from([0, 0, 0, 0, 0, -1, 1])
_VERBS: st.SearchStrategy[Verb] = st.one_of(
    st.builds(_put, _SOME),
    st.builds(_append, _AGENTS, _ROWS, _STEPS),
    st.builds(_rows, _AGENTS, _SELECTIONS),
    st.builds(_save, _KINDS, _IDS, st.just("") | _AGENTS, _STEPS.map(lambda step: step + 1)),
    st.builds(_documents, _KINDS, st.none() | st.just("") | _AGENTS, st.just("") | _IDS, st.integers(1, 4)),
    st.builds(_replace, _AGENTS, _ROWS),
    st.builds(_get, _SOME),
    st.builds(_drop, _SOME),
    st.builds(_keyed, _AGENTS, st.lists(_KEYS, max_size=3)),
    st.builds(_recorded, _AGENTS, st.lists(_RECORDS, max_size=5)),
    st.builds(_delete, _KINDS, st.lists(_IDS, max_size=3)),
    st.builds(_forget_agent, _AGENTS),
    st.builds(_forget_owner),
)
_LOOKS: list[Verb] = [
    *(_rows(agent_id, {"limit": 1_000}) for agent_id in ("x", "y", "é")),
    *(_documents(kind, None, "", 1_000) for kind in ("message", "decided", "knowledge")),
    *(_get([content]) for content in _CONTENTS),
]


class StoreMachine(RuleBasedStateMachine):
    """Inherit it and say how an empty store is opened; the class's `TestCase` is what pytest runs."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model: Store = MemoryStore()
        self.store = self.runner.run(self.open_store())

    async def open_store(self) -> Store:
        """An empty store, open."""
        raise NotImplementedError

    async def close_store(self, store: Store) -> None:
        """Give it back."""
        await store.close()

    def teardown(self) -> None:
        """Close what was opened."""
        self.runner.run(self.close_store(self.store))
        self.runner.close()

    @rule(
        scope=st.sampled_from([ALICE, BOB]),
        verbs=st.lists(_VERBS, min_size=1, max_size=8),
        commit=st.sampled_from([True, True, True, False]),
    )
    def transact(self, scope: Scope, verbs: list[Verb], commit: bool) -> None:  # noqa: FBT001
        """Do the same in both stores: each verb gives the same answer or the same error, and leaves the same behind."""

        async def both() -> None:
            for doing, write, ending in ((verbs, True, commit), (_LOOKS, False, True)):
                expected = await self._outcomes(self.model, scope, doing, write=write, commit=ending)
                assert await self._outcomes(self.store, scope, doing, write=write, commit=ending) == expected
            assert await self.store.scopes(limit=9) == await self.model.scopes(limit=9)

        self.runner.run(both())

    async def _outcomes(self, store: Store, scope: Scope, verbs: list[Verb], *, write: bool, commit: bool) -> list[Any]:
        naming = await store.naming(scope)
        outcomes: list[Any] = []
        try:
            async with store.transaction(scope, write=write) as transaction:
                for verb in verbs:
                    try:
                        outcomes.append(await verb(transaction, naming))
                    except ThreadlineError as error:
                        outcomes.append(type(error))
                if not commit:
                    raise _RollbackError  # noqa: TRY301
        except _RollbackError:
            pass
        return outcomes
