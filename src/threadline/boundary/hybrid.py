"""`Consultation`: the model is asked about the places where the lexical evidence does not suffice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from threadline.boundary.model import adetect_boundary_step
from threadline.messages import Message, message_id

if TYPE_CHECKING:
    from threadline.boundary.lexical import Judge
    from threadline.ports import LLMClient

__all__ = ["Consultation"]

_DOUBT = 1.0
"""Log odds nearer to 0 are in doubt: one clear cue more or less would turn them."""

_REMEMBERED = 4096


class Consultation:
    """Decides candidates: by the evidence where it is clear, by the model where it is not.

    What the model said of a place is remembered, since an open tail comes again with every new message.

    Args:
        llm: the model, if there is one.
        max_calls: the most calls in one detection.
    """

    def __init__(self, llm: LLMClient | None, *, max_calls: int) -> None:
        self._llm = llm
        self._max_calls = max_calls
        self._answers: dict[tuple[str, str], bool] = {}

    def judge(self, chat: Sequence[Message], custom_instructions: str | None) -> Judge:
        """What decides the candidates of one detection over these chat messages."""
        calls = 0

        async def decide(start: int, at: int, odds: float) -> bool:
            nonlocal calls
            llm = self._llm
            if llm is None or self._max_calls == 0 or abs(odds) >= _DOUBT:
                return odds > 0
            place = (message_id(chat[start]), message_id(chat[at]))
            if place not in self._answers:
                if calls >= self._max_calls:
                    return odds > 0
                calls += 1
                decision = await adetect_boundary_step(
                    chat[start:at], [chat[at]], llm=llm, custom_instructions=custom_instructions
                )
                if len(self._answers) >= _REMEMBERED:
                    self._answers.clear()
                self._answers[place] = decision.should_end
            return self._answers[place]

        return decide
