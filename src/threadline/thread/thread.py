"""`Thread`: one conversation of one agent, kept for good: append, assemble, record, explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from threadline.context import Hook, LLMInputManifest, Policy, TokenBudget
from threadline.errors import InvalidInputError
from threadline.journal import Book, Entry, Kind
from threadline.messages.message import Dialect
from threadline.ports import Scope
from threadline.thread.aligning import Synced, sync
from threadline.thread.appending import Appended, append, keys_of
from threadline.thread.assembling import (
    Reassembled,
    Replayed,
    assemble,
    load_manifest,
    peek,
    reassemble,
    replay,
)
from threadline.thread.call import Call
from threadline.thread.desk import Desk
from threadline.thread.digests import digest_of
from threadline.thread.explaining import Explanation, explain, find
from threadline.thread.paging import BranchInfo, HistoryPage, branches, checked_branch, history
from threadline.thread.recording import record_failure, record_reply

__all__ = ["Thread"]


class Thread:
    """A durable conversation. Made by `Engine.thread`; cheap to make, warm after its first call.

    What happens when two do something at once, in one process or several:

    - `append`, `add_knowledge`, `record_reply` and `sync` wait for one another and all take effect, in some order.
    - `assemble` reads, then lets hooks and the policy run with nothing open, then writes. If anything was appended in
      between, it raises `ConflictError` and nothing was written: call it again.
    - An append never waits for a model, a hook or a policy.

    Cancelling any of them leaves no lock and nothing half-written.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __repr__(self) -> str:
        return f"Thread({self.agent_id!r})"

    @property
    def agent_id(self) -> str:
        """Whose conversation it is."""
        return self._desk.agent_id

    @property
    def scope(self) -> Scope:
        """Tenant and owner."""
        return self._desk.scope

    async def append(
        self,
        messages: Any,
        *,
        message_id: str | None = None,
        message_ids: Sequence[str | None] | None = None,
        idempotency_key: str | None = None,
        dialect: Dialect | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Appended:
        """Store one message or several at the end of the conversation.

        A user's message begins a run. A system or developer message is an instruction of the operator's. Messages of
        another dialect than the thread's are stored as they came and shown in the thread's own.

        Args:
            messages: a text (a user turn), a wire object of any dialect, a `Message`, JSON as bytes (stored verbatim),
                or a list of these.
            message_id: your own name for it; storing the same again under its name does nothing.
            message_ids: the same for several.
            idempotency_key: one name for the whole batch instead.
            dialect: what the messages are written in; None finds it out.
            metadata: a JSON object to keep beside each.

        Raises:
            InvalidInputError: a message is malformed; names index and key. Nothing was stored.
            ConflictError: a name is taken by another message. Nothing was stored.
        """
        if message_id is not None and message_ids is not None:
            raise InvalidInputError("give message_id or message_ids, not both", key="message_id")
        keys = keys_of(messages, message_id if message_ids is None else message_ids, idempotency_key)
        told = _checked_metadata(metadata)
        with self._desk.span("append"):
            return await append(self._desk, messages, keys=keys, dialect=dialect, metadata=told)

    async def sync(self, history: Any, *, dialect: Dialect | None = None) -> Synced:
        """Take the whole history from a client that resends everything.

        What is stored already, as it was said or as the last call showed it, is recognised; the rest is appended. Where
        the history differs from what is stored, a branch begins that shares what is before; an older branch that fits
        better is gone back to. A shorter history is a branch too: the client took messages back.

        Raises:
            InvalidInputError: it is no list of at least one message, or one is malformed.
        """
        with self._desk.span("sync"):
            return await sync(self._desk, history, dialect=dialect, shown=await self._shown_digests())

    async def _shown_digests(self) -> list[str]:
        window = self._desk.warm.window
        if window is None or self._desk.warm.decided is None or not window.is_set_up:
            return []
        return [digest_of(message.wire) for message in window.ledger.view()]

    async def add_knowledge(
        self, text: str, *, knowledge_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Store something the model should know, whoever said it; gives back its id.

        It goes into calls as quoted data, as long as there is room, and stays through `clear_transcript`.

        Args:
            text: the text.
            knowledge_id: your own name for it; storing the same again does nothing.
            metadata: a JSON object to keep beside it. `source` is shown to the model; `required`, `pinned` and
                `priority` (higher goes in first) say how much it matters.

        Raises:
            ConflictError: the name is taken by something else.
        """
        if not isinstance(cast("object", text), str) or not text:
            raise InvalidInputError("knowledge is a text of at least one character", key="text")
        desk, told, content = self._desk, _checked_metadata(metadata), text.encode("utf-8", "surrogatepass")
        keys = keys_of(text, knowledge_id, None)
        key = keys[0] if keys else None

        async def attempt(book: Book) -> str:
            root = await desk.root(book)
            known = (await book.keyed(root, [key])).get(key) if key is not None else None
            if known is not None:
                if known.kind != "knowledge" or book.naming(content) != known.content_ref:
                    raise desk.taken(key)
                return key or known.record_id
            entry = Entry(
                kind="knowledge",
                channel="external",
                record_id=desk.new_id(),
                content=content,
                key=key,
                context_candidate=True,
                metadata=told,
            )
            await book.append(root, [entry], now_ms=desk.now_ms())
            return key or entry.record_id

        return await desk.retried(attempt)

    async def clear_transcript(self) -> None:
        """Hide every message so far from later calls; knowledge stays, and so does the record of what was said."""
        await self._note("transcript_cleared")

    async def clear_knowledge(self) -> None:
        """Hide every piece of knowledge so far from later calls."""
        await self._note("knowledge_cleared")

    async def reset_context(self) -> None:
        """Hide messages and knowledge so far from later calls."""
        await self._note("context_reset")

    async def close(self) -> None:
        """Take no more messages. What was said can still be read."""
        await self._note("agent_closed")

    async def _note(self, kind: Kind) -> None:
        desk = self._desk

        async def attempt(book: Book) -> None:
            root = await desk.root(book)
            entry = Entry(kind=kind, channel="state", record_id=desk.new_id(), visibility="operator")
            await book.append(root, [entry], now_ms=desk.now_ms())

        await desk.retried(attempt)

    async def assemble(
        self,
        *,
        model: str | None = None,
        budget: int | TokenBudget | None = None,
        max_input_tokens: int | None = None,
        instructions: str | Sequence[str] | None = None,
        tools: Sequence[Any] | None = None,
        response_format: Any = None,
        policy: Policy | None = None,
        hooks: Sequence[Hook] = (),
        config: Mapping[str, Any] | None = None,
    ) -> Call:
        """Put together what the model sees next, within the budget, and store the proof.

        Args:
            model: whose tokens to count, and what the bodies name.
            budget: the most that the request may cost: `max_input_tokens`, or a `TokenBudget`. None is the model's
                window less what the reply may take (`max_output_tokens` in `config`).
            max_input_tokens: the same as an integer `budget`.
            instructions: what the operator tells the model; the only material besides stored instructions that gets the
                system role.
            tools: tool definitions, in any dialect.
            response_format: the schema of the reply, in the thread's dialect.
            policy: what goes in; None is the thread's own.
            hooks: called before, after those of the engine and the thread.
            config: parameters of the request, e.g. `temperature`, `max_output_tokens`.

        Raises:
            ContextBudgetExceededError: what is required does not fit; lists it by size. Nothing was written.
            ConflictError: something was appended meanwhile; nothing was written, call again.
            UnknownModelError: nothing is known of the model and no budget was given.
        """
        if budget is not None and max_input_tokens is not None:
            raise InvalidInputError("give budget or max_input_tokens, not both", key="max_input_tokens")
        with self._desk.span("assemble") as noted:
            call = await assemble(
                self._desk,
                model=model,
                budget=budget if max_input_tokens is None else max_input_tokens,
                instructions=instructions,
                tools=tools,
                response_format=response_format,
                policy=policy,
                hooks=tuple(hooks),
                config=_checked_metadata(config),
            )
            noted.update(
                {
                    "gen_ai.usage.input_tokens": call.tokens,
                    "gen_ai.request.model": call.model or "",
                    "threadline.reusable_tokens": call.reusable_tokens,
                    "threadline.manifest_ref": call.manifest_ref,
                }
            )
            return call

    async def record_reply(
        self, call: Call, reply: Any, *, usage: Any = None, partial: bool = False, stop_reason: str | None = None
    ) -> Appended:
        """Store what the model answered, and learn from what it cost. Recording the same again does nothing.

        Args:
            call: what `assemble` gave.
            reply: a response body or an SDK's response object of any provider, a message, a list of them, or a text.
            usage: the provider's usage object, where it is not in the reply.
            partial: True for a reply that was cut off; it is shown to the model as far as it goes.
            stop_reason: why it ended, where the reply does not say.

        Raises:
            ConflictError: another outcome is recorded for this call.
            InvalidInputError: the reply cannot be read, or the call is of another thread.
        """
        with self._desk.span("record_reply"):
            return await record_reply(self._desk, call, reply, usage=usage, partial=partial, stop_reason=stop_reason)

    async def record_failure(
        self,
        call: Call,
        error: BaseException | str,
        *,
        usage: Any = None,
        status: Literal["failed", "cancelled"] = "failed",
    ) -> None:
        """Note that a call came to nothing. The error's type is kept, never its text; no later call shows it."""
        await record_failure(self._desk, call, error, usage=usage, status=status)

    async def history(self, *, after: int = 0, limit: int = 100, branch: int | None = None) -> HistoryPage:
        """A page of what was said on a branch (None: the current one), hidden messages too.

        Args:
            after: a sequence; the page begins behind it.
            limit: most messages of a page, at most 10,000.
            branch: its number.

        Raises:
            NotFoundError: there is no such branch.
        """
        return await history(self._desk, after=after, limit=limit, branch=branch)

    async def view(self) -> list[Any]:
        """What is shown of the conversation now, as wire objects: the window, and behind it what was appended since."""
        return [message.wire for message in (await peek(self._desk)).view()]

    async def explain(self, message_id: str) -> Explanation:
        """What became of a message in the last call on this branch, and why.

        Raises:
            NotFoundError: there is no such message.
        """
        window = await peek(self._desk)
        warm = self._desk.warm
        async with self._desk.book(write=False) as book:
            root = await self._desk.root(book)
            record = await find(book, root, message_id)
        decided = warm.decided
        omitted: dict[str, str] = {}
        if decided is not None:
            manifest = await self.manifest(decided.manifest_ref)
            omitted = {one.item_id.removeprefix("record:"): one.reason for one in manifest.omissions}
        return explain(record, root, window, None if decided is None else decided.manifest_ref, omitted)

    async def manifest(self, manifest_ref: str | None = None) -> LLMInputManifest:
        """A stored manifest; None is that of the last call on this branch.

        Raises:
            NotFoundError: there is none.
            IntegrityError: what is stored is not what its name says.
        """
        return await load_manifest(self._desk, manifest_ref)

    async def replay(self, manifest_ref: str | None = None) -> Replayed:
        """Make the request of a call (None: the last) again from what is stored, and compare it byte for byte.

        Raises:
            IntegrityError: it is not the request that was assembled.
            ForgottenError: something in it was forgotten.
        """
        return await replay(self._desk, manifest_ref)

    async def reassemble(self, manifest_ref: str | None = None, *, policy: Policy | None = None) -> Reassembled:
        """Run a policy (None: the thread's own) again on the journal as it was at a call, and compare the manifests.

        Raises:
            ForgottenError: something the call showed was forgotten.
        """
        return await reassemble(self._desk, manifest_ref, policy)

    async def branches(self) -> list[BranchInfo]:
        """The lines of the conversation; appends go to the current one."""
        return await branches(self._desk)

    async def fork(self, *, after: str | None) -> int:
        """Begin a branch behind a message (None: at the very beginning), make it current, and give back its number.

        Raises:
            NotFoundError: there is no such message.
        """
        desk = self._desk

        async def attempt(book: Book) -> int:
            root = await desk.root(book)
            at = 0 if after is None else (await find(book, root, after)).sequence
            root, _ = await book.fork(root, after=at, now_ms=desk.now_ms(), record_id=desk.new_id())
            return root.branch

        return await desk.retried(attempt)

    async def switch(self, branch: int) -> None:
        """Make a branch current.

        Raises:
            NotFoundError: there is none of that number.
        """
        desk = self._desk

        async def attempt(book: Book) -> None:
            root = await desk.root(book)
            if checked_branch(root, branch) != root.branch:
                await book.switch(root, branch, now_ms=desk.now_ms())

        await desk.retried(attempt)


def _checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    if metadata is None:
        return {}
    if not isinstance(cast("object", metadata), Mapping):
        raise InvalidInputError("metadata is a JSON object", key="metadata")
    return dict(metadata)
