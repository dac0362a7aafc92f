"""`Cluster`: things that belong together, and which of the clusters there are a new thing belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from threadline.boundary.records import as_json, with_instructions
from threadline.boundary.twins import run_sync
from threadline.errors import InvalidInputError
from threadline.ports import LLMMessage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from threadline.ports import LLMClient

__all__ = ["Cluster", "acluster_by_llm", "cluster_by_geometry", "cluster_by_llm"]

_DAY_MS = 86_400_000
_EPSILON = 1e-9
"""Added to each norm, so that a vector of zeros is like nothing; EverAlgo's arithmetic, to the last bit."""


class Cluster(Struct, frozen=True, kw_only=True):
    """Things that belong together, or one new thing on its own. It survives JSON.

    Attributes:
        id: None until the host names it.
        centroid: the mean of its members' vectors; any sequence of numbers or array is taken.
        count: the number of members.
        last_ts: when the newest was made, milliseconds since the epoch, UTC.
        preview: what its newest members are about, oldest first.
        members: the ids of all its members.
    """

    centroid: tuple[float, ...]
    last_ts: int
    id: str | None = None
    count: int = 1
    preview: tuple[str, ...] = ()
    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        structs.force_setattr(self, "centroid", tuple(float(value) for value in self.centroid))
        structs.force_setattr(self, "preview", tuple(self.preview))
        structs.force_setattr(self, "members", tuple(self.members))


def _similarities(new: Cluster, existing: Sequence[Cluster]) -> NDArray[np.float64]:
    """The cosine of the new centroid with each other one."""
    import numpy as np

    centroid = np.array(new.centroid)
    for index, cluster in enumerate(existing):
        if len(cluster.centroid) != len(new.centroid):
            raise InvalidInputError(f"cluster {index}: its centroid has another length than the new one", index=index)
    others = np.array([cluster.centroid for cluster in existing])
    norms = (np.linalg.norm(others, axis=1) + _EPSILON) * (np.linalg.norm(centroid) + _EPSILON)
    return others @ centroid / norms


def _merged(new: Cluster, old: Cluster, preview_cap: int) -> Cluster:
    count = old.count + new.count
    pairs = zip(old.centroid, new.centroid, strict=True)
    preview = (*old.preview, *new.preview)
    return structs.replace(
        old,
        centroid=tuple((before * old.count + now * new.count) / count for before, now in pairs),
        count=count,
        last_ts=max(old.last_ts, new.last_ts),
        preview=preview[max(0, len(preview) - preview_cap) :],
        members=(*old.members, *new.members),
    )


def cluster_by_geometry(
    new: Cluster,
    existing: Sequence[Cluster],
    *,
    threshold: float = 0.65,
    time_window_days: float = 7.0,
    preview_cap: int = 5,
) -> Cluster | None:
    """The nearest cluster with the new thing merged into it, or None: then the host begins a new one.

    Args:
        new: the new thing as a cluster of its own.
        existing: the clusters there are; those without a centroid are passed over.
        threshold: the least cosine; of equal ones the first wins.
        time_window_days: how far apart in time, in either direction, the two may be; the limit itself is inside.
        preview_cap: how many previews are kept.

    Raises:
        InvalidInputError: a centroid has another length than the new one.
    """
    reach = time_window_days * _DAY_MS
    near = [other for other in existing if other.centroid and abs(new.last_ts - other.last_ts) <= reach]
    if not new.centroid or not near:
        return None
    similarities = _similarities(new, near)
    best = int(similarities.argmax())
    return _merged(new, near[best], preview_cap) if similarities[best] >= threshold else None


@cache
def _system_prompt() -> str:
    return resources.files("threadline.recall").joinpath("cluster.md").read_text("utf-8").rstrip()


async def acluster_by_llm(
    new: Cluster,
    existing: Sequence[Cluster],
    *,
    llm: LLMClient,
    k_candidates: int = 30,
    llm_skip_threshold: float = 0.85,
    custom_instructions: str | None = None,
    preview_cap: int = 5,
) -> Cluster | None:
    """The cluster a model chooses, with the new thing merged into it, or None: then the host begins a new one.

    One call at most: none where nothing is there to choose from or the nearest cluster is near enough.

    Args:
        new: the new thing as a cluster of its own; the first of its previews says what it is about.
        existing: the clusters there are; those without a centroid are not shown.
        llm: the model.
        k_candidates: how many of the nearest are shown. The model can choose no other.
        llm_skip_threshold: the cosine from which the nearest is taken without a call.
        custom_instructions: what the host adds to the system text.
        preview_cap: how many previews are kept.

    Raises:
        InvalidInputError: a centroid has another length than the new one.
        LLMOutputError: the reply is not what was asked for.
    """
    from threadline.ports.replies import parse_reply
    from threadline.recall.replies import ClusterReply

    places = [index for index, cluster in enumerate(existing) if cluster.centroid]
    if not new.centroid or not places:
        return None
    similarities = _similarities(new, [existing[place] for place in places])
    nearest = [int(rank) for rank in (-similarities).argsort(kind="stable")[:k_candidates]]
    if nearest and similarities[nearest[0]] >= llm_skip_threshold:
        return _merged(new, existing[places[nearest[0]]], preview_cap)
    shown = [places[rank] for rank in nearest]
    candidates = [{"idx": place, "count": existing[place].count, "preview": existing[place].preview} for place in shown]
    user = (
        f"<candidate_clusters>\n{as_json(candidates)}\n</candidate_clusters>\n\n"
        f"<new_task_intent>\n{as_json(new.preview[0] if new.preview else '')}\n</new_task_intent>"
    )
    text = await llm.achat(
        [LLMMessage("system", with_instructions(_system_prompt(), custom_instructions)), LLMMessage("user", user)],
        response_format=ClusterReply,
    )
    chosen = parse_reply(ClusterReply, text, operator="cluster").idx
    return _merged(new, existing[chosen], preview_cap) if chosen in shown else None


def cluster_by_llm(
    new: Cluster,
    existing: Sequence[Cluster],
    *,
    llm: LLMClient,
    k_candidates: int = 30,
    llm_skip_threshold: float = 0.85,
    custom_instructions: str | None = None,
    preview_cap: int = 5,
) -> Cluster | None:
    """`acluster_by_llm` for callers without an event loop.

    Raises:
        RuntimeError: an event loop is running in this thread.
    """
    return run_sync(
        partial(
            acluster_by_llm,
            new,
            existing,
            llm=llm,
            k_candidates=k_candidates,
            llm_skip_threshold=llm_skip_threshold,
            custom_instructions=custom_instructions,
            preview_cap=preview_cap,
        ),
        instead="acluster_by_llm",
    )
