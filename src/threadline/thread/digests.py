"""`digest_of`: whether two wire objects say the same, whatever the order of their keys."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["digest_of"]


def digest_of(wire: Any) -> str:
    """128 bits of the SHA-256 of the value as JSON with sorted keys: enough to tell the messages of a thread apart."""
    return hashlib.sha256(json.dumps(wire, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]
