"""The verbs of a transaction as steps: each step asks a named statement and is sent its answer.

What a verb means is written once, here; a thread drives the steps on SQLite, a coroutine on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from threadline.ports import Document, Row, Scope
from threadline.ports.scope import checked_name
from threadline.stores.arguments import (
    GREATEST,
    check_contents,
    check_document,
    check_rows,
    checked_names,
    checked_number,
    document_conflict,
    head_conflict,
    missing_content,
    missing_row,
    out_of_order,
    record_conflict,
)
from threadline.stores.naming import check_content

__all__ = ["Answer", "Query", "Steps", "Value", "Verbs", "next_scopes"]

T = TypeVar("T")
Value: TypeAlias = str | int | bytes | list[str] | list[int] | None


class Query(Struct, frozen=True):
    """A statement by its name.

    Attributes:
        values: its parameters; a list is a set to look in.
        batch: what differs from one execution to the next, for a statement that writes many at once.
    """

    name: str
    values: dict[str, Value]
    batch: list[dict[str, Value]] | None = None


Answer: TypeAlias = Sequence[tuple[Any, ...]]
Steps: TypeAlias = Generator[Query, Answer, T]


class Verbs:
    """The verbs of one scope; see `Transaction` for what each promises."""

    def __init__(self, scope: Scope) -> None:
        self._scope: dict[str, Value] = {"tenant": scope.tenant, "owner": scope.owner}

    def _query(self, name: str, **values: Value) -> Query:
        return Query(name, self._scope | values)

    # contents

    def put(self, contents: Mapping[str, bytes]) -> Steps[None]:
        """One statement."""
        check_contents(contents)
        for ref, content in contents.items():
            check_content(ref, content)
        if contents:
            batch: list[dict[str, Value]] = [{"ref": ref, "body": content} for ref, content in contents.items()]
            yield Query("put_contents", self._scope, batch)

    def get(self, refs: Sequence[str]) -> Steps[dict[str, bytes]]:
        """One statement."""
        wanted = checked_names(refs, "refs")
        if not wanted:
            return {}
        found: dict[str, bytes] = dict((yield self._query("get_contents", refs=wanted)))
        for ref in wanted:
            if ref not in found:
                raise missing_content(ref)
            check_content(ref, found[ref])
        return {ref: found[ref] for ref in wanted}

    def drop(self, refs: Sequence[str]) -> Steps[list[str]]:
        """One statement."""
        wanted = checked_names(refs, "refs")
        gone = {ref for (ref,) in (yield self._query("drop_contents", refs=wanted))}
        return [ref for ref in wanted if ref in gone]

    # rows

    def head(self, agent_id: str) -> Steps[int]:
        """One statement."""
        ((head,),) = yield self._query("head", agent_id=checked_name(agent_id, "agent_id"))
        return head

    def append(self, agent_id: str, rows: Sequence[Row], expected_head: int) -> Steps[None]:
        """At most five statements."""
        check_rows(rows)
        for expected, row in enumerate(rows, checked_number(expected_head, "expected_head") + 1):
            if row.sequence != expected:
                raise out_of_order(row.sequence, expected)
        head = yield from self.head(agent_id)
        if head != expected_head:
            raise head_conflict(agent_id, head, expected_head)
        if rows:
            places = yield from self._places(agent_id, rows)
            yield from self._check(agent_id, rows, places)
            yield from self._insert(agent_id, rows)

    def _places(self, agent_id: str, rows: Sequence[Row]) -> Steps[Answer]:
        """Sequence, record id and refs of the rows that stand where `rows` are to stand, or have their record ids."""
        sequences = [row.sequence for row in rows]
        record_ids = list(dict.fromkeys(row.record_id for row in rows))
        return (yield self._query("places", agent_id=agent_id, sequences=sequences, record_ids=record_ids))

    def _check(self, agent_id: str, rows: Sequence[Row], places: Answer) -> Steps[None]:
        """Refuse record ids that other rows have, and contents that are not there."""
        replaced = {row.sequence for row in rows}
        taken = {record_id for sequence, record_id, _ in places if sequence not in replaced}
        for row in rows:
            if row.record_id in taken:
                raise record_conflict(agent_id, row.record_id)
            taken.add(row.record_id)
        refs: list[str] = list(dict.fromkeys(ref for row in rows for ref in row.refs))
        if refs:
            for (ref,) in (yield self._query("missing_contents", refs=refs)):
                raise missing_content(ref)

    def _insert(self, agent_id: str, rows: Sequence[Row]) -> Steps[None]:
        yield Query(
            "insert_rows",
            self._scope | {"agent_id": agent_id},
            [
                {
                    "sequence": row.sequence,
                    "record_id": row.record_id,
                    "branch": row.branch,
                    "kind": row.kind,
                    "key": row.key,
                    "refs": " ".join(row.refs),
                    "body": row.body,
                }
                for row in rows
            ],
        )
        named: list[dict[str, Value]] = [
            {"ref": ref, "sequence": row.sequence} for row in rows for ref in dict.fromkeys(row.refs)
        ]
        if named:
            yield Query("insert_refs", self._scope | {"agent_id": agent_id}, named)

    def rows(
        self,
        agent_id: str,
        *,
        branch: int | None,
        kinds: Sequence[str],
        after: int,
        until: int | None,
        limit: int,
        descending: bool,
    ) -> Steps[list[Row]]:
        """One statement, which reads no row that it does not give back."""
        values: dict[str, Value] = {
            "agent_id": checked_name(agent_id, "agent_id"),
            "after": checked_number(after, "after"),
            "until": GREATEST if until is None else checked_number(until, "until"),
            "limit": checked_number(limit, "limit", least=1),
        }
        name = "rows"
        if branch is not None:
            values["branch"] = checked_number(branch, "branch")
            name = "rows_of_branch"
        if kinds:
            values |= {"branch": branch, "kinds": checked_names(kinds, "kinds")}
            name = "rows_of_kinds"
        return _rows((yield self._query(f"{name}_descending" if descending else name, **values)))

    def keyed(self, agent_id: str, keys: Sequence[str]) -> Steps[list[Row]]:
        """One statement."""
        agent_id = checked_name(agent_id, "agent_id")
        return _rows((yield self._query("rows_keyed", agent_id=agent_id, keys=checked_names(keys, "keys"))))

    def recorded(self, agent_id: str, record_ids: Sequence[str]) -> Steps[list[Row]]:
        """One statement."""
        wanted = checked_names(record_ids, "record_ids")
        agent_id = checked_name(agent_id, "agent_id")
        return _rows((yield self._query("rows_recorded", agent_id=agent_id, record_ids=wanted)))

    def replace(self, agent_id: str, rows: Sequence[Row]) -> Steps[None]:
        """At most six statements."""
        check_rows(rows)
        checked_name(agent_id, "agent_id")
        if not rows:
            return
        places = yield from self._places(agent_id, rows)
        held = {sequence: refs.split() for sequence, _, refs in places}
        for row in rows:
            if row.sequence not in held:
                raise missing_row(agent_id, row.sequence)
        yield from self._check(agent_id, rows, places)
        stale: list[dict[str, Value]] = [
            {"ref": ref, "sequence": row.sequence} for row in rows for ref in dict.fromkeys(held[row.sequence])
        ]
        if stale:
            yield Query("delete_refs", self._scope | {"agent_id": agent_id}, stale)
        yield self._query("delete_rows", agent_id=agent_id, sequences=[row.sequence for row in rows])
        yield from self._insert(agent_id, rows)

    # documents

    def document(self, kind: str, id: str) -> Steps[Document | None]:
        """One statement."""
        found = _documents((yield self._query("document", kind=checked_name(kind, "kind"), id=checked_name(id, "id"))))
        return found[0] if found else None

    def documents(self, kind: str, agent_id: str | None, after: str, limit: int) -> Steps[list[Document]]:
        """One statement."""
        values: dict[str, Value] = {
            "kind": checked_name(kind, "kind"),
            "after": after and checked_name(after, "after"),
            "limit": checked_number(limit, "limit", least=1),
        }
        if agent_id is None:
            return _documents((yield self._query("documents", **values)))
        values["agent_id"] = agent_id and checked_name(agent_id, "agent_id")
        return _documents((yield self._query("documents_of_agent", **values)))

    def save(self, document: Document) -> Steps[None]:
        """One statement."""
        check_document(document)
        written = yield self._query(
            "save_first" if document.revision == 1 else "save_next",
            kind=document.kind,
            id=document.id,
            agent_id=document.agent_id,
            revision=document.revision,
            body=document.body,
        )
        if not written:
            raise document_conflict(document)

    def delete(self, kind: str, ids: Sequence[str]) -> Steps[None]:
        """One statement."""
        yield self._query("delete_documents", kind=checked_name(kind, "kind"), ids=checked_names(ids, "ids"))

    # forgetting

    def forget_agent(self, agent_id: str) -> Steps[None]:
        """Four statements."""
        checked_name(agent_id, "agent_id")
        for what in ("contents", "refs", "rows", "documents"):
            yield self._query(f"forget_agent_{what}", agent_id=agent_id)

    def forget_owner(self) -> Steps[None]:
        """Four statements."""
        for what in ("contents", "refs", "rows", "documents"):
            yield self._query(f"forget_owner_{what}")


def next_scopes(after: Scope | None, limit: int) -> Steps[list[Scope]]:
    """One statement a scope."""
    checked_number(limit, "limit", least=1)
    found: list[Scope] = []
    place: dict[str, Value] = {"tenant": after.tenant if after else "", "owner": after.owner if after else ""}
    while len(found) < limit:
        answer = yield Query("next_scope", place)
        if not answer:
            break
        tenant, owner = answer[0]
        found.append(Scope(tenant=tenant, owner=owner))
        place = {"tenant": tenant, "owner": owner}
    return found


def _rows(answer: Answer) -> list[Row]:
    return [
        Row(
            sequence=sequence,
            record_id=record_id,
            branch=branch,
            kind=kind,
            key=key,
            refs=tuple(refs.split()),
            body=body,
        )
        for sequence, record_id, branch, kind, key, refs, body in answer
    ]


def _documents(answer: Answer) -> list[Document]:
    return [
        Document(kind=kind, id=id_, agent_id=agent_id, revision=revision, body=body)
        for kind, id_, agent_id, revision, body in answer
    ]
