"""Doubles and conformance suites for tests; no room of the library imports it."""

from threadline.testing.counters import WordCounter, check_token_counter
from threadline.testing.embedders import WordEmbedder
from threadline.testing.llm import CallRecord, FakeLLMClient

__all__ = ["CallRecord", "FakeLLMClient", "WordCounter", "WordEmbedder", "check_token_counter"]
