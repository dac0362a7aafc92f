"""Episodes out of what people write at work: mailboxes, issue trackers, page histories."""

from threadline.boundary.workspace.extractor import SourceKind, WorkspaceMemCellExtractor

__all__ = ["SourceKind", "WorkspaceMemCellExtractor"]
