"""Sizes from the first bytes, and text without base64."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.messages.media import media_part, opaque_part, string_media, without_base64
from threadline.messages.sizes import MediaSize, byte_count, media_size

from .conversations import png


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def jpeg(width: int, height: int, *, metadata: int = 0) -> bytes:
    app = b"\xff\xe1" + struct.pack(">H", 2 + metadata) + b"\0" * metadata if metadata else b""
    frame = b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\0" * 9
    return b"\xff\xd8" + app + b"\xff\xdb\x00\x04\0\0" + frame + b"\xff\xda" + b"\0" * 50


def webp(chunk: bytes) -> bytes:
    return b"RIFF\0\0\0\0WEBP" + chunk + b"\0" * 40


def wav(rate: int, seconds: int) -> bytes:
    head = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, rate * 2, 2, 16)
    return head + b"data\xff\xff\xff\xff" + b"\0" * (rate * 2 * seconds)


def pdf(pages: int, *, filler: int = 0) -> bytes:
    page = b"<< /Type /Page /Parent 2 0 R >>\n" + b"x" * filler
    return b"%PDF-1.4\n<< /Type /Pages /Count 9 >>\n" + page * pages + b"%%EOF"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (base64.b64decode(png(800, 600)), MediaSize(mime="image/png", width=800, height=600)),
        (b"GIF89a" + struct.pack("<HH", 30, 20) + b"\0" * 30, MediaSize(mime="image/gif", width=30, height=20)),
        (jpeg(640, 480), MediaSize(mime="image/jpeg", width=640, height=480)),
        (jpeg(640, 480, metadata=60_000), MediaSize(mime="image/jpeg", width=640, height=480)),
        (
            webp(b"VP8 \0\0\0\0" + b"\0" * 6 + struct.pack("<HH", 320, 200)),
            MediaSize(mime="image/webp", width=320, height=200),
        ),
        (
            webp(b"VP8L\0\0\0\0\x2f" + struct.pack("<I", (320 - 1) | (200 - 1) << 14)),
            MediaSize(mime="image/webp", width=320, height=200),
        ),
        (
            webp(b"VP8X\0\0\0\0\0\0\0\0" + (319).to_bytes(3, "little") + (199).to_bytes(3, "little")),
            MediaSize(mime="image/webp", width=320, height=200),
        ),
        (wav(8_000, 3), MediaSize(mime="audio/wav", seconds=3.0)),
        (pdf(7), MediaSize(mime="application/pdf", pages=7)),
        (pdf(40, filler=60_000), MediaSize(mime="application/pdf", pages=40)),
        (pdf(0), MediaSize(mime="application/pdf")),
        (b"", MediaSize()),
        (b"\x89PNG", MediaSize()),
        (b"\xff\xd8\xff\xe0", MediaSize(mime="image/jpeg")),
        (b"\xff\xd8\xff\xe1\0\0\0\0\0\0\0\0", MediaSize(mime="image/jpeg")),
        (b"not a medium at all", MediaSize()),
    ],
)
def test_sizes_are_read_from_the_bytes(data, size):
    assert media_size(b64(data)) == size
    wrapped = base64.encodebytes(data).decode()
    if size.pages is None and size.seconds is None:
        assert media_size(wrapped) == size


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFFxxxxWEBPVP8X", b"RIFFxxxxWAVE", b"%PDF"]
    ),
)
def test_broken_files_never_crash(rest, magic):
    media_size(b64(magic + rest))


@given(st.text(max_size=300))
def test_what_is_no_base64_never_crashes(text):
    media_size(text)


@given(st.binary(max_size=100))
def test_bytes_are_counted_without_decoding(data):
    assert byte_count(b64(data)) == len(data)


PICTURE = png(64, 32)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
        {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PICTURE}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
        {"inline_data": {"mime_type": "image/png", "data": base64.b64decode(PICTURE)}},
        {"type": "image", "data": PICTURE, "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a", "mimeType": "image/png", "blob": PICTURE}},
        {"data": PICTURE, "mimeType": "image/png"},
    ],
)
def test_a_picture_is_known_in_every_dialect(block):
    part = media_part(block, ("here",))

    assert part is not None
    assert (part.kind, part.path, part.mime, part.width, part.height) == ("image", ("here",), "image/png", 64, 32)
    assert part.bytes == len(base64.b64decode(PICTURE))


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}}, "image"),
        ({"type": "input_image", "file_id": "f"}, "image"),
        ({"type": "input_audio", "input_audio": {"data": b64(wav(8_000, 1)), "format": "wav"}}, "audio"),
        ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{b64(pdf(2))}"}}, "document"),
        ({"type": "input_file", "file_url": "https://x.test/a.pdf"}, "document"),
        ({"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}}, "document"),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, "document"),
        ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://x/a.mp4"}}, "video"),
        ({"type": "audio", "data": b64(wav(8_000, 1)), "mimeType": "audio/wav"}, "audio"),
    ],
)
def test_other_media_are_known(block, kind):
    part = media_part(block, ())

    assert part is not None
    assert part.kind == kind


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "a"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}},
        {"type": "image"},
        {"type": "image", "source": {"type": "from_the_future"}},
        {"type": "resource", "resource": {"uri": "a", "text": "b"}},
        {"data": "", "mimeType": "image/png"},
        {"data": PICTURE},
        {},
    ],
)
def test_what_is_no_medium_is_none(block):
    assert media_part(block, ()) is None


def test_a_string_that_is_a_picture_is_a_medium():
    for text in (PICTURE, f"data:image/png;base64,{PICTURE}"):
        part = string_media(text, ("a",))
        assert part is not None
        assert (part.kind, part.width) == ("image", 64)


@pytest.mark.parametrize("text", ["", "hello", "z" * 500, "data:", "data: we need more of it", "0123456789abcdef" * 20])
def test_a_string_that_is_words_is_none(text):
    assert string_media(text, ()) is None


@given(st.binary(min_size=200, max_size=3_000), st.sampled_from([b64, lambda data: base64.encodebytes(data).decode()]))
def test_no_base64_is_left_in_an_unread_block(data, encode):
    text = encode(data)
    part = opaque_part(
        {"type": "odd", "deep": [{"data": text, "page": f"see data:image/png;base64,{b64(data)} there"}]}, ()
    )

    assert len(part.text) < 200
    assert part.text.startswith('{"type":"odd","deep":[{"data":"')


@pytest.mark.parametrize(
    "text",
    [
        "a word\n" * 200,
        "word\n" * 200,
        "/usr/lib/python3.11/site-packages/a.py\n" * 50,
        "f3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "漢字" * 300,
        '{"a":1,"b":[2,3]}' * 50,
    ],
)
def test_words_are_not_taken_for_base64(text):
    assert without_base64({"a": [text]}) == {"a": [text]}
