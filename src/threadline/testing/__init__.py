"""Doubles and conformance suites for tests; no room of the library imports it."""

from threadline.testing.counters import WordCounter, check_token_counter
from threadline.testing.embedders import WordEmbedder
from threadline.testing.llm import CallRecord, FakeLLMClient
from threadline.testing.shapes import (
    assert_atomic_fact_shape,
    assert_episode_shape,
    assert_foresight_shape,
    assert_profile_shape,
)

__all__ = [
    "CallRecord",
    "FakeLLMClient",
    "WordCounter",
    "WordEmbedder",
    "assert_atomic_fact_shape",
    "assert_episode_shape",
    "assert_foresight_shape",
    "assert_profile_shape",
    "check_token_counter",
]
