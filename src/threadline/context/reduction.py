"""A group with its long tool results cut down, made anew as the policy's own, before it would have to be left out."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from threadline.context.costs import block_costs
from threadline.context.input import ContextPolicyInput
from threadline.context.items import GENERATED, ConversationItem, Provenance
from threadline.context.layout import block_of
from threadline.context.rendering import render
from threadline.errors import InvalidInputError
from threadline.messages.elision import edited
from threadline.transcript.arrival import Arrivals, holds_results
from threadline.transcript.policy import FitPolicy

__all__ = ["reduced", "source_of"]

_PREFIX = "policy:reduced:"


def source_of(item_id: str) -> tuple[int, str] | None:
    """The cap and the item that a reduced item was made with and from; None for any other id."""
    if not item_id.startswith(_PREFIX):
        return None
    cap, _, source = item_id.removeprefix(_PREFIX).partition(":")
    return (int(cap), source) if cap.isdigit() else None


def reduced(
    group: Sequence[ConversationItem], cap: int, input: ContextPolicyInput
) -> tuple[ConversationItem, ...] | None:
    """The group with each tool result cut down to `cap` tokens; the same group and cap always give the same.

    Returns:
        Items of the policy's own that name what they came from, or None where nothing would be saved, or the input
        brings no measure to tell.
    """
    if input.measure is None or not any(item.is_result for item in group):
        return None
    try:
        rendered = render([block_of(item) for item in group], input.dialect)
    except InvalidInputError:
        return None  # the validator says what is wrong with it
    if len(rendered.messages) != len(group):
        return None
    arrivals = Arrivals(FitPolicy(dedupe=False, pressed_tokens=cap), input.measure)
    before = block_costs(rendered, len(group), input.measure, input.dialect)
    messages = [message for _, message in rendered.messages]
    for index, (message, cost) in enumerate(zip(messages, before, strict=True)):
        elisions = arrivals.admit(index, message, tokens=cost, state="pressed") if holds_results(message) else []
        if elisions:
            messages[index] = edited(message, elisions)
    after = input.measure.messages(messages)
    if sum(after) >= sum(before):
        return None
    return tuple(
        structs.replace(
            item,
            id=f"{_PREFIX}{cap}:{item.id}",
            content=message.wire,
            content_format="json",
            estimated_tokens=tokens,
            provenance=_made_of(item.provenance),
            metadata={},
        )
        for item, message, tokens in zip(group, messages, after, strict=True)
    )


def _made_of(provenance: Provenance) -> Provenance:
    return structs.replace(provenance, origin=GENERATED, content_ref=None)
