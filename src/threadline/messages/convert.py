"""`convert`: a conversation from one provider's dialect to another's, every tool pair kept, every loss told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from threadline.messages.bodies import MESSAGES_KEY, system_key
from threadline.messages.dialects import decode
from threadline.messages.ids import IdMap
from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Message, Origin, Request, known_dialect
from threadline.messages.parameters import convert_parameters
from threadline.messages.parts import TextPart
from threadline.messages.shapes import is_object
from threadline.messages.turns import Result, Text, Turn, read_turns
from threadline.messages.writers import write_turn

__all__ = ["Conversion", "Converter", "Loss", "convert"]

_CHAT: frozenset[Dialect] = frozenset({"plain", "openai"})

_KEY_OF: dict[Dialect, tuple[str, ...]] = {
    "plain": ("role",),
    "openai": ("role",),
    "anthropic": ("role",),
    "responses": ("type", "role"),
    "google": ("parts",),
}


class Conversion(Struct, frozen=True, kw_only=True):
    """The request in its new dialect, and what could not be carried over as it was, in the order of the messages."""

    request: Request
    losses: tuple[Loss, ...]


def convert(value: Any, dialect: Dialect, *, source: Dialect | None = None) -> Conversion:
    """Writes a conversation in another dialect.

    A list stays a list and a body becomes a body, except that a list with instructions becomes a body where the dialect
    keeps those apart. Results that the target wants next to their calls are moved there; ids that it does not take are
    replaced; both are told as losses. The same dialect gives the same request.

    Args:
        value: a `Request`, a request body, or a message list.
        dialect: the dialect to write.
        source: the dialect it is written in; None finds it out.

    Raises:
        InvalidInputError: the value cannot be read, or there is no such dialect.
    """
    request = decode(value, source)
    converter = Converter(request, request.messages, dialect)
    if converter.is_same and request.dialect == dialect:
        return Conversion(request=request, losses=())
    if converter.is_same:
        messages = tuple(structs.replace(message, dialect=dialect) for message in request.messages)
        return Conversion(request=structs.replace(request, dialect=dialect, messages=messages), losses=())
    written = [*converter.written()]
    wires = [wire for wire, _ in written]
    converted = decode(_with_messages(converter.shell, dialect, wires), dialect)
    offset = len(converted.messages) - len(written)
    messages = tuple(
        message
        if number < offset or message.origin == written[number - offset][1]
        else structs.replace(message, origin=written[number - offset][1])
        for number, message in enumerate(converted.messages)
    )
    return Conversion(request=structs.replace(converted, messages=messages), losses=converter.losses)


def _with_messages(shell: Any, target: Dialect, wires: list[Any]) -> Any:
    if is_object(shell):
        return {**shell, MESSAGES_KEY[target]: [*shell[MESSAGES_KEY[target]], *wires]}
    return [*shell, *wires]


class Converter:
    """Writes the messages of a conversation in another dialect one after the other.

    It holds only those that belong together: a call until its results have come, an answer that goes on.

    Args:
        frame: what is around the messages: dialect, system, tools, the body; its own messages are not read.
        messages: the messages; they are gone through twice.
        target: the dialect to write.
    """

    def __init__(self, frame: Request, messages: Iterable[Message], target: Dialect) -> None:
        self._source: Dialect = frame.dialect
        self._messages = messages
        self._target: Dialect = known_dialect(target)
        self._losses: list[Loss] = []
        self._apart = target in ("anthropic", "google")
        ids: set[str] = set()
        instructions = [text for message in frame.system for text in _texts(message, self._losses)]
        bare = paired = True
        begun = False
        for index, message in enumerate(messages):
            bare = bare and _is_bare(message)
            paired = paired and not _lacks_id(message)
            ids.update(part.id for part in message.tool_calls)
            if message.role not in ("system", "developer"):
                begun = True
            elif self._apart:
                [turn] = read_turns([(index, message)], target, IdMap(target, ids), self._losses)
                instructions += _hoisted(turn, target, self._losses, begun=begun)
        self._ids = ids
        self.is_same = bare and (frame.dialect == target or ({frame.dialect, target} <= _CHAT and paired))
        """True when every message's wire is right in the target as it is."""
        self.shell: Any = [] if self.is_same else _shell(frame, target, instructions, self._losses)
        """The list or body that the messages belong at the end of; instructions may stand in it already."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What could not be carried over, of what was written so far, in the order of the messages."""
        return tuple(sorted(self._losses, key=_place))

    def written(self) -> Iterator[tuple[Any, Origin]]:
        """The wire objects in order, each with what its message came from."""
        if self.is_same:
            for message in self._messages:
                yield message.wire, message.origin
            return
        for turns in self._segments():
            joined = turns
            if self._target != "responses":
                joined = _paired(_merged(turns, self._source, self._target), self._losses)
            for turn in joined:
                for wire in write_turn(turn, self._target, self._losses):
                    yield wire, turn.origin

    def _segments(self) -> Iterator[list[Turn]]:
        """Runs of turns that nothing ties to one another: no call waits across the border, no answer goes on."""
        held: list[Turn] = []
        waiting: set[int] = set()
        for turn in self._turns():
            if held and not waiting and not turn.role == held[-1].role == "assistant":
                yield held
                held = []
            held.append(turn)
            waiting.update(turn.keys)
            waiting.difference_update(piece.key for piece in turn.pieces if isinstance(piece, Result))
        yield held

    def _turns(self) -> Iterator[Turn]:
        """The turns to write; instructions that the dialect keeps apart are in the shell."""
        empty: list[bool] = []

        def told() -> Iterator[tuple[int, Message]]:
            for index, message in enumerate(self._messages):
                if not (self._apart and message.role in ("system", "developer")):
                    empty[:] = [not message.parts]
                    yield index, message

        for turn in read_turns(told(), self._target, IdMap(self._target, self._ids), self._losses):
            # A message of which nothing could be carried is told as losses already; one that was empty stays empty.
            if turn.pieces or empty[0]:
                yield turn


def _place(loss: Loss) -> int:
    return -1 if loss.index is None else loss.index


def _is_bare(message: Message) -> bool:
    """True when the wire is the provider's own object, not an envelope or another tool's spelling of it."""
    wire = message.wire
    return isinstance(wire, str) or (is_object(wire) and any(key in wire for key in _KEY_OF[message.dialect]))


def _lacks_id(message: Message) -> bool:
    calls = any(call.local and "function_call" not in call.path for call in message.tool_calls)
    return calls or any(result.local and message.wire.get("role") != "function" for result in message.tool_results)


def _texts(message: Message, losses: list[Loss]) -> Iterable[str]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield part.text
        else:
            losses.append(Loss(index=None, part="system", reason="left out: instructions are text only there"))


def _hoisted(turn: Turn, target: Dialect, losses: list[Loss], *, begun: bool) -> Iterator[str]:
    for piece in turn.pieces:
        if isinstance(piece, Text):
            yield piece.text
        else:
            losses.append(Loss(index=turn.index, part="system", reason="left out: instructions are text only there"))
    if begun:
        reason = f"moved to the front: the {target} dialect keeps instructions apart from the messages"
        losses.append(Loss(index=turn.index, part="system", reason=reason))


def _shell(frame: Request, target: Dialect, instructions: list[str], losses: list[Loss]) -> Any:
    """The target's list or body without the messages."""
    apart = target in ("anthropic", "google")
    if not is_object(frame.wire) and not (apart and instructions) and not frame.tools:
        return _leading(instructions, target)
    body = convert_parameters(frame, target, losses)
    key = system_key(body, target)
    if instructions and key is not None:
        body[key] = _system_value(instructions, target)
        instructions = []
    body[MESSAGES_KEY[target]] = _leading(instructions, target)
    return body


def _leading(instructions: Sequence[str], target: Dialect) -> list[dict[str, Any]]:
    kind = {"type": "message"} if target == "responses" else {}
    return [{**kind, "role": "system", "content": text} for text in instructions]


def _system_value(instructions: Sequence[str], target: Dialect) -> Any:
    match target:
        case "google":
            return {"parts": [{"text": text} for text in instructions]}
        case "anthropic" if len(instructions) > 1:
            return [{"type": "text", "text": text} for text in instructions]
        case _:
            return "\n\n".join(instructions)


def _merged(turns: Iterable[Turn], source: Dialect, target: Dialect) -> list[Turn]:
    """Joins an assistant's turns that follow each other where the source writes one answer as several messages.

    Responses items and lines of an agent's log do; and Google refuses a call turn right after another model turn.
    """
    if source in _CHAT and target in _CHAT:
        return [*turns]
    merged: list[Turn] = []
    for turn in turns:
        last = merged[-1] if merged else None
        if last is not None and last.role == turn.role == "assistant":
            merged[-1] = structs.replace(last, pieces=last.pieces + turn.pieces, keys=last.keys + turn.keys)
        else:
            merged.append(turn)
    return merged


def _paired(turns: Sequence[Turn], losses: list[Loss]) -> list[Turn]:
    """Puts the results of a turn's calls right behind it, as one turn; those without a call stay where they are."""
    found: dict[int, _Answer] = {}
    for place, turn in enumerate(turns):
        for piece in turn.pieces:
            if isinstance(piece, Result) and piece.key is not None:
                found[piece.key] = _Answer(order=len(found), place=place, turn=turn, result=piece)
    ordered: list[Turn] = []
    for place, turn in enumerate(turns):
        rest = tuple(piece for piece in turn.pieces if not (isinstance(piece, Result) and piece.key in found))
        orphans = tuple(piece for piece in rest if isinstance(piece, Result))
        said = tuple(piece for piece in rest if not isinstance(piece, Result))
        if orphans:
            ordered.append(structs.replace(turn, role="tool", pieces=orphans, keys=()))
        if said or not turn.pieces:
            ordered.append(structs.replace(turn, pieces=said))
        answers = sorted((found[key] for key in turn.keys if key in found), key=lambda answer: answer.order)
        if not answers:
            continue
        for answer in answers:
            if not _adjoins(turns, place, answer.place):
                reason = "moved to right after its call, where the dialect wants it"
                losses.append(Loss(index=answer.turn.index, part="tool_result", reason=reason))
        pieces = tuple(answer.result for answer in answers)
        ordered.append(structs.replace(answers[0].turn, role="tool", pieces=pieces, keys=(), name=None))
    return ordered


class _Answer(Struct, frozen=True, kw_only=True):
    """A result on its way to its call: the how many-th it is, and the place and turn it comes from."""

    order: int
    place: int
    turn: Turn
    result: Result


def _adjoins(turns: Sequence[Turn], call: int, result: int) -> bool:
    return all(any(isinstance(piece, Result) for piece in turn.pieces) for turn in turns[call + 1 : result])
