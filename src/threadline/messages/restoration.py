"""`restore`: the original from the view and the record of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from threadline.errors import IntegrityError
from threadline.messages.dialects import decode, encode
from threadline.messages.elision import Decisions, Elision, by_message, by_path, by_place
from threadline.messages.message import Message, Request
from threadline.messages.wire import get_at, replace_at

__all__ = ["restore", "restore_messages"]


def restore(view: Any, decisions: Decisions) -> Any:
    """The original of a view: wire objects for wire objects, a body for a body, in the very shape of the view.

    The view may have been through JSON, and messages may have been appended to it since: they are kept.

    Raises:
        IntegrityError: the view is not what the decisions left; names the message.
        InvalidInputError: the view cannot be read.
    """
    if not decisions:
        return view
    if isinstance(view, dict):
        request = decode(view)
        wires = restore_messages([message.wire for message in request.messages], decisions)
        return encode(msgspec.structs.replace(request, messages=decode(wires, request.dialect).messages))
    messages = cast("Sequence[Any]", view.messages if isinstance(view, Request) else view)
    return restore_messages([m.wire if isinstance(m, Message) else m for m in messages], decisions)


def restore_messages(view: Sequence[Any], decisions: Decisions) -> list[Any]:
    """The original wire objects from those of the view. Messages appended to the view since are kept.

    Raises:
        IntegrityError: when the view is not what the decisions left, naming the message.
    """
    touched = by_message(decisions.elisions)
    inserted = by_place(decisions.insertions)
    last = max([*touched, *(place - 1 for place in inserted)], default=-1)
    out: list[Any] = []
    at = 0
    while at < len(view) or len(out) <= last or len(out) in inserted:
        for insertion in inserted.pop(len(out), ()):
            if at >= len(view) or view[at] != insertion.message.wire:
                raise IntegrityError(f"view message {at} is not the {insertion.label} that was inserted", index=at)
            at += 1
        elisions = touched.get(len(out), ())
        if elisions and not elisions[0].path:
            out.append(elisions[0].original)
            continue
        if at >= len(view):
            if len(out) > last:
                break
            raise IntegrityError(f"the view ends before original message {len(out)}", index=len(out))
        out.append(_unedited(view[at], elisions, at))
        at += 1
    return out


def _unedited(wire: Any, elisions: Sequence[Elision], at: int) -> Any:
    blocks = [elision for elision in elisions if elision.start is None]
    for block in sorted(blocks, key=lambda elision: elision.path):
        wire = _put_back(wire, block, at)
    for path, at_path in by_path([e for e in elisions if e.start is not None]).items():
        try:
            text = get_at(wire, path)
        except (KeyError, IndexError, TypeError) as error:
            raise IntegrityError(f"view message {at} has nothing at {path}", index=at, path=path) from error
        wire = replace_at(wire, path, _uncut(text, at_path, at))
    return wire


def _put_back(wire: Any, block: Elision, at: int) -> Any:
    holder, position = block.path[:-1], cast("int", block.path[-1])
    try:
        siblings = list(get_at(wire, holder))
    except (KeyError, IndexError, TypeError) as error:
        raise IntegrityError(f"view message {at} has nothing at {holder}", index=at, path=holder) from error
    width = 0 if block.replacement is None else 1
    if siblings[position : position + width] != ([block.replacement] if width else []):
        raise IntegrityError(f"view message {at} was changed at {block.path}", index=at, path=block.path)
    siblings[position : position + width] = [block.original]
    return replace_at(wire, holder, siblings)


def _uncut(text: Any, elisions: Sequence[Elision], at: int) -> str:
    if not isinstance(text, str):
        raise IntegrityError(f"view message {at} has no text at {elisions[0].path}", index=at, path=elisions[0].path)
    out: list[str] = []
    seen = 0  # position in the view
    done = 0  # position in the original
    for elision in elisions:
        start = elision.start or 0
        kept = text[seen : seen + start - done]
        seen += start - done
        if len(kept) != start - done or not text.startswith(elision.replacement, seen):
            raise IntegrityError(f"view message {at} was changed at {elision.path}", index=at, path=elision.path)
        out += (kept, elision.original)
        seen += len(elision.replacement)
        done = elision.end or 0
    out.append(text[seen:])
    return "".join(out)
