"""What a later call of a run takes over from its first, and what of the run it must not lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from threadline.context.contents import content_of, read_content
from threadline.context.items import ConversationItem, InstructionItem, Provenance
from threadline.context.manifest import LLMInputManifest
from threadline.ports.store import Naming

__all__ = ["base_instructions", "with_required"]

_KEPT_ORIGINS = frozenset({"agent_configuration", "handoff_context"})
"""Instructions of these origins hold for the whole run; a hook's hold for one call."""

_REQUESTS = frozenset({"external_message", "current_request"})


def base_instructions(
    manifest: LLMInputManifest, contents: Mapping[str, bytes], naming: Naming | None = None
) -> tuple[InstructionItem, ...]:
    """The instructions of a run's first call that hold for its later ones, required, each once.

    Args:
        manifest: of the first call.
        contents: at least what its instruction segments name.
        naming: how contents are named; with it each is checked.

    Raises:
        NotFoundError: a content is missing.
        IntegrityError: a content is not what its name says.
    """
    return tuple(
        InstructionItem(
            id=segment.item_id,
            kind=segment.kind,
            role=segment.role,
            content=content_of(read_content(contents, segment.content_ref, naming), segment.content_format),
            content_format=segment.content_format,
            estimated_tokens=segment.tokens,
            required=True,
            trust=segment.trust,
            metadata=segment.metadata,
            provenance=Provenance(
                origin=segment.origin,
                content_ref=segment.content_ref,
                record_id=segment.record_id,
                agent_id=segment.source_agent_id,
                execution_id=segment.source_execution_id,
                llm_call_id=segment.llm_call_id,
            ),
        )
        for segment in manifest.segments
        if segment.category == "instruction" and segment.origin in _KEPT_ORIGINS
    )


def with_required(
    conversation: Sequence[Sequence[ConversationItem]], execution_id: str
) -> tuple[tuple[ConversationItem, ...], ...]:
    """The groups with what a later call of the run needs marked as required: its request and its latest exchange.

    Older exchanges of the run stay as they are.
    """
    latest = max(
        (place for place, group in enumerate(conversation) if _is_exchange(group, execution_id)),
        key=lambda place: max(item.sequence or 0 for item in conversation[place]),
        default=None,
    )
    return tuple(
        tuple(
            structs.replace(item, required=True)
            if place == latest or (item.kind in _REQUESTS and item.provenance.execution_id == execution_id)
            else item
            for item in group
        )
        for place, group in enumerate(conversation)
    )


def _is_exchange(group: Sequence[ConversationItem], execution_id: str) -> bool:
    return any(item.calls for item in group) and group[0].provenance.execution_id == execution_id
