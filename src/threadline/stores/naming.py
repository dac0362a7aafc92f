"""What a content is called: the SHA-256 of its bytes, or a keyed hash that only a sealed store can make."""

from __future__ import annotations

import re
from hashlib import sha256

from threadline.errors import IntegrityError

__all__ = ["SEALED", "check_content", "plain_ref"]

SEALED = "hmac-sha256:"
"""How the refs of sealed contents begin: whoever holds the owner's key checks those, nobody else can."""

_FORM = re.compile(r"(?:hmac-)?sha256:[0-9a-f]{64}")


def plain_ref(content: bytes) -> str:
    """The name of a content: the SHA-256 of its bytes."""
    return f"sha256:{sha256(content).hexdigest()}"


def check_content(ref: str, content: bytes) -> None:
    """Hold a content against its ref.

    Raises:
        IntegrityError: it is not what the ref says; names the ref.
    """
    if not _FORM.fullmatch(ref) or (not ref.startswith(SEALED) and ref != plain_ref(content)):
        raise IntegrityError(f"a content is not what its ref says: {ref}", ref=ref)
