"""What a policy chooses from: the window, the knowledge, the instructions and the tools of a call as items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import structs

from threadline.context.items import ConversationItem, InstructionItem, KnowledgeItem, Provenance, ToolItem
from threadline.messages.fate import Fate
from threadline.thread.warm import Knowledge
from threadline.thread.window import Shown

__all__ = ["conversation_items", "instruction_items", "knowledge_items", "tool_items"]


def instruction_items(texts: Sequence[str], execution_id: str) -> tuple[InstructionItem, ...]:
    """What the operator tells the model in this call."""
    return tuple(
        InstructionItem(
            id=f"instruction:agent:{number}",
            content=text,
            required=True,
            provenance=Provenance(origin="agent_configuration", execution_id=execution_id),
        )
        for number, text in enumerate(texts, 1)
    )


def tool_items(definitions: Iterable[Any]) -> tuple[ToolItem, ...]:
    """The tools of this call."""
    items = [
        ToolItem(id="tool", definition=one, provenance=Provenance(origin="agent_configuration")) for one in definitions
    ]
    return tuple(structs.replace(item, id=f"tool:{item.name}") for item in items)


def knowledge_items(knowledge: Iterable[Knowledge]) -> tuple[KnowledgeItem, ...]:
    """The knowledge in force, in the order of the journal."""
    items: list[KnowledgeItem] = []
    for one in knowledge:
        told: Any = one.record.metadata
        priority = told.get("priority", 0)
        items.append(
            KnowledgeItem(
                id=f"record:{one.record.record_id}",
                content=one.text,
                required=told.get("required") is True,
                pinned=told.get("pinned") is True,
                priority=priority if isinstance(priority, int) else 0,
                provenance=Provenance(
                    origin="journal",
                    content_ref=one.record.content_ref,
                    record_id=one.record.record_id,
                    agent_id=one.record.agent_id,
                ),
                metadata={"source": told["source"]} if isinstance(told.get("source"), str) else {},
            )
        )
    return tuple(items)


def conversation_items(
    units: Sequence[Sequence[Shown]], *, agent_id: str, execution_id: str, call_sequence: int
) -> tuple[tuple[ConversationItem, ...], ...]:
    """The view as groups; in the run's first call the user's new message is what the call asks.

    What must be in the call: instructions, the run's request, its latest exchange with tools, calls that wait.
    """
    asked = _asked(units, execution_id) if call_sequence == 1 else None
    latest = _latest_exchange(units, execution_id)
    places = _places(units)
    groups: list[tuple[ConversationItem, ...]] = []
    for number, unit in enumerate(units):
        must = number == latest or any(_must(shown, execution_id) for shown in unit) or _waits(unit)
        groups.append(
            tuple(
                _item(shown, agent_id, execution_id, sequence=places[shown.id], required=must, asks=shown is asked)
                for shown in unit
            )
        )
    return tuple(groups)


def _places(units: Sequence[Sequence[Shown]]) -> dict[str, int]:
    """By item, its place in the journal; what was put in stands where the message behind it does."""
    every = [shown for unit in units for shown in unit]
    at = max((shown.seen.sequence for shown in every if shown.seen is not None), default=0)
    places: dict[str, int] = {}
    for shown in reversed(every):
        at = at if shown.seen is None else shown.seen.sequence
        places[shown.id] = at
    return places


def _item(
    shown: Shown, agent_id: str, execution_id: str, *, sequence: int, required: bool, asks: bool
) -> ConversationItem:
    message, seen = shown.message, shown.seen
    own = seen is not None and seen.execution_id == execution_id
    results = [result.call_id for result in message.tool_results]
    calls = [call.id for call in message.tool_calls]
    told: dict[str, Any] = {} if shown.fate is Fate.KEPT else {"fate": shown.fate.value}
    if shown.label != "record":
        told["inserted"] = shown.label
    if shown.covers:
        told["covers"] = shown.covers
    kind = "tool_message" if results and not calls else _kind(shown)
    return ConversationItem(
        id=shown.id,
        kind="current_input" if asks else kind,
        role=message.role,
        content=message.wire,
        content_format="json",
        estimated_tokens=shown.tokens,
        required=required,
        pinned=shown.label == "summary",
        sequence=sequence,
        tool_call_id=results[0] if results else None,
        tool_call_ids=tuple(results or calls),
        delivery="ask_argument" if asks else "chat_message",
        trust="tool" if message.origin == "observation" else None,
        provenance=Provenance(
            origin="working" if own else "journal",
            content_ref=seen.content_ref if seen is not None and shown.fate is Fate.KEPT else None,
            record_id=None if seen is None else seen.record_id,
            agent_id=agent_id,
            execution_id=None if seen is None else seen.execution_id,
        ),
        metadata=told,
    )


def _kind(shown: Shown) -> str:
    if shown.seen is not None:
        return shown.seen.kind
    return "assistant_message" if shown.message.role == "assistant" else "external_message"


def _must(shown: Shown, execution_id: str) -> bool:
    if shown.message.role in ("system", "developer"):
        return True
    seen = shown.seen
    return seen is not None and seen.kind == "external_message" and seen.execution_id == execution_id


def _waits(unit: Sequence[Shown]) -> bool:
    calls = [call.id for shown in unit for call in shown.message.tool_calls]
    results = [result.call_id for shown in unit for result in shown.message.tool_results]
    return len(calls) > len(results)


def _latest_exchange(units: Sequence[Sequence[Shown]], execution_id: str) -> int | None:
    for number in range(len(units) - 1, -1, -1):
        of_run = any(shown.seen is not None and shown.seen.execution_id == execution_id for shown in units[number])
        if of_run and any(shown.message.tool_calls for shown in units[number]):
            return number
    return None


def _asked(units: Sequence[Sequence[Shown]], execution_id: str) -> Shown | None:
    """The user's new message, where the view ends with it."""
    if not units or len(units[-1]) != 1:
        return None
    shown = units[-1][0]
    seen = shown.seen
    is_new = seen is not None and seen.kind == "external_message" and seen.execution_id == execution_id
    return shown if is_new and shown.message.role == "user" else None
