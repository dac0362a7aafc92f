"""A model that got stuck is cut; whatever says something is left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.memory.gist import capped
from threadline.memory.runaway import sober
from threadline.text.width import ascii_width, cut_at_width

PROSE = (
    "Ann told Bob that she had moved to Oslo in March 2024 and that the flat near the park is small but bright. She "
    "pays 12,000 kroner a month. Bob asked whether the cat likes it there; it does, though it misses the garden. They "
    "agreed to meet on 3 May at the harbour, where Ann wants to show him the opera house and the new library. "
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PROSE,
        PROSE + "\n" + PROSE,
        "\u5979\u642c\u5230\u4e86\u5965\u65af\u9646\uff0c\u5728\u516c\u56ed\u65c1\u8fb9\u3002",
        "No. No. No.",
    ],
)
def test_prose_stays_as_it_is(text):
    assert sober(text, 20_000) == text


@pytest.mark.parametrize("unit", ["ha", "and so on ", "\u54c8", "I am sorry. ", "=", "Ann lives in Oslo, Norway. "])
def test_a_repetition_without_end_is_cut_and_what_stands_around_it_stays(unit):
    made = sober(PROSE + unit * 3_000 + "\n" + PROSE, 20_000)

    assert made.startswith(PROSE[:300])
    assert made.rstrip().endswith(PROSE[-100:].strip())
    assert len(made) < 2 * len(PROSE) + 1_200


def test_nothing_is_longer_than_it_may_be():
    assert len(sober(PROSE * 2 + "".join(map(chr, range(0x4E00, 0x4E00 + 900))), 1_000)) <= 1_000


@settings(max_examples=40)
@given(st.text(max_size=900), st.integers(2, 60))
def test_a_capped_text_is_within_its_width_and_capping_it_again_changes_nothing(text, width):
    made = capped(text, width)

    assert ascii_width(made) <= width
    assert capped(made, width) == made
    assert ascii_width(cut_at_width(text, width)) <= width
