"""`Told`: what of a conversation can be remembered: what people and the assistant said to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo

from msgspec import Struct

from threadline.boundary import MemCell, is_chat
from threadline.boundary.records import as_record
from threadline.errors import InvalidInputError
from threadline.memory.dates import stamp
from threadline.memory.product import Source
from threadline.messages import Message, message_id, speaker
from threadline.text.quoting import unquoted
from threadline.transcript.markers import without_markers
from threadline.transcript.summary import read_summary

__all__ = ["Told", "own_words"]

_INJECTED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|command-name|command-message|command-args)>.*?</\1>",
    re.DOTALL,
)
"""What coding agents put into a user's turn: reminders to the model, and commands with their output."""

_HEARTBEAT = re.compile(
    r"[\W_]*(?:(?:system[\W_]+)?heart[\W_]?beat(?:[\W_]+(?:ok|ack|check|tick|ping|\d+))*"
    r"|ping|pong|keep[\W_]?alive|no_reply)[\W_]*",
    re.IGNORECASE | re.ASCII,
)
"""Whole messages by which programs see whether the other is there."""


def own_words(message: Message) -> str:
    """What the speaker of a chat message says: without recalled memories, markers, reminders and heartbeats."""
    if not is_chat(message) or read_summary(message) is not None:
        return ""
    said = message.content
    words = _INJECTED.sub("", without_markers(unquoted(said)))
    if words != said:
        words = words.strip()
    return "" if not words.strip() or _HEARTBEAT.fullmatch(words) else words


class Told(Struct, frozen=True):
    """The messages of a cell that say something, and what they say."""

    messages: tuple[Message, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, items: MemCell | Iterable[Message]) -> Told:
        """What is told in a cell."""
        said = [(item, own_words(item)) for item in (items.items if isinstance(items, MemCell) else items)]
        said = [(item, words) for item, words in said if words]
        return cls(tuple(item for item, _ in said), tuple(words for _, words in said))

    def __len__(self) -> int:
        return len(self.messages)

    def block(self, *, zone: tzinfo = UTC, with_ids: bool = False, tag: str = "conversation", **attributes: str) -> str:
        """All messages as records with labels from `[0]`; no text can pass for a record or a tag.

        Args:
            zone: in which their times are shown.
            with_ids: whether to show the senders' ids beside their names.
            tag: the element around them.
            **attributes: of the element.

        Raises:
            InvalidInputError: a message has the timestamp 0; names its id.
        """
        rows = zip(self.messages, self.texts, strict=True)
        lines = [
            f"[{n}] {as_record(_line(item, text, zone, with_ids=with_ids))}" for n, (item, text) in enumerate(rows)
        ]
        named = "".join(f' {name}="{as_record(value)}"' for name, value in attributes.items())
        return "\n".join([f'<{tag} count="{len(lines)}"{named}>', *lines, f"</{tag}>"])

    def sources(self, labels: Sequence[int] | None = None) -> tuple[Source, ...]:
        """The messages of these labels as sources; all of them for None."""
        chosen = range(len(self)) if labels is None else labels
        return tuple(
            Source(message_id=message_id(self.messages[label]), speaker=speaker(self.messages[label]))
            for label in chosen
        )

    def by(self, sender_id: str) -> list[int]:
        """The labels of what one sender said."""
        return [label for label, message in enumerate(self.messages) if message.sender_id == sender_id]

    def name_of(self, sender_id: str) -> str:
        """The first name by which a sender goes, else the id."""
        names = (message.name or "" for message in self.messages if message.sender_id == sender_id)
        return next((name for name in names if name.strip()), sender_id)

    def first_ms(self, labels: Sequence[int]) -> int | None:
        """When the first of these was said; None where nobody said."""
        times = [stamp_ms for label in labels if (stamp_ms := self.messages[label].timestamp)]
        return min(times, default=None)


def _line(message: Message, text: str, zone: tzinfo, *, with_ids: bool) -> str:
    who = speaker(message)
    if with_ids and message.sender_id:
        who = f"{who}(user_id:{message.sender_id})"
    if message.timestamp is None:
        return f"{who}: {text}"
    if message.timestamp == 0:
        named = message_id(message)
        raise InvalidInputError(f"message {named!r}: timestamp is 0, that is unset", id=named, key="timestamp")
    return f"[{stamp(message.timestamp, zone)}] {who}: {text}"
