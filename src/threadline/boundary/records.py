"""How messages are shown to a model: as data that cannot pass for anything else."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from threadline.boundary.gaps import time_gap
from threadline.messages import Message, render_line

__all__ = ["as_json", "as_record", "batch_prompt", "step_prompt", "with_instructions"]


def as_record(text: str) -> str:
    """The text with angle brackets and ampersands escaped, and every line but the first indented.

    All that `str.splitlines` parts counts as a line, so no record can begin inside another.
    """
    return "\n  ".join(html.escape(text, quote=False).splitlines())


def as_json(value: object) -> str:
    """JSON in which no tag can stand."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def batch_prompt(messages: Sequence[Message]) -> str:
    """All records with their labels, from `[0]`.

    Raises:
        InvalidInputError: a message that says something has the timestamp 0; names its id.
    """
    records = [
        f"[{label}] {as_record(render_line(message)) if message.content else '[empty message]'}"
        for label, message in enumerate(messages)
    ]
    return "\n".join([f'<messages count="{len(records)}">', *records, "</messages>"])


def step_prompt(history: Sequence[Message], new: Sequence[Message], gap: str = "") -> str:
    """The history, the time that passed and what is new, unnumbered; messages that say nothing are left out.

    Args:
        history: the current episode as far as it is shown.
        new: what came in.
        gap: the time that passed; worked out from the last message shown where it is not given.

    Raises:
        InvalidInputError: as `batch_prompt`.
    """
    gap = gap or time_gap(history[-1] if history else None, new[0] if new else None)
    blocks = (
        ("conversation_history", _lines(history)),
        ("time_gap", as_record(gap)),
        ("new_messages", _lines(new)),
    )
    return "\n\n".join(f"<{tag}>\n{body}\n</{tag}>" for tag, body in blocks)


def _lines(messages: Sequence[Message]) -> str:
    return "\n".join(as_record(render_line(message)) for message in messages if message.content)


def with_instructions(system: str, custom: str | None) -> str:
    """The system text; instructions of the host's own are its last block, word for word."""
    if custom is None or not custom.strip():
        return system
    return f"{system}\n\n<custom_instructions>\n{custom}\n</custom_instructions>"
