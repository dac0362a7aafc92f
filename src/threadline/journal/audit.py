"""`Audit`: whether rows make up one sound journal; follows them in order, holding only what a root holds."""

from __future__ import annotations

from msgspec import Struct

from threadline.errors import SerializationError
from threadline.journal.metadata import Forgotten, Opened, stated
from threadline.journal.placing import after_record
from threadline.journal.record import CONVERSATION, JournalRecord
from threadline.journal.root import AgentRoot
from threadline.ports import Row

__all__ = ["Audit", "Finding", "Stranger"]


class Finding(Struct, frozen=True, kw_only=True):
    """Something that is not as it should be.

    Attributes:
        place: `root`, `record 12`, `content sha256:...` or `snapshot of branch 1`.
        sentence: what is wrong there.
    """

    place: str
    sentence: str


class Stranger(Struct, frozen=True, kw_only=True):
    """A record whose parent is not the last message of its branch: whoever holds the rows has to look it up."""

    sequence: int
    branch: int
    parent_id: str


class Audit:
    """Takes the records of a journal one by one, from the first, and says what does not follow from those before.

    Attributes:
        root: what the root must be after them, as far as rows tell: position, branches, whether it is closed.
        strangers: parents to look up; the caller takes them away.
        is_lost: True once a record could not be read: nothing that follows can be held against it.
    """

    def __init__(self, agent_id: str) -> None:
        self.root = AgentRoot(agent_id=agent_id, created_at_ms=0, updated_at_ms=0)
        self.strangers: list[Stranger] = []
        self.is_lost = False
        self._owed: dict[str, int] = {}  # by `forgotten` record that must follow, the first tombstone that names it

    def take(self, record: JournalRecord) -> list[Finding]:
        """What is wrong with the next record."""
        if self.is_lost:
            return []
        found = self._misplaced(record)
        if not found:
            found += self._unlike_its_branch(record)
            self.root = after_record(self.root, record)
        return [Finding(place=f"record {record.sequence}", sentence=sentence) for sentence in found]

    def end(self, stored: AgentRoot) -> list[Finding]:
        """What is wrong with the root that stands over the records taken."""
        if self.is_lost:
            return []
        told = self.root
        found = [
            Finding(
                place=f"record {sequence}", sentence=f"is a tombstone, but {record_id!r} is no record of forgetting"
            )
            for record_id, sequence in self._owed.items()
        ]
        if stored.journal_position != told.journal_position:
            text = f"stands at record {stored.journal_position}, the rows at {told.journal_position}"
            found.append(Finding(place="root", sentence=text))
        if (stored.lifecycle_status == "closed") != (told.lifecycle_status == "closed"):
            found.append(Finding(place="root", sentence="and rows do not agree on whether the agent is closed"))
        if len(stored.branches) != len(told.branches) or not 0 <= stored.branch < len(told.branches):
            text = f"has {len(stored.branches)} branches, the rows {len(told.branches)}"
            found.append(Finding(place="root", sentence=text))
        for mine, theirs in zip(stored.branches, told.branches, strict=False):
            if mine != theirs:
                found.append(Finding(place="root", sentence=f"and rows do not agree on branch {theirs.branch}"))
        return found

    def _misplaced(self, record: JournalRecord) -> list[str]:
        """Why the record cannot stand where it stands: then nothing can be built on it."""
        branches = self.root.branches
        if record.sequence != self.root.journal_position + 1:
            return [f"follows record {self.root.journal_position}"]
        if record.kind == "branch_opened":
            try:
                said = stated(record, Opened)
            except SerializationError:
                return ["does not say where its branch begins"]
            fits = 0 <= said.parent < len(branches) == record.branch and 0 <= said.after < record.sequence
            hides = 0 <= said.transcript_since <= said.after and 0 <= said.knowledge_since <= said.after
            return [] if fits and hides else ["opens a branch that cannot begin there"]
        if not 0 <= record.branch < len(branches):
            return [f"is on branch {record.branch}, which nothing opened"]
        return []

    def _unlike_its_branch(self, record: JournalRecord) -> list[str]:
        found: list[str] = []
        is_first = record.branch == len(self.root.branches)
        if not is_first:
            at = self.root.branches[record.branch]
            if record.context_generation != at.transcript_generation:
                found.append(f"is of generation {record.context_generation}, its branch of {at.transcript_generation}")
            if record.parent_id is None and at.tip is not None:
                found.append("names no message before it, and there is one")
        if record.parent_id is not None and (is_first or record.parent_id != self.root.branches[record.branch].tip):
            self.strangers.append(Stranger(sequence=record.sequence, branch=record.branch, parent_id=record.parent_id))
        if record.forgotten_by is not None:
            self._owed.setdefault(record.forgotten_by, record.sequence)
            if record.content_ref or record.key or record.refs or record.metadata or record.context_candidate:
                found.append("is a tombstone, and still says something")
        if record.kind == "forgotten":
            self._owed.pop(record.record_id, None)
            try:
                stated(record, Forgotten)
            except SerializationError:
                found.append("does not say what was forgotten")
        return found

    def is_parent(self, stranger: Stranger, row: Row | None) -> bool:
        """Whether the row that a stranger's parent turned out to be is a message before it on its line."""
        return (
            row is not None
            and row.kind in CONVERSATION
            and row.sequence < stranger.sequence
            and any(
                part.branch == row.branch
                and part.after < row.sequence
                and (part.until is None or row.sequence <= part.until)
                for part in self.root.lineage(stranger.branch)
            )
        )
