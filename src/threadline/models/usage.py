"""`UsageLedger`: what each operator's calls came to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, structs

from threadline.messages import Request
from threadline.ports import ChatEvent, ChatModel, ChatReply, LLMClient, LLMMessage, ModelCall, TokenUsage, metering

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["MeteredClient", "MeteredModel", "Usage", "UsageLedger", "cost_of"]


class Usage(Struct, frozen=True, kw_only=True):
    """What calls came to.

    Attributes:
        calls: calls that were made of a model, failed ones included.
        failed: how many of them ended in an error.
        answers: answers that providers gave; more than calls where replies were asked for again.
        tokens: all that was reported.
        unreported: answers for which the provider did not say what they used.
        cost_usd: the price in US dollars of all answers whose price is known.
        unpriced: answers with usage, of a model whose price is not known.
    """

    calls: int = 0
    failed: int = 0
    answers: int = 0
    tokens: TokenUsage = TokenUsage()
    unreported: int = 0
    cost_usd: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            failed=self.failed + other.failed,
            answers=self.answers + other.answers,
            tokens=_sum(self.tokens, other.tokens),
            unreported=self.unreported + other.unreported,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced=self.unpriced + other.unpriced,
        )


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    mine, yours = structs.asdict(one), structs.asdict(other)
    return TokenUsage(**{key: mine[key] + yours[key] for key in mine})


class UsageLedger:
    """Adds up, by operator, what models are asked through `client` and `model`.

    Safe with many tasks at once: each call tells its own task's meter. What the model did inside a call is told by
    the adapter (`ports.metering`); a client that tells nothing still has its calls counted.
    """

    def __init__(self) -> None:
        self._usage: dict[str, Usage] = {}

    def client(self, client: LLMClient, *, operator: str) -> MeteredClient:
        """The same client, whose calls are counted under the operator's name."""
        return MeteredClient(client, self, operator)

    def model(self, model: ChatModel, *, operator: str) -> MeteredModel:
        """The same model, whose calls are counted under the operator's name."""
        return MeteredModel(model, self, operator)

    def add(self, operator: str, usage: Usage) -> None:
        """Adds to an operator's sum."""
        self._usage[operator] = self._usage.get(operator, Usage()) + usage

    def by_operator(self) -> Mapping[str, Usage]:
        """The sums so far, in the order of the operators' first calls; a copy."""
        return {**self._usage}

    def total(self) -> Usage:
        """The sum of all."""
        return sum(self._usage.values(), Usage())


class _Call:
    """Around one call: counts it, hears its answers, notes how it ended."""

    def __init__(self, ledger: UsageLedger, operator: str) -> None:
        self._ledger = ledger
        self._operator = operator
        self._metering = metering(self._hear)

    def _hear(self, call: ModelCall) -> None:
        self._ledger.add(self._operator, _of(call))

    def __enter__(self) -> None:
        self._ledger.add(self._operator, Usage(calls=1))
        self._metering.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._metering.__exit__(None, None, None)
        if kind is not None:
            self._ledger.add(self._operator, Usage(failed=1))


class MeteredClient:
    """An `LLMClient` whose calls a ledger counts."""

    def __init__(self, client: LLMClient, ledger: UsageLedger, operator: str) -> None:
        self._client = client
        self._ledger = ledger
        self._operator = operator

    async def achat(
        self,
        messages: Sequence[LLMMessage],
        *,
        response_format: type[BaseModel],
        temperature: float | None = None,
        max_tokens: int | None = None,
        **extra: Any,
    ) -> str:
        """As the client's own."""
        with _Call(self._ledger, self._operator):
            return await self._client.achat(
                messages, response_format=response_format, temperature=temperature, max_tokens=max_tokens, **extra
            )


class MeteredModel:
    """A `ChatModel` whose calls a ledger counts."""

    def __init__(self, model: ChatModel, ledger: UsageLedger, operator: str) -> None:
        self._model = model
        self._ledger = ledger
        self._operator = operator

    async def generate(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> ChatReply:
        """As the model's own."""
        with _Call(self._ledger, self._operator):
            return await self._model.generate(request, temperature=temperature, max_output_tokens=max_output_tokens)

    def stream(
        self, request: Request, *, temperature: float | None = None, max_output_tokens: int | None = None
    ) -> AsyncIterator[ChatEvent]:
        """As the model's own. Its end is not watched: an error in the middle is not counted as failed."""
        with _Call(self._ledger, self._operator):
            return self._model.stream(request, temperature=temperature, max_output_tokens=max_output_tokens)


def _of(call: ModelCall) -> Usage:
    if call.usage is None:
        return Usage(answers=1, unreported=1)
    cost = cost_of(call)
    return Usage(answers=1, tokens=call.usage, cost_usd=cost or Decimal(0), unpriced=int(cost is None))


class _Priced(Protocol):
    total_price: Decimal


def cost_of(call: ModelCall) -> Decimal | None:
    """The price of an answer in US dollars by the list inside genai-prices; None where model or price is not listed."""
    if call.usage is None:
        return None
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    used = PricedUsage(
        input_tokens=call.usage.input_tokens,
        output_tokens=call.usage.output_tokens,
        cache_read_tokens=call.usage.cache_read_tokens,
        cache_write_tokens=call.usage.cache_write_tokens,
    )
    try:
        priced: _Priced = calc_price(used, model_ref=call.model)
    except (LookupError, ValueError):
        return None
    return priced.total_price
