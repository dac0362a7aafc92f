"""Which texts a statement comes from, where nobody says so: those that share most of its words."""

from __future__ import annotations

from collections.abc import Sequence

from threadline.text.stems import content_terms, language_of

__all__ = ["Origins", "valid_labels"]

_LEAST_SHARE = 1 / 3
"""Of a statement's terms that a text must hold to count as its origin."""


class Origins:
    """Looks statements up among texts, each read once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._terms = [_terms(text) for text in texts]

    def of(self, statement: str) -> list[int]:
        """The places of the texts with the greatest share of the statement's terms; none if it is below a third."""
        wanted = _terms(statement)
        if not wanted:
            return []
        shares = [len(wanted & terms) / len(wanted) for terms in self._terms]
        best = max(shares, default=0.0)
        return [place for place, share in enumerate(shares) if share == best] if best >= _LEAST_SHARE else []


def _terms(text: str) -> frozenset[str]:
    return frozenset(content_terms(text, language_of(text)))


def valid_labels(labels: Sequence[int], count: int) -> list[int]:
    """Labels that were shown, each once, in order: a model may name others."""
    return sorted({label for label in labels if 0 <= label < count})
