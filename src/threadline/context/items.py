"""What a policy chooses from: instructions, knowledge, tools and messages, each with its source and its trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.errors import InvalidInputError, SerializationError
from threadline.journal.frozen import freeze
from threadline.messages.message import Role

__all__ = [
    "GENERATED",
    "KINDS",
    "RESERVED_METADATA",
    "TRUST_LEVELS",
    "Category",
    "ContentFormat",
    "ConversationItem",
    "Delivery",
    "InstructionItem",
    "Item",
    "KnowledgeItem",
    "Provenance",
    "TextItem",
    "ToolItem",
    "Trust",
    "tool_name",
]

Category: TypeAlias = Literal["instruction", "knowledge", "tools", "conversation"]
ContentFormat: TypeAlias = Literal["text", "json"]
Delivery: TypeAlias = Literal["chat_message", "ask_argument"]
Trust: TypeAlias = Literal["operator", "user", "model", "tool", "external"]

TRUST_LEVELS: tuple[Trust, ...] = get_args(Trust)
"""From the most trusted to the least."""

GENERATED: Final = "policy_generated"
"""The origin of what a policy made itself."""

KINDS: Mapping[Category, tuple[str, ...]] = {
    "instruction": ("instruction", "handoff_responsibility"),
    "knowledge": ("knowledge", "memory", "summary", "structured_state"),
    "tools": (),
    "conversation": (
        "external_message",
        "assistant_message",
        "tool_message",
        "current_input",
        "current_request",
        "conversation",
    ),
}
"""The kinds that belong to a category; a policy's own items may be of others."""

RESERVED_METADATA: frozenset[str] = frozenset(
    {
        "threadline_origin",
        "context_policy_origin",
        "context_policy_item_id",
        "context_policy_semantic_category",
        "context_policy_content_format",
        "context_policy_conversation_group_id",
        "handoff_policy_category",
        "handoff_provenance",
        "selection_candidate_id",
        "selection_unit_id",
        "selection_unit_kind",
        "journal_record_id",
        "source_agent_id",
        "source_execution_id",
        "llm_call_id",
    }
)
"""Metadata keys that only the framework writes."""

_ROLES = frozenset(get_args(Role))


class Provenance(Struct, frozen=True, kw_only=True):
    """Where an item comes from.

    Attributes:
        origin: who made it: `journal`, `working`, `hook`, `handoff`, `agent_configuration`, `handoff_context`,
            `policy_generated`, `unknown`, or another name.
        content_ref: a stored content that says exactly what the item says, in the item's `content_format`; None where
            there is none, and it will be stored with the manifest.
    """

    origin: str
    content_ref: str | None = None
    record_id: str | None = None
    agent_id: str | None = None
    execution_id: str | None = None
    llm_call_id: str | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value: object = getattr(self, name)
            if not isinstance(value, str) and not (value is None and name != "origin"):
                raise _refused(f"provenance.{name}", "a string", value)
        if not self.origin:
            raise _refused("provenance.origin", "a non-empty string", self.origin)


_UNKNOWN = Provenance(origin="unknown")
_EMPTY: Any = freeze({})


class Item(Struct, frozen=True, kw_only=True):
    """What all items have.

    Attributes:
        id: unique among the items of a call.
        estimated_tokens: what it costs in the request, by the measure of the call; None counts as 0.
        required: it must be in the plan; what is required and does not fit is an error.
        provenance: also given as a mapping, or None for an unknown source.
        metadata: JSON with string keys.
        priority: the higher is chosen first; 0 for most.
        pinned: the default policy keeps it as if it were required.
        trust: how far its words may be followed; None takes the level that goes with its category and role.

    Raises:
        InvalidInputError: a value is of another type, or out of range; `fields["key"]` names it.
    """

    id: str
    estimated_tokens: int = 0
    required: bool = False
    provenance: Provenance = _UNKNOWN
    metadata: Any = _EMPTY
    priority: int = 0
    pinned: bool = False
    trust: Trust | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.id), str) or not self.id:
            raise _refused("id", "a non-empty string", self.id)
        force_setattr(self, "estimated_tokens", _count(self.estimated_tokens))
        force_setattr(self, "required", bool(self.required))
        force_setattr(self, "pinned", bool(self.pinned))
        force_setattr(self, "provenance", _provenance(self.provenance))
        force_setattr(self, "metadata", _frozen_map(self.metadata, "metadata"))
        if isinstance(cast("object", self.priority), bool) or not isinstance(cast("object", self.priority), int):
            raise _refused("priority", "an integer", self.priority)
        if self.trust is None:
            force_setattr(self, "trust", self._usual_trust())
        elif self.trust not in TRUST_LEVELS:
            raise _refused("trust", f"one of {', '.join(TRUST_LEVELS)}", self.trust)

    def _usual_trust(self) -> Trust:
        return "operator"


class TextItem(Item, frozen=True, kw_only=True):
    """An item that says something.

    Attributes:
        kind: what it is within its category.
        content: text, or a JSON value.
        content_format: None means `text` for a string, `json` for anything else.
    """

    kind: str
    role: Role
    content: Any
    content_format: ContentFormat | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(cast("object", self.kind), str) or not self.kind:
            raise _refused("kind", "a non-empty string", self.kind)
        if self.role not in _ROLES:
            raise _refused("role", f"one of {', '.join(get_args(Role))}", self.role)
        if self.content_format is None:
            force_setattr(self, "content_format", "text" if isinstance(self.content, str) else "json")
        if self.content_format not in get_args(ContentFormat):
            raise _refused("content_format", "'text' or 'json'", self.content_format)
        if self.content_format == "text" and not isinstance(self.content, str):
            raise _refused("content", "a string where content_format is 'text'", self.content)
        force_setattr(self, "content", _frozen(self.content, "content"))


class InstructionItem(TextItem, frozen=True, kw_only=True):
    """What the operator tells the model. Only these reach the system role."""

    kind: str = "instruction"
    role: Role = "system"


class KnowledgeItem(TextItem, frozen=True, kw_only=True):
    """What the model may know: shown as data with its source, whatever role it names."""

    kind: str = "knowledge"
    role: Role = "user"

    def _usual_trust(self) -> Trust:
        return "external"


class ConversationItem(TextItem, frozen=True, kw_only=True):
    """A message: its wire object in the dialect of the call (`json`), or a text.

    Attributes:
        sequence: its place in the conversation; None counts as 0.
        tool_call_id: the call that a tool message answers.
        tool_call_ids: the calls that an assistant's message makes; or all that a tool message answers, where its wire
            holds several results.
        delivery: `ask_argument` for the new input that the call is about; it is sent last.
    """

    kind: str
    role: Role
    sequence: int | None = None
    tool_call_id: str | None = None
    tool_call_ids: tuple[str, ...] = ()
    delivery: Delivery = "chat_message"

    def __post_init__(self) -> None:
        super().__post_init__()
        sequence = cast("object", self.sequence)
        if sequence is not None and (isinstance(sequence, bool) or not isinstance(sequence, int)):
            raise _refused("sequence", "an integer or None", sequence)
        if self.tool_call_id is not None and not isinstance(cast("object", self.tool_call_id), str):
            raise _refused("tool_call_id", "a string or None", self.tool_call_id)
        ids = cast("object", self.tool_call_ids)
        given = cast("tuple[object, ...]", ids or ()) if ids is None or isinstance(ids, list | tuple) else (0,)
        kept = tuple(one for one in given if one is not None)
        if not all(isinstance(one, str) for one in kept):
            raise InvalidInputError("tool_call_ids must be a tuple of strings", key="tool_call_ids")
        force_setattr(self, "tool_call_ids", kept)
        if self.delivery not in get_args(Delivery):
            raise _refused("delivery", "'chat_message' or 'ask_argument'", self.delivery)

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the calls that it makes."""
        return () if self.is_result else self.tool_call_ids

    @property
    def answers(self) -> tuple[str, ...]:
        """The ids of the calls that it answers."""
        if not self.is_result:
            return ()
        return self.tool_call_ids or ((self.tool_call_id,) if self.tool_call_id else ())

    @property
    def is_result(self) -> bool:
        """True for a message that answers calls."""
        return self.kind == "tool_message" or self.role == "tool"

    def _usual_trust(self) -> Trust:
        if self.is_result:
            return "tool"
        return "user" if self.role == "user" else "model" if self.role == "assistant" else "operator"


class ToolItem(Item, frozen=True, kw_only=True):
    """A tool: its definition, in the dialect of the call or as `name`, `description` and `parameters`."""

    definition: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        force_setattr(self, "definition", _frozen_map(self.definition, "definition"))
        if not self.name:
            raise InvalidInputError(f"tool {self.id}: its definition has no name", key="definition", item=self.id)

    @property
    def name(self) -> str:
        """The name that a call of it says."""
        return tool_name(self.definition)


def tool_name(definition: Mapping[str, Any]) -> str:
    """The name in a tool's definition; a provider's own tool goes by its type; empty where there is none."""
    for held in (definition, definition.get("function"), definition.get("custom")):
        if isinstance(held, Mapping):
            name: object = cast("Mapping[str, Any]", held).get("name")
            if isinstance(name, str) and name:
                return name
    kind: object = definition.get("type")
    return kind if isinstance(kind, str) and kind not in ("function", "custom") and "name" not in definition else ""


def _refused(key: str, expected: str, value: object) -> InvalidInputError:
    return InvalidInputError(f"{key} must be {expected}, not {type(value).__name__}", key=key)


def _count(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _refused("estimated_tokens", "an integer of at least 0", value)
    return value


def _provenance(value: object) -> Provenance:
    match value:
        case None:
            return _UNKNOWN
        case Provenance():
            return value
        case Mapping():
            held = cast("Mapping[str, Any]", value)
            if unknown := [key for key in held if key not in Provenance.__struct_fields__]:
                raise InvalidInputError(f"provenance has no field {unknown[0]!r}", key="provenance")
            if "origin" not in held:
                raise InvalidInputError("provenance must name its origin", key="provenance")
            return Provenance(**held)
        case _:
            raise _refused("provenance", "a Provenance, a mapping or None", value)


def _frozen(value: Any, key: str) -> Any:
    try:
        return freeze(value)
    except SerializationError as error:
        raise InvalidInputError(f"{key}: {error}", key=key) from error


def _frozen_map(value: Any, key: str) -> Any:
    if value is not None and not isinstance(value, Mapping):
        raise _refused(key, "a mapping with string keys", value)
    return _frozen(cast("Any", value) or {}, key)
