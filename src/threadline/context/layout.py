"""`Block`: a piece of the request before it is written; and the order that keeps the beginning of a request stable.

Tools and system text first, then the conversation as it grows. What changes from run to run (knowledge, what hooks
gave) stands just before the input of the run, so that within the run each request begins with the one before, and the
next run shares all that was said before this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

from threadline.context.items import (
    ContentFormat,
    ConversationItem,
    Delivery,
    InstructionItem,
    KnowledgeItem,
    Trust,
)
from threadline.context.manifest import Segment, SegmentCategory
from threadline.context.plan import ContextPlan
from threadline.messages.message import Dialect, Role

__all__ = [
    "APART",
    "SYSTEM_ROLES",
    "Block",
    "DataPlace",
    "arrange",
    "block_of",
    "block_of_segment",
    "is_system",
    "source_label",
]

SYSTEM_ROLES: frozenset[Role] = frozenset({"system", "developer"})

DataPlace: TypeAlias = Literal["run", "end"]
"""Where what changes from run to run stands.

`run`: before the input of the run, where it stays for all calls of the run; the next run reads the messages of this one
anew. `end`: behind the conversation, in every call; then only the data itself is ever read anew, but a user's message
behind tool results ends the turn that a model reasons in, and some providers drop its reasoning then.
"""

APART: frozenset[Dialect] = frozenset({"anthropic", "google"})
"""Dialects that keep all instructions apart from the messages."""


class Block(Struct, frozen=True, kw_only=True):
    """A piece of the request: who says what, and how it is to be shown.

    Attributes:
        content: text, or a JSON value.
        label: for data, the source that its fence names.
        group: number of the conversation group it belongs to.
    """

    item_id: str
    category: SegmentCategory
    kind: str
    role: Role
    content: Any
    content_format: ContentFormat
    trust: Trust
    delivery: Delivery = "chat_message"
    tool_call_id: str | None = None
    label: str | None = None
    group: int | None = None


def block_of(item: InstructionItem | KnowledgeItem | ConversationItem, *, group: int | None = None) -> Block:
    """The block that shows an item."""
    match item:
        case InstructionItem():
            category, label = "instruction", None
        case KnowledgeItem():
            category, label = "knowledge", source_label(item)
        case ConversationItem():
            category, label = "conversation", None
    spoken = item if isinstance(item, ConversationItem) else None
    return Block(
        item_id=item.id,
        category=category,
        kind=item.kind,
        role="user" if category == "knowledge" else item.role,
        content=item.content,
        content_format=item.content_format or "json",
        trust=item.trust or "external",
        delivery=spoken.delivery if spoken else "chat_message",
        tool_call_id=spoken.tool_call_id if spoken else None,
        label=label,
        group=group,
    )


def block_of_segment(segment: Segment, content: Any) -> Block:
    """The block of a manifest's segment, its content read."""
    return Block(
        item_id=segment.item_id,
        category=segment.category,
        kind=segment.kind,
        role=segment.role,
        content=content,
        content_format=segment.content_format,
        trust=segment.trust,
        delivery=segment.delivery,
        tool_call_id=segment.tool_call_id,
        label=segment.label,
        group=segment.group,
    )


def source_label(item: KnowledgeItem) -> str:
    """What a fence says of an item's source: the `source` in its metadata, or its origin and kind."""
    named: object = cast("dict[str, object]", item.metadata).get("source")
    return named if isinstance(named, str) and named else f"{item.provenance.origin}/{item.kind}"


def is_system(block: Block, dialect: Dialect) -> bool:
    """True for a block that is part of the system text."""
    if block.role not in SYSTEM_ROLES:
        return False
    return block.category == "instruction" or (block.category == "conversation" and dialect in APART)


def arrange(
    plan: ContextPlan, *, execution_id: str | None, dialect: Dialect, data_at: DataPlace = "run"
) -> tuple[Block, ...]:
    """The blocks of a plan in the order of the request: system text, conversation with the run's data, the new input.

    Args:
        plan: what to show.
        execution_id: the run; its data stands before its first message, in every call of the run.
        dialect: some keep instructions that stand in the conversation apart as well.
        data_at: `end` puts the data behind the conversation instead.
    """
    instructions = [block_of(item) for item in plan.instruction]
    system = [block for block in instructions if is_system(block, dialect)]
    volatile = [block for block in instructions if not is_system(block, dialect)]
    volatile += [block_of(item) for item in plan.knowledge]
    talk: list[Block] = []
    asked: list[Block] = []
    anchor = _anchor(plan.conversation, execution_id) if data_at == "run" else None
    for number, group in enumerate(plan.conversation):
        if number == anchor:
            talk += volatile
        for item in group:
            block = block_of(item, group=number)
            if block.delivery == "ask_argument":
                asked.append(block)
            elif is_system(block, dialect):
                system.append(block)
            else:
                talk.append(block)
    if anchor is None:
        talk += volatile
    return (*system, *talk, *asked)


def _anchor(groups: Sequence[Sequence[ConversationItem]], execution_id: str | None) -> int | None:
    """The group before which the run's data stands: the run's first, else the last of a user; None is the end."""
    if any(item.delivery == "ask_argument" for group in groups for item in group):
        return None  # the new input is sent last
    last_user: int | None = None
    for number, group in enumerate(groups):
        if execution_id is not None and group[0].provenance.execution_id == execution_id:
            return number
        if group[0].role == "user" and not group[0].is_result:
            last_user = number
    return last_user
