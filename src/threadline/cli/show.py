"""What people see: tables of tokens, worst first; plain text when piped."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table

from threadline.cli.tally import Tally
from threadline.messages import Loss, Violation
from threadline.transcript import Report

__all__ = ["console", "counts", "losses", "progress", "report", "share", "table", "violations"]

_WORST = 10

_PIPED_WIDTH = 200
"""Columns where no terminal says how many: wide enough that nothing is cut."""


def console(*, stderr: bool = False) -> Console:
    """A console that colours only a terminal, and honours NO_COLOR."""
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream.isatty()
    return Console(
        file=stream,
        force_terminal=None if is_terminal else False,
        width=None if is_terminal else _PIPED_WIDTH,
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def progress(text: str) -> Generator[None]:
    """Shows on stderr that work goes on, when that is a terminal."""
    out = console(stderr=True)
    if out.is_terminal:
        with out.status(text):
            yield
    else:
        yield


def table(*columns: str, left: Sequence[str] = ()) -> Table:
    """A table without lines; the first column and those in `left` stand left, the others right."""
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or column in left else "right", no_wrap=True)
    return table


def share(part: int, whole: int) -> str:
    """A part of a whole in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"


def report(out: Console, result: Report) -> None:
    """Tokens by fate and by source."""
    fates = table("fate", "tokens", "share")
    for fate, tokens in result.by_fate.items():
        fates.add_row(fate, f"{tokens:,}", share(tokens, result.tokens_before))
    out.print(fates)
    out.print()
    sources = table("source", "before", "after", "saved")
    for name, tokens in list(result.by_source.items())[:_WORST]:
        saved = share(tokens.before - tokens.after, tokens.before) if tokens.before else ""
        sources.add_row(name, f"{tokens.before:,}", f"{tokens.after:,}", saved)
    out.print(sources)
    out.print()
    before, after = result.tokens_before, result.tokens_after
    out.print(
        f"{before:,} tokens before, {after:,} after "
        f"({share(before - after, before)} less, {result.inserted:,} inserted)"
    )
    if result.summarised:
        out.print(f"{result.summarised} messages stand in the summary")
    if result.repairs:
        out.print(f"{len(result.repairs)} tool exchanges were put right")


def counts(out: Console, tally: Tally) -> None:
    """Tokens by role, by tool, and of the largest messages."""
    total = tally.total
    roles = table("role", "tokens", "share")
    for name, tokens in {**tally.by_role, **tally.around}.items():
        if tokens:
            roles.add_row(name, f"{tokens:,}", share(tokens, total))
    out.print(roles)
    tools = table("results of", "tokens", "share")
    for name, tokens in list(tally.by_tool.items())[:_WORST]:
        tools.add_row(name, f"{tokens:,}", share(tokens, total))
    if tools.row_count:
        out.print()
        out.print(tools)
    largest = table("largest messages", "tokens", "share")
    for tokens, index, role in tally.largest:
        largest.add_row(f"{index} ({role})", f"{tokens:,}", share(tokens, total))
    out.print()
    out.print(largest)
    out.print()
    how = "exact" if tally.exact else "estimated, high rather than low"
    out.print(f"{total:,} tokens in {len(tally.messages)} messages ({how})")


def violations(out: Console, found: Sequence[Violation]) -> None:
    """What a provider would refuse."""
    rows = table("message", "rule", "reason")
    for one in found:
        rows.add_row("-" if one.index is None else str(one.index), one.rule, one.reason)
    if found:
        out.print(rows)
    else:
        out.print("nothing that the provider would refuse")


def losses(out: Console, lost: Sequence[Loss]) -> None:
    """What could not be carried over."""
    for one in lost:
        place = "request" if one.index is None else f"message {one.index}"
        out.print(f"{place}: {one.part}: {one.reason}", markup=False)
