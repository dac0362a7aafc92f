"""What models are expected to reply. This module loads pydantic and is imported where a model is called."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from threadline.ports.replies import StrictOutputModel

__all__ = [
    "EpisodeReply",
    "FactItem",
    "FactList",
    "FactsReply",
    "ForesightItem",
    "ForesightReply",
    "SummaryReply",
    "Text",
]


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, AfterValidator(_said)]
"""A text that says something."""


class EpisodeReply(StrictOutputModel):
    """An account; its title last, when the model knows what it has written."""

    content: Text
    summary: Text
    title: Text


class SummaryReply(StrictOutputModel):
    """The gist of a text."""

    summary: Text


class FactItem(StrictOutputModel):
    """A fact with what makes it comparable and traceable."""

    fact: str
    subject: str = ""
    relation: str = ""
    messages: list[int] = Field(default_factory=list[int])


class FactList(StrictOutputModel):
    """Facts, plain or with more; `time` is what older scripts still give and nobody reads."""

    atomic_fact: list[str | FactItem]
    time: str = ""


class FactsReply(StrictOutputModel):
    """The facts of a conversation or a text."""

    atomic_facts: FactList


class ForesightItem(StrictOutputModel):
    """What can be expected; the last three may be null."""

    content: str
    evidence: str
    start_time: str | None
    end_time: str | None
    duration_days: int | None


class ForesightReply(StrictOutputModel):
    """What can be expected."""

    foresights: list[ForesightItem]
