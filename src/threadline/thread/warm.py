"""`Warm`: what a thread keeps in memory of the branch it is on; all of it can be read again from the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from threadline.context.manifest import LLMInputManifest
from threadline.errors import IntegrityError, NotFoundError
from threadline.journal import CONVERSATION, AgentRoot, Book, JournalRecord, Kind
from threadline.messages.message import Dialect
from threadline.thread.schemas import WINDOW
from threadline.thread.window import Seen, Window, WindowState

__all__ = ["Decided", "Knowledge", "Warm", "decided_of", "home_in", "seen_of"]

_PAGE = 500


class Decided(Struct, frozen=True, kw_only=True):
    """The last call assembled on the branch.

    Attributes:
        sequence: of its record.
        execution_id, call_sequence: its run, and which call of the run it was.
        manifest_ref: its manifest.
        at_ms: when it was assembled, milliseconds since the epoch.
    """

    sequence: int
    execution_id: str
    call_sequence: int
    manifest_ref: str
    at_ms: int


class Knowledge(Struct, frozen=True, kw_only=True):
    """A piece of knowledge as it stands in the journal."""

    record: JournalRecord
    text: str


def home_in(root: AgentRoot) -> Dialect:
    """The dialect of a thread's messages."""
    home: Dialect = root.metadata.get("dialect", "plain")
    return home


class Warm:
    """The root, the window, the knowledge in force, the calibration factors and the last call of one branch.

    Attributes:
        root: as it was last seen.
        window: None until the first `catch_up`.
        knowledge: by record id, in the order of the journal.
        factors: by model.
        decided: the last call, or None; `manifest` once it was read, `shown` what it shows that is no record.
        until: the sequence that the journal is looked at up to; None for its end.
        stored: refs of contents that are known to be stored.
    """

    def __init__(self, *, until: int | None = None) -> None:
        self.until = until
        self.root: AgentRoot | None = None
        self.window: Window | None = None
        self.knowledge: dict[str, Knowledge] = {}
        self.factors: dict[str, float] = {}
        self.decided: Decided | None = None
        self.manifest: LLMInputManifest | None = None
        self.shown: Mapping[str, bytes] = {}
        self.stored: set[str] = set()

    def cool(self) -> None:
        """Keep nothing: the next `catch_up` reads all of it again."""
        self.__init__(until=self.until)

    async def catch_up(self, book: Book) -> AgentRoot:
        """Read what was appended since; the window has it waiting.

        Raises:
            NotFoundError: there is no such agent.
        """
        root = await book.root()
        if root is None:
            raise NotFoundError(f"there is no agent {book.agent_id!r}", agent_id=book.agent_id)
        window = self.window
        if window is None or not self._goes_on(root):
            await self._begin(book, root)
        elif root.journal_position > window.upto:
            records = await _fresh(book, root, after=window.upto)
            if any(record.kind in ("decided", "forgotten") for record in records):
                await self._begin(book, root)  # another process moved the window
            else:
                await self._read(book, root, records)
        self.root = root
        return root

    async def look_back(self, book: Book, root: AgentRoot) -> None:
        """Read everything as it stood at `until`; what was forgotten since raises.

        Raises:
            ForgottenError: a message of that time was forgotten.
        """
        await self._begin(book, root)
        self.root = root

    def _goes_on(self, root: AgentRoot) -> bool:
        before, now = self.root, root.current
        return (
            before is not None
            and before.branch == root.branch
            and before.current.transcript_since == now.transcript_since
            and before.current.knowledge_since == now.knowledge_since
            and home_in(before) == home_in(root)
        )

    async def _begin(self, book: Book, root: AgentRoot) -> None:
        self.cool()
        branch = root.current
        last = await _last_decided(book, root, self.until)
        window = Window(home_in(root), upto=branch.transcript_since, since=branch.transcript_since)
        if last is not None:
            self.decided = decided_of(last)
            state = await _state(book, last)
            if state.since == branch.transcript_since and state.home == home_in(root):
                window = Window.of(state, await self._contents(book, await book.recorded(state.record_ids)))
        self.window = window
        for record in await _all(book, root, ("knowledge",), after=branch.knowledge_since, until=window.upto):
            await self._learn(book, record)
        for calibrated in await book.records(root, kinds=("calibrated",), until=self.until, limit=1, descending=True):
            self._calibrate(calibrated)
        if self.until is None:
            fresh = await _fresh(book, root, after=window.upto)
        else:
            fresh = await _all(book, root, (), after=window.upto, until=self.until)
        await self._read(book, root, fresh)

    async def _read(self, book: Book, root: AgentRoot, records: Sequence[JournalRecord]) -> None:
        messages = [record for record in records if record.kind in CONVERSATION and record.context_candidate]
        if self.window is not None:
            self.window.read(await self._contents(book, messages), upto=root.journal_position)
        for record in records:
            match record.kind:
                case "knowledge" if record.sequence > root.current.knowledge_since:
                    await self._learn(book, record)
                case "calibrated":
                    self._calibrate(record)
                case _:
                    pass

    async def _contents(self, book: Book, records: Sequence[JournalRecord]) -> list[tuple[Seen, bytes]]:
        """The messages of records, in their order; those forgotten are not among them, but stop a look back."""
        standing = [record for record in records if self.until is not None or record.forgotten_by is None]
        contents = await book.contents(standing)
        return [
            (seen_of(record, record.content_ref), contents[record.content_ref])
            for record in standing
            if record.content_ref is not None
        ]

    async def _learn(self, book: Book, record: JournalRecord) -> None:
        if record.content_ref is not None and record.forgotten_by is None:
            text = (await book.contents([record.content_ref]))[record.content_ref].decode("utf-8", "surrogatepass")
            self.knowledge[record.record_id] = Knowledge(record=record, text=text)

    def _calibrate(self, record: JournalRecord) -> None:
        self.factors = dict(record.metadata["factors"])


def decided_of(record: JournalRecord) -> Decided:
    """The call that a `decided` record is about."""
    said: Any = record.metadata
    return Decided(
        sequence=record.sequence,
        execution_id=record.execution_id or "",
        call_sequence=said["call_sequence"],
        manifest_ref=said["manifest_ref"],
        at_ms=record.occurred_at_ms,
    )


async def _last_decided(book: Book, root: AgentRoot, until: int | None) -> JournalRecord | None:
    """The last call's record that was not forgotten."""
    while True:
        found = await book.records(root, kinds=("decided",), until=until, limit=8, descending=True)
        standing = next((record for record in found if record.forgotten_by is None), None)
        if standing is not None or not found:
            return standing
        until = found[-1].sequence - 1


async def _state(book: Book, record: JournalRecord) -> WindowState:
    ref = record.content_ref
    if ref is None:
        raise IntegrityError("a decided record without a state", record_id=record.record_id)
    return WINDOW.decode((await book.contents([ref]))[ref], WindowState)


async def _fresh(book: Book, root: AgentRoot, *, after: int) -> list[JournalRecord]:
    """Everything on the branch's line behind a sequence, and what was forgotten anywhere."""
    out: list[JournalRecord] = []
    while True:
        page = await book.fresh(root, after=after, limit=_PAGE)
        out += page
        if len(page) < _PAGE:
            return out
        after = page[-1].sequence


async def _all(
    book: Book, root: AgentRoot, kinds: Sequence[Kind], *, after: int, until: int | None = None
) -> list[JournalRecord]:
    out: list[JournalRecord] = []
    while True:
        page = await book.records(root, kinds=kinds, after=after, until=until, limit=_PAGE)
        out += page
        if len(page) < _PAGE:
            return out
        after = page[-1].sequence


def seen_of(record: JournalRecord, ref: str) -> Seen:
    """Where a message's record stands."""
    return Seen(
        record_id=record.record_id,
        sequence=record.sequence,
        kind=record.kind,
        content_ref=ref,
        key=record.key,
        execution_id=record.execution_id,
        origin=record.metadata.get("origin", "conversation"),
    )
