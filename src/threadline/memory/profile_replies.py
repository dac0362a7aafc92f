"""What models are expected to reply of profiles. This module loads pydantic and is imported where a model is called."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from threadline.ports.replies import StrictOutputModel

__all__ = [
    "Add",
    "CompactReply",
    "Delete",
    "ExplicitData",
    "ExplicitGroupReply",
    "InitReply",
    "ItemData",
    "NotedCompactReply",
    "NotedExplicitGroupReply",
    "NotedTraitGroupReply",
    "NotedUpdateReply",
    "Nothing",
    "Operation",
    "TraitData",
    "TraitGroupReply",
    "Update",
    "UpdateReply",
]


class _Data(StrictOutputModel):
    description: str
    narrative: int | None = None
    merges: list[int] = Field(default_factory=list[int])


class ExplicitData(_Data):
    """What the owner said of themselves."""

    evidence: str
    category: str

    @property
    def label(self) -> str:
        """Its label."""
        return self.category

    @property
    def grounding(self) -> str:
        """What was said."""
        return self.evidence


class TraitData(_Data):
    """What the owner's choices show; scripts may leave out which."""

    basis: str = ""
    trait: str

    @property
    def label(self) -> str:
        """Its label."""
        return self.trait

    @property
    def grounding(self) -> str:
        """Which choices."""
        return self.basis


ItemData: TypeAlias = ExplicitData | TraitData


class InitReply(StrictOutputModel):
    """A first profile."""

    explicit_info: list[ExplicitData]
    implicit_traits: list[TraitData]


class _OnItems(StrictOutputModel):
    type: str


class _WithData(_OnItems):
    data: ExplicitData | TraitData

    @model_validator(mode="after")
    def _fits_its_list(self) -> _WithData:
        known = self.type in ("explicit_info", "implicit_traits")
        if known and isinstance(self.data, ExplicitData) != (self.type == "explicit_info"):
            raise ValueError("data is not of the shape of its list")
        return self


class Add(_WithData):
    """A new item."""

    action: Literal["add"]


class Update(_WithData):
    """Another text for an item; an index that is no number of an item is not obeyed."""

    action: Literal["update"]
    index: int | bool


class Delete(_OnItems):
    """An item to drop."""

    action: Literal["delete"]
    index: int | bool
    reason: str
    narrative: int | None = None


class Nothing(StrictOutputModel):
    """All stays."""

    action: Literal["none"]


Operation: TypeAlias = Add | Update | Delete | Nothing


class UpdateReply(StrictOutputModel):
    """What changes in a profile."""

    operations: list[Annotated[Operation, Field(discriminator="action")]]


class NotedUpdateReply(UpdateReply):
    """The same, with a word on it."""

    update_note: str


class CompactReply(InitReply):
    """A shorter profile."""


class NotedCompactReply(CompactReply):
    """The same, with a word on it."""

    compact_note: str


class ExplicitGroupReply(StrictOutputModel):
    """The statements of one label anew."""

    items: list[ExplicitData]


class NotedExplicitGroupReply(ExplicitGroupReply):
    """The same, with a word on it."""

    regroup_note: str


class TraitGroupReply(StrictOutputModel):
    """The traits of one label anew."""

    items: list[TraitData]


class NotedTraitGroupReply(TraitGroupReply):
    """The same, with a word on it."""

    regroup_note: str
