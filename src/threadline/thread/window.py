"""`Window`: the part of a conversation that is still looked at, as data that survives restarts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from threadline.errors import SerializationError
from threadline.messages.dialects import Decoder
from threadline.messages.fate import Fate
from threadline.messages.message import Dialect, Message
from threadline.messages.wire import dump_bytes, load_bytes
from threadline.thread.incoming import read_wire
from threadline.tokens import Measure
from threadline.transcript import FitPolicy
from threadline.transcript.compaction import relieve
from threadline.transcript.ledger import Ledger
from threadline.transcript.ledger_state import LedgerState, ledger_of, state_of, staying
from threadline.transcript.summary import read_summary

__all__ = ["Gone", "Ground", "Seen", "Shown", "Window", "WindowState", "stretch_of"]


class Seen(Struct, frozen=True, kw_only=True):
    """Where a message of the window stands in the journal."""

    record_id: str
    sequence: int
    kind: str
    content_ref: str
    key: str | None = None
    execution_id: str | None = None
    origin: str = "conversation"


class Gone(Struct, frozen=True, kw_only=True):
    """A stretch of the journal that a summary stands for, both ends included."""

    first: int
    last: int


class WindowState(Struct, frozen=True, kw_only=True):
    """A window as data.

    Attributes:
        upto: the sequence up to which records were looked at.
        since: the sequence up to which records were hidden when the window began.
        home: the dialect of its messages.
        record_ids: its messages, in order.
        ledger: a `LedgerState` as JSON text: wire objects inside may hold numbers that canonical JSON cannot.
        gone: what the summary stands for; where messages between are still in the window, those are not.
    """

    upto: int = 0
    since: int = 0
    home: Dialect = "plain"
    record_ids: tuple[str, ...] = ()
    ledger: str = "{}"
    gone: tuple[Gone, ...] = ()


class Shown(Struct, frozen=True, kw_only=True):
    """One message of the view.

    Attributes:
        id: names it in plans and manifests.
        message: as it is shown.
        tokens: what it then costs.
        seen: its record; None for what was put in.
        fate: what became of it: `kept`, or the strongest thing that was done inside it.
        label: `record`, `repair` or `summary`.
        covers: how many messages a summary stands for.
    """

    id: str
    message: Message
    tokens: int
    seen: Seen | None
    fate: Fate
    label: str
    covers: int = 0


class Ground(Struct, frozen=True, kw_only=True):
    """What a ledger's decisions rest on; another ground sets the ledger up anew, its view unchanged."""

    policy: FitPolicy
    measure: Measure
    cap: int


class Window:
    """Messages of one branch in the order of the journal, and what is shown of them."""

    def __init__(self, home: Dialect, *, upto: int = 0, since: int = 0) -> None:
        self.home: Dialect = home
        self.upto = upto
        self.since = since
        self.seen: list[Seen] = []
        self.gone: tuple[Gone, ...] = ()
        self._messages: list[Message] = []
        self._state = LedgerState()
        self._ledger: Ledger | None = None
        self._ground: Ground | None = None
        self._decoder = Decoder(home)
        self._waiting: list[tuple[Seen, Message]] = []

    @classmethod
    def of(cls, state: WindowState, records: Sequence[tuple[Seen, bytes]]) -> Window:
        """The window of a state; `records` are those it names, in order."""
        window = cls(state.home, upto=state.upto, since=state.since)
        window.gone = state.gone
        try:
            window._state = msgspec.convert(load_bytes(state.ledger.encode()), LedgerState, strict=False)
        except msgspec.ValidationError as error:
            raise SerializationError(f"not the state of a window: {error}") from error
        for seen, content in records:
            window.seen.append(seen)
            window._messages.append(window._read(seen, content))
        return window

    @property
    def state(self) -> WindowState:
        """The window as data, without what waits to be admitted."""
        return WindowState(
            upto=self.upto,
            since=self.since,
            home=self.home,
            record_ids=tuple(seen.record_id for seen in self.seen),
            ledger=dump_bytes(msgspec.to_builtins(self._state, str_keys=True)).decode(),
            gone=self.gone,
        )

    @property
    def is_set_up(self) -> bool:
        """Whether it stands on a ground, and so shows anything."""
        return self._ledger is not None

    @property
    def ledger(self) -> Ledger:
        """The ledger of the last ground.

        Raises:
            RuntimeError: the window was never put on one.
        """
        if self._ledger is None:
            raise RuntimeError("a window shows nothing before `stand_on`")
        return self._ledger

    def read(self, records: Iterable[tuple[Seen, bytes]], *, upto: int) -> None:
        """Take note of records that were appended; `admit` looks at them."""
        for seen, content in records:
            self._waiting.append((seen, self._read(seen, content)))
        self.upto = max(self.upto, upto)

    def _read(self, seen: Seen, content: bytes) -> Message:
        message = read_wire(load_bytes(content), self._decoder, seen.sequence)
        if seen.origin != message.origin:
            message = msgspec.structs.replace(message, origin=seen.origin)
        return message

    def stand_on(self, ground: Ground, *, fixed: int) -> None:
        """Put the ledger on a ground, with `fixed` tokens for all that is not messages."""
        if self._ledger is None or ground != self._ground:
            self._set_up(ground, fixed)
        self.ledger.total += fixed - self.ledger.fixed
        self.ledger.fixed = fixed

    def _set_up(self, ground: Ground, fixed: int) -> None:
        self._ground = ground
        self._ledger = ledger_of(
            self._state, self._messages, ground.policy, ground.measure, fixed=fixed, cap=ground.cap
        )

    def admit(self) -> None:
        """Look at what waits: leave out what stood before, pair calls with results."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self.ledger.admit([message for _, message in waiting])
            self.seen += (seen for seen, _ in waiting)
            self._messages = self.ledger.messages
            self._state = state_of(self.ledger, range(len(self.seen)), compacted=self._state.compacted)

    def relieve(self, max_tokens: int) -> bool:
        """One compaction, if what is shown costs more than `max_tokens`; True when there was one.

        Raises:
            ContextBudgetExceededError: what is required does not fit.
        """
        ledger, ground = self.ledger, self._ground
        if ledger.total <= max_tokens or ground is None:
            return False
        relieve(ledger, max_tokens)
        keep = staying(ledger)
        kept = set(keep)
        left = [seen.sequence for index, seen in enumerate(self.seen) if index not in kept]
        self.gone = _joined(self.gone, left, [self.seen[index].sequence for index in keep])
        self._state = state_of(ledger, keep, compacted=len(self.seen))
        self.seen = [self.seen[index] for index in keep]
        self._messages = [self._messages[index] for index in keep]
        self._set_up(ground, ledger.fixed)
        return True

    def view(self) -> list[Message]:
        """What is shown, and behind it what waits to be looked at."""
        return [*self.ledger.view(), *(message for _, message in self._waiting)]

    @property
    def waiting(self) -> list[tuple[Seen, Message]]:
        """What was read and not yet looked at."""
        return list(self._waiting)

    def units(self) -> list[list[Shown]]:
        """The view in runs that nothing may part: a call with its results, and whatever stands between them."""
        ledger = self.ledger
        ends: dict[int, int] = {}
        for group in ledger.grouper.groups(ledger.shown):
            ends[group.indices[0]] = max(group.indices)
        units: list[list[Shown]] = []
        end = -1
        for index, shown in self._placed():
            if index is None or index > end or not units:
                units.append([])
            units[-1].append(shown)
            end = max(end, index if index is not None else -1, ends.get(index, -1) if index is not None else -1)
        return units

    def _placed(self) -> list[tuple[int | None, Shown]]:
        """Each message of the view with the place of the message that it is, or belongs to."""
        ledger = self.ledger
        put: list[tuple[int, int, int | None, Shown]] = []
        if ledger.summary is not None:
            insertion, tokens = ledger.summary
            summary = read_summary(insertion.message)
            covers = 0 if summary is None else summary.covers
            put.append((insertion.before, 0, None, _inserted("summary", "summary", insertion.message, tokens, covers)))
        of_owner: Counter[int] = Counter()
        for insertion, tokens in ledger.repairs:
            owner = insertion.owner if insertion.owner is not None else insertion.before
            of_owner[owner] += 1
            name = self.seen[owner].record_id if owner < len(self.seen) else "end"
            shown = _inserted(f"repair:{name}:{of_owner[owner]}", "repair", insertion.message, tokens)
            put.append((insertion.before, 1, owner, shown))
        put.sort(key=lambda one: one[:2])
        placed: list[tuple[int | None, Shown]] = []
        at = 0
        for index in ledger.shown:
            while at < len(put) and put[at][0] <= index:
                placed.append(put[at][2:])
                at += 1
            placed.append((index, self._shown(index)))
        return [*placed, *(one[2:] for one in put[at:])]

    def _shown(self, index: int) -> Shown:
        ledger, seen = self.ledger, self.seen[index]
        return Shown(
            id=f"record:{seen.record_id}",
            message=ledger.views.get(index) or ledger.messages[index],
            tokens=ledger.costs[index],
            seen=seen,
            fate=self.fate(index),
            label="record",
        )

    def fate(self, index: int) -> Fate:
        """What became of the window's message at a place: the strongest thing that was done to it."""
        if index in self.ledger.fates:
            return self.ledger.fates[index]
        fates = {elision.fate for elision in self.ledger.elisions.get(index, ())}
        return max(fates, key=_STRENGTH.index, default=Fate.KEPT)


_STRENGTH = list(Fate)


def _inserted(id: str, label: str, message: Message, tokens: int, covers: int = 0) -> Shown:
    return Shown(id=id, message=message, tokens=tokens, seen=None, fate=Fate.KEPT, label=label, covers=covers)


def _joined(gone: Sequence[Gone], left: Sequence[int], kept: Sequence[int]) -> tuple[Gone, ...]:
    """The stretches with `left` added; two are one where no kept message stands between them."""
    stretches = sorted([*((g.first, g.last) for g in gone), *((at, at) for at in left)])
    standing = sorted(kept)
    out: list[tuple[int, int]] = []
    at = 0
    for first, last in stretches:
        while at < len(standing) and out and standing[at] <= out[-1][1]:
            at += 1
        if out and not (at < len(standing) and standing[at] < first):
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return tuple(Gone(first=first, last=last) for first, last in out)


def stretch_of(gone: Iterable[Gone], sequence: int) -> Gone | None:
    """The stretch that holds a sequence, if one does."""
    return next((stretch for stretch in gone if stretch.first <= sequence <= stretch.last), None)
