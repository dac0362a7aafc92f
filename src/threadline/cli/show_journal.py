"""What people see of a durable thread: pages, manifests, branches, certificates; plain text when piped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from threadline.cli.show import console, progress, share, table
from threadline.messages.shapes import is_array, is_object

if TYPE_CHECKING:
    from threadline.context import LLMInputManifest
    from threadline.engine.checking import CheckReport
    from threadline.engine.forgetting import ForgetCertificate
    from threadline.thread import BranchInfo, Explanation, HistoryPage, Reassembled, Replayed

__all__ = [
    "branches",
    "certificate",
    "checked",
    "counted",
    "explanation",
    "history",
    "ingested",
    "manifest",
    "progress",
    "replayed",
    "text",
]

_WIDTH = 60
_MOST_OMISSIONS = 20
_WORDS = ("block", "role", "source", "fate", "reason")


def text(words: str) -> None:
    """One text as it is."""
    console().print(words, markup=False)


@contextmanager
def counted(words: str, total: int) -> Generator[Callable[[int], None]]:
    """A bar on stderr, when that is a terminal; call it with how many more are done."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    from rich.progress import Progress

    with Progress(console=out, transient=True) as bar:
        task = bar.add_task(words, total=total)
        yield lambda done: bar.advance(task, done)


def ingested(told: Sequence[dict[str, Any]]) -> None:
    """Files that were stored."""
    rows = table("file", "messages", "new")
    for one in told:
        rows.add_row(one["file"], f"{one['messages']:,}", f"{one['new']:,}")
    console().print(rows)


def history(page: HistoryPage) -> None:
    """A page of what was said, a line each."""
    rows = table("sequence", "role", "message", "fate", "said", left=("role", "message", "fate", "said"))
    for said in page.messages:
        rows.add_row(str(said.sequence), said.role or "", said.message_id, said.fate.value, _glance(said.wire))
    out = console()
    out.print(rows)
    if page.next_after is not None:
        out.print(f"more: --after {page.next_after}")


def _glance(wire: Any) -> str:
    """The first words of a wire object."""
    words: list[str] = []
    _collect(wire, words)
    line = " ".join(" ".join(words)[: 4 * _WIDTH].split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}\u2026"


_SAID = frozenset({"content", "parts", "text", "output", "arguments", "input", "tool_calls", "function", "name"})


def _collect(value: Any, words: list[str]) -> None:
    if isinstance(value, str):
        words.append(value)
    elif is_object(value):
        for key, inner in value.items():
            if key in _SAID:
                _collect(inner, words)
    elif is_array(value):
        for inner in value:
            _collect(inner, words)


def manifest(found: LLMInputManifest, ref: str | None) -> None:
    """Every block of a call, and what was left out."""
    out = console()
    if ref is not None:
        out.print(f"manifest {ref}", markup=False)
    totals = found.tokens
    rows = table("tokens", "share", "block", "role", "source", "fate", "reason", left=_WORDS)
    for one in found.segments:
        fate = one.metadata.get("inserted") or one.metadata.get("fate") or "kept"
        cost = f"{one.tokens:,}", share(one.tokens, totals.total)
        rows.add_row(*cost, _short(one.item_id), one.role, one.origin, fate, one.reason)
    out.print(rows)
    out.print()
    parts = ("instruction", "tools", "knowledge", "conversation", "response_format", "overhead")
    costs = ", ".join(f"{name} {getattr(totals, name):,}" for name in parts if getattr(totals, name))
    out.print(f"{totals.total:,} tokens: {costs}", markup=False)
    _cache(out, found)
    if found.omissions:
        out.print()
        left = table("left out", "tokens", "reason", left=("reason",))
        for one in found.omissions[:_MOST_OMISSIONS]:
            left.add_row(_short(one.item_id), f"{one.tokens:,}", one.reason)
        out.print(left)
        if len(found.omissions) > _MOST_OMISSIONS:
            out.print(f"and {len(found.omissions) - _MOST_OMISSIONS} more")


def _short(item_id: str) -> str:
    """An item's id with its random part cut to what still tells it apart."""
    kind, _, name = item_id.partition(":")
    return f"{kind}:{name[:12]}" if name else kind


def _cache(out: Any, found: LLMInputManifest) -> None:
    plan = found.cache
    if plan.difference is None:
        return
    where = "" if plan.difference.item_id is None else f" at {plan.difference.item_id}"
    out.print(
        f"{plan.reusable_tokens:,} of them stand as in the call before; then: {plan.difference.reason}{where}",
        markup=False,
    )


def explanation(told: Explanation) -> None:
    """What became of a message."""
    out = console()
    out.print(f"{told.message_id} (record {told.sequence}): {told.fate.value}", markup=False)
    out.print(told.reason, markup=False)
    if told.tokens is not None and told.tokens_shown is not None:
        out.print(f"{told.tokens_shown:,} of {told.tokens:,} tokens are shown")
    for fate, size in told.left_out:
        out.print(f"left out: {size:,} characters, {fate}")
    if told.manifest_ref is not None:
        out.print(f"manifest {told.manifest_ref}", markup=False)


def branches(found: Sequence[BranchInfo]) -> None:
    """The lines of a conversation."""
    rows = table("branch", "left", "after", "last record", "")
    for one in found:
        left = "" if one.parent is None else str(one.parent)
        rows.add_row(str(one.branch), left, str(one.forked_after), str(one.head), "current" if one.is_current else "")
    console().print(rows)


def replayed(found: Replayed | Reassembled) -> None:
    """Whether a call came out the same."""
    words = "the same, byte for byte" if found.same else "not the same"
    console().print(f"{found.manifest_ref}: {words}", markup=False)


def certificate(found: ForgetCertificate) -> None:
    """What was forgotten."""
    told: dict[str, str | int | list[str] | None] = msgspec.to_builtins(found)
    for name, value in told.items():
        if value:
            text(f"{name.replace('_', ' ')}: {', '.join(value) if isinstance(value, list) else value}")


def checked(report: CheckReport) -> None:
    """What a check found."""
    for one in report.findings:
        text(f"{one.tenant}/{one.owner}/{one.agent_id}: {one.place} {one.sentence}")
    text(f"{report.agents:,} agents, {report.records:,} records, {len(report.findings)} findings")
