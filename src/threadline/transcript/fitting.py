"""`fit`: a conversation that fits a token budget, and the way back; `Fitter`: the same turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import msgspec

from threadline.errors import InvalidInputError
from threadline.messages.bodies import read_tools
from threadline.messages.detect import proved_dialect
from threadline.messages.dialects import Decoder, decode, encode
from threadline.messages.elision import Decisions, Elision, Insertion
from threadline.messages.message import Dialect, Message, Request
from threadline.messages.restoration import restore
from threadline.messages.shapes import is_array, is_object
from threadline.tokens import Measure
from threadline.transcript.compaction import relieve
from threadline.transcript.ledger import Ledger
from threadline.transcript.policy import FitPolicy
from threadline.transcript.report import Report, report_of

__all__ = ["FitResult", "Fitter", "FitterTurn", "decide", "fit"]


class FitResult:
    """A conversation that fits, with the proof.

    Attributes:
        request: the view as a `Request`.
        value: the view in the shape of the input: a list for a list, a body for a body. The very same object when
            nothing had to be done.
        tokens_before, tokens_after: the whole request by the one measure.
    """

    def __init__(self, ledger: Ledger, request: Request, tokens_before: int) -> None:
        self._ledger = ledger
        self.request = request
        self.value: Any = encode(request)
        self.tokens_before = tokens_before
        self.tokens_after = ledger.total

    def __repr__(self) -> str:
        return f"FitResult({len(self.request.messages)} messages, {self.tokens_before} -> {self.tokens_after} tokens)"

    @property
    def messages(self) -> list[Any]:
        """The view's wire objects; those that nothing touched are the caller's own."""
        return self.value if is_array(self.value) else [message.wire for message in self.request.messages]

    @property
    def body(self) -> dict[str, Any] | None:
        """The whole body, where a body was given."""
        return cast("dict[str, Any]", self.value) if isinstance(self.value, dict) else None

    @cached_property
    def elisions(self) -> Decisions:
        """Everything left out or put in, as data that survives JSON."""
        return self._ledger.decisions()

    def left_out(self) -> Iterator[Elision]:
        """What `elisions` holds of the input, one by one: all at once may be as large as the input itself."""
        return self._ledger.left_out()

    @property
    def insertions(self) -> tuple[Insertion, ...]:
        """What `elisions` holds that is not the input's."""
        return self._ledger.insertions()

    @cached_property
    def report(self) -> Report:
        """Tokens by fate and by source, and what was put right."""
        return report_of(self._ledger, self.tokens_before)

    @property
    def by_fate(self) -> dict[str, int]:
        """Tokens of the input by what became of them; they add up to `tokens_before`."""
        return self.report.by_fate

    def restore(self) -> Any:
        """The original, in the shape it came."""
        if not self.elisions:
            return self.value
        return restore(self.value, self.elisions)


class FitterTurn:
    """What one `Fitter.append` did.

    Attributes:
        messages: the whole view, as wire objects.
        added: the wire objects by which the view grew; all of it when a compaction rewrote the view.
        compacted: True when the view no longer starts as the one before did.
        tokens: what the request now costs.
    """

    def __init__(self, fitter: Fitter, added: Sequence[Any], *, compacted: bool) -> None:
        self._fitter = fitter
        self.added = list(added)
        self.compacted = compacted
        self.tokens = fitter.tokens

    @property
    def messages(self) -> list[Any]:
        """The view now, as wire objects."""
        return self._fitter.messages


def fit(
    messages_or_body: Any,
    *,
    max_input_tokens: int,
    model: str | None = None,
    tools: Sequence[Any] | None = None,
    dialect: Dialect | None = None,
    policy: FitPolicy | None = None,
) -> FitResult:
    """Make a conversation fit a token budget; tool exchanges stay whole, everything left out can be restored.

    Text that stood before is left out first. Only when that is not enough, one compaction goes from the least harm to
    the most, down to a low-water mark. Input that needs nothing comes back as the very same object.

    Args:
        messages_or_body: a message list or a whole request body of any dialect, or a `Request`.
        max_input_tokens: the budget for all that is sent: system, tools, format, messages, overheads, media.
        model: whose tokens to count; None asks the body, and counts as OpenAI's current vocabulary does if it names
            none. One that nobody knows is counted with caution.
        tools: tool definitions that will be sent along, when they are not in the body.
        dialect: the dialect of the input; None finds it out.
        policy: what may be done; None is `FitPolicy()`.

    Raises:
        ContextBudgetExceededError: what is required does not fit; lists it by size.
        InvalidInputError: a message is malformed (names index and key), or an option is.
    """
    request = decode(messages_or_body, dialect)
    if tools is not None:
        request = _with_tools(request, tools)
    budget = _check_budget(max_input_tokens)
    ledger = _decided(request, policy or FitPolicy(), Measure.of(request, model, window=budget), budget)
    view = tuple(ledger.view())
    if len(view) == len(request.messages) and all(map(_same, view, request.messages)):
        view = request.messages
    before = ledger.fixed + sum(ledger.own)
    return FitResult(ledger, msgspec.structs.replace(request, messages=view), before)


def decide(
    view: Any,
    policy: FitPolicy | None = None,
    *,
    max_input_tokens: int,
    measure: Measure | None = None,
    dialect: Dialect | None = None,
) -> Decisions:
    """What to leave out of a conversation, as data for `messages.apply`; `fit` does both.

    Args:
        view: what is visible: a message list, a request body or a `Request`.
        policy: what may be done.
        max_input_tokens: the budget of the whole request.
        measure: counts tokens; None takes the one of the body's model.
        dialect: the dialect of the input; None finds it out.

    Raises:
        ContextBudgetExceededError: what is required does not fit.
    """
    request, budget = decode(view, dialect), _check_budget(max_input_tokens)
    measure = measure or Measure.of(request, window=budget)
    return _decided(request, policy or FitPolicy(), measure, budget).decisions()


def _decided(request: Request, policy: FitPolicy, measure: Measure, max_input_tokens: int) -> Ledger:
    ledger = _ledger(policy, measure, request, max_input_tokens, goes_on=False)
    ledger.admit(request.messages, keep_latest=policy.keep == "latest")
    if ledger.total > max_input_tokens:
        relieve(ledger, max_input_tokens)
    return ledger


def _same(one: Message, other: Message) -> bool:
    return one is other


def _check_budget(max_input_tokens: Any) -> int:
    """Refuse anything but an integer of at least 1."""
    if isinstance(max_input_tokens, bool) or not isinstance(max_input_tokens, int) or max_input_tokens < 1:
        raise InvalidInputError("max_input_tokens must be an integer of at least 1", key="max_input_tokens")
    return max_input_tokens


def _with_tools(request: Request, tools: Sequence[Any]) -> Request:
    for index, tool in enumerate(tools):
        if not is_object(tool):
            raise InvalidInputError(f"tools[{index}] must be an object", index=index, key="tools")
    return msgspec.structs.replace(request, tools=read_tools({"tools": list(tools)}, request.dialect))


def _ledger(
    policy: FitPolicy, measure: Measure, request: Request, max_input_tokens: int, *, goes_on: bool = True
) -> Ledger:
    fixed = measure.request(msgspec.structs.replace(request, messages=()), message_tokens=()).total
    cap = max(policy.pressed_tokens, int(policy.result_share * max_input_tokens))
    return Ledger(policy, measure, fixed=fixed, cap=cap, goes_on=goes_on)


class Fitter:
    """`fit` for a conversation that goes on: each turn costs what its new messages cost.

    Between compactions the view only grows: what was sent stays byte for byte, so a provider's cache keeps hitting. A
    call that waits for its result holds the prefix open: until it is answered, its results may be moved next to it.
    Messages handed over belong to the fitter; do not change them afterwards.

    Args:
        max_input_tokens: the budget of each request.
        model, tools, dialect, policy: as for `fit`; `system` material goes in with the messages, or in `body`.
        body: a request body whose system, tools and format count in every turn; its messages are the first ones.
    """

    def __init__(
        self,
        *,
        max_input_tokens: int,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        dialect: Dialect | None = None,
        policy: FitPolicy | None = None,
        body: dict[str, Any] | None = None,
    ) -> None:
        frame = (
            decode(body, dialect)
            if body is not None
            else Request(dialect="plain" if dialect is None else dialect, messages=())
        )
        if tools is not None:
            frame = _with_tools(frame, tools)
        self._policy = policy or FitPolicy()
        self._budget = _check_budget(max_input_tokens)
        self._decoder: Decoder | None = self._decoder_of(frame.messages, frame.dialect)
        self._is_settled = dialect is not None or body is not None
        self._measure = Measure.of(frame, model, window=max_input_tokens)
        self._ledger = _ledger(self._policy, self._measure, frame, max_input_tokens)
        self._view: list[Message] = []
        if frame.messages:
            self._take(frame.messages)

    def __repr__(self) -> str:
        return f"Fitter({len(self._view)} messages, {self.tokens} of {self._budget} tokens)"

    @property
    def messages(self) -> list[Any]:
        """What to send now, as wire objects."""
        return [message.wire for message in self._view]

    @property
    def tokens(self) -> int:
        """What the request now costs, never more than the budget."""
        return self._ledger.total

    @property
    def decisions(self) -> Decisions:
        """Everything left out or put in so far; with `messages` it restores the original."""
        return self._ledger.decisions()

    @property
    def report(self) -> Report:
        """Tokens by fate and by source so far."""
        ledger = self._ledger
        return report_of(ledger, ledger.fixed + sum(ledger.own))

    def restore(self) -> list[Any]:
        """Every message ever appended, as it was."""
        return [message.wire for message in self._ledger.messages]

    def append(self, messages: Any) -> FitterTurn:
        """Take one or more new messages: wire objects, or `Message`s in every call.

        Raises:
            ContextBudgetExceededError: the budget cannot be met; nothing was appended.
            InvalidInputError: a message is malformed; nothing was appended.
        """
        new = list(cast("Sequence[Any]", messages)) if isinstance(messages, (list, tuple)) else [messages]
        try:
            return self._take(self._decoded(new))
        except BaseException:
            if self._decoder is not None:
                self._decoder = self._decoder_of(self._ledger.messages, self._decoder.dialect)
            raise

    def _take(self, new: Sequence[Message]) -> FitterTurn:
        ledger = self._ledger
        kept, repairs = len(ledger.messages), len(ledger.repairs)
        mark = ledger.mark()
        try:
            ledger.admit(new)
            compacted = ledger.total > self._budget
            if compacted:
                relieve(ledger, self._budget)
        except BaseException:
            ledger.rewind(mark)
            raise
        if compacted or any(i.before < kept for i, _ in ledger.repairs[repairs:]):
            before = self.messages
            self._view = ledger.view()
            compacted = compacted or self.messages[: len(before)] != before
            return FitterTurn(self, [m.wire for m in self._view], compacted=compacted)
        placed: dict[int, list[Message]] = {}
        for insertion, _ in ledger.repairs[repairs:]:
            placed.setdefault(insertion.before, []).append(insertion.message)
        added: list[Message] = []
        for index in range(kept, len(ledger.messages) + 1):
            added += placed.get(index, ())
            if index < len(ledger.messages) and index not in ledger.fates:
                added.append(ledger.views.get(index) or ledger.messages[index])
        self._view += added
        return FitterTurn(self, [m.wire for m in added], compacted=False)

    def _decoded(self, new: list[Any]) -> list[Message]:
        said = self._ledger.messages
        if new and isinstance(new[0], Message):
            if said and self._decoder is not None:
                raise InvalidInputError("a Message after wire objects: hand over one kind", index=len(said))
            self._decoder = None
            return list(decode([*said[:1], *new]).messages)[len(said[:1]) :]  # all of one dialect
        if self._decoder is None:
            raise InvalidInputError("a wire object after Messages: hand over one kind", index=len(said))
        if not self._is_settled and (proved := proved_dialect(new)) is not None:
            self._ledger.adopt(proved)
            self._decoder = self._decoder_of(said, proved)
            self._is_settled = True
        return [self._decoder.feed(wire, index) for index, wire in enumerate(new, len(said))]

    def _decoder_of(self, messages: Sequence[Message], dialect: Dialect) -> Decoder:
        """A decoder that has read these messages."""
        decoder = Decoder(dialect)
        for index, message in enumerate(messages):
            if is_object(message.wire):  # a body's bare text says nothing to a decoder
                decoder.feed(message.wire, index)
        return decoder
