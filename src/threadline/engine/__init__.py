"""Wiring: a store, the habits of its threads, and the same for code without an event loop."""

from threadline.engine.blocking import SyncEngine, SyncThread
from threadline.engine.engine import AgentInfo, Engine

__all__ = ["AgentInfo", "Engine", "SyncEngine", "SyncThread"]
