"""Doubles and conformance suites for tests; no room of the library imports it.

The suites of whole ports are modules of their own: `testing.models`, `testing.streams`, `testing.stores`.
"""

from threadline.testing.clock import FixedClock
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
    "FixedClock",
    "WordCounter",
    "WordEmbedder",
    "assert_atomic_fact_shape",
    "assert_episode_shape",
    "assert_foresight_shape",
    "assert_profile_shape",
    "check_token_counter",
]
