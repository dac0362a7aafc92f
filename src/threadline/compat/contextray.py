"""ContextRay's `optimize_context`: one call, four keys, and a message list that stays a drop-in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from threadline.errors import InvalidInputError
from threadline.messages.parts import Path
from threadline.messages.shapes import is_array, is_object
from threadline.messages.wire import dumps, replace_at
from threadline.transcript.cuts import Cut, splice
from threadline.transcript.dedupe import Deduper
from threadline.transcript.policy import FitPolicy

__all__ = ["optimize_context"]

_OPTIONS = ("marker", "keep", "min_chars", "fold", "flag_system", "roles", "across_roles", "tables")
_TOP = 5


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
    run = _Run(policy, roles)
    out = run.optimised(wires)
    run.flag(wires, with_system=flag_system)
    metrics = run.metrics(wires)
    blocks = run.worst()
    return {
        "optimized_context": out,
        "metrics": metrics,
        "top_waste_blocks": blocks,
        "report": _report(metrics, blocks, run.by_role),
    }


class _Run:
    def __init__(self, policy: FitPolicy, roles: Any) -> None:
        self._policy = policy
        self._roles = None if roles is None else frozenset(roles)
        self._cuts: dict[tuple[int, Path], list[Cut]] = {}
        self._blocks: dict[str, dict[str, Any]] = {}
        self.removed = self.flagged = 0
        self.by_role: dict[str, list[int]] = {}

    def optimised(self, wires: list[Any]) -> list[Any]:
        texts = [
            (index, path, wire["role"], text) for index, wire in enumerate(wires) for path, text in _texts(wire, index)
        ]
        latest = self._policy.keep == "latest"
        roles = {role for *_, role, _ in texts if self._is_free(role)}
        dedupers = Deduper(_with_roles(self._policy, roles))
        dedupers.below = latest
        changed: dict[int, Any] = {}
        for index, path, role, text in reversed(texts) if latest else texts:
            totals = self.by_role.setdefault(role, [0, 0])
            totals[0] += len(text)
            totals[1] += len(text)
            if not self._is_free(role):
                continue
            cuts = dedupers.cuts(index, path, role, text, self._tables(text))
            view = splice(text, cuts)
            if not cuts:
                continue
            self._cuts[index, path] = cuts
            totals[1] += len(view) - len(text)
            changed[index] = replace_at(changed.get(index, wires[index]), path, view)
            for cut in cuts:
                if cut.sources:
                    self.removed += 1
                    self._note(text[cut.start : cut.end], role, removed=1)
        return [changed.get(index, wire) for index, wire in enumerate(wires)]

    def _tables(self, text: str) -> list[Cut]:
        if not self._policy.tables:
            return []
        from threadline.transcript.tables import table_cuts

        return table_cuts(text)

    def _is_free(self, role: str) -> bool:
        if self._roles is not None:
            return role in self._roles
        return role not in ("system", "developer")

    def flag(self, wires: list[Any], *, with_system: bool) -> None:
        """Count paragraphs that another role said first; they stay."""
        if len(self.by_role) < 2:
            return
        first: dict[str, str] = {}
        for index, wire in enumerate(wires):
            role = wire["role"]
            if not with_system and role in ("system", "developer"):
                continue
            for path, text in _texts(wire, index):
                cuts = self._cuts.get((index, path))
                kept = splice(text, [_blanked(cut) for cut in cuts]) if cuts else text
                for paragraph in kept.split("\n\n"):
                    if len(paragraph) >= self._policy.min_chars and first.setdefault(paragraph, role) != role:
                        self.flagged += 1
                        self._note(paragraph, role, removed=0)

    def _note(self, text: str, role: str, *, removed: int) -> None:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        block = self._blocks.setdefault(
            digest, {"hash": digest, "role": role, "count": 1, "chars_wasted": 0, "removed": 0, "flagged": 0}
        )
        block["count"] += 1
        block["chars_wasted"] += len(text)
        block["removed"] += removed
        block["flagged"] += 1 - removed

    def worst(self) -> list[dict[str, Any]]:
        blocks = sorted(self._blocks.values(), key=lambda block: (-block["chars_wasted"], block["hash"]))
        return blocks[:_TOP]

    def metrics(self, wires: list[Any]) -> dict[str, Any]:
        before = sum(totals[0] for totals in self.by_role.values())
        after = sum(totals[1] for totals in self.by_role.values())
        tokens = sum(_tokens(text) for index, wire in enumerate(wires) for _, text in _texts(wire, index))
        saved = before - after
        share = saved / before if before else 0.0
        return {
            "total_chars_in": before,
            "total_chars_out": after,
            "chars_saved": saved,
            "reduction_percentage": round(100 * share, 2),
            "est_tokens_in": tokens + sum(_call_tokens(wire) for wire in wires),
            "est_tokens_saved": tokens * share,
            "removed": self.removed,
            "flagged": self.flagged,
        }


def _with_roles(policy: FitPolicy, roles: set[str]) -> FitPolicy:
    from msgspec.structs import replace

    return replace(policy, dedupe_roles=frozenset(roles))


def _blanked(cut: Cut) -> Cut:
    from msgspec.structs import replace

    return replace(cut, replacement="")


def _texts(wire: Any, index: int) -> Iterator[tuple[Path, str]]:
    """Every text of a message with its place."""
    try:
        content, role = wire["content"], wire["role"]
    except KeyError as error:
        raise InvalidInputError(
            f"message {index} has no key {error.args[0]!r}", index=index, key=error.args[0]
        ) from None
    except TypeError:
        raise InvalidInputError(f"message {index} is not an object", index=index) from None
    if not isinstance(role, str):
        raise InvalidInputError(f"message {index}: role must be a string", index=index, key="role")
    if isinstance(content, str):
        yield ("content",), content
    elif is_array(content):
        for number, part in enumerate(content):
            text = part.get("text") if is_object(part) else None
            if isinstance(text, str):
                yield ("content", number, "text"), text
    elif content is not None:
        raise InvalidInputError(
            f"message {index}: content must be a string, a list of parts or null", index=index, key="content"
        )


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
    for role, (before, after) in by_role.items():
        shares[role] = (before - after) / before if before else 0.0
    lines += [
        f"  {role}: {100 * share:.2f} % repeated ({by_role[role][0] - by_role[role][1]} of {by_role[role][0]})"
        for role, share in sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    ] or ["  none"]
    lines.append("System messages are never touched, and code fences only as a whole; every other byte is as it was.")
    return "\n".join(lines)
