"""Keeping a profile small: what is too much, and what a shorter version inherits from the items it stands for."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from threadline.memory.attribution import Origins, valid_labels
from threadline.memory.gist import capped
from threadline.memory.product import folded, merged_sources
from threadline.memory.profile import ExplicitInfoItem, ImplicitTraitItem
from threadline.memory.profile_merge import Items, unlike
from threadline.memory.runaway import MAX_STATEMENT, sober
from threadline.text.width import ascii_width

if TYPE_CHECKING:
    from threadline.memory.profile_replies import ItemData

__all__ = ["MAX_DESCRIPTION", "MAX_ITEMS", "MAX_PER_LABEL", "bounded", "crowded_labels", "inherited"]

_log = logging.getLogger("threadline.memory.profile")

MAX_ITEMS = 60
"""Items of a whole profile."""

MAX_PER_LABEL = 8
"""Items under one label."""

MAX_DESCRIPTION = 250
"""Width of a description in ASCII characters."""

Item = TypeVar("Item", ExplicitInfoItem, ImplicitTraitItem)


def crowded_labels(items: Sequence[Item]) -> list[str]:
    """The labels, folded, under which there are too many items, or one with too long a description."""
    counts = Counter(folded(item.label) for item in items if item.label)
    wide = {folded(item.label) for item in items if item.label and ascii_width(item.description) > MAX_DESCRIPTION}
    return [label for label, count in counts.items() if count > MAX_PER_LABEL or label in wide]


def bounded(items: Items) -> Items:
    """The items within all bounds, whatever the model was asked to do about them and did.

    Long descriptions are cut, and of what is too many the latest observed stay, in their order.
    """
    explicit = _per_label([_short(item) for item in items.explicit])
    traits = _per_label([_short(item) for item in items.traits])
    dated = [*enumerate([item.observed_at or 0 for item in (*explicit, *traits)])]
    latest = {place for place, _ in sorted(dated, key=lambda pair: (-pair[1], pair[0]))[:MAX_ITEMS]}
    left_out = len(items) - len(latest)
    if left_out:
        _log.warning("profile_items_over_the_bounds count=%d", left_out)
    return Items(
        tuple(item for place, item in enumerate(explicit) if place in latest),
        tuple(item for place, item in enumerate(traits, len(explicit)) if place in latest),
    )


def _short(item: Item) -> Item:
    if ascii_width(item.description) <= MAX_DESCRIPTION:
        return item
    return item.saying(capped(item.description, MAX_DESCRIPTION), item.label, item.grounding)


def _per_label(items: list[Item]) -> list[Item]:
    """At most so many under each label: the latest observed, of equals the first."""
    taken: Counter[str] = Counter()
    kept: set[int] = set()
    for place in sorted(range(len(items)), key=lambda place: (-(items[place].observed_at or 0), place)):
        label = folded(items[place].label or "")
        taken[label] += 1
        if not label or taken[label] <= MAX_PER_LABEL:
            kept.add(place)
    return [item for place, item in enumerate(items) if place in kept]


def inherited(several: Sequence[ItemData], olds: Sequence[Item]) -> list[Item]:
    """What a model made of some items, each with the dates, sources and host keys of those it stands for.

    It stands for the items it names, for those that say the same, and for those whose words it shares most. An item
    with keys of the host that nothing stands for stays. A reply that leaves nothing over is not obeyed: the items stay.

    Args:
        several: what the model says.
        olds: the items it was shown.
    """
    said = [(data, sober(data.description.strip(), MAX_STATEMENT)) for data in several]
    said = [(data, text) for data, text in said if text]
    if not olds or not said:
        return [*olds]
    heirs = _heirs(said, olds)
    latest = max(old.observed_at or 0 for old in olds) or None
    kept: list[Item] = []
    for number, (data, text) in enumerate(said):
        forebears = [old for place, old in enumerate(olds) if number in heirs[place]]
        kept.append(_heir(data, text, forebears, olds[0], latest))
    kept += [old for place, old in enumerate(olds) if old.extras and not heirs[place]]
    return unlike(kept)


def _heirs(said: Sequence[tuple[ItemData, str]], olds: Sequence[Item]) -> list[set[int]]:
    """For each old item, the numbers of what stands for it."""
    heirs: list[set[int]] = [set() for _ in olds]
    for number, (data, _) in enumerate(said):
        for place in valid_labels(data.merges, len(olds)):
            heirs[place].add(number)
    texts = [text for _, text in said]
    equal = {folded(text): number for number, text in enumerate(texts)}
    origins = Origins(texts)
    for place, old in enumerate(olds):
        if not heirs[place]:
            same = equal.get(folded(old.description))
            heirs[place].update(origins.of(old.description)[:1] if same is None else [same])
    return heirs


def _heir(data: ItemData, text: str, forebears: Sequence[Item], any_old: Item, latest: int | None) -> Item:
    """One new item; one that stands for nothing in particular is as late as the latest it was made from."""
    same = next((old for old in forebears if folded(old.description) == folded(text)), None)
    dates = [old.observed_at for old in (forebears if same is None else [same]) if old.observed_at is not None]
    extras = {key: value for old in reversed(forebears) for key, value in old.extras.items()}
    blank = replace(
        any_old,
        id="" if same is None else same.id,
        description=text,
        observed_at=max(dates, default=latest),
        sources=merged_sources(*(old.sources for old in forebears)),
        extras=extras,
        method="model",
        created_at_ms=None if same is None else same.created_at_ms,
    )
    return blank.saying(text, data.label.strip() or None, data.grounding.strip() or None)
