"""`Engine`: one store and the threads in it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from types import TracebackType
from typing import Any, Self

from msgspec import Struct, structs

from threadline.engine.checking import CheckReport, check_scope, scopes_of
from threadline.engine.forgetting import ForgetCertificate, forget_agent, forget_owner, forget_some
from threadline.errors import InvalidInputError
from threadline.journal import AgentRoot, Book
from threadline.journal.rows import ROOT_KIND, decode_root
from threadline.journal.transfer import agent_of, export_journal, import_journal
from threadline.ports import Scope, Store, StoreStatistics
from threadline.ports.scope import checked_name
from threadline.stores import open_store
from threadline.thread import Habits, Thread
from threadline.thread.desk import Desk

__all__ = ["AgentInfo", "Engine"]

_PAGE = 500


class AgentInfo(Struct, frozen=True, kw_only=True):
    """A thread that a store holds."""

    agent_id: str
    records: int
    branches: int
    lifecycle_status: str
    created_at_ms: int
    updated_at_ms: int


def _clock() -> int:
    return time.time_ns() // 1_000_000


def _fresh_id() -> str:
    return uuid.uuid4().hex


class Engine:
    """A store and the habits of its threads: `async with Engine.open(url) as engine`.

    Args:
        store: where everything is kept.
        habits: how threads do things where a call does not say.
        now_ms: the clock, in milliseconds since the epoch.
        new_id: gives ids that nobody else has.
        observer: told of what is done, see `threadline.ports.Observer`.
    """

    def __init__(
        self,
        store: Store,
        *,
        habits: Habits | None = None,
        now_ms: Callable[[], int] = _clock,
        new_id: Callable[[], str] = _fresh_id,
        observer: Any = None,
    ) -> None:
        self.store = store
        self._habits = habits or Habits()
        self._now_ms = now_ms
        self._new_id = new_id
        self._observer = observer

    @classmethod
    def open(cls, url: str, *, keys: Any = None, **options: Any) -> Self:
        """An engine on a store that a URL names; nothing is connected before the first use.

        Args:
            url: `memory:`, `sqlite:///path` or `postgresql://...`.
            keys: a `KeyProvider`: everything is then encrypted with its owner's key.
            options: as for `Engine`.

        Raises:
            ConfigurationError: nobody knows such a URL, or an extra is not installed.
        """
        return cls(open_store(url, keys=keys), **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give back connections. Closing twice does nothing."""
        await self.store.close()

    def thread(self, agent_id: str, *, owner: str, tenant: str = "default", **habits: Any) -> Thread:
        """The conversation of an agent; it begins with the first `append`.

        Args:
            agent_id: its name within the owner.
            owner: whose it is: nothing is ever shared between two.
            tenant: whose owner that is.
            habits: what this thread does otherwise: `policy`, `fit_policy`, `dialect`, `model`, `hooks`, `filters`,
                `redactor`.

        Raises:
            InvalidInputError: a name is empty or too long, or there is no such habit.
        """
        checked_name(agent_id, "agent_id")
        scope = Scope(tenant=tenant, owner=owner)
        if unknown := [name for name in habits if name not in Habits.__struct_fields__]:
            raise InvalidInputError(f"a thread has no option {unknown[0]!r}", key=unknown[0])
        hooks = (*self._habits.hooks, *habits.pop("hooks", ()))
        desk = Desk(
            self.store,
            scope,
            agent_id,
            habits=structs.replace(self._habits, hooks=hooks, **habits),
            now_ms=self._now_ms,
            new_id=self._new_id,
            observer=self._observer,
        )
        return Thread(desk)

    async def threads(
        self, *, owner: str, tenant: str = "default", after: str = "", limit: int = 100
    ) -> list[AgentInfo]:
        """The owner's threads by name, those behind `after`, at most `limit`."""
        async with self.store.transaction(Scope(tenant=tenant, owner=owner), write=False) as tx:
            found = await tx.documents(ROOT_KIND, after=after, limit=limit)
        return [_info(decode_root(document)) for document in found]

    def statistics(self) -> StoreStatistics:
        """What the store did since it was opened: transactions, statements, rows read."""
        return self.store.statistics()

    async def forget(
        self,
        *,
        owner: str,
        tenant: str = "default",
        agent_id: str | None = None,
        message_ids: Sequence[str] | None = None,
        requested_by: str | None = None,
    ) -> ForgetCertificate:
        """Take away for good what was said, and all that was made from it.

        Args:
            owner: whose; without `agent_id` everything of theirs.
            tenant: whose owner.
            agent_id: only this agent's.
            message_ids: only these messages or pieces of knowledge of the agent's.
            requested_by: who asked, for the certificate.

        Raises:
            NotFoundError: there is no such agent or message.
            ConflictError: the agent was changed meanwhile; nothing was forgotten, ask again.
        """
        scope = Scope(tenant=tenant, owner=owner)
        if agent_id is None:
            if message_ids is not None:
                raise InvalidInputError("message_ids need the agent_id they belong to", key="agent_id")
            return await forget_owner(self.store, scope, self._now_ms(), requested_by)
        if message_ids is None:
            return await forget_agent(self.store, scope, agent_id, self._now_ms(), requested_by)
        return await forget_some(
            self.store,
            scope,
            agent_id,
            message_ids,
            now_ms=self._now_ms(),
            new_id=self._new_id,
            requested_by=requested_by,
        )

    async def export_journal(
        self, agent_id: str, *, owner: str, tenant: str = "default", write: Callable[[bytes], object]
    ) -> None:
        """Write a whole journal as JSONL, a line at a time; importing it elsewhere and exporting again gives the same.

        Raises:
            NotFoundError: there is no such agent.
        """
        scope = Scope(tenant=tenant, owner=owner)
        naming = await self.store.naming(scope)
        async with self.store.transaction(scope, write=False) as tx:
            async for line in export_journal(Book(tx, agent_id, naming)):
                write(line)

    async def import_journal(
        self, lines: Iterable[bytes], *, owner: str, tenant: str = "default", agent_id: str | None = None
    ) -> AgentInfo:
        """Read an exported journal, all of it or nothing.

        Args:
            lines: as `export_journal` wrote them.
            owner: whose it will be.
            tenant: whose owner.
            agent_id: under which name; None keeps its own.

        Raises:
            ConflictError: the agent exists.
            SerializationError: it is no export, or of a later release.
            IntegrityError: a content is not what its name says.
        """
        scope = Scope(tenant=tenant, owner=owner)
        held = iter(lines)
        first = next(held, b"")
        naming = await self.store.naming(scope)
        async with self.store.transaction(scope) as tx:
            return _info(await import_journal(Book(tx, agent_id or agent_of(first), naming), chain([first], held)))

    async def check(self, *, owner: str | None = None, tenant: str = "default") -> CheckReport:
        """Derive content ids and views anew and compare them with what is stored; None looks at everybody's."""
        if owner is not None:
            return await check_scope(self.store, Scope(tenant=tenant, owner=owner))
        whole = CheckReport()
        async for scope in scopes_of(self.store):
            one = await check_scope(self.store, scope)
            whole = CheckReport(
                agents=whole.agents + one.agents,
                records=whole.records + one.records,
                findings=(*whole.findings, *one.findings),
            )
        return whole

    async def migrate(self) -> list[str]:
        """Bring the store's schema up to date; gives back what was run."""
        return await self.store.migrate()


def _info(root: AgentRoot) -> AgentInfo:
    return AgentInfo(
        agent_id=root.agent_id,
        records=root.journal_position,
        branches=len(root.branches),
        lifecycle_status=root.lifecycle_status,
        created_at_ms=root.created_at_ms,
        updated_at_ms=root.updated_at_ms,
    )
