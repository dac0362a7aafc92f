"""`FitPolicy`: every default of the reductions, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct, field

from threadline.errors import InvalidInputError
from threadline.messages.groups import DEAD_AFTER
from threadline.messages.message import Message
from threadline.transcript.markers import MarkerStyle
from threadline.transcript.prune import KEEP_LINES

__all__ = ["READ_TOOLS", "FitPolicy", "Summarise"]

Summarise = Callable[[Sequence[Message]], str]
"""Writes the summary of the messages given; raising leaves the history as it was."""

READ_TOOLS = frozenset(
    {
        "read",
        "read_file",
        "readfile",
        "view",
        "view_file",
        "open",
        "open_file",
        "cat",
        "fetch_file",
        "get_file_contents",
    }
)
"""Names (lower case) of tools that show a file: an older view is stale once a later one shows the same lines."""


class FitPolicy(Struct, frozen=True, kw_only=True):
    """How a conversation is reduced.

    On arrival (once for each message, never revised until a compaction):

    | field | default | meaning |
    | --- | --- | --- |
    | `dedupe` | True | leave out text that stood before, word for word |
    | `dedupe_roles` | user, assistant, tool | whose text; system and developer text is never touched |
    | `across_roles` | False | whether a copy in another role's text counts |
    | `keep` | `first` | which copy stays; `latest` is for one-shot calls, it breaks a provider's cache |
    | `min_chars` | 64 | shortest repeat, in code points (measured: shorter hurts code) |
    | `fold` | None | `edges`: white space around a text does not count; never inside, so never in code |
    | `marker` | `reference` | what stands in its place: `reference`, `silent`, or a callable |
    | `tables` | False | show lists of uniform JSON objects with their keys named once |
    | `result_share` | 0.25 | most of the budget a result may take, `pressed_tokens` at least |
    | `result_tokens` | {} | the same per tool name, in tokens |
    | `keep_lines` | errors, exit status, totals | pattern of lines kept out of what is left out |
    | `repair` | True | answer dead calls, settle results without a call, move results next to their call |
    | `orphans` | `text` | a result without a call becomes `text`, or is `drop`ped |
    | `dead_after` | 1 | later turns (user or assistant) that make an unanswered call dead; until then it is pinned |

    Under pressure (one compaction, from the least harm to the most, down to the low-water mark):

    | field | default | meaning |
    | --- | --- | --- |
    | `low_water` | 0.75 | share of the budget to come down to |
    | `recent_share` | 0.3 | share of the budget whose newest messages are touched last |
    | `supersede` | True | clear results made stale by a later one |
    | `read_tools` | `READ_TOOLS` | tools that show a file |
    | `pressed_tokens` | 500 | size that older results are cut down to before any is cleared |
    | `pinned_tools` | {} | tools whose results stay word for word (instructions, files to keep) |
    | `pinned` | None | callable: messages to keep word for word |
    | `summary_share` | 0.05 | most of the budget the rolling summary may take |
    | `max_summary_tokens` | 2000 | and never more than this |
    | `summarise` | None | callable that writes the summary; the default lists who said what |
    | `min_gain` | 0.02 | share of the budget to free at least, so that the next turn does not compact again |

    Raises:
        InvalidInputError: a value is out of range, naming the field.
    """

    dedupe: bool = True
    dedupe_roles: frozenset[str] = frozenset({"user", "assistant", "tool"})
    across_roles: bool = False
    keep: Literal["first", "latest"] = "first"
    min_chars: int = 64
    fold: Literal["edges"] | None = None
    marker: MarkerStyle = "reference"
    tables: bool = False
    result_share: float = 0.25
    result_tokens: Mapping[str, int] = field(default_factory=dict[str, int])
    keep_lines: str = KEEP_LINES
    repair: bool = True
    orphans: Literal["drop", "text"] = "text"
    dead_after: int = DEAD_AFTER
    low_water: float = 0.75
    recent_share: float = 0.3
    supersede: bool = True
    read_tools: frozenset[str] = READ_TOOLS
    pressed_tokens: int = 500
    pinned_tools: frozenset[str] = frozenset()
    pinned: Callable[[Message], bool] | None = None
    summary_share: float = 0.05
    max_summary_tokens: int = 2000
    summarise: Summarise | None = None
    min_gain: float = 0.02

    def __post_init__(self) -> None:
        for name in ("low_water", "recent_share", "result_share", "summary_share", "min_gain"):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise InvalidInputError(f"{name} must be between 0 and 1", key=name)
        for name in ("min_chars", "dead_after", "pressed_tokens", "max_summary_tokens"):
            _check(name, _is_count(getattr(self, name)), "an integer of at least 1")
        for name in ("dedupe", "across_roles", "tables", "repair", "supersede"):
            _check(name, isinstance(getattr(self, name), bool), "True or False")
        for name in ("dedupe_roles", "read_tools", "pinned_tools"):
            value = getattr(self, name)
            names = cast("frozenset[object]", value) if isinstance(value, (set, frozenset)) else None
            _check(name, names is not None and all(isinstance(one, str) for one in names), "a set of names")
        for name in ("pinned", "summarise"):
            value = getattr(self, name)
            _check(name, value is None or callable(value), "a callable or None")
        caps: Any = self.result_tokens
        is_caps = isinstance(caps, Mapping) and all(map(_is_count, cast("Mapping[str, object]", caps).values()))
        _check("result_tokens", is_caps, "a mapping of tool names to integers of at least 1")
        _check("keep", self.keep in ("first", "latest"), "'first' or 'latest'")
        _check("fold", self.fold in (None, "edges"), "None or 'edges'")
        _check("orphans", self.orphans in ("drop", "text"), "'drop' or 'text'")
        _check("marker", callable(self.marker) or self.marker in ("reference", "silent"), "a style or a callable")
        try:
            re.compile(self.keep_lines)
        except (re.error, TypeError) as error:
            raise InvalidInputError(f"keep_lines is no pattern: {error}", key="keep_lines") from error


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _check(name: str, is_right: bool, what: str) -> None:  # noqa: FBT001 - a condition
    if not is_right:
        raise InvalidInputError(f"{name} must be {what}", key=name)
