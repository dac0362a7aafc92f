"""What the checks of `testing.models` and `testing.streams` stand on: a stub, an adapter built on it, what it did."""

from __future__ import annotations

import traceback
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, Unpack

from pydantic import BaseModel, ConfigDict, Field

from threadline.errors import ModelError
from threadline.messages import Request
from threadline.models import OptionArguments
from threadline.ports import ChatModel, LLMClient, LLMMessage, ModelCall, TokenUsage
from threadline.testing.stub import Reaction, StubServer
from threadline.testing.vendors import Asked, Said, Vendor

__all__ = [
    "GOOD",
    "SECRET",
    "USAGE",
    "Bench",
    "BuiltModel",
    "ModelHarness",
    "Verdict",
    "assert_quotes_nothing",
    "bench",
    "failure_of",
]

SECRET = "my pin is 4711"  # noqa: S105 - a sentence, not a password
"""Said by the user, repeated by careless servers, and never found in an error."""

USAGE = TokenUsage(input_tokens=7, output_tokens=3, cache_read_tokens=2)
"""What a stub's answer reports."""


class Verdict(BaseModel):
    """The reply that the checks ask for."""

    model_config = ConfigDict(strict=True, extra="forbid")

    answer: str = Field(min_length=1)
    grade: int | None


GOOD = Verdict(answer="yes", grade=3).model_dump_json()


class BuiltModel(LLMClient, ChatModel, Protocol):
    """An adapter: both ports, and a way to close it."""

    async def aclose(self) -> None:
        """Closes its connections."""
        ...


class ModelHarness(Protocol):
    """An adapter under test, and who plays its vendor."""

    @property
    def vendor(self) -> Vendor:
        """The API that it speaks."""
        ...

    def build(self, url: str, **options: Unpack[OptionArguments]) -> BuiltModel:
        """The adapter on a server at this address, which has no path yet."""
        ...


class Bench:
    """An adapter on a stub, and what went on between them."""

    def __init__(self, vendor: Vendor, stub: StubServer, model: BuiltModel, pauses: list[float]) -> None:
        self.vendor = vendor
        self.stub = stub
        self.model = model
        self.pauses = pauses
        """Seconds that the adapter waited between tries, instead of really waiting."""
        self.told: list[ModelCall] = []
        """What a meter was told."""

    async def chat(self, *, said: str = SECRET, **arguments: Any) -> str:
        """One `achat` with a system and a user message."""
        messages = [LLMMessage("system", "Be brief."), LLMMessage("user", said)]
        return await self.model.achat(messages, response_format=Verdict, **arguments)

    def play(self, *reactions: Reaction | Said) -> None:
        """Queues answers."""
        self.stub.queue(*(self.vendor.said(item) if isinstance(item, Said) else item for item in reactions))

    def asked(self) -> list[Asked]:
        """What the requests so far asked for."""
        return [self.vendor.asked(request.body) for request in self.stub.requests]

    def forget(self) -> None:
        """Begins anew, with the same adapter."""
        self.stub.forget()
        self.pauses.clear()
        self.told.clear()

    @property
    def tries(self) -> int:
        """The number of requests so far."""
        return len(self.stub.requests)


@asynccontextmanager
async def bench(harness: ModelHarness, **options: Unpack[OptionArguments]) -> AsyncGenerator[Bench]:
    """An adapter on a fresh stub; it does not really wait between tries."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with StubServer() as stub:
        arguments: OptionArguments = {"pause": pause, "timeout": 10.0, **options}
        model = harness.build(stub.url, **arguments)
        try:
            yield Bench(harness.vendor, stub, model, pauses)
        finally:
            await model.aclose()


async def failure_of(bench: Bench, request: Request | None = None, **arguments: Any) -> ModelError:
    """The error that a call ends in, after a look at what it says.

    Raises:
        AssertionError: there is none, or it quotes what was said, in its message, its fields or a chained error.
    """
    caught: ModelError | None = None
    try:
        if request is None:
            await bench.chat(**arguments)
        else:
            await bench.model.generate(request, **arguments)
    except ModelError as error:
        caught = error
    assert caught is not None, "the call must fail"
    assert_quotes_nothing(caught)
    return caught


def assert_quotes_nothing(error: ModelError, secrets: Sequence[str] = (SECRET,)) -> None:
    """Raise `AssertionError` where an error repeats what was said."""
    shown = "".join(traceback.format_exception(error)) + repr(error.fields)
    assert not any(secret in shown for secret in secrets), "an error quotes nothing of what was said"
