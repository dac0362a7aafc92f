"""What a text is about, in terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.text.stems import content_terms, language_of, stop_words


def terms(text):
    return [*content_terms(text, language_of(text))]


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("The cats were running to the houses.", "english", ["cat", "run", "hous"]),
        ("Ich habe einen Hund, und die Hunde bellen.", "german", ["hund", "hund", "bell"]),
        ("Quiero reservar un hotel barato", "spanish", ["reserv", "hotel", "barat"]),
        ("Je voudrais une chambre pour la nuit", "french", ["voudr", "chambr", "nuit"]),
        ("Мне нужна гостиница в центре", "russian", ["нужн", "гостиниц", "центр"]),
        ("我想吃生蚝，有餐馆吗？", "english", ["吃生", "生蚝", "餐馆"]),
        ("서울역", "english", ["서울", "울역"]),
        ("Don\u2019t we all, it\u2019s 42 o'clock", "english", ["o'clock"]),
        ("", "english", []),
    ],
)
def test_terms_are_stems_without_the_words_that_carry_grammar(text, language, found):
    assert language_of(text) == language
    assert terms(text) == found


def test_where_no_language_shows_the_default_is_taken():
    assert language_of("Hotel Adler", "german") == "german"


def test_letter_case_and_width_of_a_word_do_not_matter():
    assert terms("TRAINS") == terms("trains") == ["train"]


@given(st.text())
def test_any_text_has_terms_that_are_not_blank(text):
    assert all(term.strip() for term in terms(text))


def test_every_language_has_a_stemmer():
    for language in stop_words().keys() - {"han", "kana"}:
        assert [*content_terms("zug", language)] != []
