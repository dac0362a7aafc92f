"""Every counter that ships passes the suite that ships; a broken one does not."""

from __future__ import annotations

import pytest

import threadline
from threadline.testing import WordCounter, check_token_counter
from threadline.tokens import CachedCounter, CalibratedCounter, ExactCounter, Measure, counter_for

COUNTERS = {
    "words": WordCounter(),
    "exact": ExactCounter("o200k_base"),
    "cached": CachedCounter(ExactCounter("cl100k_base")),
    "claude": counter_for("claude-sonnet-4-5"),
    "gemini": counter_for("gemini-2.5-pro"),
    "calibrated": CalibratedCounter(ExactCounter("o200k_base"), 1.25),
}


@pytest.mark.parametrize("name", COUNTERS)
def test_a_shipped_counter_keeps_every_promise(name):
    check_token_counter(COUNTERS[name])


def test_a_counter_that_forgets_a_text_is_found_out():
    class Forgetful(WordCounter):
        def count(self, texts):
            return super().count(texts)[1:]

    with pytest.raises(AssertionError, match="one figure for each text"):
        check_token_counter(Forgetful())


def test_a_measure_takes_any_counter():
    measure = Measure(counter=WordCounter())

    assert measure.text("three small words") == 3
    assert threadline.count_tokens("") == 0
