"""The time between two messages, in words for a model."""

from __future__ import annotations

from threadline.messages import Message

__all__ = ["time_gap"]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS = (
    (_MINUTE, 1, "second", "immediate response"),
    (_HOUR, _MINUTE, "minute", "recent conversation"),
    (_DAY, _HOUR, "hour", "same day, but significant pause"),
)


def time_gap(before: Message | None, now: Message | None) -> str:
    """How long after `before` the message `now` was said, in whole units, with what that usually means."""
    if before is None or now is None:
        return "no earlier message"
    if not before.timestamp or not now.timestamp:
        return "unknown"
    seconds = (now.timestamp - before.timestamp) // 1000
    if seconds < 0:
        return "out of order"
    for limit, size, unit, meaning in _UNITS:
        if seconds < limit:
            return _counted(seconds // size, unit, meaning)
    return _counted(seconds // _DAY, "day", "long gap, likely new conversation")


def _counted(number: int, unit: str, meaning: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ({meaning})"
