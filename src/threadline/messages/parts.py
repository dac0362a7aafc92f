"""What a message is made of: a closed union of parts, each knowing its place in the wire object."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

__all__ = [
    "MediaPart",
    "OpaquePart",
    "Part",
    "Path",
    "RefusalPart",
    "SummaryPart",
    "TextPart",
    "ThinkingPart",
    "ToolCallPart",
    "ToolResultPart",
]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes from a wire object down to one value, e.g. `("content", 2, "text")`; `()` is the object itself."""


class TextPart(Struct, frozen=True, tag_field="part", tag="text", gc=False):
    """Plain text that a reduction may touch. `path` leads to the string itself."""

    text: str
    path: Path


class RefusalPart(Struct, frozen=True, tag_field="part", tag="refusal", gc=False):
    """A model's refusal text."""

    text: str
    path: Path


class ThinkingPart(Struct, frozen=True, tag_field="part", tag="thinking", gc=False):
    """Thinking or reasoning. When `signed` (signature, encrypted, redacted) it leaves byte-identical or not at all."""

    text: str
    path: Path
    signed: bool = False


class SummaryPart(Struct, frozen=True, tag_field="part", tag="summary", gc=False):
    """A rolling summary that stands for `covers` earlier messages; compaction treats it as head."""

    text: str
    path: Path
    covers: int


class MediaPart(Struct, frozen=True, tag_field="part", tag="media", gc=False):
    """An image, document, sound or film. `path` leads to the wire block; bytes stay there.

    `width`/`height` in pixels, `pages`, `seconds`, `bytes` where known, else None. `detail` as OpenAI names it.
    """

    kind: Literal["image", "document", "audio", "video"]
    path: Path
    mime: str | None = None
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    detail: str | None = None


class ToolCallPart(Struct, frozen=True, tag_field="part", tag="tool_call", gc=False):
    """A request to run a tool. `arguments` is JSON text (or what the model wrote in its place).

    `server`: run by the provider, its result comes in the same turn. `local`: the wire has no id; `id` stays here.
    """

    id: str
    name: str
    arguments: str
    path: Path
    server: bool = False
    local: bool = False


class OpaquePart(Struct, frozen=True, tag_field="part", tag="opaque", gc=False):
    """A block of a type that is carried along unread. `text` is its JSON without base64, only to count it."""

    type: str
    path: Path
    text: str = ""


class ToolResultPart(Struct, frozen=True, tag_field="part", tag="tool_result", gc=False):
    """What a tool gave back. `parts` are its texts, media and unread blocks with paths from the same wire object."""

    call_id: str
    path: Path
    parts: tuple[TextPart | MediaPart | OpaquePart, ...] = ()
    name: str | None = None
    is_error: bool = False
    server: bool = False
    local: bool = False


Part: TypeAlias = (
    TextPart | RefusalPart | ThinkingPart | SummaryPart | MediaPart | ToolCallPart | ToolResultPart | OpaquePart
)
