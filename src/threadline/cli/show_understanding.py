"""What people see of episodes and memories; plain text when piped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from threadline.cli.show import console, table

if TYPE_CHECKING:
    from threadline.memory import Product
    from threadline.memory.extractive import Memories

__all__ = ["Clock", "episodes", "memories"]

Clock: TypeAlias = Callable[[int | None], str]
"""How a moment is written; nothing where there is none."""


def episodes(told: Sequence[dict[str, Any]]) -> None:
    """A table of episodes; the times only where messages have any."""
    timed = any(one["begins"] for one in told)
    rows = table("messages", "tokens", *(("from", "to") if timed else ()), "title", left=("from", "to", "title"))
    for one in told:
        span = f"{one['first']}-{one['last']}" if one["first"] < one["last"] else str(one["first"])
        times = (one["begins"], one["ends"]) if timed else ()
        rows.add_row(span, f"{one['tokens']:,}", *times, _plain(one["title"] or "(nobody speaks)"))
    console().print(rows)


def memories(owner: str, found: Memories, numbers: Mapping[str, int], clock: Clock) -> None:
    """A page: every quote with the number of its message in the file."""
    page: list[str] = [f"What {owner} leaves behind, in quotes; [n] is the message."]
    for episode in found.episodes:
        when = clock(episode.timestamp)
        page += ["", f"Episode: {episode.subject}{f' ({when})' if when else ''}"]
        page += [f"  {line}" for line in episode.episode.splitlines()]
    page += _listed("Facts", [f"{one.content} {_where(one, numbers)}" for one in found.facts])
    page += _listed(
        "To come",
        [f"{_days(one.start_time, one.end_time, one.start_origin)}{one.foresight} {_where(one, numbers)}"
         for one in found.foresights],
    )  # fmt: skip
    page += _listed(
        "Profile",
        [f"{one.category or 'other'}: {one.description} {_where(one, numbers)}" for one in found.profile.explicit_info],
    )
    out = console()
    for line in page:
        out.print(line, markup=False)


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {' '.join(line.split())}" for line in lines)] if lines else []


def _where(product: Product, numbers: Mapping[str, int]) -> str:
    places = sorted({numbers[source.message_id] for source in product.sources if source.message_id in numbers})
    return f"[{', '.join(map(str, places))}]"


def _days(first: str | None, last: str | None, origin: str) -> str:
    if first is None or origin == "inferred":
        return ""
    return f"{first}: " if last in (None, first) else f"{first} to {last}: "


def _plain(text: str) -> Any:
    """A text that is no markup."""
    from rich.text import Text

    return Text(text)
