"""`Profile`: what a model counts with and what the frame around messages, tools and media costs it."""

from __future__ import annotations

import difflib
import re
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from threadline.errors import UnknownModelError
from threadline.tokens.counter import ExactCounter, TokenCounter
from threadline.tokens.estimator import EstimatingCounter, Weights
from threadline.tokens.media import ImageRule

__all__ = ["Profile", "cautious_profile", "counter_for", "names_of", "profile_for"]

_GENERIC, _UNKNOWN = "generic", "unknown"


class Profile(Struct, frozen=True, kw_only=True):
    """The figures of one kind of model; each one's source stands beside it in `families.toml`.

    Attributes:
        name: of this set of figures, e.g. `claude-4.7`.
        family: the vendor's family, e.g. `anthropic`.
        encoding: the vocabulary that texts are counted in.
        weights: the rule that turns such a count into the model's own; empty where the vocabulary is the model's own.
        exact: the vocabulary is known to be the model's own.
        per_message: tokens of a message's frame, its role included.
        per_name: tokens of a message's name beside the name itself; OpenAI's figure where a vendor publishes none.
        per_request: tokens once a request: the reply's start, a template's own preamble.
        per_call: tokens of a tool call beside name and arguments.
        per_result: tokens of a tool result beside its content.
        per_tool: tokens of a tool beside its definition.
        per_tools: tokens once a request that has any tool.
        functions: tools are counted by OpenAI's function rule instead of by their JSON.
        server_tools: tokens of tools the provider defines, by the start of their `type`.
        image: how images are counted.
        page: tokens of a page of a document, text and image together.
        audio_second: tokens of a second of sound; Gemini's figure where a vendor publishes none.
        video_second: the same of film, its sound included.
        window: the context window that the caller gave, or None.
        documented_window: the vendor's window where the price list has none.
        max_output: the longest reply the vendor documents, or None.
        sources: where the figures are from.
    """

    name: str
    family: str
    encoding: str
    weights: str = ""
    exact: bool = False
    per_message: int
    per_name: int = 1
    per_request: int
    per_call: int
    per_result: int
    per_tool: int = 0
    per_tools: int = 0
    functions: bool = False
    server_tools: dict[str, int] = {}
    image: ImageRule
    page: int
    audio_second: float = 32
    video_second: float = 300
    window: int | None = None
    documented_window: int | None = None
    max_output: int | None = None
    sources: tuple[str, ...] = ()


class _Catalogue(Struct, frozen=True, kw_only=True):
    weights: dict[str, Weights]
    fallback: dict[str, Weights]
    profiles: dict[str, Profile]
    prefixes: dict[str, str]


@cache
def _catalogue() -> _Catalogue:
    # Together these two take longer to import than all of threadline, and only a first count needs them.
    import tomllib
    from importlib.resources import files

    data = tomllib.loads((files("threadline.tokens") / "families.toml").read_text("utf-8"))
    profiles: dict[str, Profile] = {}
    prefixes: dict[str, str] = {}
    for family, defaults in data["families"].items():
        models: list[dict[str, Any]] = defaults.pop("models")
        common = {"family": family, **defaults}
        if family == _GENERIC:
            profiles[_GENERIC] = msgspec.convert({"name": _GENERIC, **common}, Profile)
        for model in models:
            prefixes.update(dict.fromkeys(model.pop("prefixes"), model["name"]))
            sources = [*defaults["sources"], *model.pop("sources", ())]
            profiles[model["name"]] = msgspec.convert({**common, **model, "sources": sources}, Profile)
    rules = msgspec.convert({key: data[key] for key in ("weights", "fallback")}, dict[str, dict[str, Weights]])
    return _Catalogue(**rules, profiles=profiles, prefixes=prefixes)


def names_of(model: str) -> tuple[str, ...]:
    """The names a model may go by, in lower case: without its path, and without each mark that ends in a dot or colon.

    `bedrock/us.anthropic.claude-opus-4-5` gives `us.anthropic.claude-opus-4-5`, `anthropic.claude-opus-4-5` and
    `claude-opus-4-5`. What follows the model's own name stays: a date, a version, a variant.
    """
    name = model.strip().lower().rpartition("/")[2]
    return (name, *(name[index + 1 :] for index, char in enumerate(name) if char in ".:"))


_STEP = re.compile(r"[a-z0-9]+")


def _match(model: str) -> str | None:
    """The longest prefix of any of the model's names; of equals the one furthest in: `mistral.mixtral` is a Mixtral."""
    best = ""
    for name in names_of(model):
        for prefix in _catalogue().prefixes:
            if len(prefix) >= len(best) and name.startswith(prefix) and _ends_there(prefix, name):
                best = prefix
    return best or None


def _ends_there(prefix: str, name: str) -> bool:
    """A prefix is not cut out of a longer number or word: `o1` of `o11`, `gpt-4` of `gpt-4o`, `gpt-4o` of `gpt-4oo`.

    What follows a dash is a number or a word: `gpt-` fits `gpt-6` and `gpt-audio`, not the slip `gpt-4oo`.
    """
    following = name[len(prefix) : len(prefix) + 1]
    if prefix.endswith("-"):
        step = _STEP.match(name, len(prefix))
        return step is not None and (step.group().isdigit() or step.group().isalpha())
    return not (following.isalnum() if prefix[-1].isdigit() else following.isalpha())


@lru_cache(maxsize=256)
def profile_for(model: str | None, *, window: int | None = None) -> Profile:
    """The profile of a model, by its name as any provider, router or cloud spells it.

    Args:
        model: the name; None gives the generic profile: o200k_base, counted exactly, and no window.
        window: the context window in tokens, where the caller knows it; with it a model of no known family is accepted
            and counted with caution.

    Raises:
        UnknownModelError: no family is known for the name and no window was given.
    """
    catalogue = _catalogue()
    if model is None:
        profile = catalogue.profiles[_GENERIC]
    elif (prefix := _match(model)) is not None:
        profile = catalogue.profiles[catalogue.prefixes[prefix]]
    elif window is not None:
        profile = cautious_profile()
    else:
        near = {name: None for own in names_of(model) for name in difflib.get_close_matches(own, catalogue.prefixes)}
        raise UnknownModelError(model, tuple(near)[:3])
    return profile if window is None else msgspec.structs.replace(profile, window=window)


def cautious_profile() -> Profile:
    """The profile of a model that nobody knows: counted high rather than low."""
    return _catalogue().profiles[_UNKNOWN]


def counter_for(model: str | Profile | None = None) -> TokenCounter:
    """The counter of a model: exact where its vocabulary is at hand, else an estimate that leans up.

    Args:
        model: its name, its profile, or None for o200k_base.

    Raises:
        UnknownModelError: see `profile_for`.
    """
    profile = model if isinstance(model, Profile) else profile_for(model)
    return _counter(profile.encoding, profile.weights)


@cache
def _counter(encoding: str, weights: str) -> TokenCounter:
    catalogue = _catalogue()
    try:
        base: TokenCounter = ExactCounter(encoding)
    except ImportError:
        # Harmony is o200k_base with other special tokens; as text they count alike.
        base = EstimatingCounter(encoding, catalogue.fallback[encoding.replace("_harmony", "_base")])
    return EstimatingCounter(weights, catalogue.weights[weights], base) if weights else base
