"""What items cost, by the measure that also checks the request: the parts sum up to the whole exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import structs

from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, InstructionItem, Item, KnowledgeItem
from threadline.context.layout import SYSTEM_ROLES, arrange, block_of
from threadline.context.plan import ContextPlan
from threadline.context.rendering import Rendered, render, system_message, tools_of
from threadline.messages.message import Dialect, Request, Tool
from threadline.tokens.measure import Measure

__all__ = ["block_costs", "item_cost", "overhead", "priced"]

_I = TypeVar("_I", bound=Item)


def block_costs(rendered: Rendered, count: int, measure: Measure, dialect: Dialect) -> list[int]:
    """The tokens of each of `count` blocks; the sum is what system and messages cost in the request.

    System texts are one message joined by blank lines: each costs what it adds to those before it.
    """
    costs = [0] * count
    paid = 0
    joined = ""
    for number, text in rendered.system:
        joined = f"{joined}\n\n{text}" if joined else text
        total = measure.message(system_message(joined, dialect))
        costs[number] = max(0, total - paid)
        paid += costs[number]
    tokens = measure.messages([message for _, message in rendered.messages])
    for (number, _), cost in zip(rendered.messages, tokens, strict=True):
        costs[number] = cost
    return costs


def item_cost(item: InstructionItem | KnowledgeItem | ConversationItem, measure: Measure, dialect: Dialect) -> int:
    """The tokens of one item shown by itself; an instruction as the whole of the system text."""
    block = block_of(item)
    return block_costs(render([block], dialect), 1, measure, dialect)[0]


def overhead(measure: Measure, dialect: Dialect, *, has_tools: bool, response_format: Any = None) -> int:
    """The tokens of a request that are no item: its frame, the prompt that explains tools, the response format."""
    tools = (Tool(name="", wire={}),) if has_tools else ()
    count = measure.request(Request(dialect=dialect, messages=(), tools=tools, response_format=response_format))
    return count.overhead + count.response_format


def priced(
    input: ContextPolicyInput, measure: Measure, *, response_format: Any = None, known: Mapping[str, int] | None = None
) -> ContextPolicyInput:
    """The input with every item's cost and the overhead filled in: what a plan of all its items costs, exactly.

    Args:
        input: whose items are to be priced, in its dialect.
        measure: of the model that will be called.
        response_format: the wire object that constrains the reply.
        known: costs of items counted before, by id; those are not counted again. Instructions always are.

    Raises:
        InvalidInputError: an item's content is no message of the dialect; `fields["item"]` names it.
    """
    costs = dict(known or {})
    plan = ContextPlan(
        instruction=input.instruction,
        knowledge=tuple(item for item in input.knowledge if item.id not in costs),
        conversation=tuple(group for group in input.conversation if any(_is_new(item, costs) for item in group)),
    )
    blocks = arrange(plan, execution_id=input.execution_id, dialect=input.dialect)
    tokens = block_costs(render(blocks, input.dialect), len(blocks), measure, input.dialect)
    costs |= {block.item_id: cost for block, cost in zip(blocks, tokens, strict=True)}
    tools = measure.tools(tools_of([item.definition for item in input.tools], input.dialect))
    costs |= {item.id: cost for item, cost in zip(input.tools, tools, strict=True)}
    return structs.replace(
        input,
        instruction=_with(input.instruction, costs),
        knowledge=_with(input.knowledge, costs),
        tools=_with(input.tools, costs),
        conversation=tuple(_with(group, costs) for group in input.conversation),
        overhead_tokens=overhead(measure, input.dialect, has_tools=bool(input.tools), response_format=response_format),
        measure=measure,
    )


def _is_new(item: ConversationItem, costs: Mapping[str, int]) -> bool:
    return item.id not in costs or item.role in SYSTEM_ROLES


def _with(items: Sequence[_I], costs: Mapping[str, int]) -> tuple[_I, ...]:
    return tuple(
        item if item.estimated_tokens == costs[item.id] else structs.replace(item, estimated_tokens=costs[item.id])
        for item in items
    )
