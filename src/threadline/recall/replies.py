"""What a model is expected to reply. This module loads pydantic and is imported where a model is called."""

from __future__ import annotations

from threadline.ports.replies import StrictOutputModel

__all__ = ["ClusterReply"]


class ClusterReply(StrictOutputModel):
    """The cluster that fits; -1 for none."""

    idx: int
    reason: str
