"""EverAlgo's names for conversations, their episodes and memories: its quick starts run with the imports changed.

Items are `Message`s, made by functions that take the fields of EverAlgo's classes; keys they do not know are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, to_builtins

from threadline.boundary import (
    BoundaryDecision,
    BoundaryDetector,
    DetectionResult,
    MemCell,
    WorkspaceMemCellExtractor,
    adetect_boundaries,
    adetect_boundary_step,
    detect_boundaries,
)
from threadline.errors import InvalidInputError, LLMOutputError
from threadline.memory import (
    AgentCase,
    AgentProfilePatch,
    AgentProfileSignal,
    AgentProfileUpdate,
    AgentSkill,
    AtomicFact,
    AtomicFactExtractor,
    Episode,
    EpisodeExtractor,
    EpisodeReflector,
    EpisodeSummarizer,
    ExplicitInfoItem,
    Foresight,
    ForesightExtractor,
    ImplicitTraitItem,
    OutputLanguage,
    Profile,
    ProfileExtractor,
)
from threadline.messages import Message, chat_message, tool_request, tool_result
from threadline.ports import ChatResponse, LLMClient, LLMMessage
from threadline.recall import Cluster, acluster_by_llm, cluster_by_geometry, cluster_by_llm

__all__ = [
    "AgentCase",
    "AgentProfilePatch",
    "AgentProfileSignal",
    "AgentProfileUpdate",
    "AgentSkill",
    "AtomicFact",
    "AtomicFactExtractor",
    "BoundaryDecision",
    "BoundaryDetector",
    "ChatMessage",
    "ChatResponse",
    "Cluster",
    "DetectionResult",
    "Episode",
    "EpisodeExtractor",
    "EpisodeReflector",
    "EpisodeSummarizer",
    "ExplicitInfoItem",
    "Foresight",
    "ForesightExtractor",
    "ImplicitTraitItem",
    "InvalidInputError",
    "LLMClient",
    "LLMMessage",
    "LLMOutputError",
    "MemCell",
    "OutputLanguage",
    "Profile",
    "ProfileExtractor",
    "ToolCall",
    "ToolCallFunction",
    "ToolCallRequest",
    "ToolCallResult",
    "WorkspaceMemCellExtractor",
    "acluster_by_llm",
    "adetect_boundaries",
    "adetect_boundary_step",
    "cluster_by_geometry",
    "cluster_by_llm",
    "detect_boundaries",
]


class ToolCallFunction(Struct, frozen=True, kw_only=True):
    """The function of a call; `arguments` is JSON text."""

    name: str
    arguments: str


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call of a tool."""

    id: str
    function: ToolCallFunction
    type: Literal["function"] = "function"


def ChatMessage(  # noqa: N802 -- it stands for a class of that name
    *,
    id: str,
    role: Literal["user", "assistant"],
    content: str,
    timestamp: int,
    sender_id: str,
    sender_name: str | None = None,
    **_unknown: Any,
) -> Message:
    """A chat message; its `kind` is `text`.

    Raises:
        InvalidInputError: the role is neither `user` nor `assistant`.
    """
    return chat_message(role, content, id=id, timestamp=timestamp, sender_id=sender_id, sender_name=sender_name)


def ToolCallRequest(  # noqa: N802 -- it stands for a class of that name
    *,
    tool_calls: Sequence[ToolCall | Mapping[str, Any]],
    timestamp: int,
    sender_id: str,
    content: str | None = None,
    sender_name: str | None = None,
    **_unknown: Any,
) -> Message:
    """An assistant's turn that calls tools; its `kind` is `tool_call`.

    Raises:
        InvalidInputError: a call is malformed.
    """
    return tool_request(
        [to_builtins(call) if isinstance(call, ToolCall) else call for call in tool_calls],
        content=content,
        timestamp=timestamp,
        sender_id=sender_id,
        sender_name=sender_name,
    )


def ToolCallResult(  # noqa: N802 -- it stands for a class of that name
    *, tool_call_id: str, content: str, timestamp: int, **_unknown: Any
) -> Message:
    """What a tool gave back; its `kind` is `tool_result`."""
    return tool_result(tool_call_id, content, timestamp=timestamp)
