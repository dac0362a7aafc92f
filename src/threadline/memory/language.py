"""`OutputLanguage`: the language memories are written in, and the sentence that asks a model for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from threadline.errors import InvalidInputError

__all__ = ["OutputLanguage", "language_rule", "resolved_language"]


class OutputLanguage(StrEnum):
    """The languages that need no leave; a string in any case and with outer white space stands for one."""

    CHINESE = "Chinese"
    ENGLISH = "English"
    GERMAN = "German"
    JAPANESE = "Japanese"
    KOREAN = "Korean"
    RUSSIAN = "Russian"
    SPANISH = "Spanish"


_NAMES = {language.casefold(): language for language in OutputLanguage}
_TAG = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,4}", re.IGNORECASE | re.ASCII)
"""The BCP 47 tags that are met (RFC 5646): language, script, region, variants. Nothing in them reads as an order."""


def resolved_language(value: str | None, allowed: Collection[str] = ()) -> str | None:
    """How the language is named to a model; None where nobody asks for one.

    Args:
        value: one of the seven, or a tag.
        allowed: the tags that the host allows. The name goes into a prompt, so it is never just anybody's text.

    Raises:
        InvalidInputError: it is neither one of the seven nor allowed, or what is allowed is no tag.
    """
    tags: dict[str, str] = {}
    for tag in allowed:
        if not _TAG.fullmatch(tag):
            raise InvalidInputError("languages must be BCP 47 tags", key="languages")
        tags[tag.casefold()] = tag
    if value is None:
        return None
    asked = value.strip().casefold()
    if asked in _NAMES:
        return _NAMES[asked].value
    if asked in tags:
        return f"the language of the BCP 47 tag {tags[asked]}"
    known = ", ".join([*_NAMES.values(), *tags.values()])
    raise InvalidInputError(f"output_language must be one of {known}", key="output_language")


def language_rule(language: str | None, otherwise: str) -> str:
    """The sentences that say in which language to write.

    Args:
        language: as `resolved_language` names it.
        otherwise: what to go by where nobody asks for one.
    """
    which = f"Write in {language}, whatever language the material is in." if language else otherwise
    return f"{which} Names, ids and technical terms stay as they are written."
