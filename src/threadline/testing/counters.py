"""A token counter for tests, and what every counter has to promise."""

from __future__ import annotations

from collections.abc import Sequence

from threadline.tokens import TokenCounter

__all__ = ["WordCounter", "check_token_counter"]

_ODD = ("", " ", "word", "two words", "\x00", "\ud800 alone", "漢字", "👩‍👩‍👧", "a\r\nb\tc", "x" * 5000, "{}")


class WordCounter:
    """Counts words: one token each, so that a test can say in advance what a budget holds."""

    name = "words"
    exact = False
    bound = 1.0

    def count(self, texts: Sequence[str]) -> list[int]:
        """The words of each text."""
        return [len(text.split()) for text in texts]


def check_token_counter(counter: TokenCounter) -> None:
    """Raise `AssertionError` where a counter breaks a promise of the port.

    One figure a text, in order; never negative; nothing for nothing; the same for the same; no text makes it fail.
    """
    together = counter.count(_ODD)
    assert len(together) == len(_ODD), "one figure for each text"
    assert all(tokens >= 0 for tokens in together), "no figure is negative"
    assert counter.count([""]) == [0], "an empty text costs nothing"
    assert counter.count([]) == [], "no texts, no figures"
    assert [counter.count([text])[0] for text in _ODD] == together, "a figure does not depend on its neighbours"
    assert counter.count(_ODD) == together, "the same texts give the same figures"
    assert counter.name, "a counter has a name"
    assert counter.bound >= 0, "a bound is no less than nothing"
