"""Telling whoever counts what each call to a model used, without anything in between passing it on.

An adapter tells the meter of the task it runs in; meters are context variables, so calls that run side by side tell
each their own. Nobody has to listen.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from msgspec import Struct

from threadline.ports.llm import TokenUsage

__all__ = ["Meter", "ModelCall", "current_meter", "metering"]


class ModelCall(Struct, frozen=True, kw_only=True):
    """One answer of a provider.

    Attributes:
        model: the model that answered, as the provider names it, or as it was asked for.
        usage: what it cost, None where the provider did not say.
    """

    model: str
    usage: TokenUsage | None


Meter: TypeAlias = Callable[[ModelCall], None]

_current: ContextVar[Meter | None] = ContextVar("threadline_meter", default=None)


def _nobody(_call: ModelCall) -> None:
    """Hears what nobody else listens to."""


def current_meter() -> Meter:
    """Whom to tell of a call. A stream takes it when it is asked for: it is consumed in another context, maybe."""
    return _current.get() or _nobody


@contextmanager
def metering(meter: Meter) -> Generator[None]:
    """Calls inside, in this task and those it starts, are told to this meter and to the one around it."""
    around = current_meter()

    def tell(call: ModelCall) -> None:
        meter(call)
        around(call)

    token = _current.set(tell)
    try:
        yield
    finally:
        _current.reset(token)
