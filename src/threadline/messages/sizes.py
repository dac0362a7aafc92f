"""How large a medium is: pixels, pages or seconds, read from the first bytes behind its base64."""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Iterator

from msgspec import Struct

__all__ = ["MediaSize", "byte_count", "media_size"]


class MediaSize(Struct, frozen=True, kw_only=True):
    """What the bytes say about themselves; None where they do not. `mime` is the type their first bytes show."""

    mime: str | None = None
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    seconds: float | None = None


_UNKNOWN = MediaSize()
_URL_SAFE = str.maketrans("-_", "+/")

_HEADER_CHARS = 128
"""Enough base64 for every fixed header below (the longest, WAV's, is 44 bytes)."""

_JPEG_CHARS = (4_096, 262_144, 1_048_576)
"""A JPEG's size stands behind its metadata, often within 3 kB, behind an embedded preview within 200 kB."""

_PDF_CHARS = 1_048_576
_PDF_OVERLAP = 32
_PDF_PAGE = re.compile(rb"/Type\s{0,4}/Page(?![A-Za-z])")


def byte_count(data: str) -> int:
    """How many bytes a base64 text stands for (line breaks in it count as if they were data)."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def media_size(data: str) -> MediaSize:
    """The size of the medium in a base64 text. Only PDFs are read to the end, piece by piece."""
    head = _decoded(data[:_HEADER_CHARS])
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
        return MediaSize(mime="image/png", width=width, height=height)
    if head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        width, height = struct.unpack("<HH", head[6:10])
        return MediaSize(mime="image/gif", width=width, height=height)
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp(head)
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _wav(head, byte_count(data))
    if head.startswith(b"%PDF"):
        pages = sum(1 for _ in _pdf_pages(data))
        return MediaSize(mime="application/pdf", pages=pages or None)
    return _UNKNOWN


def _decoded(text: str) -> bytes:
    """The bytes of a piece of base64; what does not decode is left off."""
    kept = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
    try:
        return binascii.a2b_base64(kept[: len(kept) - len(kept) % 4])
    except (binascii.Error, ValueError):
        return b""


def _jpeg(data: str) -> MediaSize:
    for chars in _JPEG_CHARS:
        if (size := _jpeg_frame(_decoded(data[:chars]))) is not None:
            return MediaSize(mime="image/jpeg", width=size[0], height=size[1])
        if chars >= len(data):
            break
    return MediaSize(mime="image/jpeg")


def _jpeg_frame(head: bytes) -> tuple[int, int] | None:
    """Width and height from the first start-of-frame segment (ITU T.81, B.2.2), hopping over the others."""
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        # C4, C8 and CC share the range but hold tables.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


def _webp(head: bytes) -> MediaSize:
    """The three kinds of first chunk (RFC 9649): lossy, lossless, extended."""
    kind = head[12:16]
    if kind == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack("<HH", head[26:30])
        return MediaSize(mime="image/webp", width=width & 0x3FFF, height=height & 0x3FFF)
    if kind == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return MediaSize(mime="image/webp", width=(bits & 0x3FFF) + 1, height=(bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X" and len(head) >= 30:
        width, height = int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
        return MediaSize(mime="image/webp", width=width, height=height)
    return MediaSize(mime="image/webp")


def _wav(head: bytes, total: int) -> MediaSize:
    """Seconds from the byte rate; the header is taken as 44 bytes, since a streamed file does not know its length."""
    rate = int.from_bytes(head[28:32], "little")
    return MediaSize(mime="audio/wav", seconds=max(total - 44, 0) / rate if rate else None)


def _pdf_pages(data: str) -> Iterator[None]:
    """One for each page object; those inside compressed object streams stay unseen."""
    rest = b""
    for start in range(0, len(data), _PDF_CHARS):
        piece = rest + _decoded(data[start : start + _PDF_CHARS])
        last = start + _PDF_CHARS >= len(data)
        end = len(piece) if last else max(len(piece) - _PDF_OVERLAP, 0)
        found = 0
        for match in _PDF_PAGE.finditer(piece):
            if match.start() < end:
                found = match.end()
                yield None
        rest = piece[max(end, found) :]
