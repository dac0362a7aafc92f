"""What the form of a message shows about where an exchange stands: questions, closings, references, session marks."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct

__all__ = ["asks", "closes", "ends_task", "greets", "marks_session", "offers", "refers_back"]

_QUESTION = re.compile("[?\uff1f\u061f\u037e]")
_MARK_CHARS = " \t\r\n-=_*#>.!"
"""Around a session mark people draw lines."""

_OPENING_CHARS = " \t\r\n\"'*_\u00a1\u201c\u300c"

_SPACED = re.compile("[^\u3040-\u9fff\uac00-\ud7af]+")


_PHRASES = frozenset({"offers", "session_marks"})
"""Lists of whole lines; in the others every word is an entry."""


class _Words(Struct, frozen=True):
    """A list of words, sought as whole words in spaced scripts and anywhere in the others."""

    spaced: re.Pattern[str]
    dense: re.Pattern[str]

    def found(self, text: str) -> bool:
        return self.spaced.search(text) is not None or (not text.isascii() and self.dense.search(text) is not None)

    def begins(self, text: str) -> bool:
        return self.spaced.match(text) is not None or self.dense.match(text) is not None


@cache
def _cues() -> dict[str, str]:
    return tomllib.loads(resources.files("threadline.boundary").joinpath("cues.toml").read_text("utf-8"))


@cache
def _words(name: str) -> _Words:
    listed = _cues()[name]
    words = sorted(_lines(name) if name in _PHRASES else listed.split(), key=len, reverse=True)
    spaced = [re.escape(word) for word in words if _SPACED.fullmatch(word)]
    dense = [re.escape(word) for word in words if not _SPACED.fullmatch(word)]
    return _Words(re.compile(rf"\b(?:{'|'.join(spaced)})\b", re.IGNORECASE), re.compile("|".join(dense)))


def _lines(name: str) -> list[str]:
    return [line.strip() for line in _cues()[name].splitlines() if line.strip()]


@cache
def _session_marks() -> frozenset[str]:
    return frozenset(_lines("session_marks"))


def asks(text: str) -> bool:
    """True where a question mark of any script stands in the text."""
    return _QUESTION.search(text) is not None


def closes(text: str) -> bool:
    """True where the text thanks, takes leave, or answers one who does."""
    return _words("closings").found(text)


def greets(text: str) -> bool:
    """True where the text begins with a greeting."""
    return _words("greetings").begins(text.lstrip(_OPENING_CHARS))


def offers(text: str) -> bool:
    """True where the text asks whether there is anything else."""
    return _words("offers").found(text)


def refers_back(text: str) -> bool:
    """True where a word points back at what was named before."""
    return _words("references").found(text)


@cache
def _task_ends() -> frozenset[str]:
    return frozenset(_cues()["task_ends"].split())


def ends_task(tool: str) -> bool:
    """True where a call of this tool hands in an agent's work."""
    return tool in _task_ends()


def marks_session(text: str) -> bool:
    """True where the whole text is a mark of a new session, lines drawn around it aside."""
    return len(text) < 64 and text.strip(_MARK_CHARS).casefold() in _session_marks()
