"""`SyncEngine` and `SyncThread`: the same verbs for code without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from threadline.engine.engine import Engine
from threadline.engine.portal import Portal
from threadline.ports import StoreStatistics
from threadline.thread import Thread

__all__ = ["SyncEngine", "SyncThread"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _of_thread(
    method: Callable[Concatenate[Thread, _P], Coroutine[Any, Any, _R]],
) -> Callable[Concatenate[SyncThread, _P], _R]:
    @wraps(method)
    def blocking(self: SyncThread, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self.portal.run(method, self.awaited, *args, **kwargs)

    return blocking


def _of_engine(
    method: Callable[Concatenate[Engine, _P], Coroutine[Any, Any, _R]],
) -> Callable[Concatenate[SyncEngine, _P], _R]:
    @wraps(method)
    def blocking(self: SyncEngine, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self.portal.run(method, self.awaited, *args, **kwargs)

    return blocking


class SyncThread:
    """`Thread`, blocking. Inside a running event loop each method raises `ConfigurationError`."""

    def __init__(self, awaited: Thread, portal: Portal) -> None:
        self.awaited = awaited
        self.portal = portal

    def __repr__(self) -> str:
        return f"SyncThread({self.agent_id!r})"

    @property
    def agent_id(self) -> str:
        """Whose conversation it is."""
        return self.awaited.agent_id

    append = _of_thread(Thread.append)
    sync = _of_thread(Thread.sync)
    add_knowledge = _of_thread(Thread.add_knowledge)
    clear_transcript = _of_thread(Thread.clear_transcript)
    clear_knowledge = _of_thread(Thread.clear_knowledge)
    reset_context = _of_thread(Thread.reset_context)
    close = _of_thread(Thread.close)
    assemble = _of_thread(Thread.assemble)
    record_reply = _of_thread(Thread.record_reply)
    record_failure = _of_thread(Thread.record_failure)
    history = _of_thread(Thread.history)
    view = _of_thread(Thread.view)
    explain = _of_thread(Thread.explain)
    manifest = _of_thread(Thread.manifest)
    replay = _of_thread(Thread.replay)
    reassemble = _of_thread(Thread.reassemble)
    branches = _of_thread(Thread.branches)
    fork = _of_thread(Thread.fork)
    switch = _of_thread(Thread.switch)


class SyncEngine:
    """`Engine`, blocking: `with SyncEngine.open(url) as engine`. One background thread serves all its threads."""

    def __init__(self, awaited: Engine) -> None:
        self.awaited = awaited
        self.portal = Portal()

    @classmethod
    def open(cls, url: str, **options: Any) -> Self:
        """See `Engine.open`."""
        return cls(Engine.open(url, **options))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def thread(self, agent_id: str, **options: Any) -> SyncThread:
        """See `Engine.thread`."""
        return SyncThread(self.awaited.thread(agent_id, **options), self.portal)

    threads = _of_engine(Engine.threads)
    forget = _of_engine(Engine.forget)
    export_journal = _of_engine(Engine.export_journal)
    import_journal = _of_engine(Engine.import_journal)
    check = _of_engine(Engine.check)
    migrate = _of_engine(Engine.migrate)

    def statistics(self) -> StoreStatistics:
        """See `Engine.statistics`."""
        return self.awaited.statistics()

    def close(self) -> None:
        """Give back connections and end the background thread. Closing twice does nothing."""
        self.portal.run(Engine.close, self.awaited)
        self.portal.close()
