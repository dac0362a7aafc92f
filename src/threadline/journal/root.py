"""`AgentRoot`: the revisioned head of an agent's journal, and its branches."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

__all__ = ["AgentRoot", "Branch", "Lifecycle", "Segment"]

Lifecycle: TypeAlias = Literal["idle", "active", "suspended", "closed", "invalidated"]


class Branch(Struct, frozen=True, kw_only=True):
    """One line of the conversation.

    Attributes:
        branch: its number; 0 is the first.
        parent: the branch it left, None for the first.
        forked_after: the sequence up to which it shares its parent's records; 0 for the first.
        head: the sequence of its own last record; 0 when it has none.
        tip: record id of its last message, its own or shared; None when there is none.
        transcript_generation: grows with each clearing of the transcript on this branch.
        transcript_since, knowledge_since: messages and knowledge up to this sequence are hidden.
    """

    branch: int = 0
    parent: int | None = None
    forked_after: int = 0
    head: int = 0
    tip: str | None = None
    transcript_generation: int = 0
    transcript_since: int = 0
    knowledge_since: int = 0


class Segment(Struct, frozen=True, kw_only=True):
    """A stretch of one branch's records: `after < sequence <= until` (None: to its end)."""

    branch: int
    after: int
    until: int | None


class AgentRoot(Struct, frozen=True, kw_only=True):
    """What is true of an agent now.

    Attributes:
        agent_revision: grows by one with every change; writes name the one they saw.
        context_revision: grows when what a model may see changed.
        journal_position: the sequence of the last record.
        branch: the branch that appends go to.
        branches: all of them, by number.
        execution_id: the run under way or last begun; a new external user message begins one.
    """

    agent_id: str
    agent_definition_id: str | None = None
    agent_definition_version: str | None = None
    agent_revision: int = 0
    context_revision: int = 0
    journal_position: int = 0
    lifecycle_status: Lifecycle = "idle"
    branch: int = 0
    branches: tuple[Branch, ...] = (Branch(),)
    execution_id: str | None = None
    created_at_ms: int
    updated_at_ms: int
    metadata: Any = {}

    @property
    def current(self) -> Branch:
        """The branch that appends go to."""
        return self.branches[self.branch]

    def lineage(self, branch: int | None = None) -> tuple[Segment, ...]:
        """The stretches that make up a branch's line, oldest first; None is the current branch.

        Raises:
            IndexError: there is no such branch.
        """
        at = self.branches[self.branch if branch is None else branch]
        segments = [Segment(branch=at.branch, after=at.forked_after, until=None)]
        until = at.forked_after
        while at.parent is not None:
            at = self.branches[at.parent]
            if until > at.forked_after:
                segments.append(Segment(branch=at.branch, after=at.forked_after, until=until))
            until = min(until, at.forked_after)
        return tuple(reversed(segments))
