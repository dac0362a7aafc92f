"""Finding it again: which things belong together."""

from threadline.recall.cluster import Cluster, acluster_by_llm, cluster_by_geometry, cluster_by_llm

__all__ = ["Cluster", "acluster_by_llm", "cluster_by_geometry", "cluster_by_llm"]
