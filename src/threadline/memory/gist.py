"""A summary no longer than a reader takes in at a glance."""

from __future__ import annotations

import re

from threadline.text.width import ascii_width, cut_at_width

__all__ = ["MAX_SUMMARY", "capped"]

MAX_SUMMARY = 400
"""In ASCII characters; East Asian wide ones count as two."""

_ENDS = ".!?\u3002\uff01\uff1f"
_SENTENCE_END = re.compile(rf"[{_ENDS}]+(?=\s|$)|[\u3002\uff01\uff1f]+")
ELLIPSIS = "\u2026"


def capped(text: str, width: int = MAX_SUMMARY) -> str:
    """The text, or as many of its first sentences as fit with an ellipsis for the last stop.

    Where not even one fits, the text is cut where the width ends.
    """
    text = text.strip()
    if ascii_width(text) <= width:
        return text
    room = cut_at_width(text, width - 1)
    ends = [end.start() for end in _SENTENCE_END.finditer(text[: len(room) + 1]) if end.start() <= len(room)]
    whole = text[: ends[-1]] if ends else ""
    return (whole if whole.strip(_ENDS + " ") else room).rstrip(_ENDS + " \n\t") + ELLIPSIS
