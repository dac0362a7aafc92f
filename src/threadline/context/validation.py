"""`validate_plan`: what a policy may do with what it was given; each rule has a code, told in `fields["rule"]`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from threadline.context.exchanges import check_generated
from threadline.context.input import ContextPolicyInput
from threadline.context.items import (
    GENERATED,
    KINDS,
    RESERVED_METADATA,
    Category,
    ConversationItem,
    InstructionItem,
    Item,
    KnowledgeItem,
    TextItem,
    ToolItem,
)
from threadline.context.layout import SYSTEM_ROLES
from threadline.context.plan import ContextPlan
from threadline.errors import ConfigurationError, InvalidInputError, RequiredLeftOutError

__all__ = ["refuse", "validate_input", "validate_plan"]

_Group: TypeAlias = tuple[ConversationItem, ...]

_CLASSES: tuple[tuple[Category, type[Item]], ...] = (
    ("instruction", InstructionItem),
    ("knowledge", KnowledgeItem),
    ("tools", ToolItem),
)
_HOME = {kind: category for category, kinds in KINDS.items() for kind in kinds}
"""The category that a reserved kind belongs to."""


def refuse(rule: str, reason: str, *, item: str | None = None) -> InvalidInputError:
    """The error for a broken rule."""
    named = "" if item is None else f"item {item}: "
    return InvalidInputError(f"{named}{reason}", rule=rule, item=item)


def validate_input(input: ContextPolicyInput) -> None:
    """What is wrong with an input whatever the policy does.

    Raises:
        InvalidInputError: it is no input (`V1`); two items have one id (`V14`); a hook's item uses a reserved key
            (`V19`); a message that is no operator's has the system role (`trust`).
        ConfigurationError: two tools have one name (`V24`).
    """
    if not isinstance(cast("object", input), ContextPolicyInput):
        raise refuse("V1", "a policy takes a ContextPolicyInput")
    _unique(input.items())
    _tool_names(input.tools)
    for item in input.items():
        if item.provenance.origin == "hook" and (key := _reserved(item)) is not None:
            raise refuse("V19", f"a hook must not write the metadata key {key!r}", item=item.id)
    for group in input.conversation:
        for item in group:
            _system_role(item)


def validate_plan(input: ContextPolicyInput, plan: ContextPlan) -> None:
    """Whether the plan keeps to the rules.

    Raises:
        InvalidInputError: it does not; `fields["rule"]` says which of V1 to V18 and `fields["item"]` where.
        RequiredLeftOutError: something required is not in it (`V6`, `V13`).
        ConfigurationError: two tools have one name (`V24`).
    """
    validate_input(input)
    if not isinstance(cast("object", plan), ContextPlan):
        raise refuse("V2", f"a policy gives a ContextPlan, not {type(plan).__name__}")
    for category, kind in _CLASSES:
        _flat(category, kind, getattr(input, category), getattr(plan, category), input)
    _conversation(input, plan)
    _unique(plan.items())
    _tool_names(plan.tools)


def _flat(
    category: Category, kind: type[Item], given: Sequence[Item], chosen: Sequence[object], input: ContextPolicyInput
) -> None:
    known = {item.id: item for item in given}
    for index, entry in enumerate(chosen):
        if not isinstance(entry, kind):
            raise refuse("V3", f"{category} {index} must be a {kind.__name__}, not {type(entry).__name__}")
        original = known.get(entry.id)
        if original is None:
            if category == "tools" or entry.provenance.origin != GENERATED:
                raise refuse("V5", f"not among the {category} items of the input", item=entry.id)
            _generated(entry, category)
        elif not _is_same(original, entry):
            raise refuse("V4", "differs from the item of the input with its id", item=entry.id)
    present = {entry.id for entry in cast("Sequence[Item]", chosen)}
    missing = [item for item in given if item.required and item.id not in present]
    if missing:
        raise _left_out("V6", missing, input)


def _conversation(input: ContextPolicyInput, plan: ContextPlan) -> None:
    home = {item.id: index for index, group in enumerate(input.conversation) for item in group}
    present: set[int] = set()
    for index, entry in enumerate(cast("tuple[object, ...]", plan.conversation)):
        group = _group(entry, index)
        touched = {home[item.id] for item in group if item.id in home}
        if not touched:
            for item in group:
                if item.provenance.origin != GENERATED:
                    raise refuse("V10", "not among the conversation items of the input", item=item.id)
                _generated(item, "conversation")
            check_generated(group, input.dialect)
            continue
        original = input.conversation[min(touched)]
        if [item.id for item in group] != [item.id for item in original]:
            raise refuse("V9", "its group is split, joined to another or reordered", item=original[0].id)
        for before, after in zip(original, group, strict=True):
            if not _is_same(before, after):
                raise refuse("V8", "differs from the item of the input with its id", item=after.id)
        if min(touched) in present:
            raise refuse("V14", "its group stands twice in the plan", item=original[0].id)
        present.add(min(touched))
    missing = [
        item
        for index, group in enumerate(input.conversation)
        if index not in present and any(item.required for item in group)
        for item in group
    ]
    if missing:
        raise _left_out("V13", missing, input)


def _group(entry: object, index: int) -> _Group:
    if not isinstance(entry, tuple) or not entry:
        raise refuse("V7", f"conversation {index} must be a non-empty group")
    for item in cast("tuple[object, ...]", entry):
        if not isinstance(item, ConversationItem):
            raise refuse("V7", f"conversation {index} must hold ConversationItems, not {type(item).__name__}")
    return cast("_Group", entry)


def _generated(item: Item, category: Category) -> None:
    if (key := _reserved(item)) is not None:
        raise refuse("V15", f"a policy must not write the metadata key {key!r}", item=item.id)
    if isinstance(item, TextItem) and _HOME.get(item.kind, category) != category:
        raise refuse("V16", f"kind {item.kind!r} belongs to {_HOME[item.kind]}, not to {category}", item=item.id)
    if item.provenance.content_ref is not None:
        raise refuse("V5", "a policy's own item names no stored content", item=item.id)
    if category == "conversation":
        _system_role(cast("ConversationItem", item), generated=True)


def _system_role(item: ConversationItem, *, generated: bool = False) -> None:
    """Only instructions reach the system role: items of that category, or an operator's that stand in the journal."""
    if item.role in SYSTEM_ROLES and (generated or item.kind != "instruction" or item.trust != "operator"):
        raise refuse("trust", "only an instruction may have the system role", item=item.id)


def _reserved(item: Item) -> str | None:
    return next((key for key in cast("dict[str, Any]", item.metadata) if key in RESERVED_METADATA), None)


def _is_same(before: Item, after: Item) -> bool:
    """Equal by value, and to the letter: True is not 1."""
    return before is after or (before == after and repr(before) == repr(after))


def _unique(items: Iterable[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise refuse("V14", "its id stands twice", item=item.id)
        seen.add(item.id)


def _tool_names(tools: Sequence[ToolItem]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise ConfigurationError(f"two tools are named {tool.name!r}", key="tools", tool=tool.name, rule="V24")
        seen.add(tool.name)


def _left_out(rule: str, missing: Sequence[Item], input: ContextPolicyInput) -> RequiredLeftOutError:
    parts = sorted(((item.id, item.estimated_tokens) for item in missing), key=lambda part: -part[1])
    return RequiredLeftOutError(rule=rule, max_input_tokens=input.limit or 0, parts=tuple(parts))
