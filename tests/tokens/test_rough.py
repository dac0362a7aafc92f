from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.messages.dialects import decode
from threadline.tokens import estimate_messages_tokens, estimate_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (None, 0),
        ("", 0),
        ("abc", 0),
        ("abcd", 1),
        ("Hello world", 2),
        ("漢字文", 2),
        ("漢" * 100, 75),
        ("a" * 28, 7),
        ("def f(x), do: {:ok, x}", 5),
        ("\ud800" * 4, 3),
    ],
)
def test_a_text_counts_a_quarter_of_its_bytes(text, tokens):
    assert estimate_tokens(text) == tokens


def test_messages_are_summed_before_they_are_divided():
    assert estimate_messages_tokens([{"role": "user", "content": "abc"}] * 3) == 2
    assert estimate_messages_tokens([{"content": "hello world"}, {"content": "hi there friend"}]) == 6


def test_only_text_content_counts():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": "bbbbbbbb"}'}}
    messages = [
        {"role": "assistant", "content": "abcd", "tool_calls": [call], "name": "somebody"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "abcd"}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "abcd"},
    ]
    assert estimate_messages_tokens(messages) == 3
    assert estimate_messages_tokens(decode(messages).messages) == 3


@given(st.lists(ANY_TEXT, max_size=5))
def test_wire_objects_and_messages_estimate_alike(texts):
    wire = [{"role": "user", "content": text} for text in texts]
    total = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) // 4
    assert estimate_messages_tokens(wire) == estimate_messages_tokens(decode(wire).messages) == total


def test_no_messages_are_nothing():
    assert estimate_messages_tokens([]) == 0
