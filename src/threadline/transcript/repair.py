"""Putting broken tool exchanges right: dead calls, results without a call, results away from their call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages.dialects import Decoder, decode, encode, result_message, text_message
from threadline.messages.elision import Decisions, Elision, Insertion, apply
from threadline.messages.fate import Fate
from threadline.messages.groups import Grouper
from threadline.messages.message import Dialect, Message
from threadline.messages.parts import TextPart, ToolCallPart, ToolResultPart
from threadline.messages.wire import get_at

__all__ = ["UNKNOWN_OUTCOME", "Repair", "RepairResult", "Repairer", "bridge", "is_orphan_text", "repair"]

UNKNOWN_OUTCOME = "No result was recorded; the outcome is unknown."
"""The answer to a dead call. It must not say that nothing was done: the call may have had its effect."""

_ORPHAN_HEADING = re.compile(r"\[result of .{1,128} that is not in this conversation\]\n")


class Repair(Struct, frozen=True, kw_only=True):
    """One thing put right. `index` is the message at fault in the original list."""

    index: int
    kind: Literal["answered_dead_call", "dropped_orphan", "orphan_to_text", "moved_result"]
    call_id: str


class RepairResult(Struct, frozen=True, kw_only=True):
    """A conversation put right.

    Attributes:
        messages: the wire objects; those that needed nothing are the same objects.
        decisions: what was done, for `restore`.
        repairs: the same as a report.
    """

    messages: Any
    decisions: Decisions
    repairs: tuple[Repair, ...]


def repair(messages: Any, *, orphans: Literal["drop", "text"] = "text", dialect: Dialect | None = None) -> RepairResult:
    """Put every broken tool exchange right; input that needs nothing comes back as the same object.

    Every call without a result is answered, also one at the very end: who calls this knows that none will come, since
    the process that ran the tool is gone. `fit` answers only calls that later turns left behind.

    Args:
        messages: a message list, a request body or a `Request`.
        orphans: what becomes of a result without a call.
        dialect: the dialect of the messages; None finds it out.

    Raises:
        InvalidInputError: a message is malformed, or an option is.
    """
    if orphans not in ("drop", "text"):
        raise InvalidInputError("orphans must be 'drop' or 'text'", key="orphans")
    request = decode(messages, dialect)
    grouper = Grouper()
    for message in request.messages:
        grouper.feed(message)
    repairer = Repairer(grouper, orphans)
    elisions, insertions = repairer.settle(request.messages, 0, also_waiting=True)
    decisions = Decisions(elisions=tuple(elisions), insertions=tuple(insertions))
    view = apply(request.messages, decisions)
    return RepairResult(
        messages=encode(msgspec.structs.replace(request, messages=tuple(view))),
        decisions=decisions,
        repairs=tuple(repairer.repairs),
    )


class Repairer:
    """Settles messages as they arrive; what it did is in `repairs`."""

    def __init__(self, grouper: Grouper, orphans: Literal["drop", "text"]) -> None:
        self.grouper = grouper
        self._orphans = orphans
        self.repairs: list[Repair] = []

    def settle(
        self, messages: Sequence[Message], since: int, *, also_waiting: bool = False
    ) -> tuple[list[Elision], list[Insertion]]:
        """Repairs for the messages from `since` on (already fed to the grouper), sorted by place.

        Args:
            messages: all messages from the first.
            since: the first new one.
            also_waiting: answer the calls too that may still get a result.
        """
        elisions: list[Elision] = []
        insertions: list[Insertion] = []
        dead = self.grouper.dead_calls()
        if also_waiting:
            dead += self.grouper.open_calls()
        for index, call in dead:
            self._note(index, "answered_dead_call", call.id)
            insertions += _answer(messages, index, call)
        for index in range(since, len(messages)):
            if self.grouper.links(index):
                self._settle_results(messages, index, elisions, insertions)
        if messages and messages[0].dialect == "google":
            elisions, insertions = _one_response_turn(messages, elisions, insertions)
        elisions.sort(key=lambda elision: elision.message)
        insertions.sort(key=lambda insertion: insertion.before)
        return elisions, insertions

    def _settle_results(
        self, messages: Sequence[Message], index: int, elisions: list[Elision], insertions: list[Insertion]
    ) -> None:
        message = messages[index]
        results = message.tool_results
        if len(results) > 1 and len({result.path for result in results}) < len(results):
            return  # several ids share one content: it cannot be taken apart
        gone: list[tuple[ToolResultPart, Fate]] = []
        for result, call_at in zip(results, self.grouper.links(index), strict=True):
            if call_at is None:
                kind = "dropped_orphan" if self._orphans == "drop" else "orphan_to_text"
                self._note(index, kind, result.call_id)
                told = self._orphans == "text" and all(isinstance(part, TextPart) for part in result.parts)
                gone.append((result, Fate.KEPT if told else Fate.OMITTED))
                if self._orphans == "text":
                    insertions.append(_as_text(message, result, index, _behind_results(messages, index)))
            elif not _stands_by(messages, call_at, index, result):
                self._note(index, "moved_result", result.call_id)
                gone.append((result, Fate.KEPT))
                insertions.append(_moved(message, result, call_at, _answers_start(messages, call_at)))
        if len(gone) == len(message.parts) > 0:
            fates = {fate for _, fate in gone}
            fate = Fate.KEPT if fates == {Fate.KEPT} else Fate.OMITTED
            elisions.append(Elision(message=index, fate=fate, original=message.wire))
        else:
            elisions += (
                Elision(message=index, fate=fate, path=result.path, original=get_at(message.wire, result.path))
                for result, fate in gone
            )

    def _note(self, index: int, kind: Any, call_id: str) -> None:
        self.repairs.append(Repair(index=index, kind=kind, call_id=call_id))


def _answers_start(messages: Sequence[Message], call_at: int) -> int:
    """Where the results of a call begin: right behind it, or behind the assistant turn it is part of."""
    start = call_at + 1
    if messages[call_at].dialect in ("anthropic", "responses"):
        while start < len(messages) and messages[start].role == "assistant":
            start += 1
    return start


def _stands_by(messages: Sequence[Message], call_at: int, index: int, result: ToolResultPart) -> bool:
    """Whether a result stands where its provider looks for it."""
    dialect = messages[call_at].dialect
    start = _answers_start(messages, call_at)
    match dialect:
        case "responses":
            return True
        case "google":
            return index == start
        case "plain" | "openai":
            return all(messages[at].role == "tool" for at in range(start, index))
        case "anthropic":
            before = [part for at in range(start, index) for part in messages[at].parts]
            before += messages[index].parts[: messages[index].parts.index(result)]
            return all(messages[at].role == "user" for at in range(start, index)) and all(
                isinstance(part, ToolResultPart) for part in before
            )


def _answer(messages: Sequence[Message], index: int, call: ToolCallPart) -> Iterator[Insertion]:
    message = messages[index]
    answer = result_message(call, UNKNOWN_OUTCOME, message.dialect, wire=message.wire)
    answer = msgspec.structs.replace(answer, origin="repair")
    yield Insertion(before=_answers_start(messages, index), message=answer, label="repair", owner=index)


def _behind_results(messages: Sequence[Message], index: int) -> int:
    """Behind the run of results that a message is in: text must not stand between a call and its results."""
    while index < len(messages) and messages[index].tool_results:
        index += 1
    return index


def _as_text(message: Message, result: ToolResultPart, index: int, before: int) -> Insertion:
    text = "\n".join(part.text for part in result.parts if isinstance(part, TextPart))
    heading = f"[result of {(result.name or 'a call')[:128]} that is not in this conversation]"
    told = text_message("user", f"{heading}\n{text}", message.dialect)
    told = msgspec.structs.replace(told, origin="repair")
    return Insertion(before=before, message=told, label="repair", owner=index)


def is_orphan_text(message: Message) -> bool:
    """True for the text of a result without a call, also after it went over a wire."""
    if message.role != "user" or len(message.parts) != 1:
        return False
    part = message.parts[0]
    return isinstance(part, TextPart) and _ORPHAN_HEADING.match(part.text) is not None


def _moved(message: Message, result: ToolResultPart, call_at: int, before: int) -> Insertion:
    if len(message.parts) == 1:
        moved = message
    else:
        block = get_at(message.wire, result.path)
        holder = "parts" if message.dialect == "google" else "content"
        moved = Decoder(message.dialect).feed({"role": message.wire.get("role", "user"), holder: [block]}, call_at)
    return Insertion(before=before, message=moved, label="repair", owner=call_at)


def _one_response_turn(
    messages: Sequence[Message], elisions: list[Elision], insertions: list[Insertion]
) -> tuple[list[Elision], list[Insertion]]:
    """Google wants all responses to a turn's calls in one turn: those put in join the one that stands there."""
    joined: dict[int, list[Insertion]] = {}
    other: list[Insertion] = []
    for insertion in insertions:
        is_result = bool(insertion.message.tool_results)
        (joined.setdefault(insertion.before, []) if is_result else other).append(insertion)
    for place, results in joined.items():
        parts = [part for insertion in results for part in insertion.message.wire["parts"]]
        here = messages[place] if place < len(messages) else None
        whole = here is not None and not any(elision.message == place and not elision.path for elision in elisions)
        if here is not None and whole and here.tool_results:
            gone = {elision.path for elision in elisions if elision.message == place}
            kept = [part for at, part in enumerate(here.wire["parts"]) if ("parts", at) not in gone]
            parts = [*kept, *parts]
            elisions = [elision for elision in elisions if elision.message != place]
            elisions.append(Elision(message=place, fate=Fate.KEPT, original=here.wire))
        turn = Decoder("google").feed({"role": "user", "parts": parts}, place)
        turn = msgspec.structs.replace(turn, origin="repair")
        other.append(Insertion(before=place, message=turn, label="repair", owner=results[0].owner))
    gone = {elision.message for elision in elisions if not elision.path}
    for index in sorted(gone):
        after = next((at for at in range(index + 1, len(messages)) if at not in gone), None)
        before = next((at for at in range(index - 1, -1, -1) if at not in gone), None)
        filled = any(index <= insertion.before <= (after or 0) for insertion in other)
        if after is None or before is None or filled or messages[before].role != "assistant":
            continue
        if messages[after].tool_calls:
            other.append(bridge(after))
    return elisions, other


def bridge(before: int) -> Insertion:
    """A user turn in front of a call, where Google would otherwise see two model turns in a row."""
    told = text_message("user", "[earlier messages not shown]", "google")
    return Insertion(
        before=before, message=msgspec.structs.replace(told, origin="repair"), label="repair", owner=before
    )
