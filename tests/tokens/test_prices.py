from __future__ import annotations

from decimal import Decimal

import pytest

from threadline.errors import UnknownModelError
from threadline.tokens import Price, price_for, window_for


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4", 8_192),
        ("gpt-4o-2024-08-06", 128_000),
        ("openai/gpt-4o", 128_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", 200_000),
        ("gpt-oss-120b", 131_072),
    ],
)
def test_a_window_is_the_vendors_own_however_the_model_is_spelt(model, window):
    assert window_for(model) == window


def test_a_window_the_price_list_lacks_is_the_documented_one():
    assert window_for("gemini-2.5-pro") == 1_048_576


def test_an_open_model_has_the_window_that_most_hosts_give():
    assert window_for("Qwen/Qwen3-32B") >= 16_384


def test_an_unknown_window_is_an_error_that_lists_near_names():
    with pytest.raises(UnknownModelError) as caught:
        window_for("claude-sonet-4-5")
    assert "claude-sonnet-4-5" in caught.value.fields["near"]


def test_a_price_is_in_dollars_for_a_million_tokens():
    assert price_for("gpt-4o") == Price(input=Decimal("2.5"), output=Decimal(10), cache_read=Decimal("1.25"))


def test_a_price_tells_what_reading_and_writing_a_cache_costs():
    price = price_for("anthropic/claude-sonnet-4-5")
    assert price.input is not None
    assert (price.cache_read, price.cache_write) == (price.input / 10, price.input * Decimal("1.25"))


def test_a_price_that_changed_depends_on_the_moment_asked_for():
    assert price_for("gpt-4o", now_ms=0).input is not None


def test_a_model_of_no_known_family_has_the_window_its_host_gives():
    assert window_for("perplexity/sonar-pro") == window_for("sonar-pro") == 200_000


def test_an_unknown_price_is_an_error():
    for model in ("no-such-model-at-all", "gemma-4-26b-a4b-it"):
        with pytest.raises(UnknownModelError):
            price_for(model)
