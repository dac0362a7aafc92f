"""Doubles and conformance suites for tests; no room of the library imports it."""

from threadline.testing.counters import WordCounter, check_token_counter

__all__ = ["WordCounter", "check_token_counter"]
