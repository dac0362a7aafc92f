"""Windows and prices of models, from the list inside genai-prices, which takes a second to load and is loaded late."""

from __future__ import annotations

import difflib
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.errors import UnknownModelError
from threadline.tokens.profile import names_of, profile_for

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, TieredPrices

__all__ = ["Price", "price_for", "window_for"]

_OWNERS = (
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshotai",
    "openai",
    "x-ai",
    "zai",
)
"""Vendors of models; their own figures come before those of a host or router."""

_NEWEST_MS = 253_402_214_400_000
"""Noon of the last day of the year 9999: every dated price is in force, and no night discount is."""


class Price(Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens, without surcharges for very long inputs; None where not listed."""

    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None


def window_for(model: str) -> int:
    """The context window of a model, in tokens.

    The model's own vendor is asked first, or the provider that the name begins with (`groq/...`); then what the vendor
    documents; then the hosts that offer the model: what most of them give.

    Raises:
        UnknownModelError: nobody lists a window for it.
    """
    found = _find(model)
    for provider, info in found:
        if (_named(provider, model) or provider.id in _OWNERS) and info.context_window:
            return info.context_window
    if (documented := _documented_window(model)) is not None:
        return documented
    windows = Counter(info.context_window for _, info in found if info.context_window)
    if not windows:
        raise UnknownModelError(model, _near(model))
    most = max(windows.values())
    return min(window for window, count in windows.items() if count == most)


def price_for(model: str, *, now_ms: int = _NEWEST_MS) -> Price:
    """The price of a model, as its own vendor or the provider that the name begins with lists it, else any host.

    Args:
        model: the model's name.
        now_ms: milliseconds since the epoch, for prices that change; by default the newest known.

    Raises:
        UnknownModelError: nobody lists a price for it.
    """
    moment = datetime.fromtimestamp(now_ms / 1000, UTC)
    for _, info in _find(model):
        prices = info.get_prices(moment)
        price = Price(
            input=_base(prices.input_mtok),
            output=_base(prices.output_mtok),
            cache_read=_base(prices.cache_read_mtok),
            cache_write=_base(prices.cache_write_mtok),
        )
        if price.input is not None:
            return price
    raise UnknownModelError(model, _near(model))


def _base(price: Decimal | TieredPrices | None) -> Decimal | None:
    return price if price is None or isinstance(price, Decimal) else price.base


def _documented_window(model: str) -> int | None:
    try:
        return profile_for(model).documented_window
    except UnknownModelError:
        return None


def _providers() -> list[Provider]:
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot().providers


def _named(provider: Provider, model: str) -> bool:
    return model.lower().partition("/")[0] == provider.id.lower()


@lru_cache(maxsize=256)
def _find(model: str) -> list[tuple[Provider, ModelInfo]]:
    """Every listing of the model: the named provider first, then owners, then hosts in the order of their ids."""
    rank = {owner: index for index, owner in enumerate(_OWNERS)}
    order = sorted(
        _providers(), key=lambda provider: (not _named(provider, model), rank.get(provider.id, len(rank)), provider.id)
    )
    names = (model.lower(), *names_of(model))  # routers list a model by its whole path
    found: list[tuple[Provider, ModelInfo]] = []
    for provider in order:
        info = next((info for name in names if (info := provider.find_model(name)) is not None), None)
        if info is not None:
            found.append((provider, info))
    return found


def _near(model: str) -> tuple[str, ...]:
    ids = {info.id for provider in _providers() if provider.id in _OWNERS for info in provider.models}
    matches = (name for own in names_of(model) for name in difflib.get_close_matches(own, sorted(ids)))
    return tuple(dict.fromkeys(matches))[:3]
