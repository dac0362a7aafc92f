"""Whether a narrative is about somebody: by whole names, never by parts of other names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["USER_WORDS", "Naming"]

USER_WORDS = (
    "the user",
    "der Nutzer",
    "die Nutzerin",
    "el usuario",
    "la usuaria",
    "\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044c",  # Russian
    "\u7528\u6237",  # Chinese
    "\u30e6\u30fc\u30b6\u30fc",  # Japanese
    "\uc0ac\uc6a9\uc790",  # Korean
)
"""How a narrative that is told for its owner refers to them without a name."""

_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f\uf900-\ufaff"
_IS_DENSE = re.compile(f"[{_DENSE}]")


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Naming:
    """Finds any of several names in texts.

    A name counts where it stands as a whole word or words. In scripts that put no spaces between words (Chinese,
    Japanese, Korean particles, Thai) there are no whole words to see, so there it counts anywhere.
    """

    def __init__(self, names: Iterable[str]) -> None:
        patterns = [_whole(name) for name in map(_normal, names) if name]
        self._pattern = re.compile("|".join(patterns) or r"(?!)")

    def found(self, text: str) -> bool:
        """True where one of the names stands in the text."""
        return self._pattern.search(_normal(text)) is not None


def _whole(name: str) -> str:
    left = "" if _IS_DENSE.match(name[0]) else r"(?<!\w)"
    right = "" if _IS_DENSE.match(name[-1]) else rf"(?![^\W{_DENSE}])"
    return f"{left}{re.escape(name)}{right}"
