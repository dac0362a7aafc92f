from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.errors import InvalidInputError, UnknownModelError
from threadline.tokens import counter_for, profile_for
from threadline.tokens import profile as profiles
from threadline.tokens.media import Patches, Tiles


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (None, "generic"),
        ("gpt-4", "gpt-4"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-turbo-2024-04-09", "gpt-4"),
        ("gpt-35-turbo", "gpt-4"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("ft:gpt-4o-2024-08-06:acme:support:9abc", "gpt-4o"),
        ("openai/gpt-4o-mini", "gpt-4o-mini"),
        ("openai:gpt-4.1", "gpt-4.1"),
        ("azure/gpt-4.1-nano", "gpt-4.1-nano"),
        ("o1-preview", "o-series"),
        ("o3", "o-series"),
        ("o4-mini-2025-04-16", "o4-mini"),
        ("gpt-5-chat-latest", "gpt-5"),
        ("gpt-5.1-codex-mini", "gpt-5-mini"),
        ("gpt-5.2-pro", "gpt-5.2"),
        ("openrouter/openai/gpt-5.4-nano", "gpt-5-nano"),
        ("gpt-6-sol", "openai-newer"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss"),
        ("claude-3-haiku-20240307", "claude-3"),
        ("vertex_ai/claude-3-5-sonnet@20240620", "claude-3.5"),
        ("claude-3-7-sonnet-latest", "claude-4"),
        ("claude-opus-4-20250514", "claude-4"),
        ("anthropic/claude-opus-4.1", "claude-4"),
        ("anthropic/claude-sonnet-4.5", "claude-4.5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-4.5"),
        ("bedrock/global.anthropic.claude-sonnet-4-6-v1:0", "claude-4.6"),
        ("claude-opus-4-7", "claude-4.7"),
        ("claude-opus-4-8", "claude-5"),
        ("claude-haiku-5-5", "claude-5"),
        ("models/gemini-2.5-flash-lite", "gemini-2.5"),
        ("gemini-2.0-flash", "gemini-2"),
        ("google/gemini-flash-1.5", "gemini-2"),
        ("gemini-flash-latest", "gemini-3"),
        ("gemini-3.1-pro-preview", "gemini-3"),
        ("google/gemma-3-27b-it", "gemma"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3"),
        ("llama3.1:8b", "llama-3"),
        ("meta-llama/Llama-4-Scout-17B", "llama-4"),
        ("Qwen/Qwen2.5-Coder-32B-Instruct", "qwen-3"),
        ("qwen.qwen3-32b-v1:0", "qwen-3"),
        ("qwen3.5-plus", "qwen-3.5"),
        ("deepseek/deepseek-v3.2", "deepseek"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "deepseek-distilled-qwen"),
        ("deepseek-r1-distill-llama-70b", "llama-3"),
        ("mistral-large-latest", "mistral"),
        ("mistral.mixtral-8x7b-instruct-v0:1", "mistral-sentencepiece"),
        ("mistralai/Pixtral-12B-2409", "pixtral"),
        ("x-ai/grok-4", "grok"),
        ("cohere.command-r-plus-v1:0", "cohere"),
        ("moonshotai/kimi-k2", "moonshot"),
        ("z-ai/glm-4.6", "zhipu"),
        ("MiniMaxAI/MiniMax-M2", "others"),
        ("us.amazon.nova-pro-v1:0", "others"),
    ],
)
def test_a_model_is_known_however_a_provider_spells_it(model, name):
    assert profile_for(model).name == name


@pytest.mark.parametrize(
    ("model", "near"),
    [("gpt4o", "gpt-4o"), ("cluade-3", "claude-3"), ("openai/gpt_4o", "gpt-4o"), ("o11", "o1"), ("gemeni", "gemini")],
)
def test_an_unknown_model_is_an_error_that_lists_near_names(model, near):
    with pytest.raises(UnknownModelError) as caught:
        profile_for(model)
    assert near in caught.value.fields["near"]
    assert near in str(caught.value)
    assert isinstance(caught.value, InvalidInputError)


def test_an_unknown_model_is_counted_with_caution_where_its_window_is_given():
    profile = profile_for("house-model-1", window=9_000)
    assert (profile.window, profile.exact, profile.weights) == (9_000, False, "cautious")


def test_a_given_window_changes_nothing_else_of_a_known_model():
    assert profile_for("gpt-4o", window=50_000).window == 50_000
    assert profile_for("gpt-4o", window=50_000).name == "gpt-4o"
    assert profile_for("gpt-4o").window is None


@pytest.mark.parametrize("model", [None, "gpt-4o", "gpt-3.5-turbo", "o3", "gpt-5.5", "gpt-oss-20b", "qwen3.5-plus"])
def test_a_count_is_exact_only_where_the_vocabulary_is_the_models_own(model):
    assert profile_for(model).exact
    assert counter_for(model).exact


@pytest.mark.parametrize(
    "model",
    [
        "gpt-6-sol",
        "claude-opus-5",
        "gemini-3-pro",
        "llama-3.1-8b",
        "deepseek-chat",
        "mistral-large",
        "grok-4",
        "qwen3-8b",
    ],
)
def test_elsewhere_it_is_an_estimate_with_a_bound(model):
    assert not profile_for(model).exact
    assert not counter_for(model).exact
    assert 0 < counter_for(model).bound <= 1


def test_every_profile_is_whole_and_names_its_sources():
    catalogue = profiles._catalogue()
    for profile in catalogue.profiles.values():
        assert profile.sources, profile.name
        assert profile.per_message > 0
        assert profile.per_request > 0
        assert profile.per_call > 0
        assert profile.per_result > 0
        assert not (profile.exact and profile.weights), profile.name
        assert profile.weights in {"", *catalogue.weights}
        assert not isinstance(profile.image, Patches) or "auto" in profile.image.limits
        counter_for(profile)
    assert set(catalogue.prefixes.values()) <= set(catalogue.profiles)


def test_every_rule_names_its_source_and_every_prefix_is_in_lower_case():
    catalogue = profiles._catalogue()
    assert all(rule.source for rules in (catalogue.weights, catalogue.fallback) for rule in rules.values())
    assert all(prefix == prefix.lower() for prefix in catalogue.prefixes)


def test_models_of_a_family_share_its_figures_unless_they_have_their_own():
    assert profile_for("gpt-4o").image == Tiles(base=85, tile=170)
    assert profile_for("gpt-4o-mini").image == Tiles(base=2833, tile=5667)
    assert profile_for("gpt-4o").per_message == profile_for("gpt-4o-mini").per_message


@given(st.text(max_size=40))
def test_any_name_gives_a_profile_or_an_unknown_model_error(name):
    try:
        assert profile_for(name).name
    except UnknownModelError:
        assert profile_for(name, window=1).name == "unknown"


def test_counting_never_loads_the_price_list():
    code = (
        "import sys, threadline.tokens as t; t.count_tokens('a', 'gpt-4o'); t.Measure('claude-opus-5').text('a');"
        "sys.exit(any(name.split('.')[0] in {'genai_prices', 'pydantic'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
