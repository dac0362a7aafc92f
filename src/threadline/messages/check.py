"""`check_conversation`: what a provider would refuse in the shape of a conversation, before it is sent.

Only rules that a provider is known to enforce. OpenAI's chat endpoint takes empty strings, any first role and a
conversation without a user; Anthropic and Google take several turns of one role in a row; Responses takes an output
anywhere after its call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct

from threadline.messages.dialects import decode
from threadline.messages.message import Dialect, Message, Request
from threadline.messages.parts import (
    OpaquePart,
    RefusalPart,
    SummaryPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.shapes import is_object

__all__ = ["Rule", "Violation", "check_conversation"]

Rule: TypeAlias = Literal[
    "orphan_result",
    "unanswered_call",
    "result_not_adjacent",
    "duplicate_result",
    "duplicate_call_id",
    "empty_content",
    "first_message",
    "alternation",
    "no_user_turn",
    "unknown_role",
    "missing_id",
    "reasoning_pair",
]


class Violation(Struct, frozen=True, kw_only=True):
    """One thing a provider would refuse. `index` is the message's place, None for the request as a whole."""

    index: int | None
    rule: Rule
    reason: str


def check_conversation(value: Any, provider: Dialect | None = None) -> tuple[Violation, ...]:
    """Every violation of a provider's shape rules, in the order of the messages.

    Args:
        value: a `Request`, a request body, or a message list.
        provider: whose rules; None means those of the dialect it is written in. Plain messages have OpenAI's.

    Raises:
        InvalidInputError: the value cannot be read at all.
    """
    request = decode(value)
    found = [*_violations(request, provider or request.dialect)]
    return tuple(sorted(found, key=lambda violation: -1 if violation.index is None else violation.index))


def _violations(request: Request, provider: Dialect) -> Iterator[Violation]:
    messages = request.messages
    native = request.dialect == provider
    if native:
        yield from _roles(messages, provider)
    yield from _ids(messages, provider)
    yield from _exchanges(request, provider)
    match provider:
        case "plain" | "openai":
            yield from _chat_content(messages)
        case "responses":
            yield from _reasoning(messages)
        case "anthropic":
            yield from _turns(messages, native=native)
            yield from _anthropic_content(request)
        case "google":
            yield from _turns(messages, native=native)
            yield from _google_content(messages)
            yield from _google_order(messages)
        case _:
            assert_never(provider)


_ROLES: dict[Dialect, frozenset[str]] = {
    # OpenAI's type ChatCompletionMessageParam
    "plain": frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    "openai": frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    # OpenAI's type EasyInputMessageParam
    "responses": frozenset({"system", "developer", "user", "assistant"}),
    # Anthropic's type MessageParam; `system` after a user turn since Claude Opus 4.8
    "anthropic": frozenset({"system", "user", "assistant"}),
    # Google's reference for Content: "Must be either 'user' or 'model'"; it took `function` once, and no longer does
    "google": frozenset({"user", "model"}),
}


def _roles(messages: Sequence[Message], provider: Dialect) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        role = message.wire.get("role") if is_object(message.wire) else None
        if isinstance(role, str) and role not in _ROLES[provider]:
            yield Violation(index=index, rule="unknown_role", reason=f"{provider} knows no such role")


def _is_legacy(message: Message, part: ToolCallPart | ToolResultPart) -> bool:
    """`function_call` and role `function`: OpenAI never paired them, so neither ids nor order are asked for."""
    if isinstance(part, ToolCallPart):
        return "function_call" in part.path
    return is_object(message.wire) and message.wire.get("role") == "function"


def _ids(messages: Sequence[Message], provider: Dialect) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        for part in (*message.tool_calls, *message.tool_results):
            what = "call" if isinstance(part, ToolCallPart) else "result"
            if provider == "google":
                # "function_response.name: Name cannot be empty"; ids are optional
                if not part.name:
                    yield Violation(
                        index=index, rule="missing_id", reason=f"a function {what} needs the function's name"
                    )
            elif _is_legacy(message, part) and provider in ("plain", "openai"):
                if not part.name:
                    yield Violation(index=index, rule="missing_id", reason="a function message needs a name")
            elif part.local:
                # `id`, `tool_call_id`, `call_id`, `tool_use_id` are Required in the vendors' types
                yield Violation(index=index, rule="missing_id", reason=f"a tool {what} needs an id")


class _Open(Struct, kw_only=True):
    """A call while its result is looked for; `zone` holds the messages where the provider takes the result."""

    index: int
    zone: range
    answered: bool = False


def _exchanges(request: Request, provider: Dialect) -> Iterator[Violation]:
    """Pairs every result with the nearest preceding open call of its id, and tells what does not pair.

    OpenAI chat: "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    'tool_call_id'", "Duplicate value for 'tool_call_id' ... in messages[7] and messages[8]".

    Anthropic: "`tool_use` ids were found without `tool_result` blocks immediately after", "unexpected `tool_use_id`
    found in `tool_result` blocks", "each tool_use must have a single result", "`tool_use` ids must be unique".

    Google: "function response turn comes immediately after a function call turn", "number of function response parts is
    equal to the number of function call parts of the function call turn".

    Responses: "No tool output found for function call", "No tool call found for function call output".
    """
    messages = request.messages
    calls: dict[str, list[_Open]] = {}
    seen_elsewhere = provider == "responses" and _continues(request)
    for index, message in enumerate(messages):
        zone = _zone(messages, index, provider) if message.tool_calls else range(0)
        made: set[str] = set()
        for part in message.parts:
            if not isinstance(part, ToolCallPart | ToolResultPart) or part.server:
                continue
            if provider in ("plain", "openai") and _is_legacy(message, part):
                continue
            if isinstance(part, ToolResultPart):
                yield from _result(part, index, calls.get(part.call_id, []), messages, provider, known=seen_elsewhere)
                continue
            earlier = calls.setdefault(part.id, [])
            if _is_duplicate(part.id, earlier, made, provider):
                yield Violation(index=index, rule="duplicate_call_id", reason="the call's id is in use already")
            made.add(part.id)
            earlier.append(_Open(index=index, zone=zone))
    for opened in calls.values():
        for call in opened:
            if not call.answered:
                yield Violation(index=call.index, rule="unanswered_call", reason="the call has no result")


def _is_duplicate(id: str, earlier: Sequence[_Open], made: set[str], provider: Dialect) -> bool:
    match provider:
        case "plain" | "openai":
            return id in made
        case "anthropic":
            return bool(earlier)
        case "responses":
            return any(not call.answered for call in earlier)
        case "google":
            return False


def _continues(request: Request) -> bool:
    """True when calls may lie outside the input: in a stored response, a conversation, or behind an item reference."""
    body: Any = request.wire
    if is_object(body) and (body.get("previous_response_id") or body.get("conversation")):
        return True
    return any(
        isinstance(part, OpaquePart) and part.type in ("item_reference", "compaction")
        for message in request.messages
        for part in message.parts
    )


def _result(
    part: ToolResultPart,
    index: int,
    calls: Sequence[_Open],
    messages: Sequence[Message],
    provider: Dialect,
    *,
    known: bool,
) -> Iterator[Violation]:
    call = next((call for call in reversed(calls) if not call.answered), None)
    if call is None:
        if calls:
            yield Violation(index=index, rule="duplicate_result", reason="the call has a result already")
        elif not known:
            yield Violation(index=index, rule="orphan_result", reason="no call before it has this id")
        return
    call.answered = True
    if index not in call.zone:
        where = "in the next turn" if provider in ("anthropic", "google") else "right after its call"
        yield Violation(index=index, rule="result_not_adjacent", reason=f"the result must stand {where}")
    elif provider == "anthropic" and not _comes_first(part, messages, range(call.zone.start, index + 1)):
        # docs, "Handle tool calls": tool_result blocks come first in the content array, text after them
        reason = "results must come before the other blocks of their turn"
        yield Violation(index=index, rule="result_not_adjacent", reason=reason)


def _comes_first(part: ToolResultPart, messages: Sequence[Message], turn: range) -> bool:
    for index in turn:
        for other in messages[index].parts:
            if other is part:
                return True
            if not isinstance(other, ToolResultPart):
                return False
    return True


def _zone(messages: Sequence[Message], index: int, provider: Dialect) -> range:
    """The messages in which the results of the calls of message `index` may stand."""
    start = index + 1
    match provider:
        case "responses":
            return range(start, len(messages))
        case "google":
            return range(start, start + 1)
        case "plain" | "openai":
            return range(start, _run(messages, start, "tool"))
        case "anthropic":
            start = _run(messages, start, "assistant")
            return range(start, _run(messages, start, "user"))


def _run(messages: Sequence[Message], start: int, side: str) -> int:
    """Where the run of messages of one side that begins at `start` ends."""
    end = start
    while end < len(messages) and (messages[end].role == side or (side == "user" and messages[end].role == "tool")):
        end += 1
    return end


def _turns(messages: Sequence[Message], *, native: bool) -> Iterator[Violation]:
    """Who must speak first.

    Anthropic: 'first message must use the "user" role'. Google: "First content should be with role 'user'" (its
    JavaScript SDK), and a history that begins with a function call is refused.
    """
    apart = () if native else ("system", "developer")
    spoken = [(index, message) for index, message in enumerate(messages) if message.role not in apart]
    if not any(message.role in ("user", "tool") for _, message in spoken):
        yield Violation(index=None, rule="no_user_turn", reason="at least one user turn is needed")
    if spoken and spoken[0][1].role not in ("user", "tool"):
        yield Violation(index=spoken[0][0], rule="first_message", reason="the first turn must be a user's")


def _chat_content(messages: Sequence[Message]) -> Iterator[Violation]:
    """OpenAI: "Invalid value for 'content': expected a string, got null", "[] is too short - 'messages.0.content'"."""
    for index, message in enumerate(messages):
        wire = message.wire if is_object(message.wire) else {}
        if wire.get("tool_calls") == []:
            yield Violation(index=index, rule="empty_content", reason="tool_calls must not be an empty array")
        nothing = not [part for part in message.parts if not isinstance(part, ThinkingPart)]
        if nothing or wire.get("content") == [] or any(not result.parts for result in _own_results(message)):
            yield Violation(index=index, rule="empty_content", reason="content must not be null or an empty array")


def _own_results(message: Message) -> tuple[ToolResultPart, ...]:
    """The results that carry their message's content: all but the second and later ids of a shared one."""
    return message.tool_results[:1] if message.dialect in ("plain", "openai") else message.tool_results


def _anthropic_content(request: Request) -> Iterator[Violation]:
    """What Anthropic refuses as empty.

    "text content blocks must be non-empty", "... must contain non-whitespace text", "user messages must have non-empty
    content", and (older models and hosts) "all messages must have non-empty content except for the optional final
    assistant message". Blank text beside another block passes; so does an empty tool result.
    """
    for message in request.system:
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        if texts and not texts[0].strip() and (texts[0] or is_object(message.wire)):
            yield Violation(index=None, rule="empty_content", reason="system text must not be blank")
    last = len(request.messages) - 1
    for index, message in enumerate(request.messages):
        texts = [part for part in message.parts if isinstance(part, TextPart | SummaryPart | RefusalPart)]
        final = index == last and message.role == "assistant"
        if not message.parts or (len(texts) == len(message.parts) == 1 and not texts[0].text):
            if not final:
                yield Violation(index=index, rule="empty_content", reason="content must not be empty")
        elif len(texts) == len(message.parts) and not any(part.text.strip() for part in texts):
            yield Violation(index=index, rule="empty_content", reason="text must not be blank")
        elif any(not part.text for part in texts):
            yield Violation(index=index, rule="empty_content", reason="text blocks must not be empty")


def _google_content(messages: Sequence[Message]) -> Iterator[Violation]:
    """Google: "contents.parts must not be empty", "required oneof field 'data' must have one initialized field"."""
    for index, message in enumerate(messages):
        if not message.parts:
            yield Violation(index=index, rule="empty_content", reason="parts must not be empty")
        elif any(isinstance(part, TextPart) and not part.text for part in message.parts):
            yield Violation(index=index, rule="empty_content", reason="a text part must not be empty")


def _google_order(messages: Sequence[Message]) -> Iterator[Violation]:
    """Google: "function call turn comes immediately after a user turn or after a function response turn"."""
    for index, message in enumerate(messages[1:], start=1):
        if message.tool_calls and messages[index - 1].role == "assistant":
            reason = "a function call turn must follow a user turn or a function response turn"
            yield Violation(index=index, rule="alternation", reason=reason)


def _reasoning(messages: Sequence[Message]) -> Iterator[Violation]:
    """Responses: "Item 'rs_...' of type 'reasoning' was provided without its required following item"."""
    for index, message in enumerate(messages):
        if not _is_reasoning(message):
            continue
        following = messages[index + 1] if index + 1 < len(messages) else None
        if following is None or following.role != "assistant":
            reason = "a reasoning item must be followed by the item it led to"
            yield Violation(index=index, rule="reasoning_pair", reason=reason)


def _is_reasoning(message: Message) -> bool:
    return message.dialect == "responses" and any(isinstance(part, ThinkingPart) for part in message.parts)
