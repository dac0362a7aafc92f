"""`Turn`: what a message says, freed of its dialect, on the way from one to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from threadline.messages.ids import IdMap
from threadline.messages.losses import Loss
from threadline.messages.media import MediaSource, media_source, string_source, without_base64
from threadline.messages.message import Dialect, Message, Origin, Role
from threadline.messages.parts import (
    MediaPart,
    OpaquePart,
    Part,
    RefusalPart,
    SummaryPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.shapes import is_object, string
from threadline.messages.wire import dumps, get_at

__all__ = ["Call", "Media", "Piece", "Refusal", "Result", "Text", "Thought", "Turn", "read_turns"]


class Text(Struct, frozen=True):
    """Plain text."""

    text: str


class Refusal(Struct, frozen=True):
    """A model's refusal."""

    text: str


class Thought(Struct, frozen=True):
    """Unsigned thinking, under the key its chat message had; None where it had none."""

    text: str
    key: str | None


class Media(Struct, frozen=True):
    """An image, document, sound or film."""

    source: MediaSource


class Call(Struct, frozen=True, kw_only=True):
    """A tool call with the id it has in the target; None where the target needs none. `custom`: free text input."""

    id: str | None
    name: str
    arguments: str
    custom: bool = False


class Result(Struct, frozen=True, kw_only=True):
    """A tool result, bound to its call by `id`; `key` pairs it inside the conversion, ids or not."""

    id: str | None
    key: int | None
    name: str
    contents: tuple[Text | Media, ...]
    is_error: bool = False
    custom: bool = False


Piece: TypeAlias = Text | Refusal | Thought | Media | Call | Result


class Turn(Struct, frozen=True, kw_only=True):
    """What one message says. `keys` are the pairing keys of its calls."""

    index: int
    role: Role
    pieces: tuple[Piece, ...]
    keys: tuple[int, ...] = ()
    name: str | None = None
    origin: Origin = "conversation"


_MESSAGE_KEYS = frozenset(
    {
        *("role", "content", "parts", "type", "status", "name", "from", "value"),
        *("tool_calls", "tool_call_id", "tool_call_ids", "function_call", "refusal", "audio"),
        *("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"),
        *("call_id", "arguments", "input", "output", "summary", "encrypted_content", "action", "operation"),
        *("id", "object", "model", "usage", "usage_metadata", "stop_reason", "stop_sequence", "response_metadata"),
        *("data", "kwargs", "lc", "additional_kwargs", "example", "invalid_tool_calls"),
    }
)
"""Keys of a message that are read, a server's or LangChain's notes about how it was made, which say nothing in it."""

_BLOCK_KEYS = frozenset(
    {
        *("type", "text", "refusal", "content", "id", "status", "index"),
        *("name", "input", "arguments", "call_id", "tool_use_id", "tool_call_id", "function", "custom", "output"),
        *("is_error", "role", "args", "source", "title", "data", "mimeType", "resource"),
        *("image_url", "detail", "input_audio", "file", "file_id", "file_data", "file_url", "filename"),
        *("inlineData", "inline_data", "fileData", "thought", "thoughtSignature", "thought_signature"),
        *("functionCall", "function_call", "functionResponse", "function_response"),
    }
)
"""Keys of a block that are read."""

_CHAT: frozenset[Dialect] = frozenset({"plain", "openai"})


def read_turns(
    messages: Iterable[tuple[int, Message]], target: Dialect, ids: IdMap, losses: list[Loss]
) -> Iterator[Turn]:
    """The turns of messages with their places, in order; what the target has no place for is added to `losses`."""
    for index, message in messages:
        yield _MessageReader(message, index, target, ids, losses).turn()


class _MessageReader:
    """Reads one message."""

    def __init__(self, message: Message, index: int, target: Dialect, ids: IdMap, losses: list[Loss]) -> None:
        self._message = message
        self._index = index
        self._target: Dialect = target
        self._ids = ids
        self._losses = losses

    def turn(self) -> Turn:
        message = self._message
        self._leftovers(message.wire, _MESSAGE_KEYS)
        for key in ("data", "kwargs"):
            if is_object(message.wire):
                self._leftovers(message.wire.get(key), _MESSAGE_KEYS)
        pieces: list[Piece] = []
        keys: list[int] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart) and not part.server:
                key, call = self._call(part)
                keys.append(key)
                pieces.append(call)
            else:
                pieces.extend(self._pieces(part))
        named = message.role not in ("tool", "assistant") or not message.parts
        if message.name and named and self._target not in _CHAT:
            self.lose("name", "messages have no author's name there")
        return Turn(
            index=self._index,
            role=message.role,
            pieces=tuple(pieces),
            keys=tuple(keys),
            name=message.name if self._target in _CHAT else None,
            origin=message.origin,
        )

    def lose(self, part: str, reason: str) -> None:
        self._losses.append(Loss(index=self._index, part=part, reason=reason))

    def _leftovers(self, value: Any, known: frozenset[str]) -> None:
        if is_object(value):
            for key in value:
                if key not in known and value[key]:
                    self.lose(key, f"has no place in the {self._target} dialect")

    def _pieces(self, part: Part) -> Iterator[Piece]:
        match part:
            case TextPart() | SummaryPart():
                self._block(part)
                yield Text(part.text)
            case RefusalPart():
                yield Refusal(part.text)
            case ThinkingPart():
                yield from self._thought(part)
            case MediaPart():
                yield from self._media(part)
            case OpaquePart():
                yield from self._opaque(part)
            case ToolResultPart():
                if part.server:
                    self.lose("tool_result", "left out: the provider's own server made it")
                else:
                    yield self._result(part)
            case ToolCallPart():
                self.lose("tool_call", "left out: the provider's own server ran it")
            case _:
                assert_never(part)

    def _thought(self, part: ThinkingPart) -> Iterator[Thought]:
        if part.signed:
            self.lose("thinking", "left out: it is signed for its own provider")
        else:
            yield Thought(part.text, str(part.path[-1]) if self._message.dialect in _CHAT else None)

    def _opaque(self, part: OpaquePart) -> Iterator[Media]:
        """A document that is plain text is carried; whatever else is not understood has no place elsewhere."""
        block = get_at(self._message.wire, part.path)
        source = media_source(block) if is_object(block) else None
        if source is not None and source.text is not None:
            yield Media(source)
        else:
            self.lose(part.type, f"left out: the {self._target} dialect has no such block")

    def _block(self, part: Part) -> Any:
        """The wire block a part stands in; its keys that nobody carries are losses."""
        path = part.path[:-1] if isinstance(part, TextPart | SummaryPart) else part.path
        block = get_at(self._message.wire, path) if path else None
        self._leftovers(block, _BLOCK_KEYS)
        return block

    def _media(self, part: MediaPart) -> Iterator[Media]:
        held = get_at(self._message.wire, part.path)
        source = string_source(held) if isinstance(held, str) else media_source(held)
        if source is None:
            self.lose(part.kind, "left out: the message does not hold its bytes")
        else:
            self._leftovers(held, _BLOCK_KEYS)
            yield Media(source)

    def _call(self, part: ToolCallPart) -> tuple[int, Call]:
        block = self._block(part) if part.path else self._message.wire
        kind = string(block.get("type")) if is_object(block) else ""
        if kind.endswith("_call") and kind not in ("function_call", "custom_tool_call"):
            self.lose(kind, f"carried as a call of a function {part.name!r}")
        custom = kind in ("custom", "custom_tool_call")
        key, call_id = self._ids.call(part, self._index, self._losses, custom=custom)
        return key, Call(id=call_id, name=part.name, arguments=part.arguments, custom=custom)

    def _result(self, part: ToolResultPart) -> Result:
        bound = self._ids.result(part)
        if part.path:
            self._block(part)
        return Result(
            id=bound.id,
            key=bound.key,
            name=part.name or bound.name,
            contents=tuple(self._contents(part)),
            is_error=part.is_error,
            custom=bound.custom,
        )

    def _contents(self, part: ToolResultPart) -> Iterator[Text | Media]:
        """An object is carried as its JSON text (or its only text), blocks one by one."""
        objects = [inner.path for inner in part.parts if isinstance(inner, OpaquePart) and inner.type == "json"]
        for inner in part.parts:
            match inner:
                case TextPart():
                    if not any(inner.path[: len(path)] == path for path in objects):
                        yield Text(inner.text)
                case MediaPart():
                    yield from self._media(inner)
                case OpaquePart():
                    value = get_at(self._message.wire, inner.path)
                    if inner.type != "json":
                        self.lose(inner.type, "carried as its JSON text")
                    yield Text(_json_text(value))
                case _:
                    assert_never(inner)


def _json_text(value: Any) -> str:
    """Google wraps a text as `{"output": text}` or `{"error": text}`; anything else is carried as JSON."""
    if is_object(value) and len(value) == 1:
        (key, only), *_ = value.items()
        if key in ("output", "error", "result", "content") and isinstance(only, str):
            return only
    return dumps(without_base64(value))
