"""`Series`: a sequence that grows without copying what it holds; earlier values stay as they were."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast, overload

__all__ = ["Series"]

T = TypeVar("T")

_BLOCK = 256
"""Items in a block. An append copies at most one block, and one pointer for each block there is: for a million items
about what it copies for a thousand."""


class Series(Sequence[T]):
    """Immutable; equal to another with the same items."""

    __slots__ = ("_blocks", "_tail")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._blocks: tuple[tuple[T, ...], ...] = ()
        self._tail: tuple[T, ...] = ()
        self._fill((), tuple(items))

    def _fill(self, blocks: tuple[tuple[T, ...], ...], rest: tuple[T, ...]) -> None:
        full = len(rest) - len(rest) % _BLOCK
        self._blocks = (*blocks, *(rest[start : start + _BLOCK] for start in range(0, full, _BLOCK)))
        self._tail = rest[full:]

    def extended(self, items: Iterable[T]) -> Series[T]:
        """With more items at its end; costs what the new ones cost."""
        grown: Series[T] = Series()
        grown._fill(self._blocks, (*self._tail, *items))
        return grown

    def without(self, values: Iterable[int], key: Callable[[T], int]) -> Series[T]:
        """Without the items whose key is among the values; keys must ascend along the series."""
        places: set[int] = set()
        for value in values:
            place = bisect_right(self, value, key=key) - 1
            if place >= 0 and key(self[place]) == value:
                places.add(place)
        return Series(item for place, item in enumerate(self) if place not in places) if places else self

    def __len__(self) -> int:
        return _BLOCK * len(self._blocks) + len(self._tail)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        block, inside = divmod(place, _BLOCK)
        return self._blocks[block][inside] if block < len(self._blocks) else self._tail[inside]

    def __iter__(self) -> Iterator[T]:
        for block in self._blocks:
            yield from block
        yield from self._tail

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Series) and tuple(self) == tuple(cast("Series[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Series({list(self)!r})"
