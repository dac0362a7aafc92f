"""Rows 17 to 28 and 34 of the transcript contract: fences, line ends and characters."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable

import pytest

import threadline
from threadline.compat.contextray import optimize_context

from .conversations import FAMILY, ROOMY, Q, R, a, in_context, optimise, prose, short_marker, u

# --- rows 17 to 24: fences and line ends


@pytest.mark.parametrize(
    "text",
    [
        "__BLOCK_1__ and __SEG_1__ in prose\n\n```\ncode\n```\n",  # row 17
        "```\n__BLOCK_2__\n```\n\n```\nsecond block\n```\n__BLOCK_1__",  # row 17
        "z" * 995 + "\n```python\nprint('kept')\n\nprint('whole')\n```\n" + "y" * 100,  # row 18
        "z" * 995 + "```python\nprint('kept')\n```" + "y" * 100,  # row 18
        "```\n" + "\n\n".join(f"line {n} of a very long fence" for n in range(2000)) + "\n```",  # row 19
        "~~~\n" + "\n\n".join(f"line {n} of a tilde fence" for n in range(200)) + "\n~~~",  # row 20
        "````md\n```\n" + "x\n\n" * 300 + "```\n````",  # row 21
        "an inline ``` in prose\n\n```\nreal\n```\n" + "z " * 600,  # row 22
        "before\n\n```\n" + "never closed\n\n" * 200,  # row 23
    ],
)
def test_one_message_full_of_fences_comes_back_whole(text: str):
    assert optimise([u(text)]) == [u(text)]
    assert optimise([u("first " + text), u(text)], min_chars=10**6) == [u("first " + text), u(text)]


def test_a_fence_of_fifty_kilobytes_is_elided_only_as_a_whole():  # row 19
    lines = [f"entry {n}: " + prose(60, f"fence-{n}") for n in range(650)]
    fence = "```\n" + "\n".join(lines) + "\n```"
    other = "```\n" + "\n".join(lines[:-1]) + "\nanother last line\n```"
    assert len(fence) > 45_000
    assert optimise([u(fence), u(other)]) == [u(fence), u(other)]
    view = optimise([u(f"{prose(600, 1)}\n\n{fence}\n"), u(f"{prose(600, 2)}\n\n{fence}\n")])
    assert len(view[1]["content"]) < 1000
    assert prose(600, 2) in view[1]["content"]


PROTECTED: dict[str, Callable[[str], str]] = {
    "backticks": lambda text: f"```\ncode\n\n{text}\n\ncode\n```",
    "tildes": lambda text: f"~~~\ncode\n\n{text}\n\ncode\n~~~",  # row 20
    "tildes around backticks": lambda text: f"~~~\n```\n\n{text}\n\n```\n~~~",  # row 20
    "four around three": lambda text: f"````md\n```\ncode\n```\n\n{text}\n\n````",  # row 21
    "a shorter run does not close": lambda text: f"`````\n```\n\n{text}\n\n`````",  # row 21
    "the other character does not close": lambda text: f"```\n~~~\n\n{text}\n\n```",  # row 21
    "a closer has no info string": lambda text: f"```\ncode\n``` py\n\n{text}\n\n```",  # row 21
    "four spaces do not close": lambda text: f"```\ncode\n    ```\n\n{text}\n\n```",  # row 21
    "three spaces open": lambda text: f"   ```\ncode\n\n{text}\n\n   ```",  # row 21
    "not closed": lambda text: f"```\ncode\n\n{text}\n\ncode",  # row 23
    "crlf": lambda text: f"```\r\ncode\r\n\r\n{text}\r\n\r\ncode\r\n```",  # row 24
}
OPEN: dict[str, Callable[[str], str]] = {
    "after a closed fence": lambda text: f"```\ncode\n```\n\n{text}\n\nend",
    "after a longer closer": lambda text: f"```\ncode\n`````\n\n{text}\n\nend",  # row 21
    "after a closer with blanks behind it": lambda text: f"```\ncode\n```  \n\n{text}\n\nend",  # row 21
    "after an inline run": lambda text: f"say ``` inline\n\n{text}\n\n```\ncode\n```",  # row 22
    "after an inline span at the line start": lambda text: f"```code``` is inline\n\n{text}\n\nend",  # row 22
    "after a run indented by four": lambda text: f"words\n\n    ```\n\n{text}\n\nend",  # row 21
    "between two fences": lambda text: f"~~~\ncode\n~~~\n\n{text}\n\n~~~\ncode\n~~~",  # row 20
}


@pytest.mark.parametrize("wrap", [pytest.param(wrap, id=name) for name, wrap in PROTECTED.items()])
def test_a_repeated_paragraph_inside_a_fence_is_protected(wrap: Callable[[str], str]):
    messages = [u(in_context(Q, "plain")), u(f"{prose(600, 'lead')}\n\n{wrap(Q)}")]
    assert optimise(messages) == messages


@pytest.mark.parametrize("wrap", [pytest.param(wrap, id=name) for name, wrap in OPEN.items()])
def test_a_repeated_paragraph_outside_every_fence_is_found(wrap: Callable[[str], str]):
    messages = [u(in_context(Q, "plain")), u(f"{prose(600, 'lead')}\n\n{wrap(Q)}\n\n{prose(300, 'tail')}")]
    view = optimise(messages)
    assert view[0] is messages[0]
    assert Q not in view[1]["content"]
    before, after = messages[1]["content"].split(Q)
    assert view[1]["content"].startswith(before.rstrip("\n"))
    assert view[1]["content"].endswith(after.lstrip("\n"))


def test_carriage_returns_are_kept_byte_for_byte():  # row 24
    text = f"{prose(80, 1)}\r\n\r\n{prose(80, 2)}\r\nend\r"
    assert optimise([u(text)]) == [u(text)]


def test_a_blank_line_of_carriage_returns_ends_a_paragraph():  # row 24
    view = optimise([u(in_context(Q, "one", "\r\n\r\n")), u(in_context(Q, "two", "\r\n\r\n"))])
    assert Q not in view[1]["content"]
    assert prose(500, "two-before") in view[1]["content"]
    assert view[1]["content"].endswith(prose(500, "two-after"))


# --- rows 25 to 29: characters


def test_a_text_without_any_space_stays_whole():  # row 25
    for text in ("z" * 2500, " " + "z" * 2500, "界" * 2500):
        assert optimise([u(text)]) == [u(text)]
        view = optimise([u(text), u(text)])
        assert view[0]["content"] == text
        assert len(view[1]["content"]) < 100


@pytest.mark.parametrize("cluster", [FAMILY, "e\u0301", "\U0001f1eb\U0001f1f7", "한".encode().decode(), "क्षि"])
def test_no_grapheme_cluster_is_cut(cluster: str):  # rows 25, 26
    text = cluster * (2000 // len(cluster))
    view = optimise([u(text), u(text + "!"), u("?" + text)], marker=short_marker)
    for message in view:
        rest = re.sub(r"\[\*\]", "", message["content"]).strip("?!")
        assert rest == cluster * (len(rest) // len(cluster))


def test_a_lone_surrogate_is_just_another_character():  # row 27
    text = prose(60) + "\ud83d" + prose(39, 1)
    assert optimise([u(text)]) == [u(text)]
    result = optimize_context([u(text), u(text), a(text)])
    assert result["optimized_context"][0]["content"] == text
    assert text not in result["optimized_context"][1]["content"]
    json.dumps(result)


def test_a_nul_is_just_another_character():
    text = prose(60) + "\x00" + prose(39, 1)
    view = optimise([u(text), u(text)])
    assert view[0]["content"] == text
    assert text not in view[1]["content"]


def test_composed_and_decomposed_letters_differ():  # row 28
    text = "é" * 20 + prose(80)
    messages = [u(unicodedata.normalize("NFC", text)), u(unicodedata.normalize("NFD", text))]
    result = optimize_context(messages)
    assert result["optimized_context"] == messages
    assert result["metrics"]["removed"] == 0


# --- row 34


@pytest.mark.parametrize("shared", [R, "```py\n" + "\n".join(f"call_{n}(argument_{n})" for n in range(20)) + "\n```"])
def test_a_paragraph_or_fence_shared_by_two_short_messages_is_found(shared: str):  # row 34
    messages = [
        u(f"Here is one view of it.\n\n{shared}\n\nWhat now?"),
        u(f"And the same again:\n\n{shared}\n\nIs it fixed?"),
    ]
    fitted = threadline.fit(messages, max_input_tokens=ROOMY)
    assert fitted.messages[0] is messages[0]
    assert shared not in fitted.messages[1]["content"]
    assert "And the same again:" in fitted.messages[1]["content"]
    assert "Is it fixed?" in fitted.messages[1]["content"]
    assert fitted.tokens_after < fitted.tokens_before
    assert fitted.restore() == messages
