from __future__ import annotations

import builtins
import sys
import time

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from threadline.tokens import CachedCounter, EstimatingCounter, ExactCounter, Weights, count_tokens, counter_for
from threadline.tokens import profile as profiles

ENCODINGS = ["o200k_base", "cl100k_base", "o200k_harmony", "qwen3.5"]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)

ESTIMATED = {
    "claude-3": "claude-sonnet-4-5",
    "claude-4.7": "claude-opus-5",
    "gemma-3": "gemini-2.5-pro",
    "llama-3.1": "llama-3.1-70b-instruct",
    "deepseek-v3": "deepseek-v3.2",
    "qwen-3": "qwen3-32b",
    "mistral-tekken": "mistral-small-2603",
}
"""The reference vocabulary, and a model that has it."""

NAMED = ["english", "python", "javascript", "json", "log", "chinese", "japanese", "korean", "thai", "arabic", "emoji"]
"""The kinds of text for which estimates state a bound."""


class CountingCounter:
    """Counts characters, and remembers what it was asked for."""

    name, exact, bound = "characters", True, 0.0

    def __init__(self):
        self.asked = []

    def count(self, texts):
        self.asked.append(list(texts))
        return [len(text) for text in texts]


@pytest.fixture
def without_wheel(monkeypatch):
    """A platform where toktok-rs has no wheel."""
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "toktok":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "toktok")
    monkeypatch.setattr(builtins, "__import__", refuse)
    profiles._counter.cache_clear()
    yield
    profiles._counter.cache_clear()


# --- exact


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "qwen3.5"])
def test_an_exact_count_is_the_vocabularys_own(encoding, references):
    texts = [sample["text"] for sample in references.values()]
    assert ExactCounter(encoding).count(texts) == [sample["counts"][encoding] for sample in references.values()]


@given(st.lists(ANY_TEXT, max_size=5))
def test_no_string_makes_a_counter_fail_and_only_the_empty_one_is_free(texts):
    for model in (None, "gpt-4", "gpt-oss-20b", "qwen3.5-plus", "claude-opus-5", "gemini-3-pro", "grok-4"):
        counts = counter_for(model).count(texts)
        assert [count > 0 for count in counts] == [text != "" for text in texts]


@given(ANY_TEXT)
def test_counts_do_not_depend_on_the_company_a_text_is_in(text):
    counter = ExactCounter("o200k_base")
    assert counter.count(["\ud800", text, "x"])[1] == counter.count([text])[0]


def test_a_lone_surrogate_counts_as_a_replacement_character():
    assert count_tokens("a \ud83c b") == count_tokens("a � b")


def test_special_tokens_in_content_are_ordinary_text():
    assert count_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("char", ["a", " ", "\n", "\x00", "漢"])
@pytest.mark.parametrize("model", [None, "claude-opus-5"])
def test_a_megabyte_of_one_character_is_counted_quickly(char, model):
    started = time.perf_counter()
    assert count_tokens(char * 1_000_000, model) > 0
    assert time.perf_counter() - started < 5.0


# --- estimates


@pytest.mark.parametrize("reference", ESTIMATED)
@pytest.mark.parametrize("kind", NAMED)
def test_an_estimate_is_high_rather_than_low_and_within_its_bound(reference, kind, references):
    sample = references[kind]
    counter = counter_for(ESTIMATED[reference])
    ratio = counter.count([sample["text"]])[0] / sample["counts"][reference]
    assert 0.99 <= ratio <= 1 + counter.bound


@pytest.mark.parametrize("reference", ESTIMATED)
@pytest.mark.parametrize("kind", ["german", "french", "russian", "hindi"])
def test_an_estimate_of_another_language_is_at_most_an_eighth_low(reference, kind, references):
    sample = references[kind]
    assert counter_for(ESTIMATED[reference]).count([sample["text"]])[0] >= sample["counts"][reference] * 7 / 8


@pytest.mark.parametrize("kind", NAMED)
def test_a_cautious_estimate_covers_every_current_open_vocabulary(kind, references):
    sample = references[kind]
    current = [
        count for name, count in sample["counts"].items() if name not in {"claude-3", "claude-4.7", "cl100k_base"}
    ]
    assert counter_for("grok-4").count([sample["text"]])[0] >= max(current)


@pytest.mark.parametrize("model", [None, "gpt-4", "gpt-oss-20b", "qwen3.5-plus"])
def test_without_a_wheel_the_estimate_keeps_its_bound(model, references, without_wheel):
    counter = counter_for(model)
    exact = {None: "o200k_base", "gpt-4": "cl100k_base", "gpt-oss-20b": "o200k_base", "qwen3.5-plus": "qwen3.5"}[model]
    assert not counter.exact
    for kind in NAMED:
        sample = references[kind]
        ratio = counter.count([sample["text"]])[0] / sample["counts"][exact]
        assert 1.0 <= ratio <= 1 + counter.bound, kind


def test_without_a_wheel_an_estimate_stands_on_an_estimate_and_says_so(references, without_wheel):
    counter = counter_for("claude-opus-5")
    assert counter.bound > 0.5
    for kind in NAMED:
        sample = references[kind]
        ratio = counter.count([sample["text"]])[0] / sample["counts"]["claude-4.7"]
        assert 1.0 <= ratio <= 1 + counter.bound, kind


def test_han_counts_about_one_a_character_and_english_about_one_in_four(without_wheel):
    han = "的是在了不我有人这他们来到时大地为子中你说生国年着就那和要她出也得里后自以会"
    assert len(han) * 0.9 <= count_tokens(han) <= len(han) * 1.1
    assert 80 <= count_tokens("the quick brown fox jumps over the lazy dog and runs " * 8) <= 140


def test_an_estimate_rounds_up():
    weights = Weights(source="", bound=0.0, base=1.1)
    assert EstimatingCounter("x", weights, CountingCounter()).count(["", "a", "ab"]) == [0, 2, 3]


# --- cached


def long(text: str) -> str:
    return text * 600


def test_a_text_met_before_is_not_counted_again():
    inner = CountingCounter()
    cached = CachedCounter(inner)
    cached.count([long("a"), long("b")])
    assert cached.count([long("b"), long("c"), long("a")]) == [600, 600, 600]
    assert inner.asked == [[long("a"), long("b")], [long("c")]]


def test_equal_texts_of_one_batch_are_counted_once_when_something_is_known():
    inner = CountingCounter()
    cached = CachedCounter(inner)
    cached.count([long("a")])
    assert cached.count([long("bc"), long("bc")]) == [1200, 1200]
    assert inner.asked[-1] == [long("bc")]


def test_short_texts_are_not_worth_remembering():
    inner = CountingCounter()
    cached = CachedCounter(inner)
    assert cached.count(["a", "b"]) == cached.count(["a", "b"]) == [1, 1]
    assert len(inner.asked) == 2


def test_what_was_used_lately_outlives_what_was_not():
    inner = CountingCounter()
    cached = CachedCounter(inner, max_chars=2 * 3 * 600)
    cached.count([long("k")])
    cached.count([long("x")])
    for letter in "bcdefg":
        cached.count([long(letter)])
        cached.count([long("k")])
    assert inner.asked.count([long("k")]) == 1
    cached.count([long("x")])
    assert inner.asked.count([long("x")]) == 2


@given(
    st.lists(st.lists(st.sampled_from([long(c) for c in "abcdefgh"]) | st.just("z" * 9_000), max_size=6), max_size=12),
    st.sampled_from([1, 1_000, 3_000, 100_000]),
)
def test_a_cache_never_changes_a_count_nor_outgrows_its_limit(batches, limit):
    cached = CachedCounter(CountingCounter(), max_chars=limit)
    for batch in batches:
        assert cached.count(batch) == [len(text) for text in batch]
        assert sum(map(len, cached._young)) <= limit // 2
        assert sum(map(len, cached._old)) <= limit // 2


def test_a_cache_speaks_for_the_counter_in_it():
    inner = counter_for("claude-opus-5")
    cached = CachedCounter(inner)
    assert (cached.name, cached.exact, cached.bound) == (inner.name, inner.exact, inner.bound)


# --- speed, as ratios of one run


@pytest.mark.bench
def test_a_cache_costs_little_on_texts_met_once(references):
    texts = [sample["text"] * 3 + str(n) for n in range(200) for sample in references.values()]
    exact = min(_seconds(lambda: toktok.batch_count(texts, "o200k_base", threads=1)) for _ in range(5))
    cached = min(_seconds(lambda: CachedCounter(counter_for(None)).count(texts)) for _ in range(5))
    assert cached <= exact * 1.25


def _seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
