"""The forms in which a thread writes its own values, each with its version."""

from __future__ import annotations

from threadline.journal.envelope import Schema

__all__ = ["WINDOW"]

WINDOW = Schema("window", version=1)
"""A `WindowState`."""
