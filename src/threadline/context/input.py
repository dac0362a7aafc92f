"""`ContextPolicyInput`: all that a policy sees of a call; and how messages are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.context.budget import TokenBudget
from threadline.context.items import (
    ConversationItem,
    InstructionItem,
    Item,
    KnowledgeItem,
    ToolItem,
)
from threadline.context.manifest import LLMInputManifest
from threadline.errors import InvalidInputError, SerializationError
from threadline.journal.frozen import freeze
from threadline.messages.message import Dialect, known_dialect
from threadline.tokens.measure import Measure

__all__ = ["CallMode", "ContextPolicyInput", "group_items"]

CallMode: TypeAlias = Literal["ask", "complete"]

_EMPTY: Any = freeze({})


class ContextPolicyInput(Struct, frozen=True, kw_only=True):
    """All that a policy sees of a call: values only, immutable to the bottom.

    Attributes:
        call_sequence: which model call of the run this is, from 1.
        call_mode: `ask` when the call is about a new input (an item delivered as `ask_argument`), `complete` when the
            conversation itself asks.
        conversation: groups that stay or go together, in the order of the conversation; none is empty.
        token_budget: None for no limit.
        model_config: `model`, `temperature`, `max_output_tokens` and the like.
        previous_manifest: of the call before, which a policy may keep to, so that a provider's cache holds.
        overhead_tokens: what comes once a request and is no item: the frame, the response format.
        dialect: in which conversation items are written.
        measure: what `estimated_tokens` were counted with; for what a policy makes itself.

    Raises:
        InvalidInputError: a value is of another type or out of range; `fields["key"]` names it.
    """

    agent_id: str
    execution_id: str | None = None
    call_sequence: int = 1
    call_mode: CallMode
    instruction: tuple[InstructionItem, ...] = ()
    knowledge: tuple[KnowledgeItem, ...] = ()
    tools: tuple[ToolItem, ...] = ()
    conversation: tuple[tuple[ConversationItem, ...], ...] = ()
    token_budget: TokenBudget | None = None
    model_config: Any = _EMPTY
    previous_manifest: LLMInputManifest | None = None
    metadata: Any = _EMPTY
    overhead_tokens: int = 0
    dialect: Dialect = "plain"
    measure: Measure | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.agent_id), str) or not self.agent_id:
            raise InvalidInputError("agent_id must be a non-empty string", key="agent_id")
        sequence = cast("object", self.call_sequence)
        if isinstance(sequence, bool) or not isinstance(sequence, int) or sequence <= 0:
            raise InvalidInputError("call_sequence must be an integer of at least 1", key="call_sequence")
        if self.call_mode not in get_args(CallMode):
            raise InvalidInputError("call_mode must be 'ask' or 'complete'", key="call_mode")
        known_dialect(self.dialect)
        for key, kind in (("instruction", InstructionItem), ("knowledge", KnowledgeItem), ("tools", ToolItem)):
            force_setattr(self, key, _all_of(kind, getattr(self, key), key))
        force_setattr(self, "conversation", _groups(self.conversation))
        if not isinstance(cast("object", self.token_budget), TokenBudget | None):
            raise InvalidInputError("token_budget must be a TokenBudget or None", key="token_budget")
        if not isinstance(cast("object", self.previous_manifest), LLMInputManifest | None):
            raise InvalidInputError("previous_manifest must be an LLMInputManifest or None", key="previous_manifest")
        overhead = cast("object", self.overhead_tokens)
        if isinstance(overhead, bool) or not isinstance(overhead, int) or overhead < 0:
            raise InvalidInputError("overhead_tokens must be an integer of at least 0", key="overhead_tokens")
        for key in ("model_config", "metadata"):
            force_setattr(self, key, _frozen_map(getattr(self, key), key))

    @property
    def limit(self) -> int | None:
        """The tokens that all items together may take; None for no limit."""
        return None if self.token_budget is None else self.token_budget.available(self.overhead_tokens)

    def items(self) -> Iterable[Item]:
        """Every item of every category."""
        yield from self.instruction
        yield from self.knowledge
        yield from self.tools
        for group in self.conversation:
            yield from group


def group_items(items: Iterable[ConversationItem]) -> tuple[tuple[ConversationItem, ...], ...]:
    """Conversation items as groups: an assistant's message with the messages that answer all its calls; others alone.

    Items are sorted by sequence, then id; a group stands where its first member does. An id whose call was answered may
    be used again: that opens a new group.

    Raises:
        InvalidInputError: a tool message names no call, answers none, or one that is answered already; a call has no
            answer or stands twice in one message. `fields["item"]` names the item.
    """
    grouping = _Grouping()
    for item in sorted(items, key=lambda item: (item.sequence or 0, item.id)):
        if item.is_result:
            grouping.answer(item)
        else:
            grouping.open(item)
    return grouping.finish()


class _Grouping:
    """Groups under way; every group is a list of `(place, item)`, emptied when it is joined to another."""

    def __init__(self) -> None:
        self._groups: list[list[tuple[int, ConversationItem]]] = []
        self._home: dict[int, int] = {}  # the group of an asker, by its place
        self._waiting: dict[str, list[tuple[int, ConversationItem]]] = {}
        self._answered: set[str] = set()
        self._count = 0

    def open(self, item: ConversationItem) -> None:
        """Begin a group."""
        if len(set(item.calls)) != len(item.calls):
            raise _broken(item, "makes two calls of one id")
        self._home[self._count] = len(self._groups)
        self._groups.append([(self._count, item)])
        for call in item.calls:
            self._waiting.setdefault(call, []).append((self._count, item))
        self._count += 1

    def answer(self, item: ConversationItem) -> None:
        """Join the group, or groups, whose calls it answers: of each id the nearest before it that waits."""
        if not item.answers:
            raise _broken(item, "is a tool message that names no call")
        askers: list[int] = []
        for call in item.answers:
            if not (opened := self._waiting.get(call)):
                again = call in self._answered
                raise _broken(item, f"answers {'a call that is answered already' if again else 'no call before it'}")
            askers.append(opened.pop()[0])
            self._answered.add(call)
        home, *others = sorted({self._home[asker] for asker in askers})
        for other in others:
            self._groups[home] += self._groups[other]
            self._groups[other].clear()
            self._home = {asker: home if at == other else at for asker, at in self._home.items()}
        self._groups[home].append((self._count, item))
        self._count += 1

    def finish(self) -> tuple[tuple[ConversationItem, ...], ...]:
        """The groups, none of which waits."""
        for opened in self._waiting.values():
            for _, asker in opened:
                raise _broken(asker, "makes a call that has no answer")
        return tuple(tuple(item for _, item in sorted(group, key=_place)) for group in self._groups if group)


def _place(placed: tuple[int, ConversationItem]) -> int:
    return placed[0]


def _broken(item: ConversationItem, why: str) -> InvalidInputError:
    return InvalidInputError(f"item {item.id} {why}", item=item.id, key="conversation")


def _all_of(kind: type[Item], value: object, key: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidInputError(f"{key} must be a tuple of {kind.__name__}", key=key)
    items = tuple(cast("list[object]", value))
    for index, item in enumerate(items):
        if not isinstance(item, kind):
            raise InvalidInputError(
                f"{key} {index} must be a {kind.__name__}, not {type(item).__name__}", key=key, index=index
            )
    return items


def _groups(value: object) -> tuple[tuple[ConversationItem, ...], ...]:
    if not isinstance(value, list | tuple):
        raise InvalidInputError("conversation must be a tuple of groups", key="conversation")
    groups: list[tuple[ConversationItem, ...]] = []
    for index, group in enumerate(cast("list[object]", value)):
        items = _all_of(ConversationItem, group, f"conversation.{index}")
        if not items:
            raise InvalidInputError(f"conversation group {index} is empty", key="conversation", index=index)
        groups.append(items)
    return tuple(groups)


def _frozen_map(value: object, key: str) -> Any:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{key} must be a mapping", key=key)
    try:
        return freeze(value)
    except SerializationError as error:
        raise InvalidInputError(f"{key}: {error}", key=key) from error
