"""`Tally`: tokens by role, by tool and of the largest messages, counted as messages go by."""

from __future__ import annotations

from heapq import heappush, heapreplace
from typing import Any

from threadline.messages import Message, Request
from threadline.tokens import Measure
from threadline.transcript.report import source_of

__all__ = ["Tally"]

_BATCH = 256
"""Messages counted at once: enough for the tokenizer to work in bulk."""

_LARGEST = 10


class Tally:
    """Counts a conversation; it keeps one figure for each message, and no text.

    Args:
        measure: what counts.
        frame: what is around the messages.
    """

    def __init__(self, measure: Measure, frame: Request) -> None:
        self._measure = measure
        self._fixed = measure.request(frame)
        self._batch: list[Message] = []
        self._tools: dict[str, str] = {}
        self._by_role: dict[str, int] = {}
        self._by_tool: dict[str, int] = {}
        self._largest: list[tuple[int, int, str]] = []
        self.messages: list[int] = []

    @property
    def exact(self) -> bool:
        """True where texts are counted in the model's own vocabulary."""
        return self._measure.exact

    @property
    def total(self) -> int:
        """The tokens of everything."""
        return self._fixed.total + sum(self.messages)

    @property
    def by_role(self) -> dict[str, int]:
        """Tokens of each role, most first."""
        return _ranked(self._by_role)

    @property
    def by_tool(self) -> dict[str, int]:
        """Tokens of each tool's results, most first."""
        return _ranked(self._by_tool)

    @property
    def around(self) -> dict[str, int]:
        """Tokens of what is around the messages."""
        fixed = self._fixed
        return {
            "system (apart)": fixed.system,
            "tools": fixed.tools,
            "response format": fixed.response_format,
            "overhead": fixed.overhead,
        }

    @property
    def largest(self) -> list[tuple[int, int, str]]:
        """Tokens, index and role of the largest messages, most first."""
        return [(tokens, -index, role) for tokens, index, role in sorted(self._largest, reverse=True)]

    def feed(self, message: Message) -> None:
        """Count the next message."""
        self._batch.append(message)
        if len(self._batch) == _BATCH:
            self.finish()

    def finish(self) -> None:
        """Count what waits; more may be fed afterwards."""
        for message, tokens in zip(self._batch, self._measure.messages(self._batch), strict=True):
            self._by_role[message.role] = self._by_role.get(message.role, 0) + tokens
            source = source_of(message, self._tools)
            if source.startswith("tool"):
                self._by_tool[source] = self._by_tool.get(source, 0) + tokens
            ranked = (tokens, -len(self.messages), message.role)
            if len(self._largest) < _LARGEST:
                heappush(self._largest, ranked)
            elif ranked > self._largest[0]:
                heapreplace(self._largest, ranked)
            self.messages.append(tokens)
        self._batch.clear()

    def summary(self) -> dict[str, Any]:
        """All figures as one JSON object."""
        return {
            "total_tokens": self.total,
            "exact": self.exact,
            "by_role": self.by_role,
            "by_tool": self.by_tool,
            "system": self._fixed.system,
            "tools": self._fixed.tools,
            "response_format": self._fixed.response_format,
            "messages": self.messages,
            "overhead": self._fixed.overhead,
        }


def _ranked(totals: dict[str, int]) -> dict[str, int]:
    return dict(sorted(totals.items(), key=lambda item: -item[1]))
