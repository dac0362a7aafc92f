"""Where an episode ends: by a model, without one, or by both; and `MemCell`, the episode."""

from threadline.boundary.cells import BoundaryDecision, DetectionResult, MemCell, is_chat
from threadline.boundary.detector import BoundaryDetector, Method, adetect_boundaries, detect_boundaries
from threadline.boundary.evidence import Weights
from threadline.boundary.model import adetect_boundary_step
from threadline.boundary.stream import EpisodeStream
from threadline.boundary.workspace import WorkspaceMemCellExtractor

__all__ = [
    "BoundaryDecision",
    "BoundaryDetector",
    "DetectionResult",
    "EpisodeStream",
    "MemCell",
    "Method",
    "Weights",
    "WorkspaceMemCellExtractor",
    "adetect_boundaries",
    "adetect_boundary_step",
    "detect_boundaries",
    "is_chat",
]
