"""Contents as they are stored: a text as its UTF-8, a JSON value as the bytes of its wire, keys in their own order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from threadline.context.items import ContentFormat
from threadline.errors import IntegrityError, NotFoundError, SerializationError
from threadline.messages.wire import dump_bytes, load_bytes
from threadline.ports.store import Naming

__all__ = ["content_bytes", "content_of", "read_content"]


def content_bytes(content: Any, content_format: ContentFormat) -> bytes:
    """The bytes to store. A lone surrogate, which has no UTF-8, is escaped in JSON; a text keeps it as it is."""
    if content_format == "text":
        return content.encode("utf-8", "surrogatepass")
    return dump_bytes(content)


def content_of(data: bytes, content_format: ContentFormat) -> Any:
    """The reverse of `content_bytes`; also of JSON in any other spelling.

    Raises:
        SerializationError: the bytes are not of this format.
    """
    if content_format == "json":
        return load_bytes(data)
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise SerializationError("a stored content is no text in UTF-8") from error


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
