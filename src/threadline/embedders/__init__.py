"""Adapters that make vectors of texts."""

__all__: list[str] = []
