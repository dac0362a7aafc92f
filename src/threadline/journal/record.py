"""`JournalRecord`: one fact of an agent's journal; what may be one, and where it came from."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

__all__ = ["CANDIDATES", "CHANNELS", "CONVERSATION", "KINDS", "Channel", "Entry", "JournalRecord", "Kind", "Visibility"]

Kind: TypeAlias = Literal[
    # what was said and done, as a model may see it
    "instruction",
    "external_message",
    "assistant_message",
    "tool_message",
    "knowledge",
    # what happened around it
    "input_received",
    "tool_result",
    "llm_call_recorded",
    "approval_required",
    "approval_decided",
    "final_output",
    "execution_completed",
    "execution_rejected",
    "execution_failed",
    "execution_cancelled",
    "execution_blocked",
    "execution_handed_off",
    # what hides, forks, forgets or ends
    "transcript_cleared",
    "knowledge_cleared",
    "context_reset",
    "branch_opened",
    "forgotten",
    "agent_closed",
    # what was decided about the view
    "decided",
    "calibrated",
    "secret_found",
]
Channel: TypeAlias = Literal["external", "llm", "tool", "audit", "approval", "state"]
Visibility: TypeAlias = Literal["agent", "operator"]

KINDS: frozenset[str] = frozenset(Kind.__args__)
CHANNELS: frozenset[str] = frozenset(Channel.__args__)

CONVERSATION: tuple[Kind, ...] = ("instruction", "external_message", "assistant_message", "tool_message")
"""The kinds that are messages of the conversation."""

CANDIDATES: frozenset[Kind] = frozenset({*CONVERSATION, "knowledge"})
"""The kinds that a model may see."""


class Entry(Struct, frozen=True, kw_only=True):
    """A record before it has its place: what a caller hands to `Book.append`.

    Attributes:
        content: the bytes it is about; for a message the wire object as JSON, verbatim where it came as bytes.
        key: the message id or idempotency key, or None.
        refs: other contents that must live as long as this record.
        execution_id: the run it belongs to.
        parent_id: the message before it on its branch; None lets the book say which.
        causation_id: the record that brought it about.
        context_candidate: True when a model may see it.
    """

    kind: Kind
    channel: Channel
    record_id: str
    role: str | None = None
    content: bytes | None = None
    key: str | None = None
    refs: tuple[str, ...] = ()
    execution_id: str | None = None
    llm_call_id: str | None = None
    parent_id: str | None = None
    causation_id: str | None = None
    visibility: Visibility = "agent"
    context_candidate: bool = False
    metadata: dict[str, Any] = {}


class JournalRecord(Struct, frozen=True, kw_only=True):
    """One fact, in its place.

    Attributes:
        sequence: place in the agent's journal, 1-based and dense over all branches.
        branch: the branch it was written on; 0 is the first.
        parent_id: the record of the message before it, on whichever branch that stands.
        context_generation: the transcript's generation when it was written; an older one is hidden.
        occurred_at_ms: by the writer's clock, which may run backwards; order is by `sequence` alone.
        metadata: canonical JSON, frozen.
        forgotten_by: the `forgotten` record that took its content, key, refs and metadata; None while it has them.
    """

    record_id: str
    agent_id: str
    sequence: int
    branch: int = 0
    kind: Kind
    channel: Channel
    role: str | None = None
    content_ref: str | None = None
    key: str | None = None
    refs: tuple[str, ...] = ()
    execution_id: str | None = None
    llm_call_id: str | None = None
    parent_id: str | None = None
    causation_id: str | None = None
    visibility: Visibility = "agent"
    context_generation: int = 0
    context_candidate: bool = False
    occurred_at_ms: int
    metadata: Any = {}
    forgotten_by: str | None = None
