"""`ContextPlan`: what a policy chose, what it left out and why, and what it decided."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.context.items import Category, ConversationItem, InstructionItem, Item, KnowledgeItem, ToolItem
from threadline.journal.frozen import freeze
from threadline.messages.fate import Fate

__all__ = ["ContextPlan", "Omission", "OmissionReason"]

OmissionReason: TypeAlias = Literal[
    "budget", "window", "left_out_before", "fixed_for_run", "first", "reduced", "policy"
]
"""Why a candidate is not in the request.

`budget`: it did not fit. `window`: it is older than what did not fit. `left_out_before`: the call before left it out,
and taking it in again would change the beginning of the request. `fixed_for_run`: it came while the run's knowledge was
fixed. `first`: the provider wants a user to speak first. `reduced`: a shorter form of it is in. `policy`: the policy
left it out and gave no reason.
"""

_EMPTY: Any = freeze({})


class Omission(Struct, frozen=True, kw_only=True):
    """A candidate that was left out: `tokens` is what it would have cost."""

    item_id: str
    category: Category
    reason: OmissionReason
    tokens: int

    @property
    def fate(self) -> Fate:
        """What became of it, in the words that all reports share."""
        return Fate.PRUNED if self.reason == "reduced" else Fate.OMITTED


class ContextPlan(Struct, frozen=True, kw_only=True):
    """What a policy chose; also its whole freedom: optional items left out, groups reordered, items of its own added.

    Attributes:
        metadata: whatever the policy wants to say of itself.
        decisions: JSON values to be recorded in the journal together with the manifest.
        omissions: why what is not here was left out; a candidate without one is reported with reason `policy`.
        reasons: by item id, why it is here; recorded in the manifest.
    """

    instruction: tuple[InstructionItem, ...] = ()
    knowledge: tuple[KnowledgeItem, ...] = ()
    tools: tuple[ToolItem, ...] = ()
    conversation: tuple[tuple[ConversationItem, ...], ...] = ()
    metadata: Any = _EMPTY
    decisions: tuple[Any, ...] = ()
    omissions: tuple[Omission, ...] = ()
    reasons: Any = _EMPTY

    def __post_init__(self) -> None:
        for key in ("metadata", "decisions", "reasons"):
            force_setattr(self, key, freeze(getattr(self, key)))
        for key in ("instruction", "knowledge", "tools", "conversation", "omissions"):
            force_setattr(self, key, _fixed(getattr(self, key)))

    def items(self) -> Iterable[Item]:
        """Every item of every category."""
        yield from self.instruction
        yield from self.knowledge
        yield from self.tools
        for group in self.conversation:
            yield from group

    @property
    def estimated_tokens(self) -> int:
        """What the items say that they cost, together."""
        return sum(item.estimated_tokens for item in self.items())


def _fixed(value: Any) -> Any:
    """Lists as tuples, so that nobody changes a plan; whether they hold the right things the validator says."""
    return tuple(_fixed(inner) for inner in cast("list[Any]", value)) if isinstance(value, list | tuple) else value
