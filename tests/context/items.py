"""Short spellings of policy inputs."""

from __future__ import annotations

import json
from typing import Any

from threadline.context.budget import TokenBudget
from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, InstructionItem, KnowledgeItem, Provenance, ToolItem
from threadline.journal.canonical import content_ref
from threadline.messages import Dialect, Message, convert, decode, group_messages


def said(id: str, cost: int = 1, *, sequence: int | None = None, role: Any = "user", **fields: Any) -> ConversationItem:
    kinds = {"user": "external_message", "assistant": "assistant_message", "tool": "tool_message"}
    fields = {"content": f"text {id}", "kind": kinds.get(role, "instruction"), **fields}
    return ConversationItem(id=id, estimated_tokens=cost, sequence=sequence, role=role, **fields)


def exchange(id: str, costs: tuple[int, ...], *, sequence: int, **fields: Any) -> tuple[ConversationItem, ...]:
    """An assistant's message with one call for each cost but the first, and the results."""
    calls = [f"{id}-{n}" for n in range(1, len(costs))]
    wire = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": c, "type": "function", "function": {"name": "look", "arguments": "{}"}} for c in calls],
    }
    asks = said(
        f"{id}", costs[0], sequence=sequence, role="assistant", content=wire, tool_call_ids=tuple(calls), **fields
    )
    results = [
        said(
            f"{id}r{n}",
            cost,
            sequence=sequence + n,
            role="tool",
            tool_call_id=call,
            content={"role": "tool", "tool_call_id": call, "content": f"result {n}"},
            **fields,
        )
        for n, (call, cost) in enumerate(zip(calls, costs[1:], strict=True), 1)
    ]
    return (asks, *results)


def known(id: str, cost: int = 1, **fields: Any) -> KnowledgeItem:
    return KnowledgeItem(id=id, **{"content": f"fact {id}", "estimated_tokens": cost, **fields})


def told(id: str, cost: int = 1, **fields: Any) -> InstructionItem:
    return InstructionItem(id=id, **{"content": f"do {id}", "estimated_tokens": cost, "required": True, **fields})


def tool(name: str, cost: int = 1) -> ToolItem:
    return ToolItem(id=f"tool:{name}", definition={"name": name, "description": "It looks."}, estimated_tokens=cost)


def asked(limit: int | None = None, **fields: Any) -> ContextPolicyInput:
    budget = None if limit is None else TokenBudget(max_input_tokens=limit)
    fields = {"call_mode": "complete", "agent_id": "a", "token_budget": budget, **fields}
    fields["conversation"] = tuple(
        group if isinstance(group, tuple) else (group,) for group in fields.get("conversation", ())
    )
    return ContextPolicyInput(**fields)


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Is there a flight to Oslo?"},
    {"role": "assistant", "content": "Let me see."},
    {"role": "user", "content": "For two, please."},
    {
        "role": "assistant",
        "content": "Looking.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"to": "OSL"}'}},
            {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"to": "TRF"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "SK 4, 07:15, two seats"},
    {"role": "tool", "tool_call_id": "c2", "content": "none"},
    {"role": "assistant", "content": "There is one at 07:15."},
    {"role": "user", "content": "Book it."},
]


def messages_in(dialect: Dialect, talk: list[dict[str, Any]] = TALK) -> tuple[Message, ...]:
    return convert(decode(talk, "openai"), dialect).request.messages


_KINDS = {"user": "external_message", "assistant": "assistant_message", "tool": "tool_message", "system": "instruction"}


def groups_of(
    messages: tuple[Message, ...], runs: tuple[str, ...] = (), **fields: Any
) -> tuple[tuple[ConversationItem, ...], ...]:
    """The items of messages as a journal has them: the wire's own bytes, stored under their name."""

    def item(index: int) -> ConversationItem:
        message = messages[index]
        answers = tuple(result.call_id for result in message.tool_results)
        role = "tool" if answers else message.role
        return ConversationItem(
            id=f"record:{index}",
            kind=_KINDS[role],
            role=role,
            content=message.wire,
            content_format="json",
            sequence=index + 1,
            tool_call_id=answers[0] if answers else None,
            tool_call_ids=answers or tuple(call.id for call in message.tool_calls),
            provenance=Provenance(
                origin="journal",
                record_id=str(index),
                content_ref=content_ref(stored(message)),
                execution_id=runs[index] if runs else None,
            ),
            **fields,
        )

    return tuple(tuple(item(index) for index in group.indices) for group in group_messages(messages))


def stored(message: Message) -> bytes:
    """As a client sent it: with spaces, which stay."""
    return json.dumps(message.wire, separators=(" , ", " : ")).encode()
