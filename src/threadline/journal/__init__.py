"""What happened, append-only: records, branches, projection, transfer."""

from threadline.journal.book import Book
from threadline.journal.canonical import canonical_json, content_ref, parse_canonical
from threadline.journal.envelope import Schema
from threadline.journal.frozen import FrozenMap, freeze, thaw
from threadline.journal.metadata import Calibrated, Forgotten, Opened, stated
from threadline.journal.record import CONVERSATION, Channel, Entry, JournalRecord, Kind, Visibility
from threadline.journal.root import AgentRoot, Branch, Lifecycle, Segment

__all__ = [
    "CONVERSATION",
    "AgentRoot",
    "Book",
    "Branch",
    "Calibrated",
    "Channel",
    "Entry",
    "Forgotten",
    "FrozenMap",
    "JournalRecord",
    "Kind",
    "Lifecycle",
    "Opened",
    "Schema",
    "Segment",
    "Visibility",
    "canonical_json",
    "content_ref",
    "freeze",
    "parse_canonical",
    "stated",
    "thaw",
]
