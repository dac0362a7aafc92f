"""How much a sentence says of its speaker, by what shows on its surface."""

from __future__ import annotations

import re
from collections.abc import Iterator

from threadline.memory.extractive.cues import Cues, cues_of
from threadline.memory.extractive.quotes import Quote

__all__ = ["ENOUGH", "is_question", "names_in", "weight"]

ENOUGH = 2.5
"""From this weight on a sentence is kept: a first person who acts, or who is or has something solid or lasting."""

_QUESTION = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)\]]*$")
_NUMBER = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<![\w'\u2019])[^\W\d_a-z]\w*(?:[-'\u2019&.]\w+)*")
_MARKED = re.compile(r"(?<![\w@])@\w{2,}|\b[\w.+-]+@[\w-]+\.\w+|https?://\S+|#\w+|\b[A-Z]{2,}[\w&]*|\b\w+[a-z][A-Z]\w*")
"""Handles, addresses, acronyms, and names with capitals inside."""

_FOR_OTHERS = re.compile(r"\byours?\b|[您你]的|\bihre?\b|\bsus?\b|ваш", re.IGNORECASE)
_NOUNS_CAPITAL = frozenset({"german"})
_WORD = re.compile(r"[\w'\u2019-]+")


def is_question(text: str) -> bool:
    """True where a sentence ends in a question mark of any script."""
    return _QUESTION.search(text) is not None


def names_in(text: str, language: str) -> Iterator[str]:
    """What looks like a name: capitals within a sentence, handles, acronyms, and a language's own marks."""
    cues = cues_of(language)
    yield from (match.group() for match in _MARKED.finditer(text) if match.group() != "I")
    yield from (match.group() for match in cues.names.finditer(text))
    if language in _NOUNS_CAPITAL:
        return
    for match in _CAPITAL.finditer(text):
        name = match.group()
        if match.start() == 0 or not name[0].isupper() or re.fullmatch(r"I(?:['\u2019]\w+)?|OK(?:ay)?", name):
            continue
        if re.search(r"[.!?:\u2014\u2013\"'\u201c\u2018(]\s*$", text[: match.start()]) is None:
            yield name


def weight(quote: Quote) -> float:
    """How much a sentence says: more for a first person, its verb, names and numbers, less for courtesy and doubt."""
    cues = cues_of(quote.language)
    if quote.message.role == "assistant":
        return _told(quote, cues)
    text = quote.text
    solid = _solid(text, cues)
    if is_question(text):
        return solid - 3.0
    if quote.is_note:
        return ENOUGH + solid
    said = 1.0 if cues.self.search(text) else 0.0
    if said:
        said += 1.5 if cues.acts.search(text) else 1.0 if cues.state.search(text) else 0.0
        said += 1.0 if cues.stable.search(text) else 0.0
    said -= (0.5 if solid else 1.5) if cues.courtesy.search(text) else 0.0
    return said + solid - (0.5 if cues.doubt.search(text) else 0.0)


def _solid(text: str, cues: Cues) -> float:
    """What can be looked up later: a number, a name, a date."""
    found = 1.5 if _NUMBER.search(text) else 1.0 if cues.numbers.search(text) else 0.0
    found += 1.5 if next(names_in(text, cues.language), None) else 0.0
    return found + (0.5 if cues.dates.search(text) else 0.0)


def _told(quote: Quote, cues: Cues) -> float:
    """An assistant's sentence counts where it tells the other something solid of theirs."""
    if is_question(quote.text) or cues.courtesy.search(quote.text) or not _FOR_OTHERS.search(quote.text):
        return 0.0
    solid = _solid(quote.text, cues)
    return ENOUGH if solid >= 1.5 else 0.0
