"""`AtomicFactExtractor`: single statements out of a cell or a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from threadline.boundary import MemCell
from threadline.boundary.records import as_record
from threadline.boundary.twins import sync_twin
from threadline.errors import InvalidInputError
from threadline.memory import prompts
from threadline.memory.attribution import Origins, valid_labels
from threadline.memory.dates import stamp
from threadline.memory.fact import AtomicFact
from threadline.memory.operator import SAME_TEXT, Operator
from threadline.memory.product import Source, folded
from threadline.memory.runaway import MAX_STATEMENT, sober
from threadline.memory.told import Told

if TYPE_CHECKING:
    from threadline.memory.replies import FactItem, FactsReply

__all__ = ["AtomicFactExtractor"]


class AtomicFactExtractor(Operator):
    """Takes facts out of what was said. Within a reply no fact comes twice."""

    NAME: ClassVar[str] = "atomic_facts"

    async def aextract(
        self,
        memcell: MemCell,
        *,
        sender_id: str | None,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> list[AtomicFact]:
        """The facts of a cell: one call, none where nothing is told in it.

        Args:
            memcell: the cell.
            sender_id: whom the facts should be about and whose memory they will be; None for facts bound to nobody.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default what the participants use.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: a message has the timestamp 0, or the language is neither known nor allowed; nothing was
                asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import FactsReply

        system = self._system(prompt or prompts.FACTS_PROMPT, output_language, custom_instructions)
        told = Told.of(memcell)
        if not told.messages:
            return []
        owner = "" if sender_id is None else f"<owner>{as_record(told.name_of(sender_id))}</owner>\n\n"
        reply = await self._ask(FactsReply, system, owner + told.block(zone=self._zone))
        origins = Origins(told.texts)
        facts: list[AtomicFact] = []
        for item in _items(reply):
            labels = valid_labels(item.messages, len(told)) or origins.of(item.fact)
            made = _fact(item, sender_id, memcell.timestamp or 0, now_ms)
            sources = told.sources(labels or None)
            since = told.first_ms(labels) or memcell.timestamp
            facts.append(_placed(made, sources, since))
        return facts

    extract = sync_twin(aextract)

    async def aextract_from_text(
        self,
        text: str,
        *,
        timestamp: int,
        sources: Sequence[Source] = (),
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> list[AtomicFact]:
        """The facts of a text, bound to nobody: one call.

        Args:
            text: an account, for example.
            timestamp: when what it tells of was said, milliseconds since the epoch, UTC.
            sources: the messages it comes from.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default that of the text.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: the text is blank, or the language is neither known nor allowed; nothing was asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import FactsReply

        if not text.strip():
            raise InvalidInputError("text is blank", key="text")
        system = self._system(
            prompt or prompts.FACTS_TEXT_PROMPT, output_language, custom_instructions, otherwise=SAME_TEXT
        )
        data = f"<time>{stamp(timestamp, self._zone)}</time>\n\n<episode_text>\n{as_record(text)}\n</episode_text>"
        reply = await self._ask(FactsReply, system, data)
        return [_placed(_fact(item, None, timestamp, now_ms), sources, timestamp or None) for item in _items(reply)]

    extract_from_text = sync_twin(aextract_from_text)


def _items(reply: FactsReply) -> list[FactItem]:
    """What the reply says, stripped; neither blanks nor the same twice."""
    from threadline.memory.replies import FactItem

    kept: dict[str, FactItem] = {}
    for said in reply.atomic_facts.atomic_fact:
        item = FactItem(fact=said) if isinstance(said, str) else said
        text = sober(item.fact.strip(), MAX_STATEMENT)
        if text:
            kept.setdefault(folded(text), item.model_copy(update={"fact": text}))
    return list(kept.values())


def _fact(item: FactItem, owner_id: str | None, timestamp: int, now_ms: int | None) -> AtomicFact:
    named = bool(item.subject.strip() and item.relation.strip())
    return AtomicFact(
        owner_id=owner_id,
        content=item.fact,
        timestamp=timestamp,
        subject=item.subject.strip() if named else "",
        relation=item.relation.strip() if named else "",
        created_at_ms=now_ms,
    )


def _placed(fact: AtomicFact, sources: Sequence[Source], since: int | None) -> AtomicFact:
    return replace(fact, sources=tuple(sources), valid_from_ms=since)
