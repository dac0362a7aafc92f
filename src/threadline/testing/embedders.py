"""`WordEmbedder`: vectors that a test can foresee."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadline.ports.embedder import Vectors

__all__ = ["WordEmbedder"]


class WordEmbedder:
    """An `Embedder` by the words of a text: each adds its own direction, so the cosine of two texts is their overlap.

    Args:
        dimensions: the length of a vector; in many dimensions two words hardly ever meet.

    Attributes:
        batches: the texts of each call so far.
    """

    def __init__(self, dimensions: int = 512) -> None:
        self.dimensions = dimensions
        self.fingerprint = f"words/{dimensions}"
        self.batches: list[tuple[str, ...]] = []

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.aembed`; a text without words gets a row of zeros."""
        import numpy as np

        self.batches.append(tuple(texts))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for number, text in enumerate(texts):
            for word in text.casefold().split():
                digest = hashlib.blake2b(word.strip(".,!?").encode("utf-8", "surrogatepass"), digest_size=8).digest()
                rows[number, int.from_bytes(digest, "big") % self.dimensions] += 1
            rows[number] /= float(np.linalg.norm(rows[number])) or 1.0
        return rows
