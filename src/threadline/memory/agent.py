"""What an agent learns from its own work: cases, skills, and changes to its instructions."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from threadline.memory.product import Product, folded

__all__ = ["AgentCase", "AgentProfilePatch", "AgentProfileSignal", "AgentProfileUpdate", "AgentSkill", "ProfileFile"]

ProfileFile: TypeAlias = Literal["soul", "agents"]
"""Which of an agent's files: how it behaves, or how it works."""


class AgentCase(Product, frozen=True, kw_only=True):
    """One task an agent worked on.

    Attributes:
        timestamp: when the last message of its cell was said, milliseconds since the epoch, UTC; 0 where nobody said.
        task_intent: what was wanted.
        approach: what was done.
        quality_score: how well it went, in [0, 1].
        key_insight: what to keep in mind next time.
        cell_id: the cell it tells of.
    """

    PREFIX: ClassVar[str] = "case"

    timestamp: int
    task_intent: str
    approach: str = ""
    quality_score: float = 0.5
    key_insight: str = ""
    cell_id: str = ""

    def identity(self) -> tuple[object, ...]:
        """What was wanted and done, when and where."""
        return (self.cell_id, self.timestamp, self.task_intent, self.approach)


class AgentSkill(Product, frozen=True, kw_only=True):
    """How to do a kind of task.

    Attributes:
        cluster_id: the host's cluster of cases that it was learnt from.
        name, description, content: what it is called, when it applies, and what to do.
        confidence: how well it has served, in [0, 1].
        maturity_score: how complete it is, in [0, 1].
        source_case_ids: the cases it was learnt from, oldest first.
    """

    PREFIX: ClassVar[str] = "skill"

    cluster_id: str = ""
    name: str = ""
    description: str = ""
    content: str = ""
    confidence: float = 0.0
    maturity_score: float = 0.6
    source_case_ids: tuple[str, ...] = ()

    def identity(self) -> tuple[object, ...]:
        """What it says."""
        return (self.name, self.description, self.content, [*self.source_case_ids])


class AgentProfileSignal(Product, frozen=True, kw_only=True):
    """A wish that was seen, but not often enough to act on.

    Attributes:
        key: words joined by hyphens that name the wish.
        description: the wish.
        target: the file it would change.
        evidence: what the user said, word for word.
        occurrences: how often it was seen.
        timestamp: when it was seen last, milliseconds since the epoch, UTC; 0 where nobody said.
    """

    PREFIX: ClassVar[str] = "signal"

    key: str
    description: str
    target: ProfileFile
    evidence: str
    occurrences: int = 1
    timestamp: int

    def identity(self) -> tuple[object, ...]:
        """What it is called and would change."""
        return (folded(self.key), self.target)


class AgentProfilePatch(Product, frozen=True, kw_only=True):
    """One change to a file.

    Attributes:
        file: which.
        action: whether `new_text` is added to the section or stands in the place of `old_text`.
        section: the heading, without its marks.
        old_text: what is replaced: once in the file; "" for an addition.
        new_text: what is written.
        evidence: what the user said, word for word.
        reason: why.
        is_conflict: whether it says otherwise than the file did.
    """

    PREFIX: ClassVar[str] = "patch"

    file: ProfileFile
    action: Literal["add", "modify"]
    section: str
    old_text: str = ""
    new_text: str
    evidence: str = ""
    reason: str = ""
    is_conflict: bool = False

    def identity(self) -> tuple[object, ...]:
        """What it changes into what."""
        return (self.file, self.action, self.section, self.old_text, self.new_text)


class AgentProfileUpdate(Product, frozen=True, kw_only=True):
    """What one conversation changes in an agent's files.

    Attributes:
        patches: the changes.
        soul_diff, agents_diff: the same as unified diffs; "" without a change.
        new_soul_md, new_agents_md: the files with the changes.
        signals: wishes to remember until they are seen again.
    """

    PREFIX: ClassVar[str] = "update"

    patches: tuple[AgentProfilePatch, ...] = ()
    soul_diff: str = ""
    agents_diff: str = ""
    new_soul_md: str = ""
    new_agents_md: str = ""
    signals: tuple[AgentProfileSignal, ...] = ()

    def identity(self) -> tuple[object, ...]:
        """The changes and the wishes."""
        return ([patch.id for patch in self.patches], [signal.id for signal in self.signals])
