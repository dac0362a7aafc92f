"""`ProfileExtractor`: who somebody is, from their conversations or from the episodes told of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from threadline.boundary import MemCell
from threadline.boundary.records import as_json, as_record
from threadline.boundary.twins import sync_twin
from threadline.errors import InvalidInputError
from threadline.memory import prompts
from threadline.memory.dates import stamp
from threadline.memory.episode import Episode
from threadline.memory.narratives import Narrative, Narratives
from threadline.memory.operator import Operator
from threadline.memory.owners import USER_WORDS, Naming
from threadline.memory.product import Source, folded, merged_sources
from threadline.memory.profile import ExplicitInfoItem, ImplicitTraitItem, Profile, ProfileItem
from threadline.memory.profile_merge import Items, applied, new_items, unlike
from threadline.memory.profile_upkeep import MAX_ITEMS, bounded, crowded_labels, inherited
from threadline.memory.told import Told

__all__ = ["ProfileExtractor"]

_SAME_PROFILE = "Write in the language that most items of the profile are in."
_SAME_GROUP = "Write in the language that most of the items are in."
_NOTE = 'Besides, give "{key}" beside the other keys: one sentence on what you did.'


class _Task(Struct, frozen=True, kw_only=True):
    """What all calls about one profile share."""

    owner_id: str
    name: str
    from_cells: bool
    categories: tuple[str, ...]
    prompt: str | None
    custom: str | None
    language: str | None

    def data(self, *blocks: str) -> str:
        """The user message: who it is about, the categories, and these blocks."""
        owner = f"<owner>{as_record(self.name)}</owner>"
        listed = [f"<categories>{as_json(list(self.categories))}</categories>"] if self.categories else []
        return "\n\n".join([owner, *listed, *blocks])


class ProfileExtractor(Operator):
    """Draws a profile of one owner and brings it up to date.

    A first profile takes one call. An update takes one, or two where some episodes are older than the profile, and then
    one more for a profile of more than 60 items and one for each label under which more than 8 items stand or a
    description is wider than 250 characters. Whatever the replies are, no profile leaves these bounds.
    """

    NAME: ClassVar[str] = "profile"

    async def aextract(
        self,
        memcells: Sequence[MemCell],
        *,
        sender_id: str,
        old_profile: Profile | None = None,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> Profile:
        """The profile of one who speaks in these cells.

        Args:
            memcells: the cells, in any order.
            sender_id: whose profile it is.
            old_profile: what is known already; None draws it for the first time.
            prompt: what to tell the model instead of this library's prompt for a first profile or for an update.
            custom_instructions: what the host adds to all prompts.
            output_language: what to write in; by default that of the profile or the participants.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            InvalidInputError: there is no cell, nobody of that id speaks in them as a user, the old profile is
                somebody else's, a message has the timestamp 0, or the language is neither known nor allowed; nothing
                was asked.
            LLMOutputError: a reply is not what was asked for.
        """
        if not memcells:
            raise InvalidInputError("memcells: none given", key="memcells")
        told = [(cell, Told.of(cell)) for cell in memcells]
        spoken = [item for _, each in told for item in each.messages if item.sender_id == sender_id]
        if not any(item.role == "user" for item in spoken):
            raise InvalidInputError("sender_id: no user of that id says anything in these cells", key="sender_id")
        narratives = [
            Narrative(text="\n".join(each.texts), timestamp=cell.timestamp or 0, told=each, sender_id=sender_id)
            for cell, each in told
            if each.messages
        ]
        name = next((item.name for item in spoken if item.name and item.name.strip()), sender_id)
        task = _Task(
            owner_id=sender_id,
            name=name,
            from_cells=True,
            categories=(),
            prompt=prompt,
            custom=custom_instructions,
            language=output_language,
        )
        return await self._extracted(task, [narratives], old_profile, now_ms)

    extract = sync_twin(aextract)

    async def aextract_from_episodes(
        self,
        episodes: Sequence[Episode],
        *,
        owner_id: str,
        owner_name: str | None = None,
        aliases: Iterable[str] = (),
        old_profile: Profile | None = None,
        categories: Sequence[str] | None = None,
        prompt: str | None = None,
        custom_instructions: str | None = None,
        output_language: str | None = None,
        now_ms: int | None = None,
    ) -> Profile:
        """The profile of one whom these episodes are about.

        An episode counts where it names the owner, by whole words, or where it is the owner's and speaks of "the user".

        Args:
            episodes: in any order.
            owner_id: whose profile it is.
            owner_name: what the episodes call them; the id where it is not given.
            aliases: what else they call them.
            old_profile: what is known already; None draws it for the first time.
            categories: what the labels of explicit items should be taken from.
            prompt: what to tell the model instead of this library's prompt for a first profile or for an update.
            custom_instructions: what the host adds to all prompts.
            output_language: what to write in; by default that of the profile or the episodes.
            now_ms: when this is done, kept as `created_at_ms`.

        Raises:
            TypeError: `episodes` or `categories` is no sequence, or holds something else.
            InvalidInputError: there is no episode, one says nothing, none is about the owner, the owner is blank, the
                old profile is somebody else's, or the language is neither known nor allowed; nothing was asked.
            LLMOutputError: a reply is not what was asked for.
        """
        target = (owner_name or "").strip() or owner_id.strip()
        if not owner_id.strip():
            raise InvalidInputError("owner_id is blank", key="owner_id")
        named = Naming([target, *aliases])
        meant = Naming([target, *aliases, *USER_WORDS])
        about = [
            Narrative(text=episode.episode, timestamp=episode.timestamp, sources=episode.sources)
            for episode in _checked(episodes)
            if (meant if episode.owner_id == owner_id else named).found(episode.episode)
        ]
        if not about:
            raise InvalidInputError("episodes: none of them names the owner", key="owner_name")
        task = _Task(
            owner_id=owner_id,
            name=target,
            from_cells=False,
            categories=_categories(categories),
            prompt=prompt,
            custom=custom_instructions,
            language=output_language,
        )
        since = 0 if old_profile is None else old_profile.timestamp
        passes = [
            [narrative for narrative in about if narrative.timestamp < since],
            [narrative for narrative in about if narrative.timestamp >= since],
        ]
        return await self._extracted(task, passes, old_profile, now_ms)

    extract_from_episodes = sync_twin(aextract_from_episodes)

    async def _extracted(
        self, task: _Task, passes: list[list[Narrative]], old: Profile | None, now_ms: int | None
    ) -> Profile:
        if old is not None and old.owner_id != task.owner_id:
            raise InvalidInputError("old_profile is another owner's", key="old_profile")
        several = [Narratives(narratives) for narratives in passes if narratives]
        if old is None:
            (narratives,) = several
            return replace(await self._first(task, narratives), created_at_ms=now_ms)
        profile = old
        for narratives in several:
            profile = await self._brought_up_to_date(task, profile, narratives)
        return profile if now_ms is None else replace(profile, created_at_ms=now_ms)

    async def _first(self, task: _Task, narratives: Narratives) -> Profile:
        from threadline.memory.profile_replies import InitReply

        system = self._system(task.prompt or prompts.PROFILE_INIT_PROMPT, task.language, task.custom)
        reply = await self._ask(InitReply, system, task.data(self._shown(narratives)), stage="profile_init")
        items = Items(
            tuple(unlike(new_items(reply.explicit_info, narratives, ExplicitInfoItem))),
            tuple(unlike(new_items(reply.implicit_traits, narratives, ImplicitTraitItem))),
        )
        items = bounded(items)
        return Profile(
            owner_id=task.owner_id,
            timestamp=narratives.newest,
            explicit_info=items.explicit,
            implicit_traits=items.traits,
            sources=_sources(items),
        )

    async def _brought_up_to_date(self, task: _Task, profile: Profile, narratives: Narratives) -> Profile:
        from threadline.memory.profile_replies import NotedUpdateReply, UpdateReply

        dated = Items(
            tuple(_dated(item, profile.timestamp) for item in profile.explicit_info),
            tuple(_dated(item, profile.timestamp) for item in profile.implicit_traits),
        )
        shown = f"<profile>\n{as_json(_plain(dated, dates=True))}\n</profile>"
        reply = await self._ask(
            NotedUpdateReply if task.from_cells else UpdateReply,
            self._told_to(task, task.prompt or prompts.PROFILE_UPDATE_PROMPT, "update_note", _SAME_PROFILE),
            task.data(shown, self._shown(narratives)),
            stage="profile_update",
        )
        items = applied(dated, reply.operations, narratives)
        items = bounded(await self._regrouped(task, await self._compacted(task, items)))
        return replace(
            profile,
            summary="",  # worked out anew
            timestamp=max(profile.timestamp, narratives.newest),
            explicit_info=items.explicit,
            implicit_traits=items.traits,
            sources=_sources(items),
        )

    async def _compacted(self, task: _Task, items: Items) -> Items:
        from threadline.memory.profile_replies import CompactReply, NotedCompactReply

        if len(items) <= MAX_ITEMS:
            return items
        reply = await self._ask(
            NotedCompactReply if task.from_cells else CompactReply,
            self._told_to(task, prompts.PROFILE_COMPACT_PROMPT, "compact_note", _SAME_PROFILE),
            task.data(f"<profile>\n{as_json(_plain(items, dates=False))}\n</profile>"),
            stage="profile_compact",
        )
        return Items(
            tuple(inherited(reply.explicit_info, items.explicit)), tuple(inherited(reply.implicit_traits, items.traits))
        )

    async def _regrouped(self, task: _Task, items: Items) -> Items:
        from threadline.memory.profile_replies import (
            ExplicitGroupReply,
            NotedExplicitGroupReply,
            NotedTraitGroupReply,
            TraitGroupReply,
        )

        system = self._told_to(task, prompts.PROFILE_REGROUP_PROMPT, "regroup_note", _SAME_GROUP)
        explicit, traits = [*items.explicit], [*items.traits]
        for label in crowded_labels(explicit):
            group, place, rest = _parted(explicit, label)
            reply = await self._ask(
                NotedExplicitGroupReply if task.from_cells else ExplicitGroupReply,
                system,
                task.data(_group(group)),
                stage="profile_regroup",
            )
            explicit = unlike([*rest[:place], *inherited(reply.items, group), *rest[place:]])
        for label in crowded_labels(traits):
            group, place, rest = _parted(traits, label)
            reply = await self._ask(
                NotedTraitGroupReply if task.from_cells else TraitGroupReply,
                system,
                task.data(_group(group)),
                stage="profile_regroup",
            )
            traits = unlike([*rest[:place], *inherited(reply.items, group), *rest[place:]])
        return Items(tuple(explicit), tuple(traits))

    def _told_to(self, task: _Task, prompt: str, note: str, otherwise: str) -> str:
        """The system text; what comes from cells has to be commented on, as EverAlgo's users know it."""
        noted = f"{prompt}\n\n{_NOTE.replace('{key}', note)}" if task.from_cells else prompt
        return self._system(noted, task.language, task.custom, otherwise=otherwise)

    def _shown(self, narratives: Narratives) -> str:
        blocks: list[str] = []
        for label, narrative in enumerate(narratives.all):
            if narrative.told is not None:
                blocks.append(narrative.told.block(zone=self._zone, with_ids=True, label=str(label)))
            else:
                time = f' time="{stamp(narrative.timestamp, self._zone)}"' if narrative.timestamp else ""
                blocks.append(f'<narrative label="{label}"{time}>\n{as_record(narrative.text)}\n</narrative>')
        return "\n\n".join(blocks)


def _checked(episodes: Any) -> Sequence[Episode]:
    if isinstance(episodes, str | bytes) or not isinstance(episodes, Sequence):
        raise TypeError("episodes must be a sequence of Episode")
    if not episodes:
        raise InvalidInputError("episodes: none given", key="episodes")
    checked: list[Episode] = []
    for index, episode in enumerate(episodes):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(episode, Episode):
            raise TypeError(f"episodes: number {index} is no Episode")
        if not episode.episode.strip():
            raise InvalidInputError(f"episodes: number {index} says nothing", index=index)
        checked.append(episode)
    return checked


def _categories(given: Any) -> tuple[str, ...]:
    """Stripped, none blank, each once, in order."""
    if given is None:
        return ()
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise TypeError("categories must be a sequence of str")
    names: dict[str, None] = {}
    for index, name in enumerate(given):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(name, str):
            raise TypeError(f"categories: number {index} is no str")
        if name.strip():
            names[name.strip()] = None
    return tuple(names)


def _sources(items: Items) -> tuple[Source, ...]:
    return merged_sources(*(item.sources for item in (*items.explicit, *items.traits)))


def _dated(item: Any, otherwise: int) -> Any:
    return item if item.observed_at is not None else replace(item, observed_at=otherwise)


def _plain(items: Items, *, dates: bool) -> dict[str, Any]:
    return {
        "explicit_info": [_shown_item(index, item, dates=dates) for index, item in enumerate(items.explicit)],
        "implicit_traits": [_shown_item(index, item, dates=dates) for index, item in enumerate(items.traits)],
    }


def _shown_item(index: int, item: ProfileItem, *, dates: bool) -> dict[str, Any]:
    """What a model sees of an item; the host's keys are none of its business."""
    label, grounding = ("category", "evidence") if isinstance(item, ExplicitInfoItem) else ("trait", "basis")
    shown: dict[str, Any] = {"index": index, grounding: item.grounding or "", "description": item.description}
    shown[label] = item.label or ""
    if dates and item.observed_at:
        shown["observed_at"] = stamp(item.observed_at, UTC)
    return shown


def _parted(items: list[Any], label: str) -> tuple[list[Any], int, list[Any]]:
    """The items under a label, where the first of them stands, and all others."""
    group = [item for item in items if item.label and folded(item.label) == label]
    rest = [item for item in items if not item.label or folded(item.label) != label]
    place = next(place for place, item in enumerate(items) if item is group[0])
    return group, place, rest


def _group(items: Sequence[ProfileItem]) -> str:
    shown = [_shown_item(index, item, dates=False) for index, item in enumerate(items)]
    return f"<group>\n{as_json(shown)}\n</group>"
