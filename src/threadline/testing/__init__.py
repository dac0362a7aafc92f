"""Doubles and conformance suites for tests; no room of the library imports it."""

from threadline.testing.counters import WordCounter, check_token_counter
from threadline.testing.llm import CallRecord, FakeLLMClient

__all__ = ["CallRecord", "FakeLLMClient", "WordCounter", "check_token_counter"]
