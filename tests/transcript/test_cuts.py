"""Cuts upon cuts say the same as one cut after the other."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from threadline.messages import Fate
from threadline.transcript.cuts import Cut, Origins, compose, splice

TEXT = "".join(chr(ord("a") + n % 26) for n in range(60))


@st.composite
def cuts_of(draw, length):
    points = sorted(draw(st.lists(st.integers(0, length), max_size=8).filter(lambda found: len(found) % 2 == 0)))
    return [
        Cut(start=start, end=end, replacement=draw(st.text("XYZ", max_size=7)), fate=Fate.DEDUPLICATED)
        for start, end in zip(points[::2], points[1::2], strict=True)
        if start < end
    ]


@given(st.data())
def test_composed_cuts_give_what_the_two_lists_give_in_turn(data):
    first = data.draw(cuts_of(len(TEXT)))
    view = splice(TEXT, first)
    second = data.draw(cuts_of(len(view)))

    both = compose(first, second)

    assert splice(TEXT, both) == splice(view, second)
    assert all(a.end <= b.start for a, b in pairwise(both))


@given(st.data())
def test_a_span_of_untouched_view_text_is_the_same_text_in_the_original(data):
    cuts = data.draw(cuts_of(len(TEXT)))
    view = splice(TEXT, cuts)
    start = data.draw(st.integers(0, len(view)))
    end = data.draw(st.integers(start, len(view)))

    found = Origins(cuts).span(start, end)

    if not set(view[start:end]) & set("XYZ") and start < end:
        assert view[start:end] in TEXT[found[0] : found[1]] or any(not cut.replacement for cut in cuts)
