"""Assertions that a memory, as a value or as plain JSON, has the fields that EverAlgo's users read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from threadline.memory import AtomicFact, Episode, Foresight, Product, Profile

__all__ = ["assert_atomic_fact_shape", "assert_episode_shape", "assert_foresight_shape", "assert_profile_shape"]


def assert_episode_shape(value: Episode | Mapping[str, Any]) -> None:
    """Raise `AssertionError` where this is no episode that says something."""
    made = _read(value, Episode)
    assert made.episode.strip(), "an episode tells something"
    assert made.summary.strip(), "an episode has a summary"


def assert_foresight_shape(value: Foresight | Mapping[str, Any]) -> None:
    """Raise `AssertionError` where this is no foresight that says something."""
    made = _read(value, Foresight)
    assert made.foresight.strip(), "a foresight says something"
    assert made.duration_days is None or made.duration_days >= 0, "a duration is not negative"


def assert_atomic_fact_shape(value: AtomicFact | Mapping[str, Any]) -> None:
    """Raise `AssertionError` where this is no fact that says something."""
    assert _read(value, AtomicFact).content.strip(), "a fact says something"


def assert_profile_shape(value: Profile | Mapping[str, Any]) -> None:
    """Raise `AssertionError` where this is no profile of an owner."""
    made = _read(value, Profile)
    assert made.owner_id, "a profile is somebody's"
    assert made.summary.strip(), "a profile has a summary"


def _read(value: Any, kind: type[Any]) -> Any:
    if isinstance(value, Mapping):
        value = kind.from_dict(value)
    assert isinstance(value, kind), f"a {kind.__name__}, not a {type(value).__name__}"
    assert isinstance(value, Product)
    assert type(kind.from_dict(value.as_dict())) is kind, "it survives JSON"
    return value
