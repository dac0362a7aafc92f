"""`diff`: two manifests side by side: what entered, left, moved, changed, and what each cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from threadline.context.manifest import LLMInputManifest, Segment

__all__ = ["Change", "ChangeKind", "ManifestDiff", "diff", "render_diff"]

ChangeKind: TypeAlias = Literal["entered", "left", "moved", "changed", "recounted"]
"""`changed`: another content or role. `recounted`: the same, at another cost."""


class Change(Struct, frozen=True, kw_only=True):
    """What happened to one item.

    Attributes:
        before, after: its segments; None where it was not, or is not.
        reason: for what left, why the later call left it out; for the others why it is there.
    """

    kind: ChangeKind
    item_id: str
    before: Segment | None
    after: Segment | None
    reason: str

    @property
    def tokens(self) -> int:
        """What it adds to the cost; negative when it makes it less."""
        return (self.after.tokens if self.after else 0) - (self.before.tokens if self.before else 0)


class ManifestDiff(Struct, frozen=True, kw_only=True):
    """All changes in the order of the later request, what left first; and how totals and settings moved.

    Attributes:
        tokens_before, tokens_after: of the whole requests.
        settings: `(name, before, after)` of whatever else differs.
    """

    changes: tuple[Change, ...]
    unchanged: int
    tokens_before: int
    tokens_after: int
    settings: tuple[tuple[str, str, str], ...] = ()


_SETTINGS = (
    "model",
    "dialect",
    "policy",
    "max_input_tokens",
    "calibration_factor",
    "model_config_ref",
    "tool_definitions_ref",
    "response_schema_ref",
    "branch",
)


def diff(before: LLMInputManifest, after: LLMInputManifest) -> ManifestDiff:
    """What changed from one manifest to another, item by item."""
    old = {segment.item_id: segment for segment in before.segments}
    new = {segment.item_id: segment for segment in after.segments}
    reasons = {omission.item_id: omission.reason for omission in after.omissions}
    still = _in_order([old[s.item_id].position for s in after.segments if s.item_id in old])
    changes = [
        Change(kind="left", item_id=s.item_id, before=s, after=None, reason=reasons.get(s.item_id, "gone"))
        for s in before.segments
        if s.item_id not in new
    ]
    for segment in after.segments:
        earlier = old.get(segment.item_id)
        kind = "entered" if earlier is None else _kind(earlier, segment, moved=earlier.position not in still)
        if kind is not None:
            changes.append(
                Change(kind=kind, item_id=segment.item_id, before=earlier, after=segment, reason=segment.reason)
            )
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in _SETTINGS)
    return ManifestDiff(
        changes=tuple(changes),
        unchanged=len(after.segments) - sum(change.after is not None for change in changes),
        tokens_before=before.tokens.total,
        tokens_after=after.tokens.total,
        settings=tuple((name, str(one), str(other)) for name, one, other in pairs if one != other),
    )


def _kind(before: Segment, after: Segment, *, moved: bool) -> ChangeKind | None:
    if (before.content_ref, before.role, before.label) != (after.content_ref, after.role, after.label):
        return "changed"
    if moved:
        return "moved"
    return "recounted" if before.tokens != after.tokens else None


def _in_order(positions: Sequence[int]) -> set[int]:
    """The longest run of positions that kept their order: what is not among them moved."""
    from bisect import bisect_left

    tails: list[int] = []
    held: list[int] = []
    chain: dict[int, int | None] = {}
    for position in positions:
        at = bisect_left(tails, position)
        chain[position] = held[at - 1] if at else None
        tails[at : at + 1] = [position]
        held[at : at + 1] = [position]
    kept: set[int] = set()
    last = held[-1] if held else None
    while last is not None:
        kept.add(last)
        last = chain[last]
    return kept


_MARKS: dict[ChangeKind, str] = {"entered": "+", "left": "-", "moved": ">", "changed": "~", "recounted": "="}


def render_diff(found: ManifestDiff) -> str:
    """The diff as lines of text: a mark, the cost, the item, its kind and role, and why; no content."""
    growth = found.tokens_after - found.tokens_before
    counts = f"{len(found.changes)} changes, {found.unchanged} segments unchanged"
    lines = [f"{found.tokens_before} -> {found.tokens_after} tokens ({growth:+d}), {counts}"]
    lines += [f"  {name}: {before} -> {after}" for name, before, after in found.settings]
    for change in found.changes:
        segment = change.after or change.before
        what = f"{segment.kind} {segment.role}" if segment else ""
        lines.append(f"{_MARKS[change.kind]} {change.tokens:+6d}  {change.item_id}  {what}  {change.reason}")
    return "\n".join(lines)
