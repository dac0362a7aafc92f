"""What a reduction did, in tokens: by fate, by source, and what was put right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from threadline.messages.elision import Elision
from threadline.messages.fate import Fate
from threadline.messages.message import Message
from threadline.messages.parts import Part, Path, ToolResultPart
from threadline.transcript.ledger import Ledger
from threadline.transcript.repair import Repair

__all__ = ["Report", "SourceTokens", "report_of", "source_of"]


class SourceTokens(Struct, frozen=True, kw_only=True):
    """Tokens of one source (`user`, `assistant`, `tool: name`, ...) before and after."""

    before: int
    after: int


class Report(Struct, frozen=True, kw_only=True):
    """What a reduction did.

    Attributes:
        tokens_before, tokens_after: the whole request.
        by_fate: tokens of the input by what became of them; adds up to `tokens_before`.
        inserted: tokens in the view that are not the input's: markers, summary, repairs.
        by_source: tokens before and after, the largest saving first.
        repairs: what was put right.
        summarised: how many messages the rolling summary stands for.
    """

    tokens_before: int
    tokens_after: int
    by_fate: dict[str, int]
    inserted: int
    by_source: dict[str, SourceTokens]
    repairs: tuple[Repair, ...]
    summarised: int


def report_of(ledger: Ledger, tokens_before: int) -> Report:
    """The report on what a ledger shows."""
    by_fate: defaultdict[str, int] = defaultdict(int)
    for index in ledger.shown:
        for elision, tokens in _costs(ledger, index, ledger.elisions.get(index, ())):
            if elision.fate is not Fate.KEPT:
                by_fate[elision.fate.value] += tokens
    for index, fate in ledger.fates.items():
        if fate is not Fate.KEPT:
            by_fate[fate.value] += ledger.own[index]
    kept = tokens_before - sum(by_fate.values())
    return Report(
        tokens_before=tokens_before,
        tokens_after=ledger.total,
        by_fate={Fate.KEPT.value: kept, **dict(sorted(by_fate.items(), key=lambda item: -item[1]))},
        inserted=ledger.total - kept,
        by_source=_by_source(ledger),
        repairs=tuple(ledger.repaired),
        summarised=sum(fate is Fate.SUMMARISED for fate in ledger.fates.values()),
    )


def _costs(ledger: Ledger, index: int, elisions: Sequence[Elision]) -> Iterator[tuple[Elision, int]]:
    """What is left out of one message, each with what it costs."""
    message = ledger.messages[index]
    spans = [elision for elision in elisions if elision.start is not None]
    yield from zip(spans, ledger.measure.texts([span.text(message.wire) for span in spans]), strict=True)
    for block in elisions:
        if block.start is None:  # inside its message, so that media count by their size and never as text
            bare = structs.replace(message, parts=())
            only = structs.replace(message, parts=_parts_at(message.parts, block.path))
            before, after = ledger.measure.messages([bare, only])
            yield block, after - before


def _parts_at(parts: Sequence[Part], path: Path) -> tuple[Part, ...]:
    """The parts in the block at `path`, those inside results too."""
    found: list[Part] = []
    for part in parts:
        if part.path[: len(path)] == path:
            found.append(part)
        elif isinstance(part, ToolResultPart):
            found += _parts_at(part.parts, path)
    return tuple(found)


def _by_source(ledger: Ledger) -> dict[str, SourceTokens]:
    before: defaultdict[str, int] = defaultdict(int)
    after: defaultdict[str, int] = defaultdict(int)
    tools: dict[str, str] = {}
    for index, message in enumerate(ledger.messages):
        source = source_of(message, tools)
        before[source] += ledger.own[index]
        after[source] += ledger.costs.get(index, 0) if index not in ledger.fates else 0
    if ledger.fixed:
        before["system, tools and overhead"] = after["system, tools and overhead"] = ledger.fixed
    inserted = sum(cost for _, cost in ledger.repairs) + (ledger.summary[1] if ledger.summary else 0)
    if inserted:
        after["summary and repairs"] += inserted
    names = sorted({*before, *after}, key=lambda name: (after[name] - before[name], name))
    return {name: SourceTokens(before=before[name], after=after[name]) for name in names}


def source_of(message: Message, tools: dict[str, str]) -> str:
    """Who speaks: a role, or the tool that gave a result. `tools` maps call ids to names and learns them here."""
    for call in message.tool_calls:
        tools[call.id] = call.name
    if message.origin == "observation":
        return "tool"
    results = message.tool_results
    if results:
        name = results[0].name or tools.get(results[0].call_id)
        return f"tool: {name}" if name else "tool"
    return message.role
