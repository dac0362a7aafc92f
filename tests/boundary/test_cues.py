"""What the form of a message shows."""

from __future__ import annotations

import pytest

from threadline.boundary.cues import asks, closes, ends_task, greets, marks_session, offers, refers_back


@pytest.mark.parametrize("text", ["Well?", "是吗？", "¿Qué?", "كيف؟"])
def test_questions_are_known_by_their_mark(text):
    assert asks(text)
    assert not asks("No.")


@pytest.mark.parametrize(
    "text", ["Thanks!", "thank you so much", "Tschüss", "非常感谢", "спасибо", "고마워요", "ありがとう"]
)
def test_thanks_and_farewells_are_known_in_many_languages(text):
    assert closes(text)


@pytest.mark.parametrize("text", ["thanksgiving dinner", "a byelaw", "", "hello"])
def test_words_that_only_contain_one_are_none(text):
    assert not closes(text)


@pytest.mark.parametrize("text", ["Hi Ann", "  Hello!", "¡Hola!", "你好，我想", "Здравствуйте"])
def test_a_greeting_counts_at_the_beginning_only(text):
    assert greets(text)
    assert not greets(f"She said {text}")


@pytest.mark.parametrize("text", ["Is there anything else?", "Kann ich sonst noch etwas tun?", "还有什么需要吗？"])
def test_offers_to_go_on_are_phrases(text):
    assert offers(text)
    assert not offers("anything but else")


@pytest.mark.parametrize(
    ("text", "back"), [("Is it far?", True), ("It's far", True), ("Item two", False), ("他家呢", True)]
)
def test_words_that_point_back_are_whole_words(text, back):
    assert refers_back(text) is back


@pytest.mark.parametrize("text", ["/new", " /clear\n", "--- New session ---", "=== new conversation ==="])
def test_a_mark_of_a_session_is_the_whole_message(text):
    assert marks_session(text)
    assert not marks_session(f"I typed {text}")


def test_tools_that_hand_work_in_are_known_by_name():
    assert ends_task("submit")
    assert not ends_task("submit_form")
