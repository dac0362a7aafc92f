"""`Turn`: a chat message as the lexical detector sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.boundary.cues import asks, closes, ends_task, greets, marks_session, offers, refers_back
from threadline.messages import Message, speaker
from threadline.text.stems import content_terms, language_of

if TYPE_CHECKING:
    from threadline.ports.embedder import Vectors

__all__ = ["Turn", "TurnReader"]

_FEW_TERMS = 3
"""Up to so many content terms a message that thanks does nothing else: "thanks, that works for me"."""


class Turn(Struct, frozen=True, kw_only=True):
    """What counts of a chat message.

    Attributes:
        speaker: who said it.
        assistant: it is the assistant's.
        timestamp: when, milliseconds since the epoch; None or 0 where it is not known.
        terms: its content terms.
        mass: the logarithm of one more than their number: how much it says.
        asks: it asks something, other than whether there is anything else.
        closes: it does nothing but thank or take leave, or asks whether there is anything else.
        greets: it begins with a greeting.
        refers: a word of it points back.
        opens_session: it is the mark of a new session.
        after_task: between it and the message before, an agent handed in its work.
        vector: its direction in meaning, where there is an embedder.
    """

    speaker: str
    assistant: bool
    timestamp: int | None
    terms: frozenset[str]
    mass: float
    asks: bool
    closes: bool
    greets: bool
    refers: bool
    opens_session: bool
    after_task: bool
    vector: Vectors | None = None


class TurnReader:
    """Reads the chat messages of one episode in order.

    A message in which no language shows is read in that of the message before it, the first one in English.
    """

    def __init__(self) -> None:
        self._language = "english"

    def read(self, message: Message, traffic: Sequence[Message], vector: Vectors | None) -> Turn:
        """The turn of a message.

        Args:
            message: the next chat message.
            traffic: the items between it and the one before.
            vector: its vector, where there is an embedder.
        """
        text = message.content
        self._language = language_of(text, self._language)
        terms = frozenset(content_terms(text, self._language))
        offering = offers(text)
        return Turn(
            speaker=speaker(message),
            assistant=message.role == "assistant",
            timestamp=message.timestamp,
            terms=terms,
            mass=math.log1p(len(terms)),
            asks=asks(text) and not offering,
            closes=offering or (len(terms) <= _FEW_TERMS and closes(text)),
            greets=greets(text),
            refers=refers_back(text),
            opens_session=marks_session(text),
            after_task=any(ends_task(call.name) for item in traffic for call in item.tool_calls),
            vector=vector,
        )
