"""What a model is expected to reply. This module loads pydantic and is imported where a model is called."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from threadline.messages.shapes import is_object
from threadline.ports.replies import StrictOutputModel

__all__ = ["BatchReply", "StepReply"]


class _Reply(StrictOutputModel):
    @model_validator(mode="before")
    @classmethod
    def _without_should_wait(cls, reply: Any) -> Any:
        """Scripts written for older releases still give it; it never decided anything."""
        if is_object(reply) and "should_wait" in reply:
            return {key: value for key, value in reply.items() if key != "should_wait"}
        return reply


class BatchReply(_Reply):
    """Where episodes begin: labels of their first messages."""

    reasoning: str
    boundaries: list[int]


class StepReply(_Reply):
    """Whether a message begins another episode."""

    reasoning: str
    should_end: bool
    confidence: float
    topic_summary: str
