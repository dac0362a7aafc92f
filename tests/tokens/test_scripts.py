from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.text.scripts import CLASSES, class_counts, weigher

any_text = st.text(st.characters(exclude_categories=()), max_size=200)


def counted(text: str) -> dict[str, int]:
    return {name: count for name, count in zip(CLASSES, class_counts(text), strict=True) if count}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", {"lower": 3}),
        ("AB", {"upper": 2}),
        ("2025", {"digit": 4}),
        (" \t", {"space": 2}),
        ("\r\n", {"newline": 2}),
        ("{}!", {"punctuation": 3}),
        ("éß", {"latin": 2}),
        ("ἀλφα", {"greek": 4}),
        ("да", {"cyrillic": 2}),
        ("שלום", {"hebrew": 4}),
        ("مرحبا", {"arabic": 5}),
        ("नमस्ते", {"indic": 6}),
        ("ನಮ", {"dravidian": 2}),
        ("ไทย", {"thai": 3}),
        ("한국", {"hangul": 2}),
        ("かな。", {"kana": 3}),
        ("漢字", {"han": 2}),
        ("ქა", {"other": 2}),
        ("—“→", {"symbol": 3}),
        ("🎉𝒳", {"astral": 2}),
    ],
)
def test_each_script_has_its_class(text, expected):
    assert counted(text) == expected


def test_a_mixed_text_is_split_among_its_classes():
    assert counted("Ok, 漢!") == {"upper": 1, "lower": 1, "punctuation": 2, "space": 1, "han": 1}


@given(any_text)
def test_every_character_is_counted_exactly_once(text):
    assert sum(class_counts(text)) == len(text)
    assert min(class_counts(text)) >= 0


@given(any_text, any_text)
def test_counts_add_up_where_no_surrogates_meet(left, right):
    together = class_counts(left + "." + right)
    apart = [a + b for a, b in zip(class_counts(left), class_counts(right), strict=True)]
    apart[CLASSES.index("punctuation")] += 1
    assert together == tuple(apart)


@given(any_text, st.dictionaries(st.sampled_from(CLASSES), st.floats(0, 4)))
def test_weighing_is_the_sum_of_weight_times_count(text, weights):
    expected = sum(weights.get(name, 0.0) * count for name, count in zip(CLASSES, class_counts(text), strict=True))
    assert weigher(weights)(text) == pytest.approx(expected)


def test_a_class_that_does_not_exist_is_refused():
    with pytest.raises(KeyError):
        weigher({"klingon": 1.0})


@pytest.mark.parametrize("char", ["a", " ", "漢", "🎉", "\x00", "\ud800"])
def test_a_megabyte_of_one_character_takes_no_time_to_speak_of(char):
    weigh = weigher(dict.fromkeys(CLASSES, 1.0))
    started = time.perf_counter()
    assert weigh(char * 1_000_000) == 1_000_000
    assert time.perf_counter() - started < 2.0
