"""What an operator expects of a model's reply: a strict class, one way to read it, and an opt-in way to save it.

This module loads pydantic and is therefore not imported by `threadline.ports` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from threadline.errors import LLMOutputError
from threadline.messages.shapes import is_array, is_object
from threadline.text.fences import fence_spans

__all__ = ["StrictOutputModel", "describe_errors", "parse_reply", "recover_reply"]

Reply = TypeVar("Reply", bound=BaseModel)


class StrictOutputModel(BaseModel):
    """A reply taken at its word: no conversion of types, no key that was not asked for, no NaN."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def parse_reply(model: type[Reply], text: str, *, operator: str) -> Reply:
    """The reply as an instance of its class.

    White space around the JSON object is all that is forgiven.

    Args:
        model: the class that was asked for.
        text: what the model said.
        operator: who asked; the error names it.

    Raises:
        LLMOutputError: `<operator> reply is not a valid <Model>: <where>: <what>; ...`. `fields` holds `operator` and
            `model`. Neither the message nor a chained exception holds anything the model said.
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        described = describe_errors(error)
    # Raised out here so that the ValidationError, which quotes the reply, is not its context.
    raise _refused(model, operator, described)


def recover_reply(model: type[Reply], text: str, *, operator: str) -> Reply:
    """`parse_reply` for models that wrap their answer; what is inside the wrapping is read as strictly.

    Taken off, in this order and in any combination: thoughts in front (up to a closing `</think>` or the like), a
    Markdown fence (the only one, whatever stands around it), and an array around a single object.

    Raises:
        LLMOutputError: as `parse_reply`, about the reply without its wrapping.
    """
    described = ""
    for bare in _unwrapped(text):
        try:
            return model.model_validate_json(bare)
        except ValidationError as error:
            described = describe_errors(error)
    raise _refused(model, operator, described)


_THOUGHTS_END = re.compile(r"</\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)


def _unwrapped(text: str) -> Iterator[str]:
    """The reply, then what follows the first and the last end of thoughts; of each first the inside of its only fence.

    The first, since what is said may name such a tag; the last, since the thoughts may. No more, since a hostile reply
    can be made of them.
    """
    ends = [found.end() for found in _THOUGHTS_END.finditer(text)]
    for start in (0, *ends[:1], *ends[1:][-1:]):
        rest = text[start:].strip()
        fences = fence_spans(rest)
        if len(fences) == 1 and not rest.startswith(("{", "[")):
            lines = rest[slice(*fences[0])].split("\n")
            closed = lines[-1].lstrip().startswith(("```", "~~~"))
            yield _sole("\n".join(lines[1 : -1 if closed else None]).strip())
        yield _sole(rest)


def _sole(text: str) -> str:
    """The text between the brackets of an array: JSON only if there is one element."""
    return text[1:-1] if text.startswith("[") and text.endswith("]") else text


_SHOWN = 10
"""Mistakes that one error names; a hostile reply can make thousands."""

_SAFE_NAME = re.compile(r"[A-Za-z_][\w\[\],|-]{0,63}", re.ASCII)
"""A step of a location that is shown: field names and pydantic's own marks, not sentences a model used as a key."""

_AUTHORED = frozenset({"value_error", "assertion_error"})
"""Kinds of mistakes whose text a validator of the class wrote."""


def describe_errors(error: ValidationError) -> str:
    """`where: what; where: what`, from a validation error, quoting nothing of the input; `<root>` is the whole."""
    mistakes = error.errors(include_url=False)
    shown = [f"{_place(mistake['loc'])}: {_complaint(mistake)}" for mistake in mistakes[:_SHOWN]]
    if len(mistakes) > _SHOWN:
        shown.append(f"and {len(mistakes) - _SHOWN} more")
    return "; ".join(shown)


def _place(location: tuple[int | str, ...]) -> str:
    steps = [str(step) if isinstance(step, int) or _SAFE_NAME.fullmatch(step) else "<key>" for step in location]
    return ".".join(steps) or "<root>"


def _complaint(mistake: ErrorDetails) -> str:
    """Pydantic's message, unless it repeats what it complains of."""
    kind, message, context = mistake["type"], mistake["msg"], mistake.get("ctx", {})
    if kind == "union_tag_invalid":
        return f"the tag under {context['discriminator']} is none of {context['expected_tags']}"
    if kind in _AUTHORED and any(text in message for text in _texts(mistake["input"])):
        return "Value error"
    return message


def _texts(value: Any) -> Iterator[str]:
    """Every string and number in a reply that is not blank."""
    if is_object(value):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif is_array(value):
        for inner in value:
            yield from _texts(inner)
    elif text := str(value).strip():
        yield text


def _refused(model: type[BaseModel], operator: str, described: str) -> LLMOutputError:
    name = model.__name__
    return LLMOutputError(f"{operator} reply is not a valid {name}: {described}", operator=operator, model=name)
