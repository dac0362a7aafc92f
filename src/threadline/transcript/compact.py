"""Compaction by count, as older tools have it: the newest messages stay, one rolling summary stands for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.dialects import decode, encode
from threadline.messages.elision import Decisions, Elision, Insertion, apply
from threadline.messages.fate import Fate
from threadline.messages.groups import Group, Grouper
from threadline.messages.message import Message, Request
from threadline.tokens import Measure
from threadline.transcript.policy import Summarise
from threadline.transcript.summary import is_summary, summarise

__all__ = [
    "CompactResult",
    "History",
    "balance_tool_call_boundary",
    "check_keep",
    "compact",
    "compact_async",
    "compact_when",
    "compacted",
    "maybe_compact",
    "maybe_compact_async",
    "should_compact",
]

_DEAD_AFTER = 2
"""Later turns that make a call dead here: one more than in `fit`, since nothing answers it."""

_LOW_WATER = Decimal("0.75")
"""Share of the token trigger to come down to, when keeping `keep_last` messages is not enough."""


class CompactResult(Struct, frozen=True, kw_only=True):
    """What `maybe_compact` did.

    Attributes:
        status: `compacted`; `unchanged` when no trigger fired or nothing could go; `over_budget` when what is left is
            still above the token trigger (it may have been compacted).
        messages: the messages now, the very same object when nothing changed.
        decisions: what was left out, for `restore`.
    """

    status: Literal["compacted", "unchanged", "over_budget"]
    messages: Any
    decisions: Decisions


def should_compact(messages: Sequence[Any], every: int) -> bool:
    """True when there are more than `every` messages."""
    return len(messages) > every


def compact(
    messages: Any, keep_last: int, *, summarise: Summarise | None = None, max_summary_tokens: int = 2000
) -> Any:
    """Keep the newest messages and put one rolling summary in the place of the rest.

    Tool exchanges stay whole, so more than `keep_last` may stay; system and developer messages, the last user turn,
    calls that wait and the newest exchange always do. A summary made before is folded into the new one. The result
    never costs more than the input.

    Args:
        messages: a message list, a request body or a `Request`.
        keep_last: how many of the newest messages to keep, at least 1; system messages and the summary do not count.
        summarise: writes the summary of the messages it is given; when it raises, nothing has changed.
        max_summary_tokens: the most the summary may cost.

    Raises:
        InvalidInputError: `keep_last` is no positive integer, or a message is malformed.
        LLMOutputError: `summarise` gave back no text.
    """
    return compacted(messages, keep_last, summarise, max_summary_tokens)[0]


def maybe_compact(
    messages: Any,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
    summarise: Summarise | None = None,
    max_summary_tokens: int = 2000,
) -> CompactResult:
    """`compact` when a trigger fires: more than `every` messages, or more than `threshold` of `token_budget`.

    Raises:
        InvalidInputError: as `compact`.
    """
    check_keep(keep_last)
    return compact_when(
        messages,
        keep_last=keep_last,
        is_due=every is not None and should_compact(messages, every),
        limit=None if token_budget is None else Decimal(str(threshold)) * token_budget,
        count=_count,
        write=lambda keep: compacted(messages, keep, summarise, max_summary_tokens),
    )


def compact_when(
    messages: Any,
    *,
    keep_last: int,
    is_due: bool,
    limit: Decimal | None,
    count: Callable[[Any], int],
    write: Callable[[int], tuple[Any, Decisions]],
) -> CompactResult:
    """Compact when due or over the limit; when that is not enough, keep fewer, down to a low-water mark.

    So the next turns do not compact again. Nothing changes while there are no more than `keep_last`.
    """
    is_over = limit is not None and count(messages) > limit
    if not is_due and not is_over:
        return CompactResult(status="unchanged", messages=messages, decisions=Decisions())
    view, decisions = write(keep_last)
    if decisions and limit is not None and count(view) > limit:
        keep = keep_last
        while keep > 1 and count(view) > _LOW_WATER * limit:
            keep //= 2
            view, decisions = write(keep)
    still_over = limit is not None and count(view) > limit
    status = "over_budget" if still_over else "compacted" if decisions else "unchanged"
    return CompactResult(status=status, messages=view, decisions=decisions)


def _count(messages: Any) -> int:
    return Measure().request(decode(messages)).total


class History:
    """A message list that several tasks share: appended to at any time, replaced only by who has seen its latest state.

    Attributes:
        version: changes with every append and every replacement.
    """

    def __init__(self, messages: Sequence[Any] = ()) -> None:
        self._messages = list(messages)
        self.version: int = 0

    @property
    def messages(self) -> list[Any]:
        """The messages now, as a new list."""
        return list(self._messages)

    def append(self, message: Any) -> None:
        """Add a message at the end."""
        self._messages.append(message)
        self.version += 1

    def replace(self, messages: Sequence[Any], version: int) -> bool:
        """Swap all messages, if `version` is still the current one; else change nothing and return False."""
        if version != self.version:
            return False
        self._messages = list(messages)
        self.version += 1
        return True


def compact_async(
    history: History, keep_last: int, *, summarise: Summarise | None = None, max_summary_tokens: int = 2000
) -> Awaitable[list[Any]]:
    """`compact` in a thread beside the event loop; messages appended meanwhile stay.

    Returns:
        The messages of `history` after the swap.

    Raises:
        InvalidInputError: at the call, for bad options; when awaited, for a malformed message.
    """
    check_keep(keep_last)

    def run(messages: list[Any]) -> list[Any]:
        return compacted(messages, keep_last, summarise, max_summary_tokens)[0]

    return _swapped(history, run)


def maybe_compact_async(
    history: History,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
    summarise: Summarise | None = None,
    max_summary_tokens: int = 2000,
) -> Awaitable[list[Any]]:
    """`maybe_compact` in a thread beside the event loop, as `compact_async`."""
    check_keep(keep_last)

    def run(messages: list[Any]) -> list[Any]:
        return maybe_compact(
            messages,
            keep_last=keep_last,
            every=every,
            token_budget=token_budget,
            threshold=threshold,
            summarise=summarise,
            max_summary_tokens=max_summary_tokens,
        ).messages

    return _swapped(history, run)


async def _swapped(history: History, run: Callable[[list[Any]], list[Any]]) -> list[Any]:
    while True:
        before = history.messages
        after = await asyncio.to_thread(run, before)
        if after is before:
            return history.messages
        now, version = history.messages, history.version
        if len(now) < len(before) or any(new is not old for new, old in zip(now, before, strict=False)):
            continue  # somebody else compacted it meanwhile: look again
        if history.replace([*after, *now[len(before) :]], version):
            return history.messages


def balance_tool_call_boundary(old: Sequence[Any], recent: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Move a boundary on until no tool exchange lies across it: what begins in `old` ends there."""
    messages = [*old, *recent]
    cut = len(old)
    for group in _groups(decode(messages).messages):  # in the order of their first message
        if group.indices[0] < cut:
            cut = max(cut, group.indices[-1] + 1)
    return messages[:cut], messages[cut:]


def check_keep(keep_last: Any) -> None:
    """Refuse anything but an integer of at least 1."""
    if isinstance(keep_last, bool) or not isinstance(keep_last, int) or keep_last < 1:
        raise InvalidInputError("keep_last must be an integer of at least 1", key="keep_last")


def _groups(messages: Sequence[Message]) -> list[Group]:
    grouper = Grouper(_DEAD_AFTER)
    for message in messages:
        grouper.feed(message)
    return grouper.groups()


def compacted(
    messages: Any, keep_last: int, write: Summarise | None = None, max_summary_tokens: int = 2000
) -> tuple[Any, Decisions]:
    """What `compact` gives, and the record of it."""
    check_keep(keep_last)
    request = decode(messages)
    decisions = _decide(request, keep_last, write, max_summary_tokens)
    if not decisions:
        return messages, decisions
    view = apply(request.messages, decisions)
    return encode(msgspec.structs.replace(request, messages=tuple(view))), decisions


def _decide(request: Request, keep_last: int, write: Summarise | None, max_summary_tokens: int) -> Decisions:
    said = request.messages
    countable = [i for i, m in enumerate(said) if m.role not in ("system", "developer") and not is_summary(m)]
    if len(said) <= keep_last or len(countable) <= keep_last:
        return Decisions()
    cut = countable[-keep_last]
    last_turn = next((i for i in reversed(countable) if said[i].is_user_turn), -1)
    groups = _groups(said)
    gone = sorted(
        index
        for group in groups[:-1]
        if group.indices[0] < cut and group.state != "pending" and last_turn not in group.indices
        for index in group.indices
        if said[index].role not in ("system", "developer")
    )
    if all(is_summary(said[index]) for index in gone):
        return Decisions()
    measure = Measure()
    replaced = sum(measure.messages([said[index] for index in gone]))
    message = summarise(
        [said[index] for index in gone],
        max_tokens=min(max_summary_tokens, replaced),
        measure=measure,
        dialect=request.dialect,
        write=write,
    )
    if measure.message(message) > replaced:
        return Decisions()
    return Decisions(
        elisions=tuple(Elision(message=i, fate=Fate.SUMMARISED, original=said[i].wire) for i in gone),
        insertions=(Insertion(before=gone[0], message=message, label="summary"),),
    )
