"""The element around quoted data: its name, what would pass for it, and a text without it."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["FENCE", "defused", "unquoted"]

FENCE = "quoted_data"
"""The name of the element around data."""

_ANGLES = "<\uff1c\ufe64\u2039\u27e8\u2329\u3008\u276e\u02c2\u1438\u226e\u29fc\u300a\u27ea"
"""`<` and what reads like it: fullwidth and small forms, quotation marks and brackets of that shape."""

_ANGLE = re.compile(f"[{_ANGLES}]")
_SLASHES = frozenset("/\\\u2044\u2215\u29f8\u2571\uff0f\uff3c")
_LIKE = {"\u2010": "_", "-": "_", "\u2011": "_", "\u2012": "_", "\u2013": "_", "\u2014": "_"}


def defused(text: str) -> str:
    """The text with the angle of whatever reads like one of our fences written `&lt;`; all else is as it was.

    Case, white space, invisible characters, accents and letters of other shapes do not hide a fence. Doing it twice
    changes nothing more.
    """
    if _ANGLE.search(text) is None:
        return text
    out: list[str] = []
    at = 0
    for angle in _ANGLE.finditer(text):
        if _opens_fence(text, angle.end()):
            out += (text[at : angle.start()], "&lt;")
            at = angle.end()
    return "".join((*out, text[at:])) if out else text


_REACH = 256
"""How many characters behind an angle are looked at; a name spread wider reads like nothing."""


def _opens_fence(text: str, start: int) -> bool:
    """True when what follows an angle, as a reader sees it, is the fence's name, perhaps behind a slash."""
    read = ""
    for char in text[start : start + _REACH]:
        for letter in unicodedata.normalize("NFKD", char).casefold():
            if letter.isspace() or unicodedata.category(letter)[0] in "CM":
                continue
            if letter in _SLASHES and not read:
                continue
            read += _LIKE.get(letter, letter)
        if len(read) >= len(FENCE) or not FENCE.startswith(read):
            return read.startswith(FENCE)
    return False


_ELEMENT = re.compile(rf"<{FENCE}\b[^>]*>.*?(?:</{FENCE}>|\Z)", re.DOTALL)


def unquoted(text: str) -> str:
    """The text without quoted data: what was put in for the reader is not what the speaker says."""
    return _ELEMENT.sub("", text) if f"<{FENCE}" in text else text
