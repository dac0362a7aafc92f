"""What happened, append-only: records, branches, projection, transfer."""

from threadline.journal.record import CONVERSATION, Channel, Entry, JournalRecord, Kind, Visibility
from threadline.journal.root import AgentRoot, Branch, Lifecycle, Segment

__all__ = [
    "CONVERSATION",
    "AgentRoot",
    "Branch",
    "Channel",
    "Entry",
    "JournalRecord",
    "Kind",
    "Lifecycle",
    "Segment",
    "Visibility",
]
