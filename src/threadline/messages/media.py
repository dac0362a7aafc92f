"""Images, documents, sound and film: which wire blocks hold them, and text without their base64."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from threadline.messages.parts import MediaPart, OpaquePart, Path
from threadline.messages.shapes import is_array, is_object, string
from threadline.messages.sizes import byte_count, media_size
from threadline.messages.wire import dumps

__all__ = [
    "MediaKind",
    "MediaSource",
    "media_part",
    "media_source",
    "opaque_part",
    "string_media",
    "string_source",
    "without_base64",
]

MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]


class MediaSource(Struct, frozen=True, kw_only=True):
    """Where a medium's bytes are; exactly one of `data`, `text`, `url` and `file_id` is set.

    Attributes:
        data: base64.
        text: a document that is plain text.
        file_id: an id of the provider's file store, without meaning elsewhere.
        name: file name or title.
        detail: OpenAI's `low`, `high`, `auto`.
    """

    kind: MediaKind
    mime: str | None = None
    data: str | None = None
    text: str | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    detail: str | None = None


def media_source(block: dict[str, Any]) -> MediaSource | None:
    """The medium a block of any dialect (or of an MCP result) holds, or None where it holds none.

    The dialects' media blocks differ enough to be told apart by their keys alone.
    """
    match string(block.get("type")):
        case "image_url" | "input_image" | "computer_screenshot":
            return _openai_image(block)
        case "input_audio" if is_object(audio := block.get("input_audio")):
            mime = f"audio/{string(audio.get('format')) or 'wav'}"
            return MediaSource(kind="audio", mime=mime, data=string(audio.get("data")))
        case "file" if is_object(file := block.get("file")):
            return _openai_file(file)
        case "input_file":
            return _openai_file(block)
        case "image" | "document" | "video" as kind if is_object(source := block.get("source")):
            return _anthropic(kind, source, block)
        case "image" | "audio" as kind if isinstance(data := block.get("data"), str):
            return MediaSource(kind=kind, mime=_mime(block), data=data)
        case "resource" if is_object(resource := block.get("resource")):
            data = resource.get("blob")
            return MediaSource(kind=_kind(_mime(resource)), mime=_mime(resource), data=data) if data else None
        case "":
            return _google(block)
        case _:
            return None


def _mime(block: dict[str, Any]) -> str | None:
    return string(block.get("mimeType")) or string(block.get("mime_type")) or string(block.get("media_type")) or None


def _kind(mime: str | None) -> MediaKind:
    match (mime or "").partition("/")[0]:
        case "image" | "audio" | "video" as kind:
            return kind
        case _:
            return "document"


def _from_url(kind: MediaKind | None, url: str, *, name: str | None = None, detail: str | None = None) -> MediaSource:
    if not url.startswith("data:"):
        return MediaSource(kind=kind or "image", url=url, name=name, detail=detail)
    head, _, data = url.partition(",")
    mime = head[5:].partition(";")[0] or None
    return MediaSource(kind=kind or _kind(mime), mime=mime, data=data, name=name, detail=detail)


def _openai_image(block: dict[str, Any]) -> MediaSource:
    held = block.get("image_url")
    image = held if is_object(held) else block
    url = image.get("url") if is_object(held) else held
    detail = string(image.get("detail")) or None
    if isinstance(url, str):
        return _from_url("image", url, detail=detail)
    return MediaSource(kind="image", file_id=string(block.get("file_id")), detail=detail)


def _openai_file(file: dict[str, Any]) -> MediaSource:
    name = string(file.get("filename")) or None
    if isinstance(data := file.get("file_data"), str):
        if data.startswith("data:"):
            return _from_url(None, data, name=name)
        return MediaSource(kind="document", mime="application/pdf", data=data, name=name)
    if isinstance(url := file.get("file_url"), str):
        return MediaSource(kind="document", url=url, name=name)
    return MediaSource(kind="document", file_id=string(file.get("file_id")), name=name)


def _anthropic(kind: MediaKind, source: dict[str, Any], block: dict[str, Any]) -> MediaSource | None:
    mime, name = _mime(source), string(block.get("title")) or None
    match source.get("type"):
        case "base64":
            return MediaSource(kind=kind, mime=mime, data=string(source.get("data")), name=name)
        case "url":
            return MediaSource(kind=kind, mime=mime, url=string(source.get("url")), name=name)
        case "file":
            return MediaSource(kind=kind, mime=mime, file_id=string(source.get("file_id")), name=name)
        case "text":
            return MediaSource(kind=kind, mime=mime, text=string(source.get("data")), name=name)
        case _:
            return None


def _google(block: dict[str, Any]) -> MediaSource | None:
    """A part of Google's, or any other untyped object that says `mimeType` and `data`."""
    stored = block.get("fileData") or block.get("file_data")
    if is_object(stored):
        mime = _mime(stored)
        url = string(stored.get("fileUri")) or string(stored.get("file_uri"))
        return MediaSource(kind=_kind(mime), mime=mime, url=url, name=_display_name(stored))
    inline = block.get("inlineData") or block.get("inline_data") or block
    if not is_object(inline) or (mime := _mime(inline)) is None:
        return None
    data = inline.get("data")
    text = b64encode(data).decode() if isinstance(data, bytes) else string(data)
    return MediaSource(kind=_kind(mime), mime=mime, data=text, name=_display_name(inline)) if text else None


def _display_name(blob: dict[str, Any]) -> str | None:
    return string(blob.get("displayName")) or string(blob.get("display_name")) or None


def media_part(block: dict[str, Any], path: Path) -> MediaPart | None:
    """The part for a media block at `path`, or None where the block is none (or a document of plain text)."""
    source = media_source(block)
    return None if source is None or source.text is not None else _part(source, path)


def string_source(text: str) -> MediaSource | None:
    """The medium of a string that is nothing but its base64 or its data URL, or None."""
    if text.startswith("data:"):
        return _from_url(None, text) if ";base64," in text[:200] else None
    # Shorter than a one-pixel PNG: no medium.
    if len(text) < 90 or not _BASE64.fullmatch(text) or (mime := media_size(text[:4096]).mime) is None:
        return None
    return MediaSource(kind=_kind(mime), mime=mime, data=text)


def string_media(text: str, path: Path) -> MediaPart | None:
    """The part for a string that is nothing but a medium's base64 or data URL, or None."""
    source = string_source(text)
    return None if source is None else _part(source, path)


def _part(source: MediaSource, path: Path) -> MediaPart:
    if source.data is None:
        return MediaPart(source.kind, path, mime=source.mime, detail=source.detail)
    size = media_size(source.data)
    return MediaPart(
        source.kind,
        path,
        mime=source.mime or size.mime,
        width=size.width,
        height=size.height,
        pages=size.pages,
        seconds=size.seconds,
        bytes=byte_count(source.data),
        detail=source.detail,
    )


_BASE64 = re.compile(
    r"(?:data:[^,\s]{0,200},)?(?:[A-Za-z0-9+/_-]{80,}|(?:[A-Za-z0-9+/]{60,76}\r?\n)+[A-Za-z0-9+/]*)={0,2}"
)
"""A run of 80 characters without a space or a dot is longer than any word, path step or digest that is read as text;
the second form is base64 broken into lines as MIME does."""


def without_base64(value: Any) -> Any:
    """The value with all base64 in it taken out."""
    if isinstance(value, str):
        return _BASE64.sub("", value) if len(value) >= 80 else value
    if is_array(value):
        return [without_base64(item) for item in value]
    if is_object(value):
        return {key: without_base64(item) for key, item in value.items()}
    return value


def opaque_part(block: Any, path: Path, kind: str | None = None) -> OpaquePart:
    """The part for a block that is carried along unread; `kind` names it where it does not name its own `type`."""
    name = kind or (string(block.get("type")) if is_object(block) else "") or "unknown"
    return OpaquePart(name, path, dumps(without_base64(block)))
