"""`record_reply`: what a model answered, what it cost, and what that teaches about counting."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from threadline.errors import ConflictError, InvalidInputError
from threadline.journal import AgentRoot, Book, Entry
from threadline.ports import TokenUsage
from threadline.thread.appending import Appended, write
from threadline.thread.call import Call
from threadline.thread.desk import Desk
from threadline.thread.digests import digest_of
from threadline.thread.replies import Reply, read_reply, read_usage
from threadline.tokens.calibration import calibration_factor

__all__ = ["LLMCallRecord", "record_failure", "record_reply"]

_OBSERVATIONS = 16
"""How many of the last calls of a model its factor is learnt from."""

_WORTH_RECORDING = 0.005
"""A factor that differs by less changes no decision."""


class LLMCallRecord(Struct, frozen=True, kw_only=True):
    """One model call as it went.

    Attributes:
        status: `completed`, `failed` or `cancelled`.
        manifest_ref: what was sent.
        estimated_tokens: the input by our measure, without any factor.
        usage: as the provider reported it.
        reusable_tokens: what the cache plan expected to be read from the provider's cache.
        response_id: the provider's name for the reply, where it keeps state.
    """

    status: Literal["completed", "failed", "cancelled"]
    manifest_ref: str
    call_sequence: int
    model: str | None = None
    estimated_tokens: int = 0
    usage: TokenUsage | None = None
    reusable_tokens: int = 0
    stop_reason: str | None = None
    response_id: str | None = None
    partial: bool = False
    error: str | None = None
    digest: str | None = None


async def record_reply(
    desk: Desk, call: Call, reply: Any, *, usage: Any, partial: bool, stop_reason: str | None
) -> Appended:
    """Store a reply and its usage, once; see `Thread.record_reply`."""
    read = _checked(desk, call, reply, usage)
    record = LLMCallRecord(
        status="completed",
        manifest_ref=call.manifest_ref,
        call_sequence=call.call_sequence,
        model=call.model or read.model,
        estimated_tokens=call.estimated_tokens,
        usage=read.usage,
        reusable_tokens=call.reusable_tokens,
        stop_reason=stop_reason or read.stop_reason,
        response_id=read.response_id,
        partial=partial,
        digest=digest_of([getattr(message, "wire", message) for message in read.messages]),
    )

    async def attempt(book: Book) -> Appended:
        root = await desk.root(book)
        done = await _known(book, root, call, record)
        if done is not None:
            return done
        more = [_entry(desk, call, record)]
        calibrated = await _calibrated(desk, book, root, call, record)
        if calibrated is not None:
            more.append(calibrated)
        _, appended = await write(
            desk,
            book,
            root,
            read.messages,
            dialect=read.dialect,
            metadata={"partial": True} if partial else None,
            more=more,
            llm_call_id=call.llm_call_id,
            execution_id=call.execution_id,
        )
        return appended

    return await desk.retried(attempt)


async def record_failure(
    desk: Desk, call: Call, error: BaseException | str, *, usage: Any, status: Literal["failed", "cancelled"]
) -> None:
    """Note that a call came to nothing; see `Thread.record_failure`."""
    name = error if isinstance(error, str) else type(error).__name__
    record = LLMCallRecord(
        status=status,
        manifest_ref=call.manifest_ref,
        call_sequence=call.call_sequence,
        model=call.model,
        estimated_tokens=call.estimated_tokens,
        usage=read_usage(usage),
        reusable_tokens=call.reusable_tokens,
        error=name[:200],
    )

    async def attempt(book: Book) -> None:
        root = await desk.root(book)
        if await _known(book, root, call, record) is None:
            await book.append(root, [_entry(desk, call, record)], now_ms=desk.now_ms())

    await desk.retried(attempt)


def _checked(desk: Desk, call: Call, reply: Any, usage: Any) -> Reply:
    if call.agent_id != desk.agent_id:
        raise InvalidInputError("the call was assembled by another thread", key="call", agent_id=call.agent_id)
    read = read_reply(reply)
    if not read.messages:
        raise InvalidInputError("the reply holds no message", key="reply")
    if usage is None:
        return read
    return Reply(
        messages=read.messages,
        dialect=read.dialect,
        usage=read_usage(usage),
        stop_reason=read.stop_reason,
        response_id=read.response_id,
        model=read.model,
    )


def _key(call: Call) -> str:
    return f"call:{call.llm_call_id}"


async def _known(book: Book, root: AgentRoot, call: Call, record: LLMCallRecord) -> Appended | None:
    """What was stored when the same outcome was recorded before."""
    found = (await book.keyed(root, [_key(call)])).get(_key(call))
    if found is None:
        return None
    said: Any = found.metadata
    if said.get("digest") != record.digest or said.get("status") != record.status:
        raise ConflictError("another outcome is recorded for this call", llm_call_id=call.llm_call_id, final=True)
    ids = tuple(said.get("replies", ()))
    return Appended(
        message_ids=ids, record_ids=ids, sequence=root.journal_position, execution_id=call.execution_id, added=0
    )


def _entry(desk: Desk, call: Call, record: LLMCallRecord) -> Entry:
    told = {name: value for name, value in msgspec.to_builtins(record).items() if value is not None}
    return Entry(
        kind="llm_call_recorded",
        channel="audit",
        record_id=desk.new_id(),
        key=_key(call),
        refs=(call.manifest_ref,),
        execution_id=call.execution_id,
        llm_call_id=call.llm_call_id,
        visibility="operator",
        metadata=told,
    )


async def _calibrated(desk: Desk, book: Book, root: AgentRoot, call: Call, record: LLMCallRecord) -> Entry | None:
    """A record of the model's new factor, where the usage teaches one."""
    if record.usage is None or not record.usage.input_tokens or call.is_exact or record.model is None:
        return None
    earlier = await book.records(root, kinds=("llm_call_recorded",), limit=2 * _OBSERVATIONS, descending=True)
    seen = [(record.estimated_tokens, record.usage.input_tokens)]
    for one in earlier:
        told: Any = one.metadata
        if told.get("model") == record.model and told.get("usage"):
            seen.append((told["estimated_tokens"], told["usage"]["input_tokens"]))
    factor = round(calibration_factor(seen[:_OBSERVATIONS]), 4)
    last = await book.latest(root, "calibrated")
    factors: dict[str, float] = dict(last.metadata["factors"]) if last is not None else {}
    if abs(factors.get(record.model, 1.0) - factor) < _WORTH_RECORDING:
        return None
    return Entry(
        kind="calibrated",
        channel="state",
        record_id=desk.new_id(),
        execution_id=call.execution_id,
        llm_call_id=call.llm_call_id,
        visibility="operator",
        metadata={"factors": {**factors, record.model: factor}},
    )
