"""Times as people and models read them: milliseconds since the epoch in, UTC out, and back."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from threadline.errors import InvalidInputError

__all__ = ["format_utc_date", "format_utc_time", "parse_timestamp", "parse_utc_date"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SECONDS_BELOW = 100_000_000_000
"""A number below is taken for seconds: as seconds it is before the year 5138, as milliseconds before March 1973."""


def _moment(timestamp: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError as error:
        raise InvalidInputError("timestamp: outside the years 1 to 9999", key="timestamp") from error


def format_utc_time(timestamp: int, *, weekday: bool = False) -> str:
    """`2023-11-14 22:13 UTC`, with `weekday` also ` (Tuesday)`; seconds are dropped.

    Args:
        timestamp: milliseconds since the epoch, UTC.
        weekday: whether to name the day.

    Raises:
        InvalidInputError: the year is not between 1 and 9999.
    """
    moment = _moment(timestamp)
    day = f" ({_DAYS[moment.weekday()]})" if weekday else ""
    return f"{_date(moment)} {moment.hour:02}:{moment.minute:02} UTC{day}"


def format_utc_date(moment: int | datetime) -> str:
    """`2023-11-14`, the day in UTC.

    Args:
        moment: milliseconds since the epoch, or a datetime that knows its zone.

    Raises:
        InvalidInputError: the year is not between 1 and 9999, or the datetime has no zone.
    """
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InvalidInputError("a datetime without a zone names no moment", key="tzinfo")
        return _date(moment.astimezone(UTC))
    return _date(_moment(moment))


def _date(moment: datetime) -> str:
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"  # `strftime` does not pad years everywhere


def parse_utc_date(text: str) -> date | None:
    """The day that `YYYY-MM-DD` names, zero-padded ASCII digits only; None for anything else."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_timestamp(value: object) -> int | None:
    """What logs write as a time, in milliseconds since the epoch; None where it is no time.

    Args:
        value: milliseconds or seconds as a number, or an ISO 8601 text; one without a zone is read as UTC.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return int(value * 1000) if abs(value) < _SECONDS_BELOW else int(value)
        except (OverflowError, ValueError):  # infinite, not a number
            return None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)
