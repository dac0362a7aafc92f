"""`DefaultPolicy`: the newest of the conversation and the knowledge that fits, its beginning kept while it can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

from threadline.context.budget import TokenBudget
from threadline.context.input import ContextPolicyInput
from threadline.context.items import ConversationItem, Item, KnowledgeItem
from threadline.context.layout import APART, SYSTEM_ROLES
from threadline.context.plan import ContextPlan, Omission, OmissionReason
from threadline.context.policy import ContextPolicy
from threadline.context.reduction import reduced, source_of
from threadline.errors import ContextBudgetExceededError, InvalidInputError

__all__ = ["DefaultPolicy"]

Group: TypeAlias = tuple[ConversationItem, ...]

_LAST = 1 << 62

_PARTS = 1_000_000
"""Shares are taken in whole millionths, so that the arithmetic is exact."""


class DefaultPolicy(ContextPolicy):
    """Keeps what is required, then shares what is left between the conversation, newest first, and knowledge.

    Without a manifest of the call before, optional groups are taken from the newest back until one does not fit; what
    one side does not use goes to the other. With one, what it showed stays, and what is new is added, so that the
    request begins as the one before; when that no longer fits, the window moves once, down to the low-water mark.

    Args:
        conversation_share: of what required items leave, for the conversation; the rest is for knowledge.
        low_water: share of its room that the conversation comes down to when the window moves.
        pressed_tokens: size that the tool results of a group are cut down to before the group is left out; None leaves
            groups as they are.

    Raises:
        InvalidInputError: a share is not between 0 and 1, or `pressed_tokens` is below 1.
    """

    def __init__(
        self, *, conversation_share: float = 0.6, low_water: float = 0.75, pressed_tokens: int | None = 500
    ) -> None:
        for name, share in (("conversation_share", conversation_share), ("low_water", low_water)):
            if isinstance(cast("object", share), bool) or not 0 <= share <= 1:
                raise InvalidInputError(f"{name} must be between 0 and 1", key=name)
        if pressed_tokens is not None and pressed_tokens < 1:
            raise InvalidInputError("pressed_tokens must be at least 1", key="pressed_tokens")
        self.conversation_share = conversation_share
        self.low_water = low_water
        self.pressed_tokens = pressed_tokens

    def __call__(self, input: ContextPolicyInput) -> ContextPlan:
        """The plan for a call; see the class.

        Raises:
            InvalidInputError: the input is no `ContextPolicyInput`.
            ContextBudgetExceededError: what is required or pinned does not fit; lists it by size.
        """
        if not isinstance(cast("object", input), ContextPolicyInput):
            raise InvalidInputError("a policy takes a ContextPolicyInput", rule="V1")
        if input.token_budget is None:
            return self.plan(
                instruction=input.instruction,
                knowledge=input.knowledge,
                tools=input.tools,
                conversation=input.conversation,
                metadata={"default_policy": True},
                reasons={item.id: "no_budget" for item in input.items()},
            )
        return _Selection(self, input, input.token_budget).plan()


class _Selection:
    """One call's choice; `_left` is what has not been given away yet."""

    def __init__(self, policy: DefaultPolicy, input: ContextPolicyInput, budget: TokenBudget) -> None:
        self._policy = policy
        self._input = input
        self._groups: list[Group] = sorted(input.conversation, key=_key)  # stable: equal keys keep their order
        self._optional = [index for index, group in enumerate(self._groups) if not any(map(_is_kept, group))]
        self._fixed = self._fixed_tokens(budget.max_input_tokens)
        self._room = budget.max_input_tokens - input.overhead_tokens - self._fixed
        self._left = self._room
        self._run_places = _places_of_run(input)
        self._form: dict[int, Group] = {}
        self._taken: dict[int, Group] = {}
        self._known: set[str] = set()
        self._reasons: dict[str, str] = {}
        self._omitted: dict[str, OmissionReason] = {}
        self._moved: dict[str, Any] = {}

    def plan(self) -> ContextPlan:
        shown = _shown(self._input)
        kept = [index for index in self._optional if _first_id(self._groups[index]) in shown]
        if kept:
            self._stay(shown, kept[0])
        else:
            self._begin()
        if self._input.dialect in APART:
            self._lead_with_a_user()
        return self._made()

    def _fixed_tokens(self, limit: int) -> int:
        groups = set(self._optional)
        required: list[Item] = [*self._input.instruction, *self._input.tools]
        required += [item for item in self._input.knowledge if item.required or item.pinned]
        required += [item for index, group in enumerate(self._groups) if index not in groups for item in group]
        fixed = sum(item.estimated_tokens for item in required)
        overhead = self._input.overhead_tokens
        if fixed + overhead > limit:
            parts = [(item.id, item.estimated_tokens) for item in required]
            parts += [("overhead", overhead)] if overhead else []
            largest = tuple(sorted(parts, key=lambda part: -part[1]))
            raise ContextBudgetExceededError(required=fixed + overhead, max_input_tokens=limit, parts=largest)
        return fixed

    # Without a manifest of the call before

    def _begin(self) -> None:
        """Each side takes its share; then the conversation, and after it knowledge, take what is left of both."""
        facts = self._facts()
        if self._run_places is not None:  # the run's knowledge is fixed: it does not compete
            facts = self._learn(facts, self._room, "stays")
        conversation_room = _share(self._left, self._policy.conversation_share)
        knowledge_room = self._left - conversation_room
        older = self._walk(self._optional, conversation_room, "share")
        skipped = self._learn(facts, knowledge_room, "share")
        older = self._walk(older, self._left, "spill")
        older = self._walk(older, self._left, "spill", reduce=True)
        skipped = self._learn(skipped, self._left, "spill")
        self._leave_out(older, skipped)

    # With one

    def _stay(self, shown: dict[str, int | None], start: int) -> None:
        """What was shown stays and what is new is added; or the window moves down to the low-water mark."""
        knowledge_room = self._room - _share(self._room, self._policy.conversation_share)
        skipped = self._learn(self._facts(), self._room if self._run_places else knowledge_room, "share")
        room = self._left
        left_out = self._left_out_before()
        for index in self._optional:
            group = self._groups[index]
            if _first_id(group) in shown:
                self._form[index] = self._as_shown(group, shown[_first_id(group)])
                self._take(index, self._form[index], "stays")
            elif _first_id(group) in left_out:
                self._omitted[_first_id(group)] = "left_out_before"
            else:
                self._take(index, group, "new")
        if self._left < 0:
            self._move(room)
        # Knowledge may spill into what is left only as far as the conversation has room to grow.
        spare = _share(self._room, self._policy.low_water) - (self._room - self._left)
        skipped = self._learn(skipped, max(0, min(self._left, spare)), "spill")
        self._leave_out([i for i in self._optional if i not in self._taken and i >= start], skipped)

    def _move(self, room: int) -> None:
        """The window again, of what it holds, within the low-water mark; a newest group above it stays if it can."""
        candidates = sorted(self._taken)
        low = _share(room, self._policy.low_water)
        newest = _cost(self._taken[candidates[-1]])
        for index in candidates:
            self._drop(index)
        self._walk(candidates, newest if low < newest <= room else low, "window", reduce=True)
        starts = [_first_id(self._groups[min(held)]) if held else None for held in (candidates, self._taken)]
        self._moved = {"window_moved": {"from": starts[0], "to": starts[1]}}

    def _left_out_before(self) -> set[str]:
        previous = self._input.previous_manifest
        return {omission.item_id for omission in previous.omissions} if previous else set()

    def _as_shown(self, group: Group, cap: int | None) -> Group:
        return group if cap is None else reduced(group, cap, self._input) or group

    def _facts(self) -> list[KnowledgeItem]:
        """The knowledge to choose from. Within a run it is fixed: what is new waits for the next run."""
        facts = [item for item in self._input.knowledge if not (item.required or item.pinned)]
        places = self._run_places
        if places is None:
            return facts
        for item in facts:
            if item.id not in places and item.provenance.origin != "hook":
                self._omitted[item.id] = "fixed_for_run"
        fixed = [item for item in facts if item.id not in self._omitted]
        return sorted(fixed, key=lambda item: places.get(item.id, _LAST))

    def _lead_with_a_user(self) -> None:
        """Where a user must speak first, what the window begins with before that is left out."""
        optional = set(self._optional)
        for index, group in enumerate(self._groups):
            if index in optional and index not in self._taken:
                continue
            if index not in optional or (group[0].role == "user" and not group[0].is_result):
                return
            self._drop(index)
            self._omitted[_first_id(group)] = "first"

    # Taking

    def _walk(self, indices: Sequence[int], room: int, reason: str, *, reduce: bool = False) -> list[int]:
        """Takes groups, the highest priority first, of equals the newest, until one does not fit; gives back the rest.

        Nothing older than what did not fit is taken instead of it: within a priority the window has no holes.
        """
        rest: list[int] = []
        for level in _levels(indices, self._groups):
            for place, index in enumerate(level):
                group = self._form.get(index, self._groups[index])
                if _cost(group) > room and reduce and self._policy.pressed_tokens is not None:
                    group = reduced(self._groups[index], self._policy.pressed_tokens, self._input) or group
                if _cost(group) > room:
                    rest += level[place:]
                    break
                room -= _cost(group)
                self._take(index, group, reason)
        return sorted(rest)

    def _take(self, index: int, group: Group, reason: str) -> None:
        self._taken[index] = group
        self._left -= _cost(group)
        for item in group:
            self._reasons[item.id] = reason

    def _drop(self, index: int) -> None:
        self._left += _cost(self._taken[index])
        for item in self._taken.pop(index):
            del self._reasons[item.id]

    def _learn(self, items: Iterable[KnowledgeItem], room: int, reason: str) -> list[KnowledgeItem]:
        """Takes knowledge in the order of priority and input, what fits; gives back what was skipped."""
        skipped: list[KnowledgeItem] = []
        for item in sorted(items, key=lambda item: -item.priority):
            if item.estimated_tokens <= room:
                room -= item.estimated_tokens
                self._left -= item.estimated_tokens
                self._known.add(item.id)
                self._reasons[item.id] = reason
            else:
                skipped.append(item)
        return skipped

    def _leave_out(self, groups: Sequence[int], knowledge: Iterable[KnowledgeItem]) -> None:
        """Of each priority the newest left out is the one that did not fit; the others are behind it."""
        for level in _levels(groups, self._groups):
            for place, index in enumerate(level):
                self._omitted.setdefault(_first_id(self._groups[index]), "window" if place else "budget")
        for item in knowledge:
            self._omitted.setdefault(item.id, "budget")

    # The plan

    def _made(self) -> ContextPlan:
        optional = set(self._optional)
        conversation = [
            self._taken[index] if index in optional else group
            for index, group in enumerate(self._groups)
            if index not in optional or index in self._taken
        ]
        return ContextPlan(
            instruction=self._input.instruction,
            knowledge=tuple(self._knowledge()),
            tools=self._input.tools,
            conversation=tuple(conversation),
            metadata={
                "default_policy": True,
                "estimated_fixed_tokens": self._fixed,
                "estimated_unused_tokens": self._left,
                **self._moved,
            },
            omissions=tuple(self._omissions()),
            reasons=self._reasons,
        )

    def _knowledge(self) -> Iterator[KnowledgeItem]:
        """In the order of the input; within a run, as the run began."""
        items: Sequence[KnowledgeItem] = self._input.knowledge
        if places := self._run_places:
            items = sorted(items, key=lambda item: places.get(item.id, _LAST))
        for item in items:
            if item.required or item.pinned or item.id in self._known:
                yield item

    def _omissions(self) -> Iterator[Omission]:
        for item in self._input.knowledge:
            if (reason := self._omitted.get(item.id)) is not None and item.id not in self._known:
                yield _omission(item, "knowledge", reason)
        for index in self._optional:
            group = self._groups[index]
            taken = self._taken.get(index)
            if taken is group:
                continue
            reason = "reduced" if taken is not None else self._omitted[_first_id(group)]
            for item in group:
                yield _omission(item, "conversation", reason)


def _omission(item: Item, category: Any, reason: OmissionReason) -> Omission:
    return Omission(item_id=item.id, category=category, reason=reason, tokens=item.estimated_tokens)


def _key(group: Group) -> int:
    return min((item.sequence for item in group if item.sequence is not None), default=0)


def _cost(group: Group) -> int:
    return sum(item.estimated_tokens for item in group)


def _first_id(group: Group) -> str:
    return group[0].id


def _is_kept(item: ConversationItem) -> bool:
    """Required, pinned, or an instruction that stands in the conversation."""
    return item.required or item.pinned or item.role in SYSTEM_ROLES


def _share(tokens: int, share: float) -> int:
    return tokens * round(share * _PARTS) // _PARTS


def _levels(indices: Iterable[int], groups: Sequence[Group]) -> list[list[int]]:
    """Group numbers by priority, the highest first, each level from the newest back."""
    levels: dict[int, list[int]] = {}
    for index in sorted(indices, reverse=True):
        levels.setdefault(max(item.priority for item in groups[index]), []).append(index)
    return [levels[priority] for priority in sorted(levels, reverse=True)]


def _shown(input: ContextPolicyInput) -> dict[str, int | None]:
    """The messages of the call before by id, with the cap of those that were reduced; none where its cache is void.

    Another model or dialect has nothing of it cached, so nothing is gained by keeping to it.
    """
    previous = input.previous_manifest
    if previous is None or previous.dialect != input.dialect or previous.model != input.model_config.get("model"):
        return {}
    shown: dict[str, int | None] = {}
    for segment in previous.segments:
        if segment.category == "conversation":
            cap, item_id = source_of(segment.item_id) or (None, segment.item_id)
            shown[item_id] = cap
    return shown


def _places_of_run(input: ContextPolicyInput) -> dict[str, int] | None:
    """Where the knowledge of an earlier call of the same run stood, by id; None for the first call of a run."""
    previous = input.previous_manifest
    if previous is None or previous.execution_id is None or previous.execution_id != input.execution_id:
        return None
    return {segment.item_id: segment.position for segment in previous.segments if segment.category == "knowledge"}
