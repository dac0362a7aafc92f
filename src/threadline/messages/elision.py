"""What was left out of a message list, as data: `Decisions`, and the verb that applies them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from threadline.errors import SerializationError
from threadline.messages.fate import Fate
from threadline.messages.message import Message
from threadline.messages.parts import Part, Path, SummaryPart, TextPart, ToolResultPart
from threadline.messages.shapes import is_object
from threadline.messages.wire import get_at, replace_at

__all__ = ["Decisions", "Elision", "Insertion", "Source", "apply", "by_message", "by_path", "by_place", "edited"]


VERSION = 1
"""Of the form in which `Decisions` are written."""


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """Where the same text stands: a span (code points) of the string at `path` in an original message.

    `shift` is what to add to its line numbers; 0 when the copies are identical.
    """

    message: int
    path: Path
    start: int
    end: int
    shift: int = 0


class Elision(Struct, frozen=True, kw_only=True, gc=False):
    """One span, block or message that was left out, with all it takes to put it back.

    Attributes:
        message: index in the original list.
        path: the string or block in the wire object; `()` is the message as a whole.
        start, end: the span of the string at `path` in the original, in code points; None when all at `path` went.
        original: what stood there: text, a block, or a whole wire object. Where the message itself is at hand a span
            has none yet (`with_original`), for all of them together may be as long as the conversation.
        replacement: what stands there now: text, a block, or None for nothing.
        sources: for repeats, the earlier spans that, one after the other, give `original`.
    """

    message: int
    fate: Fate
    original: Any = None
    replacement: Any = None
    path: Path = ()
    start: int | None = None
    end: int | None = None
    sources: tuple[Source, ...] = ()

    def with_original(self, wire: Any) -> Elision:
        """The elision with the text that it leaves out of its message's original wire object."""
        return self if self.start is None else msgspec.structs.replace(self, original=self.text(wire))

    def text(self, wire: Any) -> str:
        """The text that it leaves out of its message's original wire object."""
        return get_at(wire, self.path)[self.start : self.end]


class Insertion(Struct, frozen=True, kw_only=True):
    """A message that stands in the view but not in the original.

    Attributes:
        before: it stands before the original message of this index.
        label: why it is there.
        owner: the original message it belongs to, and goes with; None for a summary.
    """

    before: int
    message: Message
    label: Literal["summary", "repair"]
    owner: int | None = None


class Decisions(Struct, frozen=True, kw_only=True):
    """What to leave out and what to put in, sorted by place. Survives JSON."""

    elisions: tuple[Elision, ...] = ()
    insertions: tuple[Insertion, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.elisions or self.insertions)

    def to_builtins(self) -> dict[str, Any]:
        """A JSON-ready value, with the version of its form."""
        return {"version": VERSION, **msgspec.to_builtins(self)}

    @classmethod
    def from_builtins(cls, value: Any) -> Decisions:
        """The reverse of `to_builtins`.

        Raises:
            SerializationError: when the value is of another shape, or of a version that is not known here.
        """
        version: object = value.get("version", VERSION) if is_object(value) else VERSION
        if version != VERSION:
            raise SerializationError(f"decisions of version {version!r}; this Threadline reads {VERSION}")
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as error:
            raise SerializationError(f"not a record of decisions: {error}") from error


def apply(messages: Sequence[Message], decisions: Decisions) -> list[Message]:
    """The view: `messages` with the decisions made. A message that none of them touches is the same object."""
    touched = by_message(decisions.elisions)
    inserted = by_place(decisions.insertions)
    view: list[Message] = []
    for index, message in enumerate(messages):
        if index in inserted:
            view += (insertion.message for insertion in inserted[index])
        elisions = touched.get(index)
        if elisions is None:
            view.append(message)
        elif elisions[0].path:
            view.append(edited(message, elisions))
    view += (insertion.message for place in sorted(inserted) if place >= len(messages) for insertion in inserted[place])
    return view


def by_message(elisions: Iterable[Elision]) -> dict[int, tuple[Elision, ...]]:
    """Elisions by the original message they are in."""
    grouped: dict[int, list[Elision]] = {}
    for elision in elisions:
        grouped.setdefault(elision.message, []).append(elision)
    return {index: tuple(of_message) for index, of_message in grouped.items()}


def by_place(insertions: Iterable[Insertion]) -> dict[int, list[Insertion]]:
    """Insertions by the original message they stand before."""
    grouped: dict[int, list[Insertion]] = {}
    for insertion in insertions:
        grouped.setdefault(insertion.before, []).append(insertion)
    return grouped


def by_path(elisions: Iterable[Elision]) -> dict[Path, list[Elision]]:
    """Elisions of one message by the string or block they are in."""
    grouped: dict[Path, list[Elision]] = {}
    for elision in elisions:
        grouped.setdefault(elision.path, []).append(elision)
    return grouped


def edited(message: Message, elisions: Sequence[Elision]) -> Message:
    """One message with the elisions inside it made."""
    wire = message.wire
    texts: dict[Path, str] = {}
    blocks: list[Elision] = []
    for path, at_path in by_path(elisions).items():
        if at_path[0].start is None:
            blocks.append(at_path[0])
            continue
        texts[path] = _cut(get_at(wire, path), at_path)
        wire = replace_at(wire, path, texts[path])
    parts = tuple(_retold(part, texts) for part in message.parts)
    for block in sorted(blocks, key=lambda elision: elision.path, reverse=True):
        wire, parts = _swap_block(wire, parts, block)
    return msgspec.structs.replace(message, wire=wire, parts=parts)


def _cut(text: str, elisions: Sequence[Elision]) -> str:
    out: list[str] = []
    at = 0
    for elision in elisions:
        out += (text[at : elision.start], elision.replacement)
        at = elision.end or 0
    out.append(text[at:])
    return "".join(out)


def _retold(part: Part, texts: Mapping[Path, str]) -> Part:
    if isinstance(part, ToolResultPart):
        if not any(inner.path in texts for inner in part.parts):
            return part
        inner = tuple(TextPart(texts[inner.path], inner.path) if inner.path in texts else inner for inner in part.parts)
        return msgspec.structs.replace(part, parts=inner)
    if isinstance(part, TextPart) and part.path in texts:
        return TextPart(texts[part.path], part.path)
    if isinstance(part, SummaryPart) and part.path in texts:
        return msgspec.structs.replace(part, text=texts[part.path])
    return part


def _swap_block(wire: Any, parts: tuple[Part, ...], block: Elision) -> tuple[Any, tuple[Part, ...]]:
    """Replace or remove the block at `block.path`; parts that stood behind a removed block move up."""
    holder, position = block.path[:-1], cast("int", block.path[-1])
    siblings = list(get_at(wire, holder))
    kept: list[Part] = []
    for part in parts:
        if part.path[: len(block.path)] == block.path:
            if block.replacement is not None:
                kept.append(TextPart(block.replacement["text"], (*block.path, "text")))
        elif block.replacement is None and part.path[: len(holder)] == holder and _position(part, holder) > position:
            kept.append(_moved_up(part, len(holder)))
        else:
            kept.append(part)
    siblings[position : position + 1] = [] if block.replacement is None else [block.replacement]
    return replace_at(wire, holder, siblings), tuple(kept)


def _position(part: Part, holder: Path) -> int:
    return cast("int", part.path[len(holder)]) if len(part.path) > len(holder) else -1


def _moved_up(part: Part, depth: int) -> Part:
    path = (*part.path[:depth], cast("int", part.path[depth]) - 1, *part.path[depth + 1 :])
    if isinstance(part, ToolResultPart):
        inner = tuple(
            msgspec.structs.replace(p, path=(*p.path[:depth], cast("int", p.path[depth]) - 1, *p.path[depth + 1 :]))
            for p in part.parts
        )
        return msgspec.structs.replace(part, path=path, parts=inner)
    return msgspec.structs.replace(part, path=path)
