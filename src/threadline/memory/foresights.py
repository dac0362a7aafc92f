"""`ForesightExtractor`: what can be expected of somebody, with days that are real."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from threadline.boundary import MemCell
from threadline.boundary.records import as_record
from threadline.boundary.twins import sync_twin
from threadline.errors import InvalidInputError
from threadline.memory import prompts
from threadline.memory.attribution import Origins
from threadline.memory.dates import day_of, day_start_ms, resolved_day
from threadline.memory.foresight import Foresight
from threadline.memory.operator import Operator
from threadline.memory.runaway import MAX_STATEMENT, sober
from threadline.memory.told import Told

if TYPE_CHECKING:
    from threadline.memory.replies import ForesightItem

__all__ = ["ForesightExtractor"]

_MOST = 10
"""Expectations kept of a reply; the prompt asks for no more than eight."""

_TEMPERATURE = 0.3
"""To expect something takes a little more imagination than to write down what was said; as EverAlgo sets it."""


class _Span(NamedTuple):
    start: date | None
    end: date | None
    stated: bool


class ForesightExtractor(Operator):
    """Looks ahead for one participant."""

    NAME: ClassVar[str] = "foresight"

    async def aextract(
        self,
        memcell: MemCell,
        *,
        sender_id: str,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> list[Foresight]:
        """What can be expected, at most ten: one call, none where nothing is told in the cell.

        A day that the reply writes relatively ("tomorrow") is meant as seen from the message that the evidence comes
        from. Where it names no day, the day of that message stands for it, marked as inferred. A span that ends before
        it begins has no end.

        Args:
            memcell: the cell.
            sender_id: for whom, and whose memory it will be.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default what the participants use.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: the sender is blank, a message has the timestamp 0, or the language is neither known nor
                allowed; nothing was asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import ForesightReply

        if not sender_id.strip():
            raise InvalidInputError("sender_id is blank", key="sender_id")
        system = self._system(prompt or prompts.FORESIGHT_PROMPT, output_language, custom_instructions)
        told = Told.of(memcell)
        if not told.messages:
            return []
        who = f"<user_id>{as_record(sender_id)}</user_id>\n<user_name>{as_record(told.name_of(sender_id))}</user_name>"
        data = f"{who}\n\n{told.block(zone=self._zone)}"
        reply = await self._ask(ForesightReply, system, data, temperature=_TEMPERATURE)
        said = [item for item in reply.foresights if item.content.strip()][:_MOST]
        origins = Origins(told.texts)
        opening = next((item.timestamp for item in memcell.items if item.timestamp), None)
        made: list[Foresight] = []
        for item in said:
            labels = origins.of(item.evidence) or origins.of(item.content)
            span = self._span(item, told.first_ms(labels) or opening)
            made.append(
                Foresight(
                    owner_id=sender_id,
                    foresight=sober(item.content.strip(), MAX_STATEMENT),
                    evidence=sober(item.evidence.strip(), MAX_STATEMENT),
                    timestamp=memcell.timestamp or 0,
                    sources=told.sources(labels or None),
                    created_at_ms=now_ms,
                    time_zone=self._zone_name,
                    start_origin="stated" if span.stated else "inferred",
                    **self._interval(span.start, span.end),
                )
            )
        return made

    extract = sync_twin(aextract)

    def _span(self, item: ForesightItem, said_ms: int | None) -> _Span:
        stated = resolved_day(item.start_time, said_ms, self._zone)
        end = resolved_day(item.end_time, said_ms, self._zone)
        start = stated or (day_of(said_ms, self._zone) if said_ms else None)
        if end is None and start is not None and item.duration_days is not None and item.duration_days >= 0:
            try:
                end = start + timedelta(days=item.duration_days)
            except OverflowError:
                end = None
        if start is not None and end is not None and end < start:
            start, end = (start, None) if stated else (end, end)
        return _Span(start, end, stated=stated is not None)

    def _interval(self, start: date | None, end: date | None) -> dict[str, Any]:
        after = end + timedelta(days=1) if end is not None and end < date.max else None
        return {
            "start_time": None if start is None else start.isoformat(),
            "end_time": None if end is None else end.isoformat(),
            "duration_days": None if start is None or end is None else (end - start).days,
            "valid_from_ms": None if start is None else day_start_ms(start, self._zone),
            "valid_to_ms": None if after is None else day_start_ms(after, self._zone),
        }
