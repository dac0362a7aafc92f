"""Short spellings of policy inputs."""

from __future__ import annotations

from typing import Any

from threadline.context.budget import TokenBudget
from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, InstructionItem, KnowledgeItem, ToolItem


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
    return KnowledgeItem(id=id, content=f"fact {id}", estimated_tokens=cost, **fields)


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
