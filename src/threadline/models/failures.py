"""Failures of a call to a model, told without a word of what was sent or answered."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from threadline.errors import ConfigurationError, ModelError
from threadline.messages.shapes import is_object

__all__ = ["Reason", "extra", "failed", "told_failure", "vendor_code"]

Reason: TypeAlias = Literal[
    "timeout",
    "connection",
    "status",
    "malformed",
    "no_reply",
    "aborted",
    "cut",
    "too_large",
    "refusal",
    "content_filter",
    "length",
    "pause",
]

_SAID: dict[Reason, str] = {
    "timeout": "no answer in time",
    "connection": "the connection failed",
    "status": "the provider refused the call",
    "malformed": "the answer is not in the provider's format",
    "no_reply": "the answer holds no reply",
    "aborted": "the provider broke the reply off",
    "cut": "the stream ended before the reply did",
    "too_large": "the answer is larger than any reply",
    "refusal": "the model refused to answer",
    "content_filter": "the provider withheld the reply",
    "length": "the reply was cut off at the limit of tokens",
    "pause": "the provider paused the reply",
}

_PASSING = frozenset[Reason]({"timeout", "connection", "malformed", "no_reply", "aborted", "cut"})
"""Reasons after which the same request may well succeed."""


def failed(
    vendor: str,
    reason: Reason,
    *,
    status: int | None = None,
    vendor_code: str | None = None,
    retry_after_s: float | None = None,
) -> ModelError:
    """The error for a call that failed; its `fields` are these arguments and `retryable`.

    Args:
        vendor: the adapter's name.
        reason: what went wrong.
        status: the HTTP status, where that is what went wrong.
        vendor_code: the provider's own name for it.
        retry_after_s: how long the provider asks to wait.
    """
    retryable = reason in _PASSING or (status is not None and (status in (408, 409, 429) or status >= 500))
    told = ", ".join(filter(None, [f"HTTP {status}" if status is not None else None, vendor_code]))
    return ModelError(
        f"{vendor}: {_SAID[reason]}" + (f" ({told})" if told else ""),
        vendor=vendor,
        reason=reason,
        status=status,
        vendor_code=vendor_code,
        retry_after_s=retry_after_s,
        retryable=retryable,
    )


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)


def told_failure(vendor: str, reason: Reason, body: Any) -> ModelError:
    """The error for an answer that tells of a failure itself, whatever its HTTP status was.

    Args:
        vendor: the adapter's name.
        reason: what it is where the answer does not say more.
        body: the answer, or its `error`.
    """
    inner = body.get("error", body) if is_object(body) else None
    status = inner.get("code") if is_object(inner) else None
    if isinstance(status, int) and 400 <= status <= 599:
        return failed(vendor, "status", status=status, vendor_code=vendor_code(body))
    return failed(vendor, reason, vendor_code=vendor_code(body))


def vendor_code(body: Any) -> str | None:
    """The provider's name for an error, out of an answer's body; never its sentence, which may quote the request."""
    inner = body.get("error", body) if is_object(body) else None
    if not is_object(inner):
        return None
    for key in ("code", "status", "type"):
        if isinstance(name := inner.get(key), str) and _NAME.fullmatch(name):
            return name
    return None


@contextmanager
def extra(name: str) -> Generator[None]:
    """Around the import of a library that is optional.

    Raises:
        ConfigurationError: it is not installed; says what to install.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"the {name} adapter needs an extra: pip install 'threadline[{name}]'", extra=name
        ) from error
