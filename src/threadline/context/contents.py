"""Contents as they are stored: a text as its UTF-8, a JSON value as the bytes of its wire, keys in their own order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from threadline.context.items import ContentFormat
from threadline.errors import IntegrityError, NotFoundError, SerializationError
from threadline.messages.wire import dumps
from threadline.ports.store import Naming

__all__ = ["content_bytes", "content_of", "read_content"]


def content_bytes(content: Any, content_format: ContentFormat) -> bytes:
    """The bytes to store. A lone surrogate, which has no UTF-8, is escaped in JSON; a text keeps it as it is."""
    if content_format == "text":
        return content.encode("utf-8", "surrogatepass")
    text = dumps(content)
    try:
        return text.encode()
    except UnicodeEncodeError:  # two surrogates that make a pair are the character they stand for, as JSON has it
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "backslashreplace")


def content_of(data: bytes, content_format: ContentFormat) -> Any:
    """The reverse of `content_bytes`; also of JSON in any other spelling.

    Raises:
        SerializationError: the bytes are not of this format.
    """
    try:
        return data.decode("utf-8", "surrogatepass") if content_format == "text" else json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"a stored content is no {content_format}") from error


def read_content(contents: Mapping[str, bytes], ref: str, naming: Naming | None) -> bytes:
    """A content by its name, checked where a naming is given.

    Raises:
        NotFoundError: it is missing; `fields["ref"]` names it.
        IntegrityError: it is not what its name says; `fields["ref"]` names it.
    """
    if ref not in contents:
        raise NotFoundError("a content that the manifest names is missing", ref=ref)
    data = contents[ref]
    if naming is not None and naming(data) != ref:
        raise IntegrityError("a content is not what its name says", ref=ref)
    return data
