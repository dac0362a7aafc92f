"""`forget`: an owner, an agent or some messages, for good, in every derived row too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from threadline.errors import InvalidInputError, NotFoundError
from threadline.journal import Book, JournalRecord
from threadline.journal.forgetting import forget_messages
from threadline.ports import Scope, Store
from threadline.thread.explaining import find
from threadline.thread.forgetting import derived_from

__all__ = ["ForgetCertificate", "forget_agent", "forget_owner", "forget_some"]


class ForgetCertificate(Struct, frozen=True, kw_only=True):
    """What was forgotten, when, and how far it is gone. Holds no content and no hash of one.

    Attributes:
        messages: ids of the messages; empty where everything of an agent or owner went.
        derived: how many records made from them went too: calls that showed them, their replies' audit.
        contents_dropped: contents that are gone.
        contents_kept: contents that stay because another message says the same.
        scrubbed: what was done so that the bytes cannot be read from the disk, in words.
    """

    tenant: str
    owner: str
    agent_id: str | None = None
    messages: tuple[str, ...] = ()
    records: int = 0
    derived: int = 0
    contents_dropped: int = 0
    contents_kept: int = 0
    requested_by: str | None = None
    forgotten_at_ms: int
    scrubbed: str


async def forget_owner(store: Store, scope: Scope, now_ms: int, requested_by: str | None) -> ForgetCertificate:
    """Everything of the scope."""
    async with store.transaction(scope) as tx:
        await tx.forget_owner()
    return ForgetCertificate(
        tenant=scope.tenant,
        owner=scope.owner,
        requested_by=requested_by,
        forgotten_at_ms=now_ms,
        scrubbed=await store.scrub(scope),
    )


async def forget_agent(
    store: Store, scope: Scope, agent_id: str, now_ms: int, requested_by: str | None
) -> ForgetCertificate:
    """Everything of one agent.

    Raises:
        NotFoundError: there is no such agent.
    """
    async with store.transaction(scope) as tx:
        records = await tx.head(agent_id)
        if not records:
            raise NotFoundError(f"there is no agent {agent_id!r}", agent_id=agent_id)
        await tx.forget_agent(agent_id)
    return ForgetCertificate(
        tenant=scope.tenant,
        owner=scope.owner,
        agent_id=agent_id,
        records=records,
        requested_by=requested_by,
        forgotten_at_ms=now_ms,
        scrubbed=await store.scrub(scope),
    )


async def forget_some(
    store: Store,
    scope: Scope,
    agent_id: str,
    message_ids: Sequence[str],
    *,
    now_ms: int,
    new_id: Callable[[], str],
    requested_by: str | None,
) -> ForgetCertificate:
    """Some messages or pieces of knowledge of one agent.

    Raises:
        NotFoundError: one does not exist.
        InvalidInputError: none is named.
    """
    if not message_ids:
        raise InvalidInputError("no message is named", key="message_ids")
    naming = await store.naming(scope)
    async with store.transaction(scope) as tx:
        book = Book(tx, agent_id, naming)
        root = await book.root()
        if root is None:
            raise NotFoundError(f"there is no agent {agent_id!r}", agent_id=agent_id)
        records: list[JournalRecord] = [await find(book, root, one) for one in dict.fromkeys(message_ids)]
        _, told = await forget_messages(
            book,
            root,
            [record.record_id for record in records],
            now_ms,
            record_id=new_id(),
            requested_by=requested_by,
            derived=await derived_from(book, records),
        )
    return ForgetCertificate(
        tenant=scope.tenant,
        owner=scope.owner,
        agent_id=agent_id,
        messages=told.record_ids,
        records=len(told.record_ids),
        derived=len(told.derived_record_ids),
        contents_dropped=told.contents_dropped,
        contents_kept=told.contents_kept,
        requested_by=requested_by,
        forgotten_at_ms=now_ms,
        scrubbed=await store.scrub(scope),
    )
