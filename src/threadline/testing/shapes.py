"""What each kind of memory looks like, for tests of whatever makes memories: Threadline's types, or a host's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, TypeAlias, cast

import msgspec

from threadline.messages.shapes import is_object

__all__ = [
    "assert_atomic_fact_shape",
    "assert_episode_shape",
    "assert_foresight_shape",
    "assert_profile_shape",
]

_Kinds: TypeAlias = type | tuple[type, ...]

_NONE = type(None)
_TEXT_OR_NONE = (str, _NONE)


def assert_episode_shape(episode: object) -> None:
    """Raise `AssertionError` unless this is an episode: a narrative with a summary and a time.

    A mapping, a Threadline memory, any msgspec Struct, dataclass or pydantic model; further keys are the host's.
    """
    found = _plain(episode)
    _has(
        found, {"owner_id": _TEXT_OR_NONE, "episode": str, "subject": str, "summary": str, "timestamp": int}, "episode"
    )
    _says(found, ("episode", "summary"), "episode")


def assert_atomic_fact_shape(fact: object) -> None:
    """Raise `AssertionError` unless this is a fact: a statement with a time. Takes what `assert_episode_shape` does."""
    found = _plain(fact)
    _has(found, {"owner_id": _TEXT_OR_NONE, "content": str, "timestamp": int}, "atomic fact")
    _says(found, ("content",), "atomic fact")


def assert_foresight_shape(foresight: object) -> None:
    """Raise `AssertionError` unless this is a foresight: an expectation, whose days are days and in their order.

    Takes what `assert_episode_shape` does.
    """
    found = _plain(foresight)
    required: dict[str, _Kinds] = {"owner_id": str, "foresight": str, "evidence": str, "timestamp": int}
    _has(found, required, "foresight")
    _says(found, ("owner_id", "foresight"), "foresight")
    for key in ("start_time", "end_time"):
        _has({key: None, **found}, {key: _TEXT_OR_NONE}, "foresight")
        assert found.get(key) is None or _is_day(found[key]), f"foresight: {key} is a day, YYYY-MM-DD"
    _has({"duration_days": None, **found}, {"duration_days": (int, _NONE)}, "foresight")
    start, end = found.get("start_time"), found.get("end_time")
    assert start is None or end is None or start <= end, "foresight: it ends no sooner than it starts"


def assert_profile_shape(profile: object) -> None:
    """Raise `AssertionError` unless this is a profile: an owner, a summary, and items that say something.

    Takes what `assert_episode_shape` does.
    """
    found = _plain(profile)
    required: dict[str, _Kinds] = {"owner_id": str, "summary": str, "timestamp": int}
    _has(found, {**required, "explicit_info": list, "implicit_traits": list}, "profile")
    _says(found, ("owner_id", "summary"), "profile")
    for bucket, labels in (("explicit_info", ("category", "evidence")), ("implicit_traits", ("trait", "basis"))):
        for number, item in enumerate(found[bucket]):
            what = f"profile: {bucket}[{number}]"
            assert is_object(item), f"{what} is an object"
            _has(item, {"description": str}, what)
            optional = {**dict.fromkeys(labels), "observed_at": None, **item}
            _has(optional, {**dict.fromkeys(labels, _TEXT_OR_NONE), "observed_at": (int, _NONE)}, what)


def _plain(value: Any) -> dict[str, Any]:
    """The value's fields as JSON values."""
    dump = getattr(value, "model_dump", None) or getattr(value, "as_dict", None)
    if callable(dump):
        value = dump()
    if isinstance(value, Mapping):
        value = dict(cast("Mapping[str, Any]", value))
    plain: object = msgspec.to_builtins(value)
    assert is_object(plain), f"a {type(value).__name__} has no fields"
    return {key: [*inner] if isinstance(inner, tuple) else inner for key, inner in plain.items()}


def _has(found: Mapping[str, Any], required: Mapping[str, _Kinds], what: str) -> None:
    for key, kinds in required.items():
        assert key in found, f"{what}: {key} is missing"
        assert isinstance(found[key], kinds), f"{what}: {key} is a {type(found[key]).__name__}"
        assert not isinstance(found[key], bool), f"{what}: {key} is a bool"


def _says(found: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in keys:
        assert found[key].strip(), f"{what}: {key} is blank"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
