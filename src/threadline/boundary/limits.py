"""`Limits`: how long an episode may become before it is cut whatever it is about."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.messages import Message, speaker
from threadline.tokens import counter_for

__all__ = ["Limits", "message_tokens"]


class Limits(Struct, frozen=True, kw_only=True):
    """The size at which an open episode is cut.

    Attributes:
        tokens: of the chat messages' texts with their speakers' names, without any frame.
        messages: the number of chat messages.

    Raises:
        InvalidInputError: `tokens` is below 1 or `messages` below 2: nothing could ever be cut, or nothing else.
    """

    tokens: int = 65_536
    messages: int = 500

    def __post_init__(self) -> None:
        for name, value, least in (("hard_token_limit", self.tokens, 1), ("hard_msg_limit", self.messages, 2)):
            if type(value) is not int or value < least:
                raise InvalidInputError(f"{name} must be an integer of at least {least}", key=name)

    def reached(self, tokens: int, messages: int) -> bool:
        """True for an episode of this size."""
        return tokens >= self.tokens or messages >= self.messages

    def forced_cuts(self, tokens: Sequence[int]) -> list[int]:
        """Where messages of these sizes are cut before anybody looks at what they say.

        While what is left reaches a limit, as much as fits is cut off its front: up to one message less than the limit
        (and than there are), half of that again and again until the tokens fit. A single message is never cut.
        """
        cuts: list[int] = []
        start, total = 0, sum(tokens)
        while len(tokens) - start > 1 and self.reached(total, len(tokens) - start):
            size = min(self.messages - 1, len(tokens) - start - 1)
            while size > 1 and sum(tokens[start : start + size]) >= self.tokens:
                size //= 2
            total -= sum(tokens[start : start + size])
            start += size
            cuts.append(start)
        return cuts


def message_tokens(messages: Sequence[Message]) -> list[int]:
    """The tokens of each message as `speaker: content`."""
    return counter_for().count([f"{speaker(message)}: {message.content}" for message in messages])
