"""What a model's operations do to a profile's items: the newer word wins, whatever the order in which they come in."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from threadline.memory.narratives import Narratives, Origin
from threadline.memory.product import folded, merged_sources
from threadline.memory.profile import ExplicitInfoItem, ImplicitTraitItem, ProfileItem
from threadline.memory.runaway import MAX_STATEMENT, sober

if TYPE_CHECKING:
    from threadline.memory.profile_replies import ItemData, Operation

__all__ = ["Items", "applied", "new_items", "unlike"]

Item = TypeVar("Item", ExplicitInfoItem, ImplicitTraitItem)

_log = logging.getLogger("threadline.memory.profile")

_STOPS = ".\u3002\uff0e \t\n"
_HISTORY = re.compile(r"[(\uff08][^()\uff08\uff09]+[)\uff09][.\u3002]?")
_PRESENT = re.compile(
    r"\b(?:now|no longer|not|never|currently|today|instead|since then|any ?more|actually|wrong|jetzt|nicht|heute"
    r"|ahora|ya no|actualmente|\u0442\u0435\u043f\u0435\u0440\u044c|\u0441\u0435\u0439\u0447\u0430\u0441"
    r"|\u0431\u043e\u043b\u044c\u0448\u0435 \u043d\u0435)\b"
    r"|\u73b0\u5728|\u4e0d\u518d|\u76ee\u524d|\u5982\u4eca|\u5df2\u4e0d|\u4eca\u306f|\u73fe\u5728|\u3082\u3046"
    r"|\uc9c0\uae08|\ud604\uc7ac|\ub354 \uc774\uc0c1",
    re.IGNORECASE,
)
"""Words in a parenthesis that say how things stand: then it is no history, but a contradiction in disguise."""


class Items(Struct, frozen=True):
    """The two lists of a profile."""

    explicit: tuple[ExplicitInfoItem, ...]
    traits: tuple[ImplicitTraitItem, ...]

    def __len__(self) -> int:
        return len(self.explicit) + len(self.traits)


def applied(items: Items, operations: Sequence[Operation], narratives: Narratives) -> Items:
    """The items after the operations of one reply; what cannot be obeyed is left out, and how much that is is logged.

    Indices are of the items as given. An item that was observed later than what an operation says was said keeps all it
    says: it is neither deleted nor rewritten, its label stays, and its grounding is only added to. A parenthesis about
    the past may still be put behind its description.
    """
    return Items(
        _changed("explicit_info", ExplicitInfoItem, items.explicit, operations, narratives),
        _changed("implicit_traits", ImplicitTraitItem, items.traits, operations, narratives),
    )


def _changed(
    name: str, kind: type[Item], items: tuple[Item, ...], operations: Sequence[Operation], narratives: Narratives
) -> tuple[Item, ...]:
    now: list[Item] = [*items]
    deleted: set[int] = set()
    added: list[ItemData] = []
    refused = 0
    for operation in operations:
        if operation.action == "none" or operation.type != name:
            continue
        if operation.action == "add":
            added.append(operation.data)
            continue
        index = operation.index
        if isinstance(index, bool) or not 0 <= index < len(now):
            refused += 1
        elif operation.action == "update":
            data = operation.data
            after = _updated(
                now[index], data, narratives.origin(f"{data.description} {data.grounding}", data.narrative)
            )
            refused += after is None
            now[index] = after or now[index]
        elif _is_stale(narratives.origin(operation.reason, operation.narrative), now[index]):
            refused += 1
        else:
            deleted.add(index)
    if refused:
        _log.warning("profile_operations_refused list=%s count=%d", name, refused)
    kept = [item for index, item in enumerate(now) if index not in deleted]
    new = new_items(added, narratives, kind, labels=[item.label for item in kept])
    return tuple(unlike([*kept, *new]))


def _is_stale(origin: Origin, item: ProfileItem) -> bool:
    return item.observed_at is not None and origin.timestamp < item.observed_at


def _updated(item: Item, data: ItemData, origin: Origin) -> Item | None:
    """The item with what an update says, or None where it must not."""
    description = sober(data.description.strip(), MAX_STATEMENT) or item.description
    grounding = sober(data.grounding.strip(), MAX_STATEMENT)
    same = folded(description) == folded(item.description)
    sources = merged_sources(item.sources, origin.sources)
    if not _is_stale(origin, item):
        after = item.saying(description, data.label.strip() or item.label, grounding or item.grounding)
        return replace(after, sources=sources, observed_at=item.observed_at if same else origin.timestamp)
    history = _history(item.description, description)
    if not same and history is None:
        return None
    stated = item.description if history is None else f"{item.description.rstrip(_STOPS)} {history}"
    after = item.saying(stated, item.label or data.label.strip() or None, _both(item.grounding, grounding))
    return replace(after, sources=sources)


def _history(stored: str, description: str) -> str | None:
    """The parenthesis that a description puts behind the stored one, if it is one and speaks of the past alone."""
    begin = folded(stored).rstrip(_STOPS)
    text = " ".join(description.split())
    if not begin or text.casefold()[: len(begin)] != begin:
        return None
    rest = text[len(begin) :].strip()
    return rest if _HISTORY.fullmatch(rest) and not _PRESENT.search(rest) else None


def _both(grounding: str | None, more: str) -> str | None:
    """The stored grounding and behind it what it did not say yet."""
    if not grounding:
        return more or None
    return grounding if not more or folded(more) in folded(grounding) else f"{grounding}; {more}"


def new_items(
    several: Iterable[ItemData], narratives: Narratives, kind: type[Item], *, labels: Iterable[str | None] = ()
) -> list[Item]:
    """Items of what a model says is new, each dated by the narrative that says it; blank ones are left out.

    Args:
        several: what the model says.
        narratives: where it has it from.
        kind: of the list.
        labels: those in use; a label that differs only in case and white space is written like them.
    """
    spelling: dict[str, str] = {}
    for label in labels:
        if label:
            spelling.setdefault(folded(label), label)
    made: list[Item] = []
    for data in several:
        description = sober(data.description.strip(), MAX_STATEMENT)
        if not description:
            continue
        label = data.label.strip()
        grounding = sober(data.grounding.strip(), MAX_STATEMENT)
        origin = narratives.origin(f"{description} {grounding}", data.narrative)
        item = kind(description=description, observed_at=origin.timestamp, sources=origin.sources)
        label = spelling.setdefault(folded(label), label) if label else None
        made.append(item.saying(description, label, grounding or None))
    return made


def unlike(items: Iterable[Item]) -> list[Item]:
    """The items without those that say what an earlier one says; blank ones stay."""
    kept: dict[str, Item] = {}
    for number, item in enumerate(items):
        kept.setdefault(folded(item.description) or f"\n{number}", item)
    return list(kept.values())
