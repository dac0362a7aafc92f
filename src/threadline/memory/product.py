"""`Product`: what every memory has, whatever it says: an id, the messages it comes from, and what the host adds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.errors import InvalidInputError
from threadline.journal.canonical import canonical_json
from threadline.journal.frozen import FrozenMap, freeze, thaw

__all__ = ["Method", "Product", "Source", "derived_id", "folded", "merged_sources"]

Method: TypeAlias = Literal["model", "extractive"]
"""Who wrote a memory: a model, or nobody: it is made of quotes, and a model can do it again."""

_ID_BYTES = 12
"""As for messages: 2^48 until two ids are expected to agree."""

_NOTHING = FrozenMap()
_QUOTED = re.compile(r"value '.*'", re.DOTALL)
"""Where msgspec repeats what it was given."""


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, or a piece of one, that a memory comes from.

    Attributes:
        message_id: as `messages.message_id` gives it.
        speaker: who said it: a name, else the sender's id.
        start, end: code points of the message's `content`; None for all of it.
    """

    message_id: str
    speaker: str = ""
    start: int | None = None
    end: int | None = None


def folded(text: str) -> str:
    """The text without differences of case and white space: by this two descriptions are the same."""
    return " ".join(text.casefold().split())


def derived_id(prefix: str, *identity: object) -> str:
    """An id made of what a thing says, the same wherever it is computed."""
    return f"{prefix}_{hashlib.blake2b(canonical_json(identity), digest_size=_ID_BYTES).hexdigest()}"


def merged_sources(*several: Iterable[Source]) -> tuple[Source, ...]:
    """All sources, each once, in the order they are first named."""
    return tuple(dict.fromkeys(source for sources in several for source in sources))


class Product(Struct, frozen=True, kw_only=True):
    """What all memories have.

    Attributes:
        id: made of what it says where none is given; it stays when a later one rewrites or ends it.
        sources: the messages it comes from.
        created_at_ms: when it was made; None where the host did not say.
        method: who wrote it.
        extras: the host's own keys. They are kept through updates and stand beside the others in `as_dict`.
    """

    PREFIX: ClassVar[str]

    id: str = ""
    sources: tuple[Source, ...] = ()
    created_at_ms: int | None = None
    method: Method = "model"
    extras: Mapping[str, Any] = _NOTHING

    def __post_init__(self) -> None:
        force_setattr(self, "extras", freeze(self.extras))
        force_setattr(self, "sources", tuple(self.sources))
        if not self.id:
            force_setattr(self, "id", derived_id(self.PREFIX, *self.identity()))

    def identity(self) -> tuple[object, ...]:
        """What the id is made of: JSON values."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; the host's keys among the others.

        Raises:
            InvalidInputError: a key of the host's is a field's name.
        """
        plain = msgspec.to_builtins(self)
        return _flat(plain, type(self).__name__)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The memory that `as_dict` wrote; keys that are no field's are the host's.

        Raises:
            InvalidInputError: a field is missing or of another type; names it.
        """
        try:
            return msgspec.convert(cls._nested(plain), cls)
        except msgspec.ValidationError as error:
            described = _QUOTED.sub("value", str(error))
        raise InvalidInputError(f"{cls.__name__}: {described}", type=cls.__name__)

    @classmethod
    def _nested(cls, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of fields as they are, all others under `extras`."""
        own = {key: thaw(value) for key, value in plain.items() if key in cls.__struct_fields__}
        extras = {key: value for key, value in plain.items() if key not in cls.__struct_fields__}
        return {**own, "extras": {**own.get("extras", {}), **extras}} if extras else own


def _flat(plain: dict[str, Any], owner: str) -> dict[str, Any]:
    """The memory's keys and the host's, side by side; so in its items too."""
    extras: dict[str, Any] = thaw(plain.pop("extras", {}))
    if clash := sorted(extras.keys() & plain.keys()):
        raise InvalidInputError(f"{owner}: extras may not hold the field {clash[0]}", key=clash[0])
    return {**plain, **extras}
