"""The texts that stand where something was left out. They only say what is where: the record is the truth, not they."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from threadline.errors import InvalidInputError

__all__ = [
    "Marker",
    "MarkerStyle",
    "cleared_marker",
    "holds_marker",
    "pruned_marker",
    "reference_marker",
    "without_markers",
]

_QUOTE_CHARS = 16
"""Characters of the earlier text that a reference quotes, cut back to a word: enough to find it, about four tokens."""

_MARKER = re.compile(
    rf"\[(?:(?:\d+ lines |lines \d+-\d+ )?as (?:above|below): .{{0,{_QUOTE_CHARS}}}|\d+ characters? not shown"
    r"|result (?:of .{0,64} )?not shown(?:: a later one follows)?)\]"
)


_QUOTE_REACH = 400
"""How far into a text the words to quote are looked for."""

_WORD = re.compile(r"[^\W_]")
_LINE_NUMBER = re.compile(r"^ *\d+[:|\t\u2192]")


class Marker(Struct, frozen=True, kw_only=True, gc=False):
    """What a marker may say about a repeat.

    Attributes:
        text: the text that is left out.
        lines: how many whole lines it has; 0 for fragments of a line.
        numbers: first and last line number that the text itself carries, if it is numbered.
        below: True when the copy that stays comes later.
    """

    text: str
    lines: int
    numbers: tuple[int, int] | None = None
    below: bool = False


MarkerStyle: TypeAlias = Literal["reference", "silent"] | Callable[[Marker], str]
"""`reference` points to the copy that stays, `silent` leaves nothing, a callable writes its own."""


def reference_marker(marker: Marker, style: MarkerStyle = "reference") -> str:
    """The text in place of a repeat.

    Raises:
        InvalidInputError: the caller's own style gave back no text.
    """
    if callable(style):
        text: Any = style(marker)
        if not isinstance(text, str):
            raise InvalidInputError("marker: the callable gave back no text", key="marker")
        return text
    if style == "silent":
        return ""
    if marker.numbers is not None:
        what = f"lines {marker.numbers[0]}-{marker.numbers[1]} "
    else:
        what = f"{marker.lines} lines " if marker.lines > 1 else ""
    return f"[{what}as {'below' if marker.below else 'above'}: {_quote(marker.text)}]"


def pruned_marker(characters: int) -> str:
    """The text in place of the middle of a long result."""
    return f"[{characters} character{'' if characters == 1 else 's'} not shown]"


def cleared_marker(tool: str | None, *, superseded: bool = False) -> str:
    """The text in place of a whole result."""
    of_tool = f"of {tool[:64]} " if tool else ""
    return f"[result {of_tool}not shown{': a later one follows' if superseded else ''}]"


def holds_marker(piece: str) -> bool:
    """True for text that is, or only looks like, a marker: nothing ever refers to it."""
    return "[" in piece and _MARKER.search(piece) is not None


def without_markers(text: str) -> str:
    """The text without what is, or only looks like, a marker."""
    return _MARKER.sub("", text) if "[" in text else text


def _quote(text: str) -> str:
    """The first words of the first line that has any, up to a comma, where markers in one-line JSON would be cut."""
    words = text[:_QUOTE_CHARS]
    if words[:1].isalpha() and len(words) == _QUOTE_CHARS and "\n" not in words:  # as most texts begin
        return words[: words.rfind(" ")] if " " in words[4:] else words
    for line in text[:_QUOTE_REACH].split("\n"):
        words = _LINE_NUMBER.sub("", line).strip()[:_QUOTE_CHARS]
        if _WORD.search(words) is not None:
            break
    else:
        return ""
    if len(words) < _QUOTE_CHARS:
        return words
    return words[: words.rfind(" ")] if " " in words[4:] else words
