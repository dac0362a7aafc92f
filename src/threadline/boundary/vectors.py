"""Vectors of messages, and how to read their cosines whatever the embedder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.errors import ConfigurationError

if TYPE_CHECKING:
    from threadline.ports import Embedder
    from threadline.ports.embedder import Vectors

__all__ = ["Scale", "VectorCache"]

_PROBES = (
    ("We could take the early train to the coast on Saturday.", "Is the ticket still cheaper if we book it today?"),
    ("The build fails because a test times out.", "Did you look at the log of that test run?"),
    ("My daughter starts school in autumn.", "Is she looking forward to her new class?"),
    ("This soup needs more salt and a little pepper.", "I always add lemon to soup at the end."),
    ("The doctor said my knee will need an operation.", "How long will you be in hospital for the knee?"),
    ("Our team lost the match in the last minute.", "Which player let the goal in?"),
    ("I am saving money to buy a small flat.", "Have you asked your bank about a loan?"),
    ("She plays the piano in a jazz band.", "Where does the band play its concerts?"),
    ("The garden is full of weeds after the rain.", "Roses grow well when the weather is wet."),
    ("The new phone's battery lasts two days.", "Mine has to be charged every evening."),
)
"""Ten short exchanges on ten subjects: what is said together, and what is not."""


class Scale(Struct, frozen=True, kw_only=True):
    """How an embedder's cosines are read: 0.5 lies half-way between two subjects and one.

    Attributes:
        apart: the mean cosine of probes on different subjects.
        together: the mean cosine of a probe and its answer.
    """

    apart: float
    together: float

    def nearness(self, left: Vectors, right: Vectors) -> float:
        """How near two vectors are: -0.5 as texts on different subjects, 0.5 as a text and its answer."""
        norm = math.sqrt(float(left @ left) * float(right @ right))
        cosine = float(left @ right) / norm if norm else self.apart
        return (cosine - self.apart) / (self.together - self.apart) - 0.5

    @classmethod
    def of(cls, probes: Vectors) -> Scale:
        """The scale on which the vectors of the probes lie.

        Raises:
            ConfigurationError: the embedder finds texts on one subject no nearer than others.
        """
        said, answered = probes[::2], probes[1::2]
        cosines = said @ answered.T
        count = len(said)
        together = float(cosines.trace()) / count
        apart = (float(cosines.sum()) - together * count) / (count * (count - 1))
        if together <= apart:
            raise ConfigurationError("the embedder does not tell related texts from others")
        return cls(apart=apart, together=together)


class VectorCache:
    """Remembers the vectors of the last texts, since the open end of a conversation comes again with every message.

    Args:
        embedder: what makes the vectors.
        max_texts: how many are remembered at least; it forgets the older half when there are twice as many.
    """

    def __init__(self, embedder: Embedder, *, max_texts: int = 1024) -> None:
        self._embedder = embedder
        self._limit = max_texts
        self._known: dict[str, Vectors] = {}
        self._scale: Scale | None = None

    async def scale(self) -> Scale:
        """How the cosines of its vectors are read; the probes are embedded once."""
        if self._scale is None:
            self._scale = Scale.of(await self._embedder.aembed([text for probe in _PROBES for text in probe]))
        return self._scale

    async def vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """One vector a text, in order."""
        known = {text: self._known[text] for text in texts if text in self._known}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known.update(zip(fresh, await self._embedder.aembed(fresh), strict=True))
        self._known.update(known)
        if len(self._known) > 2 * self._limit:
            self._known = dict([*self._known.items()][-self._limit :])
        return [known[text] for text in texts]
