"""`Group`: messages that stay or go together, because a tool call and its results must not be parted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from threadline.messages.message import Message
from threadline.messages.parts import TextPart, ToolCallPart

__all__ = ["DEAD_AFTER", "Group", "GroupState", "Grouper", "group_messages"]

GroupState: TypeAlias = Literal["plain", "answered", "pending", "dead", "orphan"]

DEAD_AFTER = 1
"""How many later turns (a user's or an assistant's message) make an unanswered call dead: it went on without it."""


class Group(Struct, frozen=True, kw_only=True):
    """An indivisible run of messages.

    Attributes:
        indices: positions in the message list, ascending; messages of others may stand between them.
        state: `plain` (no calls), `answered`, `pending` (calls wait for results), `dead` (nobody will answer),
            `orphan` (no call).
        open_calls: the unanswered calls of a pending or dead group.
    """

    indices: tuple[int, ...]
    state: GroupState
    open_calls: tuple[ToolCallPart, ...] = ()


class _Draft:
    __slots__ = ("has_calls", "has_orphans", "indices", "later_turns", "open")

    def __init__(self, index: int) -> None:
        self.indices = [index]
        self.open: dict[tuple[int, int], ToolCallPart] = {}
        self.has_calls = False
        self.has_orphans = False
        self.later_turns = 0


class Grouper:
    """Groups messages as they arrive, in constant time each.

    A result closes the nearest preceding open call with its id; an id used again opens a new group. In the Responses
    dialect the items of one assistant turn (reasoning, messages, calls) are one group, since a reasoning item without
    the item that follows it is refused.
    """

    def __init__(self, dead_after: int = DEAD_AFTER) -> None:
        self._dead_after = dead_after
        self._drafts: list[_Draft] = []
        self._of_message: list[_Draft | None] = []
        self._open: dict[str, list[tuple[_Draft, tuple[int, int]]]] = {}
        self._waiting: list[_Draft] = []
        self._dying: list[_Draft] = []
        self._last_item: tuple[Message, _Draft] | None = None
        self._links: list[tuple[int | None, ...]] = []

    def __len__(self) -> int:
        return len(self._of_message)

    def feed(self, message: Message) -> None:
        """Take the next message."""
        index = len(self._of_message)
        if message.dialect != "responses" and len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
            self._of_message.append(None)  # most messages: nothing to pair
            self._links.append(())
            self._pass_turn(message, None)
            return
        calls, results = message.tool_calls, message.tool_results
        closed = [self._close(result.call_id) for result in results]
        joined = [opened[0] for opened in closed if opened is not None]
        self._links.append(tuple(opened and opened[1] for opened in closed))
        if self._continues_turn(message):
            joined.append(self._last_item[1] if self._last_item else _Draft(index))
        draft = self._merge(joined, index) if joined else _Draft(index)
        self._of_message.append(draft)
        draft.has_orphans = draft.has_orphans or (bool(results) and None in closed)
        for number, call in enumerate(calls):
            draft.has_calls = True
            draft.open[index, number] = call
            self._open.setdefault(call.id, []).append((draft, (index, number)))
        self._pass_turn(message, draft)
        if calls and draft not in self._waiting:
            self._waiting.append(draft)
        self._last_item = (message, draft)

    def _pass_turn(self, message: Message, own: _Draft | None) -> None:
        """The calls that wait have seen one more turn."""
        if not self._waiting or not (message.role == "assistant" or message.is_user_turn):
            return
        for waiting in self._waiting:
            if waiting is not own:
                waiting.later_turns += 1
        self._dying += (w for w in self._waiting if w.open and w.later_turns >= self._dead_after)
        self._waiting = [w for w in self._waiting if w.open and w.later_turns < self._dead_after]

    def links(self, index: int) -> tuple[int | None, ...]:
        """For each result of a message, the message whose call it answers; None for a result without a call."""
        return self._links[index]

    def dead_calls(self) -> list[tuple[int, ToolCallPart]]:
        """The calls that have just died, each with its message; asking again does not give them a second time.

        A result that comes for one later is without a call.
        """
        dead: list[tuple[int, ToolCallPart]] = []
        for draft in self._dying:
            if draft.later_turns < self._dead_after:
                continue
            for place, call in sorted(draft.open.items(), key=lambda item: item[0]):
                dead.append((place[0], call))
                self._open[call.id].remove((draft, place))
            draft.open.clear()
        self._dying = [draft for draft in self._dying if draft.open]
        return dead

    def open_calls(self) -> list[tuple[int, ToolCallPart]]:
        """The calls that wait for a result, each with its message."""
        drafts = {id(draft): draft for draft in self._of_message if draft is not None}.values()
        return [(index, call) for draft in drafts for (index, _), call in draft.open.items()]

    def groups(self, indices: Iterable[int] | None = None) -> list[Group]:
        """The groups that the messages at `indices` are in (None: all), in the order of their first message."""
        seen: set[int] = set()
        out: list[Group] = []
        for index in range(len(self)) if indices is None else indices:
            draft = self._of_message[index]
            if draft is None:
                out.append(Group(indices=(index,), state="plain"))
            elif id(draft) not in seen:
                seen.add(id(draft))
                open_calls = tuple(draft.open.values())
                out.append(Group(indices=tuple(draft.indices), state=self._state(draft), open_calls=open_calls))
        return out

    def _continues_turn(self, message: Message) -> bool:
        if message.dialect != "responses" or message.role != "assistant" or self._last_item is None:
            return False
        last, _ = self._last_item
        return last.dialect == "responses" and last.role == "assistant"

    def _close(self, call_id: str) -> tuple[_Draft, int] | None:
        """The group and the message of the nearest preceding open call with this id, which is closed thereby."""
        opened = self._open.get(call_id)
        if not opened:
            return None
        draft, place = opened.pop()
        del draft.open[place]
        return draft, place[0]

    def _merge(self, drafts: Sequence[_Draft], index: int) -> _Draft:
        target = min(drafts, key=lambda draft: draft.indices[0])
        for draft in drafts:
            if draft is target:
                continue
            for moved in draft.indices:
                if moved not in target.indices:
                    target.indices.append(moved)
                    self._of_message[moved] = target
            target.open.update(draft.open)
            target.has_calls = target.has_calls or draft.has_calls
            target.has_orphans = target.has_orphans or draft.has_orphans
            for call in draft.open.values():
                self._open[call.id] = [(target if d is draft else d, at) for d, at in self._open[call.id]]
            draft.open = {}
            target.later_turns = max(target.later_turns, draft.later_turns)
            for queue in (self._waiting, self._dying):
                if draft in queue:
                    queue.remove(draft)
                    if target not in queue:
                        queue.append(target)
        target.indices.append(index)
        target.indices.sort()
        return target

    def _state(self, draft: _Draft) -> GroupState:
        if draft.open:
            return "dead" if draft.later_turns >= self._dead_after else "pending"
        if draft.has_orphans and not draft.has_calls:
            return "orphan"
        return "answered" if draft.has_calls else "plain"


def group_messages(messages: Iterable[Message], *, dead_after: int = DEAD_AFTER) -> list[Group]:
    """All groups of a conversation, in the order of their first message. Every message is in exactly one."""
    grouper = Grouper(dead_after)
    for message in messages:
        grouper.feed(message)
    return grouper.groups()
