"""`EpisodeExtractor` and `EpisodeSummarizer`: the account of a cell, and the gist of an account."""

from __future__ import annotations

from typing import ClassVar

from threadline.boundary import MemCell
from threadline.boundary.records import as_record
from threadline.boundary.twins import sync_twin
from threadline.errors import InvalidInputError
from threadline.memory import prompts
from threadline.memory.episode import Episode
from threadline.memory.gist import capped
from threadline.memory.operator import SAME_TEXT, Operator
from threadline.memory.runaway import MAX_NARRATIVE, sober
from threadline.memory.told import Told

__all__ = ["EpisodeExtractor", "EpisodeSummarizer"]


class EpisodeExtractor(Operator):
    """Tells what happened in a cell."""

    NAME: ClassVar[str] = "episode"

    async def aextract(
        self,
        memcell: MemCell,
        *,
        sender_id: str | None,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> Episode:
        """The account of a cell: one call.

        Args:
            memcell: the cell.
            sender_id: whose memory it will be: the account puts them in the middle; None for an account of everybody.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default what the participants use.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: nothing is told in the cell, a message of it has the timestamp 0, or the language is
                neither known nor allowed; nothing was asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import EpisodeReply

        told = Told.of(memcell)
        if not told.messages:
            raise InvalidInputError(f"{memcell.id}: nothing is told in this cell", cell_id=memcell.id)
        default = prompts.EPISODE_GENERIC_PROMPT if sender_id is None else prompts.EPISODE_USER_PROMPT
        system = self._system(prompt or default, output_language, custom_instructions)
        owner = "" if sender_id is None else f"<owner>{as_record(told.name_of(sender_id))}</owner>\n\n"
        reply = await self._ask(EpisodeReply, system, owner + told.block(zone=self._zone))
        return Episode(
            owner_id=sender_id,
            episode=sober(reply.content, MAX_NARRATIVE),
            subject=capped(sober(reply.title, MAX_NARRATIVE)),
            summary=capped(sober(reply.summary, MAX_NARRATIVE)),
            timestamp=memcell.timestamp or 0,
            cell_id=memcell.id,
            sources=told.sources(),
            created_at_ms=now_ms,
        )

    extract = sync_twin(aextract)


class EpisodeSummarizer(Operator):
    """Gives the gist of an account."""

    NAME: ClassVar[str] = "episode_summary"

    async def asummarize(
        self,
        episode_text: str,
        *,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
    ) -> str:
        """At most 400 ASCII characters' width of summary: one call.

        Args:
            episode_text: the account.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default that of the text.

        Raises:
            InvalidInputError: the text is blank, or the language is neither known nor allowed; nothing was asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import SummaryReply

        if not episode_text.strip():
            raise InvalidInputError("episode_text is blank", key="episode_text")
        system = self._system(
            prompt or prompts.SUMMARY_PROMPT, output_language, custom_instructions, otherwise=SAME_TEXT
        )
        data = f"<episode_text>\n{as_record(episode_text)}\n</episode_text>"
        reply = await self._ask(SummaryReply, system, data)
        return capped(sober(reply.summary, MAX_NARRATIVE))

    summarize = sync_twin(asummarize)
