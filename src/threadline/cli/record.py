"""The elisions file: what `fit` left out of a file, with all that gives back its very bytes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, structs

from threadline.errors import IntegrityError, SerializationError
from threadline.messages import Decisions, Document, Message, read_document
from threadline.messages.layout import Layout
from threadline.messages.restoration import restore_messages
from threadline.messages.shapes import is_object
from threadline.transcript import FitResult

__all__ = ["Record", "loaded", "record_of", "restored", "streamed"]


VERSION = 1
"""Of the format of an elisions file."""


class Record(Struct, frozen=True, kw_only=True):
    """The content of an elisions file.

    Attributes:
        version: of this format.
        sha256: hex digest of the input file; a restored file that differs is refused.
        decisions: what was left out and put in.
        places, layout: where the messages stood in the file, and how it was laid out.
        verbatim: the input's bytes, deflated, when its layout is none that can be written again; else None.
    """

    version: int = VERSION
    sha256: str
    decisions: Decisions
    places: tuple[int, ...]
    layout: Layout
    verbatim: bytes | None = None


def record_of(document: Document, data: bytes) -> Record:
    """The record for a file of which nothing is left out yet."""
    return Record(
        sha256=sha256(data).hexdigest(),
        decisions=Decisions(),
        places=document.places,
        layout=document.layout,
        verbatim=None if document.layout_exact else zlib.compress(data),
    )


def streamed(record: Record, document: Document, result: FitResult) -> Iterator[bytes]:
    """The file's bytes when a result was made of its document: JSON, lone surrogates escaped, an elision a line."""
    wrapped = tuple(structs.replace(one, message=document.wrap(one.message)) for one in result.insertions)
    frame = structs.replace(record, decisions=Decisions(insertions=wrapped))
    opening, closing = json.dumps(msgspec.to_builtins(frame)).split("[]", 1)  # the first empty list: the elisions
    yield f"{opening}[".encode()
    separator = "\n"
    for elision in result.left_out():
        yield f"{separator}{json.dumps(msgspec.to_builtins(elision))}".encode()
        separator = ",\n"
    yield f"]{closing}\n".encode()


def loaded(data: bytes, *, name: str) -> Record:
    """The record in a file.

    Raises:
        SerializationError: it is none, or one of a version that is not known here.
    """
    try:
        value = json.loads(data)
        version: object = value.get("version") if is_object(value) else None
        if version is not None and version != VERSION:
            raise SerializationError(f"{name} is of version {version!r}; this Threadline reads {VERSION}")
        return msgspec.convert(value, Record)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"{name} is no elisions file: {error}") from error


def restored(view: bytes, record: Record, *, name: str) -> bytes:
    """The original file from the reduced one.

    Raises:
        IntegrityError: the reduced file is not what the record was made with.
    """
    document = read_document(view, name=name)
    wires = restore_messages([message.wire for message in document.request.messages], record.decisions)
    data = _original(document, wires, record) if record.verbatim is None else zlib.decompress(record.verbatim)
    if sha256(data).hexdigest() != record.sha256:
        raise IntegrityError(f"{name} is not what these elisions were taken from, or was changed since")
    return data


def _original(document: Document, wires: Sequence[Any], record: Record) -> bytes:
    bare = [Message(role="user", parts=(), dialect=document.request.dialect, wire=wire) for wire in wires]
    laid_out = structs.replace(document, layout=record.layout)
    return laid_out.dump(laid_out.rebuild(bare, places=record.places))
