"""What models are told, one file a prompt: the same text on every call, so that a provider's cache keeps it.

Each prompt is a constant that a host may replace at start-up; it is looked up when it is used. `{language_rule}` in a
prompt is where the sentences about the language go.
"""

from __future__ import annotations

from importlib import resources

from threadline.memory.product import derived_id

__all__ = [
    "EPISODE_GENERIC_PROMPT",
    "EPISODE_USER_PROMPT",
    "FACTS_PROMPT",
    "FACTS_TEXT_PROMPT",
    "FORESIGHT_PROMPT",
    "PROFILE_COMPACT_PROMPT",
    "PROFILE_INIT_PROMPT",
    "PROFILE_REGROUP_PROMPT",
    "PROFILE_UPDATE_PROMPT",
    "REFLECT_INIT_PROMPT",
    "REFLECT_UPDATE_PROMPT",
    "SUMMARY_PROMPT",
    "prompt_id",
]


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.md").read_text("utf-8").rstrip()


def prompt_id(prompt: str) -> str:
    """The version of a prompt: made of its text, so that a changed prompt is another one."""
    return derived_id("prompt", prompt)


EPISODE_USER_PROMPT = _read("episode_user")
EPISODE_GENERIC_PROMPT = _read("episode_generic")
SUMMARY_PROMPT = _read("summary")
FACTS_PROMPT = _read("facts")
FACTS_TEXT_PROMPT = _read("facts_text")
FORESIGHT_PROMPT = _read("foresight")
REFLECT_INIT_PROMPT = _read("reflect_init")
REFLECT_UPDATE_PROMPT = _read("reflect_update")
PROFILE_INIT_PROMPT = _read("profile_init")
PROFILE_UPDATE_PROMPT = _read("profile_update")
PROFILE_COMPACT_PROMPT = _read("profile_compact")
PROFILE_REGROUP_PROMPT = _read("profile_regroup")
