"""When a failed call is sent again, and after how long: one rule for every adapter."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias, TypeVar

from msgspec import Struct

from threadline.errors import ModelError

__all__ = ["Pause", "Resending", "retry_after_s"]

Result = TypeVar("Result")
Pause: TypeAlias = Callable[[float], Awaitable[None]]


class Resending(Struct, frozen=True, kw_only=True):
    """How often the same request is sent again, and the pauses between.

    Attributes:
        times: resends after the first try.
        first_s: the first pause in seconds; each further one is twice as long.
        longest_s: no pause is longer, before it is shortened at random.
        shortest_share: a pause is shortened to a random share of itself between this and all of it, so that clients
            that failed together do not come back together.
        longest_asked_s: a wait that the provider asks for is kept exactly up to this many seconds, else not at all.
    """

    times: int = 2
    first_s: float = 0.5
    longest_s: float = 8.0
    shortest_share: float = 0.75
    longest_asked_s: float = 60.0

    def pause_s(self, resend: int, error: ModelError) -> float:
        """Seconds to wait before the resend of this number, from 0."""
        asked = error.fields.get("retry_after_s")
        if asked is not None and 0 < asked <= self.longest_asked_s:
            return asked
        share = random.uniform(self.shortest_share, 1)  # noqa: S311 - spreads load, guards nothing
        return min(self.first_s * 2**resend, self.longest_s) * share

    async def run(self, send: Callable[[], Awaitable[Result]], pause: Pause) -> Result:
        """What `send` gives, tried again while it fails in a way that may pass.

        Raises:
            ModelError: the last failure, or the first that will not pass.
        """
        resend = 0
        while True:
            try:
                return await send()
            except ModelError as error:
                if not self.worthwhile(resend, error):
                    raise
                wait_s = self.pause_s(resend, error)
            await pause(wait_s)
            resend += 1

    def worthwhile(self, resend: int, error: ModelError) -> bool:
        """True when the resend of this number, from 0, is allowed and may help."""
        return resend < self.times and error.fields.get("retryable", False)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to wait: `Retry-After` (RFC 9110, section 10.2.3) or `retry-after-ms`."""
    if (asked_ms := _number(headers.get("retry-after-ms"))) is not None:
        return asked_ms / 1000
    given = headers.get("retry-after")
    if (asked := _number(given)) is not None or given is None:
        return asked
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    return (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
