"""Counting in one call: a text, or whatever a request is written in."""

from __future__ import annotations

from typing import Any

from threadline.messages.message import Dialect, Request
from threadline.tokens.measure import Measure, RequestCount
from threadline.tokens.profile import counter_for

__all__ = ["count_request", "count_tokens"]


def count_tokens(text: str, model: str | None = None) -> int:
    """The tokens of a text as content, without any frame.

    Args:
        text: any string; lone surrogates and NULs are fine.
        model: the model's name; None counts by o200k_base.

    Raises:
        UnknownModelError: no family is known for the model.
    """
    return counter_for(model).count([text])[0]


def count_request(request: Request | Any, model: str | None = None, *, dialect: Dialect | None = None) -> RequestCount:
    """The tokens of a whole request: system, tools, response format, messages and overheads.

    Args:
        request: a `Request`, a message list or a provider's request body, in any dialect.
        model: the model's name; by default the one that the request names.
        dialect: the dialect of the request; None finds it out.

    Raises:
        UnknownModelError: no family is known for the model.
        InvalidInputError: the value is no request; the error names the message and key.
    """
    from threadline.messages.dialects import decode

    decoded = decode(request, dialect)
    return Measure(decoded.model if model is None else model).request(decoded)
