"""Days and moments in the owner's time zone."""

from __future__ import annotations

import re
import warnings
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from threadline.errors import InvalidInputError
from threadline.messages.times import format_utc_time, parse_utc_date

__all__ = ["day_of", "day_start_ms", "resolved_day", "stamp", "zone_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MAX_PHRASE = 60
"""A longer text is no date."""


def zone_of(name: str) -> tzinfo:
    """The time zone of an IANA name.

    Raises:
        InvalidInputError: there is no such zone.
    """
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError("time_zone must be the IANA name of a zone", key="time_zone") from None


def _local(timestamp: int, zone: tzinfo) -> datetime:
    try:
        return (_EPOCH + timedelta(milliseconds=timestamp)).astimezone(zone)
    except (OverflowError, ValueError):
        raise InvalidInputError("timestamp: outside the years 1 to 9999", key="timestamp") from None


def stamp(timestamp: int, zone: tzinfo) -> str:
    """`2023-11-14 22:13 UTC (Tuesday)`, elsewhere `2023-11-15 06:13 +08:00 (Wednesday)`.

    Raises:
        InvalidInputError: the year is not between 1 and 9999.
    """
    if zone is UTC:
        return format_utc_time(timestamp, weekday=True)
    local = _local(timestamp, zone)
    offset = local.isoformat(timespec="minutes")[16:]
    return f"{local.date().isoformat()} {local.hour:02}:{local.minute:02} {offset} ({_DAYS[local.weekday()]})"


def day_of(timestamp: int, zone: tzinfo) -> date:
    """The day on which something was said.

    Raises:
        InvalidInputError: the year is not between 1 and 9999.
    """
    return _local(timestamp, zone).date()


def day_start_ms(day: date, zone: tzinfo) -> int | None:
    """When the day begins in its zone, in milliseconds since the epoch; None at the edge of the calendar."""
    try:
        return (datetime.combine(day, time(), zone) - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError:
        return None


def resolved_day(text: str | None, said_ms: int | None, zone: tzinfo) -> date | None:
    """The day a text names: an ISO date in it, else a date or a relative day as seen from when it was said.

    Args:
        text: what a model wrote for a date.
        said_ms: when the message was said that it is about; None where nobody knows: then only ISO dates count.
        zone: where.
    """
    if not text or len(text) > _MAX_PHRASE:
        return None
    for found in _ISO_DAY.finditer(text):
        if day := parse_utc_date(found.group()):
            return day
    if not said_ms or not any(char.isalpha() for char in text):
        return None
    return _parsed(text, _local(said_ms, zone).replace(tzinfo=None))


def _parsed(text: str, base: datetime) -> date | None:
    import dateparser

    settings: Any = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "future"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of Python's own deprecations
        found = dateparser.parse(text, settings=settings)
    return None if found is None else found.date()
