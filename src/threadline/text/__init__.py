"""Text itself: spans of code and prose, grapheme clusters, scripts."""

__all__: list[str] = []
