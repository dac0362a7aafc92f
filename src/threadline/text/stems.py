"""The words of a text that carry its subject, as stems; pairs of characters where words have no spaces."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["content_terms", "language_of", "stop_words"]

_HAN, _KANA = "han", "kana"
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f\uf900-\ufaff"
"""Kana, Han, Hangul and Thai: words are not, or not only, parted by spaces."""

_RUN = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+(?:['\u2019][^\W\d_{_DENSE}]+)*")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_KEPT_STEMS = 50_000
"""Stems remembered a language; a stemmer in Python takes some 20 us a word."""


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """The words without a subject of their own, by language; `han` and `kana` hold characters."""
    text = resources.files("threadline.text").joinpath("stop_words.toml").read_text("utf-8")
    lists: dict[str, str] = tomllib.loads(text)
    return {name: frozenset(listed if name in (_HAN, _KANA) else listed.split()) for name, listed in lists.items()}


def language_of(text: str, default: str = "english") -> str:
    """The language a text's words are stemmed in: that whose stop words it uses most, `russian` for Cyrillic.

    Args:
        text: what was said.
        default: the answer where no language, or more than one, has the most.
    """
    if _CYRILLIC.search(text):
        return "russian"
    words = _words(text)
    counts = {name: sum(word in listed for word in words) for name, listed in stop_words().items()}
    (name, most), (_, second) = sorted(counts.items(), key=lambda item: item[1], reverse=True)[:2]
    return name if most > second and name not in (_HAN, _KANA) else default


def _words(text: str) -> list[str]:
    return _RUN.findall(text.casefold().replace("\u2019", "'"))


def content_terms(text: str, language: str = "english") -> Iterator[str]:
    """The terms of a text in order, repeats included: stems of words that are no stop words and no bare numbers.

    A run of a script without spaces gives its overlapping pairs of characters, parted at characters that only carry
    grammar; a character that stands alone is a term by itself.

    Args:
        text: what was said.
        language: as `language_of` names it; words of one without a stemmer stay whole.
    """
    lists = stop_words()
    stops, skipped = lists.get(language, frozenset[str]()), lists[_HAN] | lists[_KANA]
    stem = _stemmer(language)
    for run in _words(text):
        if re.match(f"[{_DENSE}]", run):
            for piece in "".join(" " if char in skipped else char for char in run).split():
                yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
        elif run not in stops and not run.isdecimal():
            yield stem(run)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    from functools import lru_cache

    import snowballstemmer  # pyright: ignore[reportMissingTypeStubs] -- ships no types

    functions: Mapping[str, Any] = vars(snowballstemmer)
    if language not in functions["algorithms"]():
        return str
    stemmer: Any = functions["stemmer"](language)
    return lru_cache(_KEPT_STEMS)(stemmer.stemWord)
