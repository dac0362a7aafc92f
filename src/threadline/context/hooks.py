"""`before_llm_input` hooks: asked before every model call what to add to its input and to its configuration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.context.items import KINDS, ConversationItem, InstructionItem, KnowledgeItem, Provenance, Trust
from threadline.errors import ConfigurationError, InvalidInputError, WrongReturnError
from threadline.journal.frozen import freeze
from threadline.messages.message import Role

__all__ = [
    "Hook",
    "HookItems",
    "LLMInputBuildContext",
    "LLMInputPatch",
    "SegmentCandidate",
    "hook_items",
    "patched_config",
    "run_hooks",
]

_EMPTY: Any = freeze({})

CandidateCategory: TypeAlias = Literal["instruction", "knowledge", "conversation"]


class LLMInputBuildContext(Struct, frozen=True, kw_only=True):
    """What a hook is told; `config` is a frozen copy of the call's configuration."""

    agent_id: str
    agent_definition_id: str | None = None
    agent_definition_version: str | None = None
    execution_id: str | None = None
    config: Any = _EMPTY
    call_sequence: int = 1

    def __post_init__(self) -> None:
        force_setattr(self, "config", freeze(self.config))


class SegmentCandidate(Struct, frozen=True, kw_only=True):
    """Something that a hook offers for the input. The policy may leave it out; the journal never holds it.

    Attributes:
        content: text or a JSON value; for the conversation text or a wire object.
        category: instructions reach the system role; knowledge is shown as data.
        role: None means `system` for an instruction, else `user`.
        kind: None means the category's first.
        metadata: JSON with string keys, none that the framework reserves; `source` names the source in the fence.
    """

    content: Any
    category: CandidateCategory = "knowledge"
    role: Role | None = None
    kind: str | None = None
    priority: int = 0
    metadata: Any = _EMPTY

    def __post_init__(self) -> None:
        if self.category not in ("instruction", "knowledge", "conversation"):
            raise InvalidInputError("category must be instruction, knowledge or conversation", key="category")
        if self.kind is not None and self.kind not in KINDS[self.category]:
            raise InvalidInputError(f"kind {self.kind!r} is none of {self.category}", key="kind")


class LLMInputPatch(Struct, frozen=True, kw_only=True):
    """What a hook gives back.

    Attributes:
        model_config_patch: keys to set in the call's configuration; None as a value deletes the key.
        segment_candidates: what to offer for the input.
    """

    model_config_patch: Mapping[str, Any] | None = None
    segment_candidates: Sequence[SegmentCandidate] | None = None


Answer: TypeAlias = LLMInputPatch | None
Hook: TypeAlias = Callable[[LLMInputBuildContext], Awaitable[Answer] | Answer]
"""A function or a coroutine function."""


async def run_hooks(hooks: Sequence[Hook | None], context: LLMInputBuildContext) -> LLMInputPatch:
    """Asks the hooks one after the other and merges what they say.

    A later hook's configuration keys win; candidates are joined in order. Nothing at all leaves both fields None.

    Args:
        hooks: the widest tier first: of the engine, of the agent's definition, of the agent; None for none.
        context: what they are told.

    Raises:
        WrongReturnError: a hook gave back no `LLMInputPatch` (also a `TypeError`); `fields["index"]` says which.
        Exception: whatever a hook raises; the call is not made then.
    """
    config: dict[str, Any] = {}
    candidates: list[SegmentCandidate] = []
    for index, hook in enumerate(hooks):
        if hook is None:
            continue
        answer = hook(context)
        patch = cast("object", await answer if isawaitable(answer) else answer)
        if patch is None:
            continue
        if not isinstance(patch, LLMInputPatch):
            raise WrongReturnError(
                f"hook {index} must give an LLMInputPatch or None, not {type(patch).__name__}", index=index
            )
        config.update(patch.model_config_patch or {})
        for candidate in cast("Sequence[object]", patch.segment_candidates or ()):
            if not isinstance(candidate, SegmentCandidate):
                raise WrongReturnError(f"hook {index}: candidates must be SegmentCandidates", index=index)
            candidates.append(candidate)
    return LLMInputPatch(model_config_patch=config or None, segment_candidates=tuple(candidates) or None)


def patched_config(config: Mapping[str, Any], patch: LLMInputPatch) -> dict[str, Any]:
    """A configuration with the patch made; keys whose value is None are gone.

    Raises:
        ConfigurationError: the patch sets the window, which belongs to the model, or a reply of no positive length.
    """
    changes = patch.model_config_patch or {}
    if "context_window" in changes:
        raise ConfigurationError("a hook cannot change the model's window", key="context_window")
    reply: object = changes.get("max_output_tokens")
    if reply is not None and (isinstance(reply, bool) or not isinstance(reply, int) or reply < 1):
        raise ConfigurationError("max_output_tokens must be an integer of at least 1", key="max_output_tokens")
    return {key: value for key, value in {**config, **changes}.items() if value is not None}


class HookItems(Struct, frozen=True, kw_only=True):
    """Candidates as items of a policy's input: each category's go behind those that are there."""

    instruction: tuple[InstructionItem, ...] = ()
    knowledge: tuple[KnowledgeItem, ...] = ()
    conversation: tuple[tuple[ConversationItem, ...], ...] = ()


def hook_items(
    patch: LLMInputPatch, *, agent_id: str, execution_id: str | None, call_sequence: int, after_sequence: int = 0
) -> HookItems:
    """The candidates of a patch as items, none of them required, each with the origin `hook`.

    Args:
        patch: what the hooks gave.
        agent_id: whose call it is.
        execution_id: of the run.
        call_sequence: of the call.
        after_sequence: the highest sequence of the conversation; theirs come behind it.
    """
    instruction: list[InstructionItem] = []
    knowledge: list[KnowledgeItem] = []
    conversation: list[tuple[ConversationItem, ...]] = []
    for index, candidate in enumerate(patch.segment_candidates or ()):
        common: dict[str, Any] = {
            "id": f"hook:{execution_id}:{call_sequence}:{index}",
            "content": candidate.content,
            "kind": candidate.kind or KINDS[candidate.category][0],
            "priority": candidate.priority,
            "metadata": candidate.metadata,
            "provenance": Provenance(origin="hook", agent_id=agent_id, execution_id=execution_id),
        }
        match candidate.category:
            case "instruction":
                instruction.append(InstructionItem(role=candidate.role or "system", **common))
            case "knowledge":
                knowledge.append(KnowledgeItem(role=candidate.role or "user", **common))
            case "conversation":
                after_sequence += 1
                trust: Trust = "external"
                spoken = ConversationItem(role=candidate.role or "user", sequence=after_sequence, trust=trust, **common)
                conversation.append((spoken,))
    return HookItems(instruction=tuple(instruction), knowledge=tuple(knowledge), conversation=tuple(conversation))
