"""`Conversation`: a stored conversation read message by message; JSONL is never held as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct, structs

from threadline.errors import InvalidInputError
from threadline.messages.dialects import Decoder
from threadline.messages.documents import read_document
from threadline.messages.envelopes import Envelope, feed_of, inner_of, is_message
from threadline.messages.importers import envelope_of, record_key
from threadline.messages.layout import parse_json
from threadline.messages.message import Dialect, Message, Request
from threadline.messages.shapes import is_object, wrong

__all__ = ["Conversation", "read_conversation"]

_BOM = b"\xef\xbb\xbf"


class Conversation(Struct, frozen=True, kw_only=True):
    """A stored conversation.

    Attributes:
        frame: what is around the messages (dialect, system, tools, the body); it has no messages of its own.
        messages: the messages, the provider's own objects; they can be gone through again.
    """

    frame: Request
    messages: Iterable[Message]


def read_conversation(file: BinaryIO, *, name: str = "input") -> Conversation:
    """Reads what `read_document` reads; of JSONL only one line is held at a time.

    Args:
        file: a file that can be sought; it must stay open while the messages are read.
        name: what errors call it.

    Raises:
        InvalidInputError: it is no conversation. A malformed message is told when it is reached.
    """
    if not _is_streamed(file):
        file.seek(0)
        request = read_document(file.read(), name=name).unwrapped()
        return Conversation(frame=structs.replace(request, messages=()), messages=request.messages)
    messages = _Lines(file, name)
    return Conversation(frame=Request(dialect=messages.dialect, messages=()), messages=messages)


def _is_streamed(file: BinaryIO) -> bool:
    """True for lines that are a message or a log's line each: the first two are whole JSON objects."""
    file.seek(0)
    first = file.readline().removeprefix(_BOM)
    second = next((line for line in file if line.strip()), b"")
    try:
        value, following = parse_json(first), parse_json(second)
    except InvalidInputError:
        return False
    return is_object(value) and is_object(following) and record_key(value) is None


class _Lines:
    """The messages of a JSONL file, read from the file each time."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._envelope: Envelope = envelope_of(item for _, item in self._items())
        first = next(iter(self), None)
        self.dialect: Dialect = "plain" if first is None else first.dialect

    def _items(self) -> Iterator[tuple[int, Any]]:
        """The lines' values with their numbers, from 1."""
        self._file.seek(0)
        for number, line in enumerate(self._file, start=1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                yield number, parse_json(text)
            except InvalidInputError as error:
                raise self._named(error, number) from error

    def __iter__(self) -> Iterator[Message]:
        feed = feed_of(self._envelope, (item for _, item in self._items()))
        inner: Decoder | None = None
        index = 0
        for number, item in self._items():
            if not is_message(item, self._envelope):
                continue
            try:
                if not is_object(item):
                    raise wrong(index, None, "an object", item)
                message = feed(item, index)
                if self._envelope in ("claude-code", "codex"):
                    inner = inner or Decoder(message.dialect)
                    bare = inner.feed(inner_of(item, self._envelope), index)
                    message = structs.replace(bare, origin=message.origin)
            except InvalidInputError as error:
                raise self._named(error, number) from error
            yield message
            index += 1

    def _named(self, error: InvalidInputError, number: int) -> InvalidInputError:
        return InvalidInputError(f"{self._name}: line {number}: {error}", **{**error.fields, "line": number})
