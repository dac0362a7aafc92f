"""Days that a sentence names, worked out from the day it was said on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.memory.extractive.cues import cues_of

__all__ = ["Days", "beginning_ms", "day_of", "days_in", "zone_of"]

_WEEK = timedelta(days=7)
_SATURDAY, _SUNDAY = 5, 6
_YEAR = re.compile(r"(?:19|20)\d\d")


class Days(Struct, frozen=True, kw_only=True):
    """From one day to another, both included, and the words that say so.

    Attributes:
        words: as they stand in the sentence.
        first, last: None where the words are relative and it is not known when they were said.
        by_weekday: only a day of the week is named, which may also lie behind.
    """

    words: str
    first: date | None
    last: date | None
    by_weekday: bool = False


@cache
def zone_of(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    Raises:
        InvalidInputError: there is none of that name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(f"no time zone is called {name[:64]!r}", key="time_zone") from None


def day_of(timestamp_ms: int, zone: ZoneInfo) -> date:
    """The day that a moment falls on in a zone.

    Raises:
        InvalidInputError: the year is not between 1 and 9999.
    """
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=timestamp_ms)
        return moment.astimezone(zone).date()
    except OverflowError:
        raise InvalidInputError("timestamp: outside the years 1 to 9999", key="timestamp") from None


def beginning_ms(day: date, zone: ZoneInfo) -> int:
    """The first moment of a day in a zone, milliseconds since the epoch."""
    return int(datetime.combine(day, time(), zone).timestamp()) * 1000


def days_in(text: str, language: str, said_on: date | None) -> Iterator[Days]:
    """The days a sentence names, in order. Weeks run from Monday to Sunday.

    Args:
        text: the sentence.
        language: as `language_in` gives it.
        said_on: the day it was said on, in the speaker's zone; None where that is not known.
    """
    cues = cues_of(language)
    for match in cues.dates.finditer(text):
        words = match.group()
        if match["other"]:
            first = _parsed(words, cues.date_code, said_on)
            if first or said_on is None or cues.date_code is None:
                yield Days(words=words, first=first, last=first)
        elif said_on is None:
            yield Days(words=words, first=None, last=None)
        else:
            found = _span(match, said_on)
            if found is not None:
                yield Days(words=words, first=found[0], last=found[1], by_weekday=match["next"] is None)


def _span(match: re.Match[str], said_on: date) -> tuple[date, date] | None:
    """The days of a weekday, a weekend, a week or a month, of this or the next one."""
    following = match["next"] is not None
    named = match.groupdict()
    monday = said_on - timedelta(days=said_on.weekday())
    number = next((n for n in range(7) if named[f"day{n}"]), None)
    try:
        if number is not None or named["weekend"]:
            number = _SATURDAY if number is None else number
            day = monday + timedelta(days=number) + (_WEEK if following else timedelta())
            if not following and (day < said_on) and not (named["weekend"] and said_on.weekday() == _SUNDAY):
                day += _WEEK
            return day, day + timedelta(days=1) if named["weekend"] else day
        if named["week"]:
            return monday + _WEEK, monday + 2 * _WEEK - timedelta(days=1)
        first = (said_on.replace(day=1) + timedelta(days=32)).replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    except OverflowError:  # past the year 9999
        return None


_HAN_DIGITS = {char: value for value, char in enumerate("\u3007\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d")}
_HAN_DIGITS["\u4e24"] = 2
_TENS = re.compile(rf"(?:[{''.join(_HAN_DIGITS)}]?\u5341)?[{''.join(_HAN_DIGITS)}]|[{''.join(_HAN_DIGITS)}]?\u5341")


def _number(written: str) -> int:
    """A Chinese numeral below a hundred, which the parser does not read."""
    tens, ten, ones = written.rpartition("\u5341")
    return (_HAN_DIGITS[tens] if tens else 1) * 10 * bool(ten) + (_HAN_DIGITS[ones] if ones else 0)


@lru_cache(4096)
def _parsed(words: str, code: str | None, said_on: date | None) -> date | None:
    """What the date parser makes of words; None where it cannot tell, or would have to guess the day it was said on."""
    if said_on is None and not _YEAR.search(words):
        return None
    import dateparser

    words = _TENS.sub(lambda match: str(_number(match.group())), words) if code == "zh" else words
    base = datetime.combine(said_on or date(2000, 1, 1), time(12))
    found = dateparser.parse(
        words,
        languages=[code] if code else None,
        settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": "future", "RETURN_AS_TIMEZONE_AWARE": False},
    )
    return found.date() if found else None
