"""`convert`: a conversation from one provider's dialect to another's, every tool pair kept, every loss told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, structs

from threadline.messages.bodies import MESSAGES_KEY, system_key
from threadline.messages.dialects import decode
from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Message, Origin, Request
from threadline.messages.parameters import convert_parameters
from threadline.messages.parts import TextPart
from threadline.messages.shapes import is_object
from threadline.messages.turns import Result, Text, Turn, read_turns
from threadline.messages.writers import write_turn

__all__ = ["Conversion", "Loss", "convert"]

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


def convert(value: Any, dialect: Dialect) -> Conversion:
    """Writes a conversation in another dialect.

    A list stays a list and a body becomes a body, except that a list with instructions becomes a body where the dialect
    keeps those apart. Results that the target wants next to their calls are moved there; ids that it does not take are
    replaced; both are told as losses. The same dialect gives the same request.

    Args:
        value: a `Request`, a request body, or a message list.
        dialect: the dialect to write.

    Raises:
        InvalidInputError: the value cannot be read.
    """
    request = decode(value)
    if all(_is_bare(message) for message in request.messages):
        if request.dialect == dialect:
            return Conversion(request=request, losses=())
        if {request.dialect, dialect} <= _CHAT and not any(_lacks_id(message) for message in request.messages):
            messages = tuple(structs.replace(message, dialect=dialect) for message in request.messages)
            return Conversion(request=structs.replace(request, dialect=dialect, messages=messages), losses=())
    losses: list[Loss] = []
    converted = _convert(request, dialect, losses)
    return Conversion(request=converted, losses=tuple(sorted(losses, key=_place)))


def _place(loss: Loss) -> int:
    return -1 if loss.index is None else loss.index


def _is_bare(message: Message) -> bool:
    """True when the wire is the provider's own object, not an envelope or another tool's spelling of it."""
    wire = message.wire
    return isinstance(wire, str) or (is_object(wire) and any(key in wire for key in _KEY_OF[message.dialect]))


def _lacks_id(message: Message) -> bool:
    calls = any(call.local and "function_call" not in call.path for call in message.tool_calls)
    return calls or any(result.local and message.wire.get("role") != "function" for result in message.tool_results)


def _convert(request: Request, target: Dialect, losses: list[Loss]) -> Request:
    read = read_turns(request.messages, target, losses)
    # A message of which nothing could be carried is told as losses already; one that was empty stays empty.
    turns = [turn for turn in read if turn.pieces or not request.messages[turn.index].parts]
    kept_system = target in _CHAT or target == "responses"
    instructions = [text for message in request.system for text in _texts(message, losses)]
    if not kept_system:
        instructions += _hoisted(turns, target, losses)
        turns = [turn for turn in turns if turn.role not in ("system", "developer")]
    if target != "responses":
        turns = _paired(_merged(turns, request.dialect, target), losses)
    wires: list[Any] = []
    origins: list[Origin] = []
    for turn in turns:
        for wire in write_turn(turn, target, losses):
            wires.append(wire)
            origins.append(turn.origin)
    converted = decode(_shaped(request, target, wires, instructions, losses), target)
    offset = len(converted.messages) - len(origins)
    messages = tuple(
        message
        if number < offset or message.origin == origins[number - offset]
        else structs.replace(message, origin=origins[number - offset])
        for number, message in enumerate(converted.messages)
    )
    return structs.replace(converted, messages=messages)


def _texts(message: Message, losses: list[Loss]) -> Iterable[str]:
    for part in message.parts:
        if isinstance(part, TextPart):
            yield part.text
        else:
            losses.append(Loss(index=None, part="system", reason="left out: instructions are text only there"))


def _hoisted(turns: Sequence[Turn], target: Dialect, losses: list[Loss]) -> list[str]:
    texts: list[str] = []
    begun = False
    for turn in turns:
        if turn.role not in ("system", "developer"):
            begun = True
            continue
        for piece in turn.pieces:
            if isinstance(piece, Text):
                texts.append(piece.text)
            else:
                losses.append(
                    Loss(index=turn.index, part="system", reason="left out: instructions are text only there")
                )
        if begun:
            reason = f"moved to the front: the {target} dialect keeps instructions apart from the messages"
            losses.append(Loss(index=turn.index, part="system", reason=reason))
    return texts


def _shaped(request: Request, target: Dialect, wires: list[Any], instructions: list[str], losses: list[Loss]) -> Any:
    """The target's list or body around the messages."""
    apart = target in ("anthropic", "google")
    if not is_object(request.wire) and not (apart and instructions) and not request.tools:
        return [*_leading(instructions, target), *wires]
    body = convert_parameters(request, target, losses)
    key = system_key(body, target)
    if instructions and key is not None:
        body[key] = _system_value(instructions, target)
        instructions = []
    body[MESSAGES_KEY[target]] = [*_leading(instructions, target), *wires]
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
