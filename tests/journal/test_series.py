"""A series behaves like the tuple of its items."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from threadline.journal.series import Series

PARTS = st.lists(st.integers(0, 300), max_size=6)


@given(PARTS, st.data())
def test_a_series_grown_in_parts_is_the_sequence_of_all(sizes, data):
    series, items = Series(), []
    for size in sizes:
        new = list(range(len(items), len(items) + size))
        earlier, before = series, list(series)
        series, items = series.extended(new), items + new
        assert list(earlier) == before

    assert list(series) == items
    assert len(series) == len(items)
    assert series == Series(items)
    assert hash(series) == hash(Series(items))
    if items:
        place = data.draw(st.integers(-len(items), len(items) - 1))
        assert series[place] == items[place]
        assert series[place:] == tuple(items[place:])


@given(st.sets(st.integers(0, 900)), st.lists(st.integers(-5, 905), max_size=8))
def test_items_are_taken_out_by_key(items, gone):
    series = Series(sorted(items))

    assert list(series.without(gone, key=lambda item: item)) == sorted(items - set(gone))


def test_an_append_to_a_long_series_copies_one_block_at_most():
    series = Series(range(100_000))

    grown = series.extended([1])

    assert all(one is other for one, other in zip(series._blocks, grown._blocks, strict=True))
    assert len(grown._tail) <= 256
