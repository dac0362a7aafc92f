"""What providers say of their prompt caches, as data with its sources."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from threadline.messages.message import Dialect
from threadline.tokens.profile import names_of

__all__ = ["CacheRule", "rule_for"]

_ANTHROPIC = "platform.claude.com/docs/en/build-with-claude/prompt-caching"
_OPENAI = "developers.openai.com/api/docs/guides/prompt-caching"
_GOOGLE = "ai.google.dev/gemini-api/docs/caching"


class CacheRule(Struct, frozen=True, kw_only=True):
    """How a provider caches the beginning of a prompt.

    Attributes:
        min_tokens: below it nothing is cached.
        step: cached tokens beyond the minimum come in multiples of it.
        max_breakpoints: how many places the caller may mark; 0 where the provider finds them itself.
        lookback: how many blocks before a mark an earlier entry is looked for; 0 where it does not matter.
        ttl_s: seconds after its last use that an entry lives, at least.
        source: the vendor's page.
    """

    min_tokens: int
    step: int = 1
    max_breakpoints: int = 0
    lookback: int = 0
    ttl_s: int = 300
    source: str = ""


def _claude(min_tokens: int) -> CacheRule:
    return CacheRule(min_tokens=min_tokens, max_breakpoints=4, lookback=20, ttl_s=300, source=_ANTHROPIC)


_RULES: dict[Dialect, dict[str, CacheRule]] = {
    "anthropic": {
        "": _claude(1024),
        "claude-3-haiku": _claude(2048),
        "claude-3-5-haiku": _claude(2048),
        "claude-haiku-3": _claude(2048),
        "claude-haiku-4-5": _claude(4096),
        "claude-opus-4-5": _claude(4096),
        "claude-opus-4-6": _claude(4096),
        "claude-opus-4-7": _claude(2048),
        "claude-opus-5": _claude(512),
        "claude-fable-5": _claude(512),
        "claude-mythos-5": _claude(512),
    },
    # An entry lives 5 to 10 minutes of inactivity; from GPT-5.6 on at least 30.
    "openai": {
        "": CacheRule(min_tokens=1024, step=128, ttl_s=300, source=_OPENAI),
        "gpt-5.6": CacheRule(min_tokens=1024, step=128, ttl_s=1800, source=_OPENAI),
    },
    # Implicit caching; how long an entry lives is not said.
    "google": {
        "": CacheRule(min_tokens=4096, source=_GOOGLE),
        "gemini-2.5": CacheRule(min_tokens=2048, source=_GOOGLE),
    },
}
_LIKE: dict[Dialect, Dialect] = {"plain": "openai", "responses": "openai"}


@lru_cache(maxsize=256)
def rule_for(model: str | None, dialect: Dialect) -> CacheRule:
    """The rule of a model: by the longest known beginning of its name, else what most models of the dialect have."""
    rules = _RULES[_LIKE.get(dialect, dialect)]
    names = names_of(model) if model else ()
    known = [start for start in rules if not start or any(_begins(name, start) for name in names)]
    return rules[max(known, key=len)]


def _begins(name: str, start: str) -> bool:
    return name.replace(".", "-").startswith(start.replace(".", "-"))
