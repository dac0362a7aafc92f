"""`Embedder`: texts as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

__all__ = ["Embedder"]


@runtime_checkable
class Embedder(Protocol):
    """Gives texts vectors whose cosine says how near in meaning they are.

    Attributes:
        fingerprint: names model, version and settings. Vectors of two fingerprints are never compared.
        dimensions: the length of a vector.
    """

    @property
    def fingerprint(self) -> str:
        """Names model, version and settings."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order, as rows of length 1 (a text without meaning may have a row of zeros).

        Whatever takes long runs off the event loop.

        Raises:
            ModelError: the texts could not be embedded.
        """
        ...
