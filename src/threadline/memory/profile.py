"""`Profile`: what is known of a person, as items that each have a date and their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from threadline.memory.product import Product, folded

__all__ = ["ExplicitInfoItem", "ImplicitTraitItem", "Profile", "ProfileItem", "summary_of"]

NO_SUMMARY = "(no summary)"
"""The summary of a profile that says nothing."""


class ExplicitInfoItem(Product, frozen=True, kw_only=True):
    """Something a person said of themselves.

    Attributes:
        description: the statement.
        category: its label.
        evidence: what was said.
        observed_at: when that was said, milliseconds since the epoch, UTC; None where nobody said.
    """

    PREFIX: ClassVar[str] = "info"

    description: str
    category: str | None = None
    evidence: str | None = None
    observed_at: int | None = None

    def identity(self) -> tuple[object, ...]:
        """What it says."""
        return (folded(self.description),)

    @property
    def label(self) -> str | None:
        """`category`, under the name that both kinds of items share."""
        return self.category

    @property
    def grounding(self) -> str | None:
        """`evidence`, under the name that both kinds of items share."""
        return self.evidence

    def saying(self, description: str, label: str | None, grounding: str | None) -> ExplicitInfoItem:
        """The item with other texts."""
        return msgspec.structs.replace(self, description=description, category=label, evidence=grounding)


class ImplicitTraitItem(Product, frozen=True, kw_only=True):
    """Something that a person's choices show.

    Attributes:
        description: the statement.
        trait: its label.
        basis: which choices.
        observed_at: when the last of them was seen, milliseconds since the epoch, UTC; None where nobody said.
    """

    PREFIX: ClassVar[str] = "trait"

    description: str
    trait: str | None = None
    basis: str | None = None
    observed_at: int | None = None

    def identity(self) -> tuple[object, ...]:
        """What it says."""
        return (folded(self.description),)

    @property
    def label(self) -> str | None:
        """`trait`, under the name that both kinds of items share."""
        return self.trait

    @property
    def grounding(self) -> str | None:
        """`basis`, under the name that both kinds of items share."""
        return self.basis

    def saying(self, description: str, label: str | None, grounding: str | None) -> ImplicitTraitItem:
        """The item with other texts."""
        return msgspec.structs.replace(self, description=description, trait=label, basis=grounding)


ProfileItem: TypeAlias = ExplicitInfoItem | ImplicitTraitItem


def summary_of(explicit_info: tuple[ExplicitInfoItem, ...], implicit_traits: tuple[ImplicitTraitItem, ...]) -> str:
    """The first description that says something, statements before traits; a trait without one lends its label."""
    said = [item.description for item in explicit_info]
    said += [item.description if item.description.strip() else item.trait or "" for item in implicit_traits]
    return next((text.strip() for text in said if text.strip()), NO_SUMMARY)


class Profile(Product, frozen=True, kw_only=True):
    """What is known of one owner; its id is made of the owner's alone.

    Attributes:
        owner_id: whose profile it is.
        summary: its first statement; worked out where it is not given.
        timestamp: when the latest thing it knows of was said, milliseconds since the epoch, UTC; 0 where nobody said.
        explicit_info: what the owner said of themselves.
        implicit_traits: what their choices show.
    """

    PREFIX: ClassVar[str] = "profile"

    owner_id: str
    summary: str = ""
    timestamp: int
    explicit_info: tuple[ExplicitInfoItem, ...] = ()
    implicit_traits: tuple[ImplicitTraitItem, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "explicit_info", tuple(self.explicit_info))
        force_setattr(self, "implicit_traits", tuple(self.implicit_traits))
        if not self.summary.strip():
            force_setattr(self, "summary", summary_of(self.explicit_info, self.implicit_traits))
        super().__post_init__()

    def identity(self) -> tuple[object, ...]:
        """Whose it is."""
        return (self.owner_id,)

    def as_dict(self) -> dict[str, Any]:
        """As of every product; the items' own extra keys stand among their others too."""
        plain = super().as_dict()
        plain["explicit_info"] = [item.as_dict() for item in self.explicit_info]
        plain["implicit_traits"] = [item.as_dict() for item in self.implicit_traits]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """As of every product.

        Raises:
            InvalidInputError: a field is missing or of another type; names it.
        """
        items = {
            "explicit_info": [ExplicitInfoItem.from_dict(item) for item in plain.get("explicit_info", ())],
            "implicit_traits": [ImplicitTraitItem.from_dict(item) for item in plain.get("implicit_traits", ())],
        }
        bare = super().from_dict({key: value for key, value in plain.items() if key not in items})
        return msgspec.structs.replace(bare, **items)
