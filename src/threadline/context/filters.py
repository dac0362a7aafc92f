"""Filters: looked through in order, each may change a text or refuse it; every source has its stage and its trust."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, cast

from msgspec import Struct, structs

from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, KnowledgeItem, TextItem, Trust
from threadline.errors import InvalidInputError, WrongReturnError
from threadline.journal.frozen import thaw
from threadline.messages.dialects import Decoder
from threadline.messages.message import Dialect, Message
from threadline.messages.parts import TextPart
from threadline.messages.wire import get_at, replace_at

__all__ = ["Filter", "FilterSource", "Stage", "filter_input", "filter_message", "filter_text"]

Stage: TypeAlias = Literal["input", "output", "tool_result", "knowledge", "instruction"]

_I = TypeVar("_I", bound=TextItem)


class FilterSource(Struct, frozen=True, kw_only=True):
    """Where a text comes from.

    Attributes:
        stage: `input` for what a user says, `output` for what the model says, `tool_result`, `knowledge`,
            `instruction`.
        trust: of whoever wrote it.
        item_id: of the item it is in, or None.
    """

    stage: Stage
    trust: Trust
    item_id: str | None = None


class Filter(Protocol):
    """Changes a text or lets it be; raises `FilterBlockError` to refuse it.

    A filter looks at what its stages and trust levels say, and at nothing else; the same text always gives the same.
    """

    @property
    def stages(self) -> frozenset[Stage]:
        """The stages it looks at."""
        ...

    @property
    def trust(self) -> frozenset[Trust]:
        """The trust levels it looks at."""
        ...

    def __call__(self, text: str, source: FilterSource) -> str:
        """The text to go on with.

        Raises:
            FilterBlockError: it must not go on.
        """
        ...


def filter_text(filters: Iterable[Filter], text: str, source: FilterSource) -> str:
    """The text after every filter that looks at its source, in order.

    Raises:
        FilterBlockError: a filter refused it.
        WrongReturnError: a filter gave back no text.
    """
    for one in filters:
        if source.stage in one.stages and source.trust in one.trust:
            changed = cast("object", one(text, source))
            if not isinstance(changed, str):
                raise WrongReturnError(f"filter {type(one).__name__} gave back no text", key="filters")
            text = changed
    return text


def filter_message(filters: Sequence[Filter], message: Message, source: FilterSource) -> Message:
    """The message with every readable text filtered; the same object where nothing changed.

    Texts inside tool results are of the stage `tool_result` and of a tool's trust, whatever the source says.
    """
    wire: Any = message.wire
    results = {inner.path for part in message.tool_results for inner in part.parts}
    for part in message.texts():
        at = source
        if part.path in results:
            trust: Trust = source.trust if source.trust == "external" else "tool"
            at = structs.replace(source, stage="tool_result", trust=trust)
        changed = filter_text(filters, part.text, at)
        if changed != part.text and isinstance(get_at(wire, part.path), str):
            wire = replace_at(wire, part.path, changed)
    return message if wire is message.wire else _read(wire, message)


def _read(wire: Any, message: Message) -> Message:
    if isinstance(wire, str):
        return structs.replace(message, wire=wire, parts=(TextPart(wire, ()),))
    read = Decoder(message.dialect).feed(wire, 0)
    return structs.replace(read, origin=message.origin)


def filter_input(filters: Sequence[Filter], input: ContextPolicyInput) -> ContextPolicyInput:
    """The input with every item's texts filtered by the item's own source and trust; the same where nothing changed.

    Raises:
        FilterBlockError: a filter refused an item; `fields["item"]` names it.
    """
    if not filters:
        return input
    return structs.replace(
        input,
        instruction=tuple(_filtered(filters, item, "instruction", input.dialect) for item in input.instruction),
        knowledge=tuple(_filtered(filters, item, "knowledge", input.dialect) for item in input.knowledge),
        conversation=tuple(
            tuple(_filtered(filters, item, _stage(item), input.dialect) for item in group)
            for group in input.conversation
        ),
    )


def _stage(item: ConversationItem) -> Stage:
    match item.role:
        case "user":
            return "tool_result" if item.is_result else "input"
        case "assistant":
            return "output"
        case "tool":
            return "tool_result"
        case _:
            return "instruction"


def _filtered(filters: Sequence[Filter], item: _I, stage: Stage, dialect: Dialect) -> _I:
    source = FilterSource(stage=stage, trust=item.trust or "external", item_id=item.id)
    if not any(stage in one.stages and source.trust in one.trust for one in filters) and not isinstance(
        item, ConversationItem
    ):
        return item
    content: Any = item.content
    if isinstance(content, str):
        content = filter_text(filters, content, source)
    elif isinstance(item, ConversationItem):
        content = _filtered_wire(filters, content, source, dialect)
    elif isinstance(item, KnowledgeItem):
        content = _filtered_json(filters, content, source)
    if content is item.content or content == item.content:
        return item
    provenance = structs.replace(item.provenance, content_ref=None)
    return structs.replace(item, content=content, provenance=provenance)


def _filtered_wire(filters: Sequence[Filter], content: Any, source: FilterSource, dialect: Dialect) -> Any:
    try:
        message = Decoder(dialect).feed(thaw(content), 0)
    except InvalidInputError:
        return content  # no message of the dialect: rendering will say so
    filtered = filter_message(filters, message, source)
    return content if filtered is message else filtered.wire


def _filtered_json(filters: Sequence[Filter], value: Any, source: FilterSource) -> Any:
    """A JSON value with its strings filtered; the same object where nothing changed."""
    match value:
        case str():
            changed = filter_text(filters, value, source)
            return value if changed == value else changed
        case dict():
            held = cast("dict[str, Any]", value)
            inner = {key: _filtered_json(filters, one, source) for key, one in held.items()}
            return held if all(inner[key] is held[key] for key in held) else inner
        case tuple():
            items = cast("tuple[Any, ...]", value)
            made = tuple(_filtered_json(filters, one, source) for one in items)
            return items if all(one is other for one, other in zip(made, items, strict=True)) else made
        case _:
            return value
