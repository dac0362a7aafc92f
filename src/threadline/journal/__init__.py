"""What happened, append-only: records, branches, projection, transfer, forgetting, checking."""

from threadline.journal.audit import Finding
from threadline.journal.book import Book
from threadline.journal.canonical import canonical_json, content_ref, parse_canonical
from threadline.journal.checking import check
from threadline.journal.envelope import Schema
from threadline.journal.forgetting import Certificate, Derived, Expired, Retention, expired, forget_messages
from threadline.journal.frozen import FrozenMap, freeze, thaw
from threadline.journal.metadata import Calibrated, Forgotten, Opened, stated
from threadline.journal.projection import Projection, Standing, fold, project, take_snapshot
from threadline.journal.record import CONVERSATION, Channel, Entry, JournalRecord, Kind, Visibility
from threadline.journal.root import AgentRoot, Branch, Lifecycle, Segment
from threadline.journal.transfer import export_journal, import_journal

__all__ = [
    "CONVERSATION",
    "AgentRoot",
    "Book",
    "Branch",
    "Calibrated",
    "Certificate",
    "Channel",
    "Derived",
    "Entry",
    "Expired",
    "Finding",
    "Forgotten",
    "FrozenMap",
    "JournalRecord",
    "Kind",
    "Lifecycle",
    "Opened",
    "Projection",
    "Retention",
    "Schema",
    "Segment",
    "Standing",
    "Visibility",
    "canonical_json",
    "check",
    "content_ref",
    "expired",
    "export_journal",
    "fold",
    "forget_messages",
    "freeze",
    "import_journal",
    "parse_canonical",
    "project",
    "stated",
    "take_snapshot",
    "thaw",
]
