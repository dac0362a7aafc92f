"""One compaction under pressure: the least harm first, down to the low-water mark, and never by splitting a group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from threadline.errors import ContextBudgetExceededError
from threadline.messages.elision import Insertion
from threadline.messages.groups import Group
from threadline.messages.message import Message
from threadline.transcript.arrival import ResultState, holds_results
from threadline.transcript.ledger import Ledger, Rendering
from threadline.transcript.policy import FitPolicy
from threadline.transcript.repair import bridge
from threadline.transcript.summary import summarise
from threadline.transcript.supersede import stale_results

__all__ = ["is_kept", "relieve", "required_groups"]

_CLEARED_TOKENS = 24
"""About what a cleared result still costs, frame included; only to guess how many steps are needed."""

_HEADER_TOKENS = 12
"""What a summary costs at least, frame included."""

_Kind: TypeAlias = Literal["superseded", "pressed", "cleared", "dropped"]
_Step: TypeAlias = tuple[_Kind, tuple[int, ...]]


def relieve(ledger: Ledger, max_input_tokens: int) -> None:
    """Bring what is shown below the budget, at best down to the low-water mark.

    Steps, each from the oldest message on: clear stale results; cut long results down; clear results; leave whole
    groups to the summary. Then the same for the newest messages, as far as the budget demands. Nothing changes when it
    fails.

    Raises:
        ContextBudgetExceededError: what is required does not fit; lists it by size.
    """
    policy = ledger.policy
    high = int(max_input_tokens * (1 - policy.min_gain))
    _Relief(ledger, max_input_tokens).run(low=min(int(max_input_tokens * policy.low_water), high), high=high)


class _Relief:
    def __init__(self, ledger: Ledger, max_input_tokens: int) -> None:
        self._ledger = ledger
        self._budget = max_input_tokens
        self._states: dict[int, ResultState] = dict(ledger.states)
        self._dropped: set[int] = set()
        self._guess = dict(ledger.costs)
        policy = ledger.policy
        self._summary_cap = min(policy.max_summary_tokens, int(policy.summary_share * max_input_tokens))
        groups = ledger.grouper.groups(ledger.shown)
        required = required_groups(groups, ledger)
        self._free = [self._shown(group) for group in groups if group not in required]
        self._recent = self._recent_start()
        self._newest = self._shown(groups[-1]) if groups else ()

    def _shown(self, group: Group) -> tuple[int, ...]:
        """Its messages without those that a repair took out of view."""
        return tuple(index for index in group.indices if index in self._guess)

    def run(self, low: int, high: int) -> None:
        latest = self._ledger.policy.keep == "latest"  # shown the other way round from now on
        rendering = self._render() if latest else self._ledger.rendering()
        rendering = self._take(self._steps(newest=False), low, rendering)
        if self._total(rendering) > high:
            rendering = self._take(self._steps(newest=True), high, rendering)
        self._finish(rendering)

    def _take(self, steps: Iterator[_Step], goal: int, rendering: Rendering) -> Rendering:
        """Take steps until the goal is met or none are left; what is gained is guessed, then measured."""
        patience = 1.0
        while (over := self._total(rendering) - goal) > 0:
            wanted, gained = over * patience, 0
            for step in steps:
                gained += self._apply(step)
                if gained >= wanted:
                    break
            if not gained:
                break
            rendering = self._render()
            self._guess.update(rendering.costs)
            patience *= 1.5  # copies of what was dropped show up again: guesses run low
        return rendering

    def _steps(self, *, newest: bool) -> Iterator[_Step]:
        ledger = self._ledger
        policy = ledger.policy
        groups = [group for group in self._free if (group[-1] >= self._recent) == newest]
        results = [index for group in groups for index in group if holds_results(ledger.messages[index])]
        if newest:  # the results just given are cut down, not cleared
            results += [index for index in self._newest if holds_results(ledger.messages[index])]
        if policy.supersede and not newest:
            shown = [(index, ledger.messages[index]) for index in ledger.shown]
            stale = stale_results(shown, policy)
            for index in results:
                if index in stale:
                    yield "superseded", (index,)
        for index in results:
            yield "pressed", (index,)
        for index in results:
            if index not in self._newest:
                yield "cleared", (index,)
        for group in groups:
            yield "dropped", group

    def _apply(self, step: _Step) -> int:
        kind, indices = step
        gained = 0
        for index in indices:
            cost = self._guess[index]
            if kind == "dropped":
                self._dropped.add(index)
                gained += cost
                continue
            if self._states.get(index) in ("cleared", "superseded"):
                continue
            left = self._ledger.policy.pressed_tokens if kind == "pressed" else _CLEARED_TOKENS
            if cost <= left:
                continue
            self._states[index] = kind
            self._guess[index] = left
            gained += cost - left
        return gained

    def _render(self) -> Rendering:
        staying = [index for index in self._ledger.shown if index not in self._dropped]
        latest = self._ledger.policy.keep == "latest"
        return self._ledger.render(staying, states=self._states, keep_latest=latest)

    def _total(self, rendering: Rendering) -> int:
        """With the most that the summary may cost."""
        old = self._ledger.summary
        if self._dropped:
            reserve = min(self._summary_cap, self._replaced())
            return self._ledger.total_of(rendering, self._dropped, None) + reserve
        return self._ledger.total_of(rendering, self._dropped, old)

    def _replaced(self) -> int:
        old = self._ledger.summary
        return sum(self._ledger.costs[index] for index in self._dropped) + (old[1] if old else 0)

    def _finish(self, rendering: Rendering) -> None:
        ledger = self._ledger
        summary = ledger.summary
        if self._dropped and self._replaced() <= _HEADER_TOKENS:
            self._dropped.clear()  # a summary would cost as much as what it stands for
            rendering = self._render()
        if self._dropped:
            room = self._budget - ledger.total_of(rendering, self._dropped, None)
            places = sorted(self._dropped)
            left_out = [ledger.messages[index] for index in places]
            before = places[0]
            if summary is not None:
                left_out.insert(0, summary[0].message)
                before = min(before, summary[0].before)
            message = summarise(
                left_out,
                max_tokens=min(self._summary_cap, self._replaced(), room),
                measure=ledger.measure,
                dialect=left_out[0].dialect,
                write=ledger.policy.summarise,
            )
            summary = (Insertion(before=before, message=message, label="summary"), ledger.measure.message(message))
        bridges = self._bridges(summary[0].before if summary else None)
        required = ledger.total_of(rendering, self._dropped, summary) + sum(cost for _, cost in bridges)
        if required > self._budget:
            raise self._impossible(rendering, required)
        ledger.commit(self._dropped, rendering, self._states, summary)
        ledger.bridge(bridges)

    def _bridges(self, summary_before: int | None) -> list[tuple[Insertion, int]]:
        """Google refuses a call behind another model turn: where a user turn between them was dropped, say so."""
        ledger = self._ledger
        if not self._dropped or ledger.messages[0].dialect != "google":
            return []
        bridges: list[tuple[Insertion, int]] = []
        staying = [index for index in ledger.shown if index not in self._dropped]
        for before, index in pairwise(staying):
            calls = ledger.messages[index].tool_calls and ledger.messages[before].role == "assistant"
            parted = any(at in self._dropped for at in range(before + 1, index))
            if calls and parted and not (summary_before is not None and before < summary_before <= index):
                insertion = bridge(index)
                bridges.append((insertion, ledger.measure.message(insertion.message)))
        return bridges

    def _recent_start(self) -> int:
        """Where the newest messages begin that are touched last."""
        room = int(self._ledger.policy.recent_share * self._budget)
        for index in reversed(self._ledger.shown):
            room -= self._guess[index]
            if room < 0:
                return index + 1
        return 0

    def _impossible(self, rendering: Rendering, required: int) -> ContextBudgetExceededError:
        """Everything that could go is gone; what is left, by size."""
        ledger = self._ledger
        parts = [(f"message {index} ({ledger.messages[index].role})", cost) for index, cost in rendering.costs.items()]
        parts.append(("system, tools and overhead", ledger.fixed))
        parts.append(("summary and repairs", required - ledger.fixed - rendering.total))
        parts = sorted((part for part in parts if part[1]), key=lambda part: (-part[1], part[0]))
        return ContextBudgetExceededError(required=required, max_input_tokens=self._budget, parts=tuple(parts))


def required_groups(groups: list[Group], ledger: Ledger) -> list[Group]:
    """What stays word for word: instructions, pinned messages, the last user turn, pending calls, the newest group."""
    policy, messages = ledger.policy, ledger.messages
    last_turn = next((at for at in reversed(ledger.shown) if messages[at].is_user_turn), -1)

    def is_required(group: Group) -> bool:
        return (
            group.state == "pending"
            or group is groups[-1]
            or last_turn in group.indices
            or any(is_kept(messages[index], policy) for index in group.indices)
        )

    return [group for group in groups if is_required(group)]


def is_kept(message: Message, policy: FitPolicy) -> bool:
    """Whether a message stays word for word, whatever happens: instructions, and what the policy pins."""
    if message.role in ("system", "developer"):
        return True
    if policy.pinned is not None and policy.pinned(message):
        return True
    return any(result.name in policy.pinned_tools for result in message.tool_results)
