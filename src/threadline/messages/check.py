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
from threadline.messages.message import Dialect, Message, Request, known_dialect
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

__all__ = ["Checker", "Rule", "Violation", "check_conversation"]

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


def check_conversation(
    value: Any, provider: Dialect | None = None, *, dialect: Dialect | None = None
) -> tuple[Violation, ...]:
    """Every violation of a provider's shape rules, in the order of the messages.

    Args:
        value: a `Request`, a request body, or a message list.
        provider: whose rules; None means those of the dialect it is written in. Plain messages have OpenAI's.
        dialect: the dialect it is written in; None finds it out.

    Raises:
        InvalidInputError: the value cannot be read at all.
    """
    request = decode(value, dialect)
    checker = Checker(request, provider)
    for message in request.messages:
        checker.feed(message)
    return checker.finish()


class Checker:
    """Checks a conversation message by message; it keeps no message but the last.

    Args:
        frame: what is around the messages: dialect, system, and the body they are in; its own messages are not read.
        provider: whose rules; None means those of the dialect.
    """

    def __init__(self, frame: Request, provider: Dialect | None = None) -> None:
        self._provider: Dialect = frame.dialect if provider is None else known_dialect(provider, "provider")
        self._native = frame.dialect == self._provider
        self._exchanges = _Exchanges(self._provider)
        self._known_elsewhere = _is_continued(frame.wire)
        self._found = [*_blank_system(frame)] if self._provider == "anthropic" else []
        self._count = 0
        self._previous: Message | None = None
        self._has_user = False
        self._first: tuple[int, Message] | None = None

    def feed(self, message: Message) -> None:
        """Check the next message."""
        index, provider = self._count, self._provider
        self._follow(message)
        if self._native:
            self._found += _roles(message, index, provider)
        self._found += _ids(message, index, provider)
        self._found += self._exchanges.feed(message, index)
        match provider:
            case "plain" | "openai":
                self._found += _chat_content(message, index)
            case "responses":
                self._known_elsewhere = self._known_elsewhere or _refers_elsewhere(message)
            case "anthropic":
                self._found += _anthropic_content(message, index)
            case "google":
                self._found += _google_content(message, index)
            case _:
                assert_never(provider)
        if self._native or message.role not in ("system", "developer"):
            self._has_user = self._has_user or message.role in ("user", "tool")
            self._first = self._first or (index, message)
        self._previous = message
        self._count += 1

    def _follow(self, message: Message | None) -> None:
        """What the previous message may be followed by; None for the end."""
        previous, index = self._previous, self._count
        if previous is None:
            return
        if self._provider == "google" and message is not None and message.tool_calls and previous.role == "assistant":
            # Google says: "function call turn comes immediately after a user turn or after a function response turn"
            reason = "a function call turn must follow a user turn or a function response turn"
            self._found.append(Violation(index=index, rule="alternation", reason=reason))
        if self._provider == "responses" and _is_reasoning(previous) and (not message or message.role != "assistant"):
            # OpenAI says: "Item 'rs_...' of type 'reasoning' was provided without its required following item"
            reason = "a reasoning item must be followed by the item it led to"
            self._found.append(Violation(index=index - 1, rule="reasoning_pair", reason=reason))
        if self._provider == "anthropic" and _is_empty(previous) and (message or previous.role != "assistant"):
            # "all messages must have non-empty content except for the optional final assistant message"
            reason = "content must not be empty"
            self._found.append(Violation(index=index - 1, rule="empty_content", reason=reason))

    def finish(self) -> tuple[Violation, ...]:
        """Everything found, in the order of the messages; what concerns the whole request comes first."""
        self._follow(None)
        found = self._found + self._exchanges.unanswered()
        if self._known_elsewhere:
            found = [violation for violation in found if violation.rule != "orphan_result"]
        if self._provider in ("anthropic", "google"):
            found += _turns(self._first, has_user=self._has_user)
        return tuple(sorted(found, key=lambda violation: -1 if violation.index is None else violation.index))


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


def _roles(message: Message, index: int, provider: Dialect) -> Iterator[Violation]:
    role = message.wire.get("role") if is_object(message.wire) else None
    if isinstance(role, str) and role not in _ROLES[provider]:
        yield Violation(index=index, rule="unknown_role", reason=f"{provider} knows no such role")


def _is_legacy(message: Message, part: ToolCallPart | ToolResultPart) -> bool:
    """`function_call` and role `function`: OpenAI never paired them, so neither ids nor order are asked for."""
    if isinstance(part, ToolCallPart):
        return "function_call" in part.path
    return is_object(message.wire) and message.wire.get("role") == "function"


def _ids(message: Message, index: int, provider: Dialect) -> Iterator[Violation]:
    for part in (*message.tool_calls, *message.tool_results):
        what = "call" if isinstance(part, ToolCallPart) else "result"
        if provider == "google":
            # "function_response.name: Name cannot be empty"; ids are optional
            if not part.name:
                yield Violation(index=index, rule="missing_id", reason=f"a function {what} needs the function's name")
        elif _is_legacy(message, part) and provider in ("plain", "openai"):
            if not part.name:
                yield Violation(index=index, rule="missing_id", reason="a function message needs a name")
        elif part.local:
            # `id`, `tool_call_id`, `call_id`, `tool_use_id` are Required in the vendors' types
            yield Violation(index=index, rule="missing_id", reason=f"a tool {what} needs an id")


class _Open(Struct, kw_only=True):
    """A call and whether its result has been seen."""

    index: int
    answered: bool = False


class _Exchanges:
    """Pairs every result with the nearest preceding open call of its id, and tells what does not pair.

    OpenAI chat: "An assistant message with 'tool_calls' must be followed by tool messages responding to each
    'tool_call_id'", "Duplicate value for 'tool_call_id' ... in messages[7] and messages[8]".

    Anthropic: "`tool_use` ids were found without `tool_result` blocks immediately after", "unexpected `tool_use_id`
    found in `tool_result` blocks", "each tool_use must have a single result", "`tool_use` ids must be unique".

    Google: "function response turn comes immediately after a function call turn", "number of function response parts is
    equal to the number of function call parts of the function call turn".

    Responses: "No tool output found for function call", "No tool call found for function call output".
    """

    def __init__(self, provider: Dialect) -> None:
        self._provider: Dialect = provider
        self._calls: dict[str, list[_Open]] = {}
        self._run: str = ""
        self._run_start = 0
        self._assistants_start = 0
        self._mixed = False

    def feed(self, message: Message, index: int) -> Iterator[Violation]:
        self._enter(message, index)
        made: set[str] = set()
        for part in message.parts:
            self._mixed = self._mixed or not isinstance(part, ToolResultPart)
            if not isinstance(part, ToolCallPart | ToolResultPart) or part.server:
                continue
            if self._provider in ("plain", "openai") and _is_legacy(message, part):
                continue
            if isinstance(part, ToolResultPart):
                yield from self._result(part, index)
                continue
            earlier = self._calls.setdefault(part.id, [])
            if self._is_duplicate(part.id, earlier, made):
                yield Violation(index=index, rule="duplicate_call_id", reason="the call's id is in use already")
            made.add(part.id)
            earlier.append(_Open(index=index))

    def _enter(self, message: Message, index: int) -> None:
        """Where the run of messages of one side begins; for Anthropic a result is the user's side."""
        side = "user" if self._provider == "anthropic" and message.role == "tool" else message.role
        if side != self._run or index == 0:
            self._assistants_start = self._run_start if self._run == "assistant" else index
            self._run, self._run_start, self._mixed = side, index, False

    def _is_duplicate(self, id: str, earlier: Sequence[_Open], made: set[str]) -> bool:
        match self._provider:
            case "plain" | "openai":
                return id in made
            case "anthropic":
                return bool(earlier)
            case "responses":
                return any(not call.answered for call in earlier)
            case "google":
                return False

    def _result(self, part: ToolResultPart, index: int) -> Iterator[Violation]:
        calls = self._calls.get(part.call_id, [])
        call = next((call for call in reversed(calls) if not call.answered), None)
        if call is None:
            if calls:
                yield Violation(index=index, rule="duplicate_result", reason="the call has a result already")
            else:
                yield Violation(index=index, rule="orphan_result", reason="no call before it has this id")
            return
        call.answered = True
        if not self._adjoins(call.index, index):
            where = "in the next turn" if self._provider in ("anthropic", "google") else "right after its call"
            yield Violation(index=index, rule="result_not_adjacent", reason=f"the result must stand {where}")
        elif self._provider == "anthropic" and self._mixed:
            # docs, "Handle tool calls": tool_result blocks come first in the content array, text after them
            reason = "results must come before the other blocks of their turn"
            yield Violation(index=index, rule="result_not_adjacent", reason=reason)

    def _adjoins(self, call: int, index: int) -> bool:
        """True where the provider takes the result of a call, for a result in the current message."""
        match self._provider:
            case "responses":
                return index > call
            case "google":
                return index == call + 1
            case "plain" | "openai":
                return self._run == "tool" and self._run_start <= call + 1
            case "anthropic":
                return self._run == "user" and self._assistants_start <= call + 1 <= self._run_start

    def unanswered(self) -> list[Violation]:
        return [
            Violation(index=call.index, rule="unanswered_call", reason="the call has no result")
            for opened in self._calls.values()
            for call in opened
            if not call.answered
        ]


def _is_continued(body: Any) -> bool:
    """True when calls may lie outside the input: in a stored response or a conversation."""
    return is_object(body) and bool(body.get("previous_response_id") or body.get("conversation"))


def _refers_elsewhere(message: Message) -> bool:
    """True for an item that stands for others, calls perhaps among them."""
    return any(isinstance(part, OpaquePart) and part.type in ("item_reference", "compaction") for part in message.parts)


def _turns(first: tuple[int, Message] | None, *, has_user: bool) -> Iterator[Violation]:
    """Who must speak first.

    Anthropic: 'first message must use the "user" role'. Google: "First content should be with role 'user'" (its
    JavaScript SDK), and a history that begins with a function call is refused.
    """
    if not has_user:
        yield Violation(index=None, rule="no_user_turn", reason="at least one user turn is needed")
    if first is not None and first[1].role not in ("user", "tool"):
        yield Violation(index=first[0], rule="first_message", reason="the first turn must be a user's")


def _chat_content(message: Message, index: int) -> Iterator[Violation]:
    """OpenAI: "Invalid value for 'content': expected a string, got null", "[] is too short - 'messages.0.content'"."""
    wire = message.wire if is_object(message.wire) else {}
    if wire.get("tool_calls") == []:
        yield Violation(index=index, rule="empty_content", reason="tool_calls must not be an empty array")
    nothing = not [part for part in message.parts if not isinstance(part, ThinkingPart)]
    if nothing or wire.get("content") == [] or any(not result.parts for result in _own_results(message)):
        yield Violation(index=index, rule="empty_content", reason="content must not be null or an empty array")


def _own_results(message: Message) -> tuple[ToolResultPart, ...]:
    """The results that carry their message's content: all but the second and later ids of a shared one."""
    return message.tool_results[:1] if message.dialect in ("plain", "openai") else message.tool_results


def _blank_system(frame: Request) -> Iterator[Violation]:
    for message in frame.system:
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        if texts and not texts[0].strip() and (texts[0] or is_object(message.wire)):
            yield Violation(index=None, rule="empty_content", reason="system text must not be blank")


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart | SummaryPart | RefusalPart)]


def _is_empty(message: Message) -> bool:
    return not message.parts or (len(message.parts) == 1 and _texts(message) == [""])


def _anthropic_content(message: Message, index: int) -> Iterator[Violation]:
    """What Anthropic refuses as empty.

    "text content blocks must be non-empty", "... must contain non-whitespace text", "user messages must have non-empty
    content". Blank text beside another block passes; so does an empty tool result.
    """
    texts = _texts(message)
    if _is_empty(message):
        return  # allowed at the very end
    if len(texts) == len(message.parts) and not any(text.strip() for text in texts):
        yield Violation(index=index, rule="empty_content", reason="text must not be blank")
    elif "" in texts:
        yield Violation(index=index, rule="empty_content", reason="text blocks must not be empty")


def _google_content(message: Message, index: int) -> Iterator[Violation]:
    """Google: "contents.parts must not be empty", "required oneof field 'data' must have one initialized field"."""
    if not message.parts:
        yield Violation(index=index, rule="empty_content", reason="parts must not be empty")
    elif any(isinstance(part, TextPart) and not part.text for part in message.parts):
        yield Violation(index=index, rule="empty_content", reason="a text part must not be empty")


def _is_reasoning(message: Message) -> bool:
    return message.dialect == "responses" and any(isinstance(part, ThinkingPart) for part in message.parts)
