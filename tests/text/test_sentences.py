"""Sentences are found in any script, and nothing of a text but white space, marks and code is between them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.text.sentences import sentence_spans


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. I stay.", ["It rains.", "I stay."]),
        ("Dr. Smith paid $3.50 at 5 p.m. Then he left!", ["Dr. Smith paid $3.50 at 5 p.m.", "Then he left!"]),
        ("J. R. Smith works at Acme Inc. in Ohio.", ["J. R. Smith works at Acme Inc. in Ohio."]),
        ("Really?! Yes... maybe. “So be it.” Fine", ["Really?!", "Yes... maybe.", "“So be it.”", "Fine"]),
        ("我住在北京。你呢?我喜欢茶!", ["我住在北京。", "你呢?我喜欢茶!"]),
        ("我住在北京。你呢？我喜欢茶！“好。”他说。", ["我住在北京。", "你呢？", "我喜欢茶！", "“好。”", "他说。"]),
        ("Я живу в Москве. Ул. Ленина близко.", ["Я живу в Москве.", "Ул. Ленина близко."]),
        ("- buy milk\n- call mom\n1. First. Done\n\nEnd", ["buy milk", "call mom", "First.", "Done", "End"]),
        ("See:\n```\na. b. C.\n```\nIt works.", ["See:", "It works."]),
        ("version 2.0 of file.py is out", ["version 2.0 of file.py is out"]),
        ("", []),
        ("--- ...", []),
    ],
)
def test_a_text_falls_into_its_sentences(text, expected):
    assert sentences(text) == expected


def test_a_wrapped_paragraph_is_not_broken_at_its_lines():
    text = "This is a paragraph that an editor has broken into lines,\nand it goes on here. Next."

    assert sentences(text) == [text[:-6], "Next."]


@given(st.text(alphabet='ab. !?。\n`-"A1', max_size=60))
@settings(max_examples=60)
def test_sentences_are_in_order_apart_and_trimmed(text):
    spans = sentence_spans(text)

    assert spans == sorted(spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
