"""`Desk`: what every verb of a thread works with: its store, its clock, its ids, its settings, what is warm."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, TypeVar

import anyio
from msgspec import Struct, structs

from threadline.context import Filter, Hook, LLMInputBuildContext, Policy, SegmentCandidate, patched_config, run_hooks
from threadline.errors import ConflictError
from threadline.journal import AgentRoot, Book
from threadline.messages.message import Dialect, known_dialect
from threadline.ports import Observer, Scope, Span, Store
from threadline.ports.redaction import Redactor
from threadline.thread.warm import Warm
from threadline.tokens import Measure
from threadline.transcript import FitPolicy

__all__ = ["Desk", "Habits", "with_metadata"]

_Result = TypeVar("_Result")

_log = logging.getLogger("threadline")

_ATTEMPTS = 200
"""How often an append is tried again when another writer was first. Eight processes at once need about twenty."""

_PAUSE_S = 0.002
"""The pause after the first conflict; it grows with each up to 50 times."""


class Habits(Struct, frozen=True, kw_only=True):
    """How a thread does things where a call does not say.

    Attributes:
        fit_policy: how a conversation is reduced.
        policy: what goes into a call; None is `DefaultPolicy()`.
        dialect: what the thread's messages are written in; None finds it out from the first that tell.
        model: whose tokens are counted where no call names a model.
        hooks: called before each assembly, outermost first.
        filters: applied to what comes in and to what a call shows.
        redactor: takes secrets out before anything is stored.
    """

    fit_policy: FitPolicy = FitPolicy()
    policy: Policy | None = None
    dialect: Dialect | None = None
    model: str | None = None
    hooks: tuple[Hook, ...] = ()
    filters: tuple[Filter, ...] = ()
    redactor: Redactor | None = None

    def __post_init__(self) -> None:
        if self.dialect is not None:
            known_dialect(self.dialect)


class Desk:
    """One agent's place of work.

    Attributes:
        lock: held while the window moves, never across a hook, a policy of the host's or a model call.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        agent_id: str,
        *,
        habits: Habits,
        now_ms: Callable[[], int],
        new_id: Callable[[], str],
        observer: Observer | None = None,
    ) -> None:
        self.store = store
        self.scope = scope
        self.agent_id = agent_id
        self.habits = habits
        self.now_ms = now_ms
        self.new_id = new_id
        self.observer = observer
        self.warm = Warm()
        self.lock = anyio.Lock()
        self._measures: dict[tuple[str | None, int, float], Measure] = {}

    def measure(self, model: str | None, window: int, factor: float) -> Measure:
        """The measure for a model; the same object for the same arguments, so that what it counted stays counted."""
        place = model, window, factor
        if place not in self._measures:
            self._measures[place] = Measure(model, window=window).with_factor(factor)
        return self._measures[place]

    async def hooked(
        self, settings: Mapping[str, Any], hooks: tuple[Hook, ...], *, execution_id: str, call_sequence: int
    ) -> tuple[dict[str, Any], tuple[SegmentCandidate, ...]]:
        """What the hooks make of the settings, and what they propose to show; nothing is open while they run."""
        told = LLMInputBuildContext(
            agent_id=self.agent_id, execution_id=execution_id, config=settings, call_sequence=call_sequence
        )
        patch = await run_hooks((*self.habits.hooks, *hooks), told)
        return patched_config(settings, patch), tuple(patch.segment_candidates or ())

    @contextmanager
    def span(self, name: str, **attributes: str | int) -> Generator[dict[str, str | int]]:
        """A piece of work that an observer sees; what is put into the dict is noted at its end."""
        noted: dict[str, str | int] = {}
        if self.observer is None:
            yield noted
            return
        opened = _Quiet(self.observer, name, {"gen_ai.agent.id": self.agent_id, **attributes})
        opened.begin()
        try:
            yield noted
        except BaseException as error:
            opened.end(noted, error)
            raise
        opened.end(noted, None)

    def count(self, name: str, amount: int) -> None:
        """Add to an observer's counter."""
        if self.observer is not None and amount:
            try:
                self.observer.count(name, amount, {})
            except Exception:  # noqa: BLE001 - an observer never disturbs the work
                _log.warning("the observer failed at %s", name, exc_info=True)

    def taken(self, key: str | None) -> ConflictError:
        """The error for a name that says something else already."""
        return ConflictError(f"the id {key!r} is taken by something else", key=key, final=True)

    @asynccontextmanager
    async def book(self, *, write: bool = True) -> AsyncGenerator[Book]:
        """The agent's journal inside one transaction."""
        naming = await self.store.naming(self.scope)
        async with self.store.transaction(self.scope, write=write) as transaction:
            yield Book(transaction, self.agent_id, naming)

    async def root(self, book: Book) -> AgentRoot:
        """The agent's root, made when there is none."""
        root = await book.root()
        if root is not None:
            return root
        now_ms = self.now_ms()
        told = {} if self.habits.dialect is None else {"dialect": self.habits.dialect}
        return await book.create(
            AgentRoot(agent_id=self.agent_id, created_at_ms=now_ms, updated_at_ms=now_ms, metadata=told)
        )

    async def retried(self, write: Callable[[Book], Awaitable[_Result]]) -> _Result:
        """Do a write in a transaction of its own; again when somebody else was first.

        Raises:
            ConflictError: `final` is set (another try cannot help), or others were first every time.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self.book() as book:
                    return await write(book)
            except ConflictError as error:
                if error.fields.get("final") or attempt == _ATTEMPTS - 1:
                    raise
            await anyio.sleep(_PAUSE_S * min(attempt + 1, 50))
        raise AssertionError  # the last attempt returned or raised


class _Quiet:
    """An observer's span whose own failures are logged and go no further."""

    def __init__(self, observer: Observer, name: str, attributes: Mapping[str, str | int]) -> None:
        self._observer, self._name, self._attributes = observer, name, attributes
        self._context: AbstractContextManager[Span] | None = None
        self._span: Span | None = None

    def begin(self) -> None:
        try:
            self._context = self._observer.span(self._name, self._attributes)
            self._span = self._context.__enter__()
        except Exception:  # noqa: BLE001 - see `Desk.count`
            self._context = None
            _log.warning("the observer failed at %s", self._name, exc_info=True)

    def end(self, noted: Mapping[str, str | int], error: BaseException | None) -> None:
        if self._context is None or self._span is None:
            return
        try:
            self._span.note(noted)
            told = (None, None, None) if error is None else (type(error), error, error.__traceback__)
            self._context.__exit__(*told)
        except BaseException as failure:  # noqa: BLE001 - a span gives the work's own error back
            if failure is not error:
                _log.warning("the observer failed at %s", self._name, exc_info=True)


def with_metadata(root: AgentRoot, **told: Any) -> AgentRoot:
    """The root with some of its metadata set."""
    return structs.replace(root, metadata={**root.metadata, **told})
