"""Ids of tool calls on the way from one dialect to another."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from msgspec import Struct

from threadline.messages.losses import Loss
from threadline.messages.message import Dialect
from threadline.messages.parts import ToolCallPart, ToolResultPart

__all__ = ["Bound", "IdMap"]

_ALLOWED: dict[Dialect, re.Pattern[str] | None] = {
    # OpenAI says of longer ones: "string too long. Expected a string with maximum length 40"
    "plain": re.compile(r".{1,40}", re.DOTALL),
    "openai": re.compile(r".{1,40}", re.DOTALL),
    # OpenAI says of a longer `call_id`: "string too long. Expected a string with maximum length 64"
    "responses": re.compile(r".{1,64}", re.DOTALL),
    # Anthropic says of `tool_use.id`: "String should match pattern '^[a-zA-Z0-9_-]+$'"
    "anthropic": re.compile(r"[a-zA-Z0-9_-]+"),
    "google": None,
}


class Bound(Struct, frozen=True, kw_only=True):
    """What a result is bound to: the pairing key of its call (None for an orphan), and the call's id in the target."""

    key: int | None
    id: str | None
    name: str = ""
    custom: bool = False


class IdMap:
    """Gives every call an id that the target takes, and every result the id of its call.

    Ids stay as they are where they can. New ones are `call_<n>`, counted from 1 past those that are taken: the ids of
    all calls of the conversation.
    """

    def __init__(self, target: Dialect, taken: AbstractSet[str]) -> None:
        self._target: Dialect = target
        self._allowed = _ALLOWED[target]
        self._taken = taken
        self._used: set[str] = set()
        self._open: dict[str, list[Bound]] = {}
        self._count = 0
        self._keys = 0

    def call(self, part: ToolCallPart, index: int, losses: list[Loss], *, custom: bool) -> tuple[int, str | None]:
        """The pairing key and the target's id of a call."""
        key, self._keys = self._keys, self._keys + 1
        bound = Bound(key=key, id=self._new(part, index, losses), name=part.name, custom=custom)
        self._open.setdefault(part.id, []).append(bound)
        return key, bound.id

    def _new(self, part: ToolCallPart, index: int, losses: list[Loss]) -> str | None:
        if self._allowed is None:
            return None if part.local else part.id
        # Anthropic wants ids unique in the whole request; elsewhere a closed exchange gives its id free again.
        clash = part.id in self._used if self._target == "anthropic" else bool(self._open.get(part.id))
        if not part.local and not clash and self._allowed.fullmatch(part.id):
            self._used.add(part.id)
            return part.id
        if not part.local:
            why = "is in use already" if clash else "is not of a form it takes"
            losses.append(Loss(index=index, part="id", reason=f"replaced: the call's id {why}"))
        return self._generate()

    def _generate(self) -> str:
        while True:
            self._count += 1
            made = f"call_{self._count}"
            if made not in self._taken and made not in self._used:
                self._used.add(made)
                return made

    def result(self, part: ToolResultPart) -> Bound:
        """What a result is bound to: the nearest preceding open call of its id."""
        if waiting := self._open.get(part.call_id):
            return waiting.pop()
        if self._allowed is None:
            return Bound(key=None, id=None if part.local else part.call_id)
        kept = not part.local and self._allowed.fullmatch(part.call_id)
        return Bound(key=None, id=part.call_id if kept else self._generate())
