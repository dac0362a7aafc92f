"""Thin spellings for people who come from other libraries; behaviour lives in the rooms below."""

__all__: list[str] = []
