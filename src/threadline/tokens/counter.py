"""`TokenCounter`: how many tokens each of a batch of texts has; exact by a real vocabulary, cached by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

__all__ = ["CachedCounter", "ExactCounter", "TokenCounter"]

_REPLACEMENT = "\ufffd"

_WORTH_REMEMBERING = 512
"""Mean characters of a batch from which a look-up (hashing included) is far cheaper than counting anew."""

_CAVEATS = {"qwen3.5": 0.05}
"""Vocabularies applied a little otherwise than by their owner: in Qwen 3.5 toktok-rs splits combining marks off."""

_FEW = 64
"""Fewer texts are counted one by one."""

_BATCH_CHARS = 2_000_000
"""Most characters of a batch that is copied first."""


class TokenCounter(Protocol):
    """Counts the tokens of texts.

    Attributes:
        name: what is counted with, for reports and manifests.
        exact: the counts are those of the model's own vocabulary.
        bound: the relative error to expect at most, 0.0 where exact. Of an estimate it is what 98 of 100 texts of 200
            characters and more stay within (English, code, JSON, Chinese, Japanese, Korean, Thai, Arabic, emoji), and
            nearly all of it lies above the true count.
    """

    @property
    def name(self) -> str:
        """What is counted with."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the counts are the model's own."""
        ...

    @property
    def bound(self) -> float:
        """The relative error to expect at most."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, in order; 0 for an empty one. Never raises on any string."""
        ...


class ExactCounter:
    """Counts by one of the vocabularies that toktok-rs carries in its wheel; no network, one thread.

    Special-token strings count as ordinary text: whoever sends them as content pays for their characters.

    Args:
        encoding: `o200k_base`, `cl100k_base`, `o200k_harmony` or `qwen3.5`.

    Raises:
        ImportError: no wheel of toktok-rs fits this platform.
    """

    def __init__(self, encoding: str) -> None:
        import toktok  # pyright: ignore[reportMissingTypeStubs] -- typed inline, but not marked so

        self.name = encoding
        self.exact = True
        self.bound = _CAVEATS.get(encoding, 0.0)
        self._batch_count = toktok.batch_count
        self._count = _count_one(encoding)
        self._few = 0 if encoding in _CAVEATS else _FEW

    def count(self, texts: Sequence[str]) -> list[int]:
        """See `TokenCounter.count`. A lone surrogate counts as U+FFFD, which is what a provider would make of it."""
        try:
            if len(texts) < self._few:
                return [self._count(text if text.isascii() else _copied(text)) for text in texts]
            if not all(map(str.isascii, texts)):
                return [count for some in _batches(texts) for count in self._batch(list(map(_copied, some)))]
            return self._batch(texts)
        except UnicodeEncodeError:
            return self._batch([_well_formed(text) for text in texts])

    def _batch(self, texts: Sequence[str]) -> list[int]:
        return self._batch_count(texts, self.name, threads=1)  # each further thread would hold 8 MB of its own


def _count_one(encoding: str) -> Callable[[str], int]:
    """Counts one text, by a part of the package that is not public: a batch takes 40 us before it begins, this 0.2."""
    import toktok  # pyright: ignore[reportMissingTypeStubs] -- typed inline, but not marked so

    tokenizer: Any = vars(toktok)["_encoding"](encoding)
    return tokenizer.count


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts, some at a time."""
    start = chars = 0
    for at, text in enumerate(texts):
        chars += len(text)
        if chars >= _BATCH_CHARS:
            yield texts[start : at + 1]
            start, chars = at + 1, 0
    yield texts[start:]


def _copied(text: str) -> str:
    """A string to throw away: one that is not ASCII keeps its UTF-8 form with it once anybody asked for it."""
    return text if text.isascii() else "".join((text[:1], text[1:]))


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


class CachedCounter:
    """Remembers the counts of another counter by content.

    Two generations stand in for a list of uses: a text met again moves into the younger one, and when that is full the
    older one is forgotten. Whatever was used within the last `max_chars / 2` characters is therefore still known.

    Args:
        counter: what counts a text met for the first time.
        max_chars: the most characters that all remembered texts have together.
    """

    def __init__(self, counter: TokenCounter, *, max_chars: int = 16_000_000) -> None:
        self.name = counter.name
        self.exact = counter.exact
        self.bound = counter.bound
        self._counter = counter
        self._limit = max_chars // 2
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._chars = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        """See `TokenCounter.count`."""
        chars = sum(map(len, texts))
        if chars < _WORTH_REMEMBERING * len(texts):
            return self._counter.count(texts)
        if not self._young:  # nothing is known yet
            counts = self._counter.count(texts)
            self._remember(texts, counts, chars)
            return counts
        young, old = self._young, self._old
        counts = [young.get(text, -1) for text in texts]
        missing = [index for index, count in enumerate(counts) if count < 0]
        if missing:
            found = {text: old.get(text, -1) for text in (texts[index] for index in missing)}
            fresh = [text for text, count in found.items() if count < 0]
            found.update(zip(fresh, self._counter.count(fresh), strict=True))
            for index in missing:
                counts[index] = found[texts[index]]
            self._remember(found.keys(), found.values(), sum(map(len, found)))
        return counts

    def _remember(self, texts: Iterable[str], counts: Iterable[int], chars: int) -> None:
        """Takes a batch into the younger generation; of a batch that is too large by itself only what fits."""
        if self._chars + chars > self._limit:
            self._old, self._young, self._chars = self._young, {}, 0
        if chars <= self._limit:
            self._young.update(zip(texts, counts, strict=True))
            self._chars += chars
            return
        for text, count in zip(texts, counts, strict=True):
            if self._chars + len(text) <= self._limit:
                self._young[text] = count
                self._chars += len(text)
