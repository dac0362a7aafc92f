"""What `optimize` takes: a message list in any file format, or, unless strict, any text."""

from __future__ import annotations

from typing import Any

from threadline.errors import InvalidInputError
from threadline.messages import read_document
from threadline.messages.layout import parse_json
from threadline.messages.shapes import is_array, is_object

__all__ = ["read_for_optimizing"]


def read_for_optimizing(data: bytes, *, name: str, strict: bool) -> tuple[Any, bool]:
    """The messages, or the text as a whole, and whether it is a text.

    Raises:
        InvalidInputError: not UTF-8; or a message is malformed; or, when strict, no conversation.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{name} is not UTF-8 (byte {error.start})") from error
    try:
        document = read_document(data, name=name)
    except InvalidInputError:
        if strict or _is_broken_conversation(data):
            raise
        return text, True
    messages: list[Any] = [message.wire for message in document.request.messages]
    if not messages and not is_array(document.value):
        if strict:
            raise InvalidInputError(f"{name} holds no messages")
        return text, True
    return messages, False


def _is_broken_conversation(data: bytes) -> bool:
    """True for a list with messages in it: a malformed one among them is an error, not prose."""
    try:
        value = parse_json(data.removeprefix(b"\xef\xbb\xbf"))
    except InvalidInputError:
        return False
    return is_array(value) and any(is_object(item) for item in value)
