"""`check`: whether a store holds what was written, agent by agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from msgspec import Struct

from threadline.context import decode_manifest, replay
from threadline.errors import ThreadlineError
from threadline.journal import AgentRoot, Book
from threadline.journal.checking import check as check_journal
from threadline.journal.rows import ROOT_KIND
from threadline.ports import Scope, Store

__all__ = ["AgentFinding", "CheckReport", "check_scope", "scopes_of"]

_PAGE = 100


class AgentFinding(Struct, frozen=True, kw_only=True):
    """Something that is not as it was written: whose, where, and what."""

    tenant: str
    owner: str
    agent_id: str
    place: str
    sentence: str


class CheckReport(Struct, frozen=True, kw_only=True):
    """How much was looked at, and everything that is wrong."""

    agents: int = 0
    records: int = 0
    findings: tuple[AgentFinding, ...] = ()


async def scopes_of(store: Store) -> AsyncGenerator[Scope]:
    """Every scope that holds anything."""
    after: Scope | None = None
    while page := await store.scopes(after=after, limit=_PAGE):
        for scope in page:
            yield scope
        after = page[-1]


async def check_scope(store: Store, scope: Scope) -> CheckReport:
    """Derive names, numbering, chains, roots, views and the last call of each branch anew, and compare."""
    naming = await store.naming(scope)
    found: list[AgentFinding] = []
    agents = records = 0
    after = ""
    while True:
        async with store.transaction(scope, write=False) as tx:
            page = await tx.documents(ROOT_KIND, after=after, limit=_PAGE)
        if not page:
            return CheckReport(agents=agents, records=records, findings=tuple(found))
        for document in page:
            agents += 1
            async with store.transaction(scope, write=False) as tx:
                book = Book(tx, document.id, naming)
                records += await tx.head(document.id)
                told = [(one.place, one.sentence) async for one in check_journal(book)]
                if not told:
                    told = await _calls(book)
            found += (
                AgentFinding(
                    tenant=scope.tenant, owner=scope.owner, agent_id=document.id, place=place, sentence=sentence
                )
                for place, sentence in told
            )
        after = page[-1].id


async def _calls(book: Book) -> list[tuple[str, str]]:
    """What is wrong with the last call of each branch: made again, it must be the request that was assembled."""
    root = await book.root()
    if root is None:
        return []
    told = [await _call(book, root, branch.branch) for branch in root.branches]
    return [one for one in told if one is not None]


async def _call(book: Book, root: AgentRoot, branch: int) -> tuple[str, str] | None:
    record = await book.latest(root, "decided", branch)
    if record is None or record.forgotten_by is not None:
        return None
    ref = str(record.metadata["manifest_ref"])
    try:
        manifest = decode_manifest((await book.contents([ref]))[ref], ref=ref, naming=book.naming)
        replay(manifest, await book.contents(manifest.referenced_content_refs), book.naming)
    except ThreadlineError as error:
        return f"record {record.sequence}", f"the call cannot be made again: {error}"
    return None
