from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.messages.parts import MediaPart
from threadline.tokens import image_tokens, media_tokens, profile_for

KINDS = ["image", "document", "audio", "video"]
MODELS = [
    None,
    "gpt-4o",
    "gpt-5.6",
    "o4-mini",
    "claude-3-opus",
    "claude-opus-5",
    "gemini-2.5-pro",
    "gemini-3-pro",
    "grok-4",
]


def tokens(model, width, height, detail=None):
    return image_tokens(profile_for(model).image, width, height, detail)


# Sizes and figures are the examples of the vendors' own documentation.
@pytest.mark.parametrize(
    ("model", "width", "height", "detail", "expected"),
    [
        ("gpt-4o", 1024, 1024, "high", 765),
        ("gpt-4o", 2048, 4096, "high", 1105),
        ("gpt-4o", 4096, 8192, "low", 85),
        ("gpt-4o", 512, 512, "high", 255),
        ("gpt-4o-mini", 512, 512, "low", 2833),
        ("gpt-5", 1024, 1024, None, 630),
        ("gpt-5.2", 1024, 1024, None, 1024),
        ("gpt-5.2", 1800, 2400, None, 1452),
        ("gpt-4.1-mini", 1024, 1024, None, 1659),
        ("o4-mini", 1800, 2400, None, 2498),
        ("gpt-5.4", 3200, 3200, "original", 10_000),
        ("gpt-5.6", 6400, 6400, None, 40_000),
        ("claude-sonnet-4-5", 200, 200, None, 64),
        ("claude-sonnet-4-5", 1000, 1000, None, 1296),
        ("claude-sonnet-4-5", 1092, 1092, None, 1521),
        ("claude-sonnet-4-5", 3000, 2000, None, 1568),
        ("claude-opus-5", 1092, 1092, None, 1521),
        ("claude-opus-5", 3840, 2160, None, 4784),
        ("gemini-2.5-pro", 384, 384, None, 258),
        ("gemini-2.5-pro", 960, 540, None, 6 * 258),
        ("gemini-3-pro", 4000, 3000, None, 1120),
        ("gemini-3-pro", 4000, 3000, "low", 280),
        ("gemini-3-pro", 4000, 3000, "ultra_high", 2240),
    ],
)
def test_an_image_costs_what_its_vendor_documents(model, width, height, detail, expected):
    assert tokens(model, width, height, detail) == expected


@pytest.mark.parametrize("model", [model for model in MODELS if model != "gpt-5.6"])
@given(width=st.integers(1, 5_000), height=st.integers(1, 5_000))
def test_an_image_of_unknown_size_costs_as_much_as_any_ordinary_one(model, width, height):
    if max(width, height) <= 4 * min(width, height):
        assert tokens(model, width, height) <= tokens(model, None, None)


@pytest.mark.parametrize("model", MODELS)
@given(
    width=st.integers(0, 10**7),
    height=st.integers(0, 10**7),
    detail=st.sampled_from([None, "low", "high", "auto", "original", "odd"]),
)
def test_no_size_makes_an_image_free_or_fail(model, width, height, detail):
    assert tokens(model, width, height, detail) >= 1


def test_low_detail_costs_less():
    assert tokens("gpt-5.5", 2000, 2000, "low") == 256
    assert tokens("gpt-5.5", None, None, "low") == 256
    assert tokens("gpt-5.5", 2000, 2000, "high") < tokens("gpt-5.5", 2000, 2000)


@pytest.mark.parametrize(
    ("part", "model", "expected"),
    [
        (MediaPart("document", (), pages=3), "gemini-2.5-pro", 3 * 258),
        (MediaPart("document", (), pages=2), "claude-sonnet-4-5", 2 * (3000 + 1568)),
        (MediaPart("document", (), bytes=100_000), "gemini-3-pro", 5 * 560),
        (MediaPart("document", ()), "gemini-3-pro", 10 * 560),
        (MediaPart("audio", (), seconds=10.0), "gemini-2.5-pro", 320),
        (MediaPart("audio", (), seconds=10.0), "gpt-4o", 100),
        (MediaPart("audio", (), bytes=40_000), "gpt-4o", 100),
        (MediaPart("audio", ()), "gpt-4o", 600),
        (MediaPart("video", (), seconds=2.0), "gemini-2.5-pro", 600),
        (MediaPart("image", (), width=1024, height=1024), "gpt-4o", 765),
    ],
)
def test_pages_and_seconds_are_counted_by_the_familys_figures(part, model, expected):
    assert media_tokens(part, profile_for(model)) == expected


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_medium_costs_something_even_when_empty(model, kind):
    part = MediaPart(kind, (), width=0, height=0, pages=0, seconds=0.0, bytes=0)
    assert media_tokens(part, profile_for(model)) >= 1
