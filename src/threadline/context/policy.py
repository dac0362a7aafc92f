"""`ContextPolicy`: one callable from what may be shown to what is shown; and what helps to write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from threadline.context.costs import item_cost
from threadline.context.input import ContextPolicyInput
from threadline.context.items import (
    GENERATED,
    Category,
    ContentFormat,
    ConversationItem,
    InstructionItem,
    KnowledgeItem,
    Provenance,
    ToolItem,
    Trust,
)
from threadline.context.plan import ContextPlan, Omission
from threadline.errors import InvalidInputError
from threadline.journal.canonical import canonical_json, content_ref
from threadline.messages.message import Role
from threadline.messages.wire import dumps
from threadline.tokens.measure import Measure

__all__ = ["ContextPolicy"]


class ContextPolicy:
    """Chooses what a model sees next. Subclass it, or give any callable of the same shape.

    A policy may leave out what is not required, change the order of groups, and add items of its own (made with the
    helpers below). It gets values and gives back values: it reads no clock, rolls no dice and does no I/O, so that the
    same input gives the same plan. When it raises, the call is not made; nothing is tried in its place.
    """

    def __call__(self, input: ContextPolicyInput) -> ContextPlan:
        """The plan for a call.

        Raises:
            ContextBudgetExceededError: what is required does not fit.
        """
        raise NotImplementedError

    def plan(
        self,
        *,
        instruction: Sequence[InstructionItem] = (),
        knowledge: Sequence[KnowledgeItem] = (),
        tools: Sequence[ToolItem] = (),
        conversation: Sequence[Sequence[ConversationItem]] = (),
        metadata: Mapping[str, Any] | None = None,
        decisions: Sequence[Any] = (),
        omissions: Sequence[Omission] = (),
        reasons: Mapping[str, str] | None = None,
    ) -> ContextPlan:
        """A plan of these items; see `ContextPlan`."""
        return ContextPlan(
            instruction=tuple(instruction),
            knowledge=tuple(knowledge),
            tools=tuple(tools),
            conversation=tuple(tuple(group) for group in conversation),
            metadata=metadata or {},
            decisions=tuple(decisions),
            omissions=tuple(omissions),
            reasons=reasons or {},
        )

    def instruction_item(
        self,
        content: Any,
        *,
        role: Role = "system",
        kind: str = "instruction",
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        within: ContextPolicyInput | None = None,
    ) -> InstructionItem:
        """An instruction of the policy's own.

        Args:
            content: text or a JSON value.
            role: `system`, or `user` for what is shown as a user's message.
            kind: what it is.
            metadata: JSON; no key that the framework reserves.
            key: makes the id, where the content alone is not unique.
            within: the input it is made for: its measure and dialect say what the item costs.
        """
        made = InstructionItem(
            id=_id("instruction", content, key),
            content=content,
            role=role,
            kind=kind,
            metadata=metadata or {},
            provenance=_OWN,
        )
        return _priced(made, within)

    def knowledge_item(
        self,
        content: Any,
        *,
        role: Role = "user",
        kind: str = "knowledge",
        trust: Trust = "external",
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        within: ContextPolicyInput | None = None,
    ) -> KnowledgeItem:
        """Knowledge of the policy's own, shown as data; arguments as for `instruction_item`."""
        made = KnowledgeItem(
            id=_id("knowledge", content, key),
            content=content,
            role=role,
            kind=kind,
            trust=trust,
            metadata=metadata or {},
            provenance=_OWN,
        )
        return _priced(made, within)

    def conversation_item(
        self,
        content: Any,
        *,
        role: Role,
        kind: str = "conversation",
        content_format: ContentFormat | None = None,
        sequence: int | None = None,
        tool_call_id: str | None = None,
        tool_call_ids: Sequence[str] = (),
        trust: Trust | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        within: ContextPolicyInput | None = None,
    ) -> ConversationItem:
        """A message of the policy's own: text, or a wire object in the dialect of the call; else as above.

        Args:
            content: text, or a wire object.
            role: the message's.
            kind: `assistant_message` and `tool_message` need a wire object that agrees with the ids given.
            content_format: None tells it by the content.
            sequence: its place in the conversation.
            tool_call_id: the call that a tool message answers.
            tool_call_ids: the calls that an assistant's message makes.
            trust: None for the level that goes with the role.
            metadata: JSON; no key that the framework reserves.
            key: makes the id, where the content alone is not unique.
            within: the input it is made for: its measure and dialect say what the item costs.
        """
        made = ConversationItem(
            id=_id("conversation", content, key),
            content=content,
            role=role,
            kind=kind,
            content_format=content_format,
            sequence=sequence,
            tool_call_id=tool_call_id,
            tool_call_ids=tuple(tool_call_ids),
            trust=trust,
            metadata=metadata or {},
            provenance=_OWN,
        )
        return _priced(made, within)


_OWN = Provenance(origin=GENERATED)


def _id(category: Category, content: Any, key: str | None) -> str:
    """Made of the content, not of chance: the same input gives the same plan."""
    return f"policy:{category}:{content_ref(canonical_json(content))[7:23] if key is None else key}"


def _priced(item: Any, within: ContextPolicyInput | None) -> Any:
    """The item with its cost; where it is no message of the dialect, which is found later, that of its text."""
    measure = (within.measure if within else None) or Measure()
    dialect = within.dialect if within else "plain"
    try:
        cost = item_cost(item, measure, dialect)
    except InvalidInputError:
        cost = measure.text(dumps(item.content))
    return structs.replace(item, estimated_tokens=cost)
