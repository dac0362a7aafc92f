"""Foresight without a model: what people say will be, or has a day to come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from threadline.boundary import MemCell
from threadline.memory.extractive.cues import cues_of
from threadline.memory.extractive.dates import Days, beginning_ms, day_of, days_in, zone_of
from threadline.memory.extractive.quotes import Quote, is_said_by, quotes
from threadline.memory.extractive.statements import is_question
from threadline.memory.foresight import Foresight
from threadline.memory.product import folded

__all__ = ["MOST", "extract_foresight"]

MOST = 10
"""Of an episode, as of the model's."""

_LONGEST = 400


def extract_foresight(
    cell: MemCell, *, owner_id: str, time_zone: str = "UTC", language: str | None = None
) -> list[Foresight]:
    """What the owner says is to come, the dated before the undated, at most `MOST`.

    A relative day is worked out from the day its own message was said on. Where a sentence names none, or one that
    cannot be worked out, the day of the message stands for it, and `start_origin` is `inferred`.

    Args:
        cell: the episode.
        owner_id: whose memory it is.
        time_zone: the IANA name of the zone that days are meant in.
        language: of all messages; None reads it from each.

    Raises:
        InvalidInputError: there is no such time zone, or a timestamp is out of range.
    """
    zone = zone_of(time_zone)
    found: list[tuple[bool, Foresight]] = []
    seen: set[str] = set()
    for quote in quotes(cell, language=language):
        if not is_said_by(quote.message, owner_id) or is_question(quote.text) or len(quote.text) > _LONGEST:
            continue
        said_on = None if quote.timestamp is None else day_of(quote.timestamp, zone)
        days = _to_come(quote, said_on)
        if not days or folded(quote.text) in seen:
            continue
        seen.add(folded(quote.text))
        dated = [one for one in days if one.first is not None]
        first = min((one.first for one in dated if one.first), default=said_on)
        last = max((one.last for one in dated if one.last), default=None)
        found.append(
            (
                not dated,
                Foresight(
                    owner_id=owner_id,
                    foresight=quote.text,
                    evidence=quote.text,
                    timestamp=cell.timestamp or 0,
                    start_time=None if first is None else first.isoformat(),
                    end_time=None if last is None else last.isoformat(),
                    duration_days=None if first is None or last is None else (last - first).days,
                    start_origin="stated" if dated else "inferred",
                    time_zone=time_zone,
                    valid_from_ms=None if first is None else beginning_ms(first, zone),
                    valid_to_ms=None if last is None or last == date.max else beginning_ms(last + timedelta(1), zone),
                    sources=(quote.source,),
                    method="extractive",
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    return [foresight for _, foresight in found[:MOST]]


_UNDATED = (Days(words="", first=None, last=None),)


def _to_come(quote: Quote, said_on: date | None) -> Sequence[Days]:
    """The days to come that a sentence names; one without a date where it only speaks of the future; none else."""
    cues = cues_of(quote.language)
    text = quote.text
    speaks_of_future = cues.future.search(text) is not None
    over = cues.past.search(text) is not None and not speaks_of_future
    named = [*days_in(text, quote.language, said_on)]
    coming = [one for one in named if not _is_past(one, said_on) and not (over and one.by_weekday)]
    if any(one.first is not None for one in coming) and (speaks_of_future or not over):
        return coming
    if over or cues.courtesy.search(text):
        return ()
    if speaks_of_future and (quote.is_note or cues.self.search(text)):
        return coming or _UNDATED
    return [one for one in coming if quote.is_note] or ()


def _is_past(days: Days, said_on: date | None) -> bool:
    return days.last is not None and said_on is not None and days.last < said_on
