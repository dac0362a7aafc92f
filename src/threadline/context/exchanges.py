"""Conversation groups that a policy made itself: whether they are messages that a provider would take."""

from __future__ import annotations

import json
from collections.abc import Sequence

from threadline.context.items import ConversationItem
from threadline.context.layout import block_of
from threadline.context.rendering import render
from threadline.errors import InvalidInputError
from threadline.messages.message import Dialect, Message
from threadline.messages.shapes import is_object

__all__ = ["check_generated"]

_PROTOCOL = frozenset({"assistant_message", "tool_message"})


def check_generated(group: Sequence[ConversationItem], dialect: Dialect) -> None:
    """Whether a group of the policy's own keeps to the rules of tool calls and says what its fields say.

    Raises:
        InvalidInputError: it does not; `fields["rule"]` is one of V11, V12, V17, V18.
    """
    _pairing(group)
    for item in group:
        if item.kind in _PROTOCOL and (item.calls or item.answers) and item.content_format != "json":
            raise _refused("V18", "a message of a tool exchange must be a wire object", item)
        if item.kind not in _PROTOCOL and (item.tool_call_ids or item.tool_call_id):
            raise _refused("V18", f"kind {item.kind!r} carries no call ids", item)
        if item.kind == "tool_result":
            raise _refused("V18", "a raw tool result is no message", item)
        if item.content_format == "json" and not is_object(item.content):
            raise _refused("V18", "its content must be a wire object", item)
    try:
        rendered = render([block_of(item) for item in group], dialect)
    except InvalidInputError as error:
        raise InvalidInputError(str(error), rule="V18", item=error.fields.get("item")) from error
    for number, message in rendered.messages:
        if group[number].content_format == "json":
            _agreement(group[number], message)


def _pairing(group: Sequence[ConversationItem]) -> None:
    is_exchange = any(item.calls or item.is_result for item in group)
    stranger = next((item for item in group if is_exchange and item.kind not in _PROTOCOL), None)
    if stranger is not None:
        raise _refused("V17", f"kind {stranger.kind!r} does not belong in a tool exchange", stranger)
    answers = _answers(group)
    made: dict[str, int] = {}
    for place, item in enumerate(group):
        for call in item.calls:
            if call in made:
                raise _refused("V12", "makes a call whose id is in use", item)
            if call not in answers:
                raise _refused("V12", "makes a call that has no answer", item)
            made[call] = place
    for call, place in answers.items():
        if made.get(call, place) >= place:
            rule, reason = (
                ("V17", "stands before its call") if call in made else ("V12", "answers no call of its group")
            )
            raise _refused(rule, reason, group[place])


def _answers(group: Sequence[ConversationItem]) -> dict[str, int]:
    """The place of each call's answer."""
    answers: dict[str, int] = {}
    for place, item in enumerate(group):
        if item.is_result and not item.answers:
            raise _refused("V11", "a tool message names no call", item)
        for call in item.answers:
            if call in answers:
                raise _refused("V11", "its call is answered twice", item)
            answers[call] = place
    return answers


def _agreement(item: ConversationItem, message: Message) -> None:
    """The wire object must say what the item's fields say."""
    if message.role != item.role and not (item.role == "tool" and message.tool_results):
        raise _refused("V18", f"its content has the role {message.role!r}, the item {item.role!r}", item)
    calls = tuple(call.id for call in message.tool_calls)
    if calls != item.calls:
        raise _refused("V18", "its content makes other calls than the item names", item)
    if tuple(result.call_id for result in message.tool_results) != item.answers:
        raise _refused("V18", "its content answers other calls than the item names", item)
    for call in message.tool_calls:
        if not call.name or call.local:
            raise _refused("V18", "a call needs an id and a name", item)
        try:
            arguments: object = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        if not is_object(arguments):
            raise _refused("V18", "a call's arguments must be a JSON object", item)


def _refused(rule: str, reason: str, item: ConversationItem) -> InvalidInputError:
    return InvalidInputError(f"item {item.id}: {reason}", rule=rule, item=item.id)
