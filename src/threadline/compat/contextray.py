"""ContextRay's `optimize_context`: one call, four keys, and a message list that stays a drop-in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from heapq import nlargest
from typing import Any, TypeAlias

from msgspec.structs import replace

from threadline.errors import InvalidInputError
from threadline.messages.parts import Path
from threadline.messages.shapes import is_array, is_object
from threadline.messages.wire import dumps, replace_at
from threadline.transcript.cuts import splice
from threadline.transcript.dedupe import Deduper
from threadline.transcript.policy import FitPolicy
from threadline.transcript.tables import table_cuts

__all__ = ["optimize_context"]

_OPTIONS = ("marker", "keep", "min_chars", "fold", "flag_system", "roles", "across_roles", "tables")
_TOP = 5
_CONTENT: Path = ("content",)

_Text: TypeAlias = tuple[int, Path, str, str]
"""A message's index, the path to a text in it, the message's role, the text."""


def optimize_context(
    messages: Sequence[Mapping[str, Any]] | str, *, config: Mapping[str, Any] | None = None, **options: Any
) -> dict[str, Any]:
    """Leave out what a conversation repeats, word for word, within each role.

    The list keeps its length, every message its keys; one that holds no repeat is the same object.

    Args:
        messages: wire messages with `role` and `content` (a string, None or a list of parts), or one text.
        config: options as a mapping; keywords win.
        **options: `marker`, `keep`, `min_chars`, `fold`, `across_roles`, `tables` as in `FitPolicy`; `roles`:
            whose text (None: all but system and developer); `flag_system`: flag a system's text too.

    Returns:
        `optimized_context`: the messages. `metrics`: characters, estimated tokens, counts of removed
        and flagged repeats. `top_waste_blocks`: the worst repeats, without their text. `report`: the same to read.

    Raises:
        InvalidInputError: a message is malformed (names index and key), or an option is unknown or out of range.
    """
    given = {**(config or {}), **options}
    for key in given:
        if key not in _OPTIONS:
            raise InvalidInputError(f"unknown option {key!r}; known are {', '.join(_OPTIONS)}", key=key)
    flag_system = bool(given.pop("flag_system", False))
    roles = given.pop("roles", None)
    policy = FitPolicy(**given)
    if isinstance(messages, str):
        messages = [{"role": "text", "content": messages}]
    if not isinstance(messages, (list, tuple)):
        raise InvalidInputError("messages must be a list of messages or one text", key="messages")
    wires: list[Any] = list(messages)
    run = _Run(wires, policy, roles)
    out = run.optimised()
    run.flag(with_system=flag_system)
    metrics = run.metrics()
    blocks = run.worst()
    return {
        "optimized_context": out,
        "metrics": metrics,
        "top_waste_blocks": blocks,
        "report": _report(metrics, blocks, run.by_role),
    }


class _Run:
    """One call: the texts are read once, everything else is derived from them."""

    def __init__(self, wires: list[Any], policy: FitPolicy, roles: Any) -> None:
        self.wires = wires
        self.texts = _texts(wires)
        said = {role for _, _, role, _ in self.texts}
        free = said - {"system", "developer"} if roles is None else said & frozenset(roles)
        self.policy = replace(policy, dedupe_roles=frozenset(free))
        self.kept: list[tuple[str, str]] = []
        self.removed = {role: defaultdict[str, int](int) for role in said}
        self.flagged = {role: defaultdict[str, int](int) for role in said}
        self.by_role = {role: [0, 0] for role in said}  # characters, and those saved

    def optimised(self) -> list[Any]:
        policy, by_role, kept = self.policy, self.by_role, self.kept
        latest = policy.keep == "latest"
        deduper = Deduper(policy)
        deduper.below = latest
        out = list(self.wires)
        removed, free = self.removed, policy.dedupe_roles
        known = {role: deduper.known(role) if role in free and not policy.tables else () for role in by_role}
        for index, path, role, text in reversed(self.texts) if latest else self.texts:
            chars = by_role[role]
            chars[0] += len(text)
            view = deduper.marker_of(text) if text in known[role] else None
            if view is not None:
                removed[role][text] += 1
            else:
                tables = table_cuts(text) if policy.tables and role in free else []
                cuts = deduper.cuts(index, path, role, text, tables)
                if not cuts:
                    kept.append((role, text))
                    continue
                view = splice(text, cuts)
                kept.append((role, splice(text, [replace(cut, replacement="") for cut in cuts])))
                for cut in cuts:
                    if cut.sources:
                        removed[role][text[cut.start : cut.end]] += 1
            chars[1] += len(text) - len(view)
            wire = out[index]
            out[index] = {**wire, "content": view} if path is _CONTENT else replace_at(wire, path, view)
        return out

    def flag(self, *, with_system: bool) -> None:
        """Count paragraphs that another role said first; they stay."""
        if len(self.by_role) < 2:
            return
        apart = () if with_system else ("system", "developer")
        min_chars = self.policy.min_chars
        first: dict[str, str] = {}
        for role, kept in reversed(self.kept) if self.policy.keep == "latest" else self.kept:
            if role in apart:
                continue
            for paragraph in kept.split("\n\n") if "\n\n" in kept else (kept,):
                if len(paragraph) >= min_chars and first.setdefault(paragraph, role) != role:
                    self.flagged[role][paragraph] += 1

    def worst(self) -> list[dict[str, Any]]:
        """The repeats that waste most, by hash where they waste the same."""
        rows: list[dict[str, Any]] = []
        for role, removed in self.removed.items():
            flagged = self.flagged[role]
            wasted = {text: len(text) * count for text, count in removed.items()}
            for text, count in flagged.items():
                wasted[text] = wasted.get(text, 0) + len(text) * count
            least = nlargest(_TOP, wasted.values())[-1:] or [0]
            rows += [
                {
                    "hash": sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
                    "role": role,
                    "count": 1 + removed.get(text, 0) + flagged.get(text, 0),
                    "chars_wasted": chars,
                    "removed": removed.get(text, 0),
                    "flagged": flagged.get(text, 0),
                }
                for text, chars in wasted.items()
                if chars >= least[0]
            ]
        return sorted(rows, key=lambda row: (-row["chars_wasted"], row["hash"], -row["removed"], row["role"]))[:_TOP]

    def metrics(self) -> dict[str, Any]:
        before, saved = map(sum, zip(*self.by_role.values(), strict=True)) if self.by_role else (0, 0)
        texts = [text for _, _, _, text in self.texts]
        tokens = before / 4 if all(map(str.isascii, texts)) else sum(map(_tokens, texts))
        share = saved / before if before else 0.0
        return {
            "total_chars_in": before,
            "total_chars_out": before - saved,
            "chars_saved": saved,
            "reduction_percentage": round(100 * share, 2),
            "est_tokens_in": tokens + sum(map(_call_tokens, [wire for wire in self.wires if "tool_calls" in wire])),
            "est_tokens_saved": tokens * share,
            "removed": sum(sum(removed.values()) for removed in self.removed.values()),
            "flagged": sum(sum(flagged.values()) for flagged in self.flagged.values()),
        }


def _texts(wires: Sequence[Any]) -> list[_Text]:
    """Every text of the messages with its place and role."""
    texts: list[_Text] = []
    index = 0
    try:
        for index, wire in enumerate(wires):
            content, role = wire["content"], wire["role"]
            if not isinstance(role, str):
                raise InvalidInputError(f"message {index}: role must be a string", index=index, key="role")
            if isinstance(content, str):
                texts.append((index, _CONTENT, role, content))
            elif is_array(content):
                said = [(number, part.get("text")) for number, part in enumerate(content) if is_object(part)]
                texts += [(index, ("content", at, "text"), role, text) for at, text in said if isinstance(text, str)]
            elif content is not None:
                what = "content must be a string, a list of parts or null"
                raise InvalidInputError(f"message {index}: {what}", index=index, key="content")
    except KeyError as error:
        raise InvalidInputError(
            f"message {index} has no key {error.args[0]!r}", index=index, key=error.args[0]
        ) from None
    except TypeError:
        raise InvalidInputError(f"message {index} is not an object", index=index) from None
    return texts


def _tokens(text: str) -> float:
    """About a token for four ASCII characters, one for any other (CJK, emoji)."""
    if text.isascii():
        return len(text) / 4
    ascii_chars = len(text.encode("ascii", "ignore"))
    return ascii_chars / 4 + (len(text) - ascii_chars)


def _call_tokens(wire: Any) -> float:
    calls = wire.get("tool_calls")
    return sum(_tokens(dumps(call)) for call in calls) if is_array(calls) else 0.0


def _report(metrics: dict[str, Any], blocks: list[dict[str, Any]], by_role: dict[str, list[int]]) -> str:
    lines = [
        f"Characters: {metrics['total_chars_in']} in, {metrics['total_chars_out']} out",
        f"Saved: {metrics['chars_saved']} ({metrics['reduction_percentage']:.2f} %)",
        f"Estimated tokens saved: {metrics['est_tokens_saved']:.1f} of {metrics['est_tokens_in']:.1f}",
        f"Repeats left out: {metrics['removed']}",
        f"Repeats of another role's text, kept: {metrics['flagged']}",
        "Largest repeats:",
    ]
    lines += [
        f"  [{b['role']}] {b['hash'][:12]}: {b['count']} times, {b['chars_wasted']} characters" for b in blocks
    ] or ["  none"]
    lines.append("By role:")
    shares: defaultdict[str, float] = defaultdict(float)
    for role, (before, saved) in by_role.items():
        shares[role] = saved / before if before else 0.0
    lines += [
        f"  {role}: {100 * share:.2f} % repeated ({by_role[role][1]} of {by_role[role][0]})"
        for role, share in sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    ] or ["  none"]
    lines.append("System messages are never touched, and code fences only as a whole; every other byte is as it was.")
    return "\n".join(lines)
