"""Compaction by count, as older tools have it: the newest messages stay, one rolling summary stands for the rest."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.dialects import decode, encode
from threadline.messages.elision import Decisions, Elision, Insertion, apply
from threadline.messages.fate import Fate
from threadline.messages.groups import Group, Grouper
from threadline.messages.message import Dialect, Message, Request
from threadline.messages.restoration import restore
from threadline.messages.shapes import is_array
from threadline.tokens import Measure
from threadline.transcript.compaction import is_kept
from threadline.transcript.policy import FitPolicy
from threadline.transcript.summary import is_summary, mark_summaries, summarise

__all__ = [
    "CompactResult",
    "History",
    "balance_tool_call_boundary",
    "check_keep",
    "compact",
    "compact_async",
    "compact_when",
    "maybe_compact",
    "maybe_compact_async",
    "should_compact",
    "token_limit",
]

_DEAD_AFTER = 2
"""Later turns that make a call dead here: one more than in `fit`, since nothing answers it."""

_LOW_WATER = Decimal("0.75")
"""Share of the token trigger to come down to, when keeping `keep_last` messages is not enough."""


class CompactResult(Struct, frozen=True, kw_only=True):
    """What a compaction did.

    Attributes:
        status: `compacted`; `unchanged` when no trigger fired or nothing could go; `over_budget` when what is left is
            still above the token trigger (it may have been compacted).
        messages: the messages now, in the shape they came; the very same object when nothing changed.
        decisions: what was left out, for `restore`.
    """

    status: Literal["compacted", "unchanged", "over_budget"]
    messages: Any
    decisions: Decisions

    def restore(self) -> Any:
        """The messages as they were, with those that came since."""
        return restore(self.messages, self.decisions)


def should_compact(messages: Any, every: int) -> bool:
    """True when there are more than `every` messages in a list, a body or a `Request`."""
    said: Sequence[Any] = messages if is_array(messages) else decode(messages).messages
    return len(said) > every


def compact(
    messages: Any,
    keep_last: int,
    *,
    model: str | None = None,
    dialect: Dialect | None = None,
    policy: FitPolicy | None = None,
) -> CompactResult:
    """Keep the newest messages and put one rolling summary in the place of the rest.

    Tool exchanges stay whole, so more than `keep_last` may stay; system and developer messages, the last user turn,
    calls that wait, the newest exchange and what the policy pins always do. A summary made before is folded into the
    new one. The result never costs more than the input.

    Args:
        messages: a message list, a request body or a `Request`.
        keep_last: how many of the newest messages to keep, at least 1; system messages and the summary do not count.
        model: whose tokens to count; None asks the body.
        dialect: the dialect of the messages; None finds it out.
        policy: `summarise`, `max_summary_tokens`, `pinned` and `pinned_tools` count here. When `summarise` raises,
            nothing has changed.

    Raises:
        InvalidInputError: `keep_last` is no positive integer, or a message is malformed.
        LLMOutputError: `summarise` gave back no text.
    """
    check_keep(keep_last)
    policy = policy or FitPolicy()
    request = decode(messages, dialect)
    decisions = _decide(request, keep_last, policy, Measure.of(request, model))
    if not decisions:
        return CompactResult(status="unchanged", messages=messages, decisions=decisions)
    view = apply(request.messages, decisions)
    shown = encode(msgspec.structs.replace(request, messages=tuple(view)))
    return CompactResult(status="compacted", messages=shown, decisions=decisions)


def maybe_compact(
    messages: Any,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
    model: str | None = None,
    dialect: Dialect | None = None,
    policy: FitPolicy | None = None,
) -> CompactResult:
    """`compact` when a trigger fires: more than `every` messages, or more than `threshold` of `token_budget`.

    Raises:
        InvalidInputError: as `compact`; `threshold` is negative.
    """
    check_keep(keep_last)

    def count(value: Any) -> int:
        request = decode(value, dialect)
        return Measure.of(request, model).request(request).total

    return compact_when(
        messages,
        keep_last=keep_last,
        is_due=every is not None and should_compact(messages, every),
        limit=token_limit(token_budget, threshold),
        count=count,
        write=lambda keep: compact(messages, keep, model=model, dialect=dialect, policy=policy),
    )


def token_limit(token_budget: int | None, threshold: float) -> Decimal | None:
    """The tokens above which to compact; None without a budget."""
    if isinstance(threshold, bool) or not isinstance(cast("Any", threshold), (int, float)) or not threshold >= 0:
        raise InvalidInputError("threshold must be a number of at least 0", key="threshold")
    return None if token_budget is None else Decimal(str(threshold)) * token_budget


def compact_when(
    messages: Any,
    *,
    keep_last: int,
    is_due: bool,
    limit: Decimal | None,
    count: Callable[[Any], int],
    write: Callable[[int], CompactResult],
) -> CompactResult:
    """Compact when due or over the limit; when that is not enough, keep fewer, down to a low-water mark.

    So the next turns do not compact again. Nothing changes while there are no more than `keep_last`.
    """
    is_over = limit is not None and count(messages) > limit
    if not is_due and not is_over:
        return CompactResult(status="unchanged", messages=messages, decisions=Decisions())
    result = write(keep_last)
    if result.decisions and limit is not None and count(result.messages) > limit:
        keep = keep_last
        while keep > 1 and count(result.messages) > _LOW_WATER * limit:
            keep //= 2
            result = write(keep)
    if limit is not None and count(result.messages) > limit:
        return msgspec.structs.replace(result, status="over_budget")
    return result


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
    history: History,
    keep_last: int,
    *,
    model: str | None = None,
    dialect: Dialect | None = None,
    policy: FitPolicy | None = None,
) -> Awaitable[CompactResult]:
    """`compact` in a thread beside the event loop; messages appended meanwhile stay. `summarise` may be async here.

    Returns:
        What was done; its messages are those of `history` after the swap.

    Raises:
        InvalidInputError: at the call, for bad options; when awaited, for a malformed message.
    """
    check_keep(keep_last)

    def run(messages: list[Any], policy: FitPolicy) -> CompactResult:
        return compact(messages, keep_last, model=model, dialect=dialect, policy=policy)

    return _swapped(history, policy, run)


def maybe_compact_async(
    history: History,
    *,
    keep_last: int,
    every: int | None = None,
    token_budget: int | None = None,
    threshold: float = 0.8,
    model: str | None = None,
    dialect: Dialect | None = None,
    policy: FitPolicy | None = None,
) -> Awaitable[CompactResult]:
    """`maybe_compact` in a thread beside the event loop, as `compact_async`."""
    check_keep(keep_last)
    token_limit(token_budget, threshold)

    def run(messages: list[Any], policy: FitPolicy) -> CompactResult:
        return maybe_compact(
            messages,
            keep_last=keep_last,
            every=every,
            token_budget=token_budget,
            threshold=threshold,
            model=model,
            dialect=dialect,
            policy=policy,
        )

    return _swapped(history, policy, run)


async def _swapped(
    history: History, policy: FitPolicy | None, run: Callable[[list[Any], FitPolicy], CompactResult]
) -> CompactResult:
    policy = _waiting(policy or FitPolicy(), asyncio.get_running_loop())
    while True:
        before = history.messages
        result = await asyncio.to_thread(run, before, policy)
        if not result.decisions:
            return msgspec.structs.replace(result, messages=history.messages)
        now, version = history.messages, history.version
        if len(now) < len(before) or any(new is not old for new, old in zip(now, before, strict=False)):
            continue  # somebody else compacted it meanwhile: look again
        if history.replace([*result.messages, *now[len(before) :]], version):
            return msgspec.structs.replace(result, messages=history.messages)


def _waiting(policy: FitPolicy, loop: asyncio.AbstractEventLoop) -> FitPolicy:
    """The policy for a thread beside the loop: an async summariser runs in the loop, the thread waits for it."""
    write: Any = policy.summarise
    if write is None:
        return policy

    def summarise(messages: Sequence[Message]) -> str:
        said: Any = write(messages)
        return asyncio.run_coroutine_threadsafe(said, loop).result() if inspect.iscoroutine(said) else said

    return msgspec.structs.replace(policy, summarise=summarise)


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


def _decide(request: Request, keep_last: int, policy: FitPolicy, measure: Measure) -> Decisions:
    said = mark_summaries(request.messages)
    countable = [i for i, m in enumerate(said) if m.role not in ("system", "developer") and not is_summary(m)]
    if len(said) <= keep_last or len(countable) <= keep_last:
        return Decisions()
    cut = countable[-keep_last]
    last_turn = next((i for i in reversed(countable) if said[i].is_user_turn), -1)
    groups = _groups(said)
    gone = sorted(
        index
        for group in groups[:-1]
        if group.indices[0] < cut
        and group.state != "pending"
        and last_turn not in group.indices
        and not any(is_kept(said[index], policy) for index in group.indices)
        for index in group.indices
    )
    if all(is_summary(said[index]) for index in gone):
        return Decisions()
    replaced = sum(measure.messages([said[index] for index in gone]))
    message = summarise(
        [said[index] for index in gone],
        max_tokens=min(policy.max_summary_tokens, replaced),
        measure=measure,
        dialect=request.dialect,
        write=policy.summarise,
    )
    if measure.message(message) > replaced:
        return Decisions()
    return Decisions(
        elisions=tuple(Elision(message=i, fate=Fate.SUMMARISED, original=said[i].wire) for i in gone),
        insertions=(Insertion(before=gone[0], message=message, label="summary"),),
    )
