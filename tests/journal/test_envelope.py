"""Envelopes: strict to the byte, versioned, brought up from every earlier form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from threadline.errors import SerializationError
from threadline.journal import AgentRoot, Branch, FrozenMap, Schema, canonical_json, freeze
from threadline.journal.projection import Projection, Standing, decode_snapshot, encode_snapshot
from threadline.journal.root import Lifecycle
from threadline.journal.rows import ROOT, record_of, row_of
from threadline.journal.series import Series
from threadline.ports import Row

from .test_book import RECORD

GOLDEN = Path(__file__).parent / "golden"


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    n: int = 0


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    number: float = 0.5
    inner: Inner = Inner()
    state: Lifecycle = "idle"
    more: tuple[str, ...] = ()
    free: Any = {}


SCHEMA = Schema("thing", 1)
GOOD = {"free": {"a": [1]}, "inner": {"n": 0}, "more": ["x"], "name": "n", "number": 2, "state": "idle"}


def enveloped(payload, record_type="thing", version=1, **more):
    return canonical_json({"record_type": record_type, "format_version": version, "payload": payload, **more})


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


def test_a_value_comes_back_frozen_to_the_bottom():
    thing = SCHEMA.decode(enveloped(GOOD), Thing)

    assert thing == Thing(name="n", number=2.0, more=("x",), free=freeze({"a": [1]}))
    assert isinstance(thing.free, FrozenMap)
    assert SCHEMA.encode(thing) == enveloped(GOOD)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (enveloped({**GOOD, "extra": 1}), "unknown key 'extra'"),
        (enveloped({**GOOD, "inner": {"n": 0, "m": 1}}), r"\$.inner: unknown key 'm'"),
        (enveloped(without("number")), "missing key 'number'"),
        (enveloped({**GOOD, "inner": {}}), r"\$.inner: missing key 'n'"),
        (enveloped(without("name")), "name"),
        (enveloped({**GOOD, "number": "2"}), "number"),
        (enveloped({**GOOD, "inner": {"n": True}}), "inner"),
        (enveloped({**GOOD, "inner": {"n": 1.5}}), "inner"),
        (enveloped({**GOOD, "more": None}), "more"),
        (enveloped({**GOOD, "state": "asleep"}), "state"),
        (enveloped(GOOD).replace(b'"number":2', b'"number":2.0'), "not canonical"),
        (enveloped(GOOD).replace(b":", b": ", 1), "not canonical"),
        (enveloped(GOOD) + b"\n", "not canonical"),
        (enveloped(GOOD, record_type="other"), "record_type"),
        (enveloped(GOOD, version=0), "format_version"),
        (enveloped(GOOD, version=True), "format_version"),
        (enveloped(GOOD, version="1"), "format_version"),
        (enveloped(GOOD, extra=1), "envelope"),
        (enveloped([GOOD]), "payload"),
        (b"[]", "envelope"),
        (b"\x00", "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_what_was_not_written_by_this_form_is_refused(data, says):
    with pytest.raises(SerializationError, match=says):
        SCHEMA.decode(data, Thing)


def test_a_later_format_says_what_would_read_it():
    with pytest.raises(SerializationError, match=r"format 3 .* reads up to 1: install a release that reads format 3"):
        SCHEMA.decode(enveloped(GOOD, version=3), Thing)


THIRD = Schema(
    "thing",
    3,
    {
        1: lambda old: {**{k: v for k, v in old.items() if k != "title"}, "name": old["title"]},
        2: lambda old: {**old, "more": []},
    },
)
FIRST = {"free": {}, "inner": {"n": 0}, "title": "n", "number": 2, "state": "idle"}


def test_earlier_formats_are_brought_up_step_by_step():
    second = {**{k: v for k, v in FIRST.items() if k != "title"}, "name": "n"}

    assert THIRD.decode(enveloped(FIRST), Thing) == Thing(name="n", number=2.0, free=freeze({}))
    assert THIRD.decode(enveloped(second, version=2), Thing) == THIRD.decode(enveloped(FIRST), Thing)


@pytest.mark.parametrize("data", [enveloped({**FIRST, "extra": 1}), enveloped(FIRST) + b" "])
def test_earlier_formats_are_read_as_strictly(data):
    with pytest.raises(SerializationError):
        THIRD.decode(data, Thing)


def test_a_schema_needs_an_upcaster_for_every_earlier_version():
    with pytest.raises(ValueError, match="every version from 1 to 2"):
        Schema("thing", 3, {1: dict})


def test_a_value_that_cannot_be_written_is_refused_by_its_path():
    with pytest.raises(SerializationError) as caught:
        SCHEMA.encode(Thing(name="n", free={"a": float("nan")}))

    assert caught.value.fields == {"record_type": "thing", "path": "$.payload.free.a"}


ROOT_VALUE = AgentRoot(
    agent_id="a",
    agent_definition_id="d",
    agent_revision=7,
    context_revision=5,
    journal_position=9,
    lifecycle_status="suspended",
    branch=1,
    branches=(
        Branch(head=5, tip="r5"),
        Branch(branch=1, parent=0, forked_after=3, head=9, tip="r9", knowledge_since=8),
    ),
    execution_id="e",
    created_at_ms=1,
    updated_at_ms=1_700_000_000_000,
    metadata=freeze({"dialect": "openai"}),
)
PROJECTION = Projection(
    branch=1,
    position=9,
    generation=2,
    messages=Series(
        [
            Standing(
                record_id="r",
                sequence=8,
                content_ref="sha256:" + "0" * 64,
                kind="external_message",
                role="user",
                execution_id=None,
                key="k",
            )
        ]
    ),
    factors=(("m", 1.25),),
)
WRITTEN = {
    "journal_record.1.json": lambda: row_of(RECORD).body,
    "agent_root.1.json": lambda: ROOT.encode(ROOT_VALUE),
    "projection.1.json": lambda: encode_snapshot(PROJECTION),
}


def golden(name):
    return (GOLDEN / name).read_bytes().removesuffix(b"\n")


@pytest.mark.parametrize("name", WRITTEN)
def test_the_current_form_is_written_as_its_golden_file_shows(name):
    assert WRITTEN[name]() == golden(name)


def test_every_golden_record_is_read():
    row = Row(
        sequence=3,
        record_id="r",
        branch=1,
        kind=RECORD.kind,
        key="k",
        refs=row_of(RECORD).refs,
        body=golden("journal_record.1.json"),
    )

    assert record_of("a", row) == RECORD


def test_every_golden_root_is_read():
    assert ROOT.decode(golden("agent_root.1.json"), AgentRoot) == ROOT_VALUE


def test_every_golden_projection_is_read():
    assert decode_snapshot(golden("projection.1.json")) == PROJECTION
