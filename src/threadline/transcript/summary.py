"""The rolling summary: one bounded message that stands for all that a window left behind."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from threadline.errors import InvalidInputError, LLMOutputError
from threadline.messages.dialects import text_message
from threadline.messages.message import Dialect, Message
from threadline.messages.parts import SummaryPart, TextPart, ToolResultPart
from threadline.text.graphemes import boundary_at_or_before
from threadline.tokens import Measure
from threadline.transcript.policy import Summarise
from threadline.transcript.prune import prune_text

__all__ = ["Summary", "is_summary", "mark_summaries", "read_summary", "summarise", "summary_message"]

_PREVIEW_CHARS = 100
_NOTE = "; a record of the past, not a request"
_HEADER = re.compile(rf"\[(\d{{1,9}}) earlier messages?({re.escape(_NOTE)})?\]")
_MORE = re.compile(r"- and (\d{1,9}) more")


class Summary(Struct, frozen=True, kw_only=True):
    """What a summary message says: how many messages it stands for, and its lines, oldest first."""

    covers: int
    lines: tuple[str, ...] = ()


def is_summary(message: Message) -> bool:
    """True for a rolling summary; one that went over a wire as text is known after `mark_summaries`."""
    return message.origin == "summary"


def mark_summaries(messages: Sequence[Message], before: Sequence[Message] = ()) -> list[Message]:
    """The messages, and the summary among them marked that went over a wire as no more than text.

    What anybody could have typed counts only where compaction puts a summary: a user turn in the form we write, before
    any assistant spoke.

    Args:
        messages: the messages in order.
        before: those that stand before them.
    """
    if any(message.role == "assistant" for message in before):
        return list(messages)
    out = list(messages)
    for at, message in enumerate(messages):
        if message.role == "assistant":
            break
        if message.role == "user" and message.origin == "conversation" and read_summary(message) is not None:
            out[at] = msgspec.structs.replace(message, origin="summary")
    return out


def read_summary(message: Message) -> Summary | None:
    """What a message says that is in the form of a summary, or None."""
    if len(message.parts) != 1:
        return None
    part = message.parts[0]
    if not isinstance(part, (TextPart, SummaryPart)):
        return None
    header, _, body = part.text.partition("\n")
    match = _HEADER.fullmatch(header)
    if match is None or (body and match.group(2) is None):
        return None
    return Summary(covers=int(match.group(1)), lines=tuple(body.split("\n")) if body else ())


def summary_message(text: str, covers: int, dialect: Dialect) -> Message:
    """The message that carries a summary: a user turn, since what it quotes is not ours to give authority to."""
    message = text_message("user", text, dialect)
    (part,) = message.parts
    parts = (SummaryPart(text, part.path, covers),)
    return msgspec.structs.replace(message, parts=parts, origin="summary")


def summarise(
    left_out: Sequence[Message], *, max_tokens: int, measure: Measure, dialect: Dialect, write: Summarise | None = None
) -> Message:
    """One summary of messages and of the summaries among them; the header alone where more would not fit.

    Args:
        left_out: what it stands for, oldest first. What tools gave back is never quoted, only their names are.
        max_tokens: the most it may cost, frame included.
        measure: counts tokens.
        dialect: what to write it in.
        write: the caller's own summariser; None lists who said what.

    Raises:
        LLMOutputError: `write` gave back no text.
    """
    earlier = [read_summary(message) if is_summary(message) else None for message in left_out]
    covers = sum(1 if summary is None else summary.covers for summary in earlier)
    header = f"[{covers} earlier message{'' if covers == 1 else 's'}"
    short = summary_message(f"{header}]", covers, dialect)
    room = max_tokens - measure.message(summary_message(f"{header}{_NOTE}]", covers, dialect)) - 1
    if room < 8:
        return short
    if write is not None:
        body = _written(left_out, write, room, measure)
    else:
        body = "\n".join(_fitting(_lines(left_out, earlier, room), room, measure))
    if not body:
        return short
    return summary_message(f"{header}{_NOTE}]\n{body}", covers, dialect)


def _written(left_out: Sequence[Message], write: Summarise, room: int, measure: Measure) -> str:
    text: Any = write(left_out)
    if inspect.iscoroutine(text):
        text.close()
        raise InvalidInputError(
            "summarise is async: only compact_async and maybe_compact_async wait for it", key="summarise"
        )
    if not isinstance(text, str) or not text.strip():
        raise LLMOutputError("the summariser gave back no text; nothing was changed")
    text = text.strip()
    tokens = measure.text(text)
    while tokens > room:
        text = prune_text(text, max(1, min(len(text) - 1, len(text) * room // tokens)))
        tokens = measure.text(text)
    return text


def _lines(left_out: Sequence[Message], earlier: Sequence[Summary | None], most: int) -> list[str]:
    """The lines of the first message and of the newest `most` that could fit; those between are only counted."""
    said = list(zip(left_out, earlier, strict=True))
    skipped = max(0, len(said) - 1 - most)
    lines: list[str] = [f"- and {skipped} more"] if skipped else []
    for message, summary in (*said[:1], *said[1 + skipped :]):
        if summary is not None:
            lines += summary.lines
        elif (line := _line(message)) is not None:
            lines.append(line)
    return lines


def _line(message: Message) -> str | None:
    """`- role: first words (called tool, tool)`; None for a message that only holds results."""
    is_result = message.origin == "observation" or any(isinstance(part, ToolResultPart) for part in message.parts)
    own = "" if message.origin == "observation" else " ".join(p.text for p in message.parts if isinstance(p, TextPart))
    said = " ".join(own[: 4 * _PREVIEW_CHARS].split())
    if len(said) > _PREVIEW_CHARS:
        said = said[: boundary_at_or_before(said, _PREVIEW_CHARS)] + "\u2026"
    called = f"(called {', '.join(call.name for call in message.tool_calls)})" if message.tool_calls else ""
    if not said and not called:
        return None if is_result else f"- {message.role}"
    return f"- {message.role}: {said}{' ' if said and called else ''}{called}"


def _fitting(lines: Sequence[str], room: int, measure: Measure) -> list[str]:
    """The first line, which sets the task, and as many of the newest as fit; the rest is counted."""
    more = sum(int(match.group(1)) for line in lines if (match := _MORE.fullmatch(line)))
    said = [line for line in lines if not _MORE.fullmatch(line)]
    newest: list[str] = []
    if not said:
        return newest
    counted = said[-room:]  # a line costs a token at least
    costs = measure.texts([said[0], f"- and {more + len(said)} more", *counted])
    room -= costs[0] + costs[1] + 2
    if room < 0:
        return newest
    first, rest = said[0], len(said) - 1
    for line, cost in zip(reversed(counted), reversed(costs[2:]), strict=True):
        if rest == 0 or cost + 1 > room:
            break
        room -= cost + 1  # and its line break
        newest.append(line)
        rest -= 1
    return [first, *([f"- and {more + rest} more"] if more + rest else []), *reversed(newest)]
