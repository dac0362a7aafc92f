"""`TokenBudget`: how many tokens the input of a call may have."""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from threadline.errors import ConfigurationError, InvalidInputError

__all__ = ["TokenBudget"]


class TokenBudget(Struct, frozen=True, kw_only=True):
    """The most tokens that a whole request may have: system, tools, messages, overheads.

    Raises:
        InvalidInputError: `max_input_tokens` is no integer of at least 0.
    """

    max_input_tokens: int

    def __post_init__(self) -> None:
        value = cast("object", self.max_input_tokens)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InvalidInputError("max_input_tokens must be an integer of at least 0", key="max_input_tokens")

    @classmethod
    def of(cls, window: int, max_output_tokens: int | None, overhead: int = 0) -> TokenBudget:
        """What a window leaves once the reply and an overhead are set aside; never below 0.

        Args:
            window: the model's context window.
            max_output_tokens: what is kept for the reply.
            overhead: what else is kept; the frame that the measure counts is not among it.

        Raises:
            ConfigurationError: nothing is kept for the reply, or it takes the whole window.
        """
        reserve = cast("object", max_output_tokens)
        if isinstance(reserve, bool) or not isinstance(reserve, int) or not 0 < reserve < window:
            raise ConfigurationError(
                "max_output_tokens must be more than 0 and less than the window", key="max_output_tokens"
            )
        if overhead < 0:
            raise ConfigurationError("overhead must be at least 0", key="overhead")
        return cls(max_input_tokens=max(window - reserve - overhead, 0))

    def available(self, used: int) -> int:
        """What is left once `used` tokens are spent; never below 0."""
        return max(self.max_input_tokens - used, 0)
