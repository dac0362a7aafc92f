"""`EpisodeReflector`: several episodes that belong together, told as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from threadline.boundary.records import as_record
from threadline.boundary.twins import sync_twin
from threadline.errors import InvalidInputError
from threadline.memory import prompts
from threadline.memory.episode import Episode
from threadline.memory.gist import capped
from threadline.memory.operator import Operator
from threadline.memory.product import merged_sources
from threadline.memory.runaway import MAX_NARRATIVE, sober

__all__ = ["EpisodeReflector"]

_SAME_EPISODES = "Write in the language that most of the accounts are in."
_SAME_NARRATIVE = "Write in the language of the current account."


class EpisodeReflector(Operator):
    """Joins episodes, or brings a joined one up to date."""

    NAME: ClassVar[str] = "reflect"

    async def areflect(
        self,
        episodes: Sequence[Episode],
        *,
        old_episode: Episode | None = None,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> Episode:
        """One episode of several: one call. It is nobody's, and as late as the latest of them.

        Args:
            episodes: the oldest first; two at least, one beside an old one.
            old_episode: what an earlier call made, to be brought up to date.
            prompt: what to tell the model instead of the prompt of this library.
            custom_instructions: what the host adds to it.
            output_language: what to write in; by default what the episodes are written in.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: there are too few episodes, they are out of order, or the language is neither known nor
                allowed; nothing was asked.
            LLMOutputError: the reply is not what was asked for.
        """
        from threadline.memory.replies import EpisodeReply

        least = 2 if old_episode is None else 1
        if len(episodes) < least:
            raise InvalidInputError(f"episodes: at least {least} needed, {len(episodes)} given", key="episodes")
        for index, (one, other) in enumerate(pairwise(episodes)):
            if other.timestamp < one.timestamp:
                raise InvalidInputError(f"episodes: number {index + 1} is older than the one before", index=index + 1)
        listed = "\n".join(f"[{label}] {as_record(episode.episode)}" for label, episode in enumerate(episodes))
        if old_episode is None:
            default, otherwise = prompts.REFLECT_INIT_PROMPT, _SAME_EPISODES
            data = f'<episodes count="{len(episodes)}">\n{listed}\n</episodes>'
        else:
            default, otherwise = prompts.REFLECT_UPDATE_PROMPT, _SAME_NARRATIVE
            told = f"<current_narrative>\n{as_record(old_episode.episode)}\n</current_narrative>"
            data = f'{told}\n\n<new_episodes order="chronological">\n{listed}\n</new_episodes>'
        system = self._system(prompt or default, output_language, custom_instructions, otherwise=otherwise)
        reply = await self._ask(EpisodeReply, system, data)
        joined = [*([] if old_episode is None else [old_episode]), *episodes]
        return Episode(
            owner_id=None,
            episode=sober(reply.content, MAX_NARRATIVE),
            subject=capped(sober(reply.title, MAX_NARRATIVE)),
            summary=capped(sober(reply.summary, MAX_NARRATIVE)),
            timestamp=max(episode.timestamp for episode in joined),
            sources=merged_sources(*(episode.sources for episode in joined)),
            created_at_ms=now_ms,
            extras={} if old_episode is None else old_episode.extras,
        )

    reflect = sync_twin(areflect)
