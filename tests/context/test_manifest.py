"""The manifest: its structure, its strict reading, and the request made again from it to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from threadline.context.assembler import ContextAssembler
from threadline.context.default_policy import DefaultPolicy
from threadline.context.follow_up import base_instructions, with_required
from threadline.context.manifest import LLMInputManifest, Segment, decode_manifest, encode_manifest
from threadline.context.materialise import materialise
from threadline.context.replay import replay
from threadline.errors import (
    ConfigurationError,
    IntegrityError,
    InvalidInputError,
    NotFoundError,
    SerializationError,
)
from threadline.journal.canonical import canonical_json, content_ref
from threadline.messages import Dialect
from threadline.tokens import Measure

from .items import TALK, asked, exchange, groups_of, known, messages_in, said, stored, told, tool

GOLDEN = Path(__file__).parent / "manifest-1.json"
DIALECTS: tuple[Dialect, ...] = ("plain", "openai", "responses", "anthropic", "google")
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def finished(dialect="openai", **fields):
    messages = messages_in(dialect)
    runs = ("run1",) * (len(messages) - 1) + ("run2",)
    measure = Measure("gpt-4o")
    writer = ContextAssembler(policy=DefaultPolicy(), measure=measure, naming=content_ref, dialect=dialect)
    own = {"origin": "agent_configuration"}
    given_ = asked(
        fields.pop("limit", 5000),
        instruction=[told("i", provenance=own), told("h", required=False, provenance={"origin": "hook"})],
        knowledge=[known("k", metadata={"source": "profile"})],
        tools=[tool("look")],
        conversation=list(groups_of(messages, runs)),
        execution_id="run2",
        model_config={"model": "gpt-4o", "temperature": 1.0},
        metadata={"agent_revision": 4, "journal_position": 9},
        **fields,
    )
    done = writer.finish(writer.prepare(writer.price(given_)), adapter_name="http", adapter_version="1")
    return done, {**done.contents, **{content_ref(stored(message)): stored(message) for message in messages}}


def segment(position, **fields):
    fields = {"category": "conversation", "kind": "external_message", "role": "user", "content_ref": "r", **fields}
    fields = {"content_format": "text", "item_id": f"m{position}", "tokens": 1, "bytes": 1, "reason": "", **fields}
    return Segment(position=position, **{"trust": "user", "origin": "journal", **fields})


def manifest_of(*segments, **fields):
    fields = {"call_sequence": 1, "call_mode": "complete", "model_config_ref": "c", "agent_id": "a", **fields}
    return LLMInputManifest(segments=segments, dialect="openai", **fields)


def test_row_36_positions_are_dense_and_are_put_in_order():
    assert [s.position for s in manifest_of(segment(1), segment(0)).segments] == [0, 1]
    for wrong in ((segment(0), segment(2)), (segment(0), segment(0)), (segment(1),)):
        with pytest.raises(InvalidInputError):
            manifest_of(*wrong)


def test_row_36_the_mode_says_how_many_inputs_are_asked():
    ask = segment(0, delivery="ask_argument")
    manifest_of(ask, call_mode="ask")

    for segments, mode in (
        ((ask,), "complete"),
        ((segment(0),), "ask"),
        ((ask, segment(1, delivery="ask_argument")), "ask"),
    ):
        with pytest.raises(InvalidInputError):
            manifest_of(*segments, call_mode=mode)
    with pytest.raises(InvalidInputError):
        segment(0, delivery="pigeon")


def test_row_1_a_manifest_cannot_be_changed():
    manifest = decode_manifest(encode_manifest(manifest_of(segment(0, metadata={"a": {"b": [1]}}))))

    with pytest.raises(AttributeError):
        manifest.agent_id = "x"
    with pytest.raises(TypeError):
        manifest.segments[0].metadata["a"]["b"] = 2


@every_dialect
def test_what_is_written_is_read_again(dialect):
    done, _ = finished(dialect)

    assert decode_manifest(done.contents[done.manifest_ref], done.manifest_ref, content_ref) == done.manifest
    assert done.manifest_ref == content_ref(encode_manifest(done.manifest))


def test_the_stored_form_is_what_it_was():
    done, _ = finished()

    assert json.loads(done.contents[done.manifest_ref]) == json.loads(GOLDEN.read_bytes())
    assert decode_manifest(canonical_json(json.loads(GOLDEN.read_bytes()))) == done.manifest


def changed(change):
    value = json.loads(encode_manifest(manifest_of(segment(0))))
    change(value, value["payload"], value["payload"]["segments"][0])
    return canonical_json(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda v, p, s: p.update(extra=1),
        lambda v, p, s: s.update(extra=1),
        lambda v, p, s: p["tokens"].update(extra=1),
        lambda v, p, s: p.pop("model"),
        lambda v, p, s: s.pop("reason"),
        lambda v, p, s: p.update(call_sequence="1"),
        lambda v, p, s: p.update(call_sequence=1.5),
        lambda v, p, s: s.update(tokens=True),
        lambda v, p, s: p.update(call_mode="chat"),
        lambda v, p, s: s.update(position=3),
        lambda v, p, s: v.update(format_version=0),
        lambda v, p, s: v.update(format_version=2),
        lambda v, p, s: v.update(record_type="other"),
        lambda v, p, s: v.update(extra=1),
    ],
    ids=map(str, range(14)),
)
def test_row_37_reading_is_strict(change):
    with pytest.raises(SerializationError):
        decode_manifest(changed(change))


def test_row_37_another_spelling_is_no_manifest():
    data = encode_manifest(manifest_of(segment(0)))

    for wrong in (b"", b"{}", data + b" ", data.replace(b":", b": ", 1)):
        with pytest.raises(SerializationError):
            decode_manifest(wrong)


def test_refs_are_named_once():
    manifest = manifest_of(segment(0), segment(1), tool_definitions_ref="t", response_schema_ref="s", decisions_ref="d")

    assert manifest.referenced_content_refs == ("c", "t", "s", "d", "r")


# Made again


@every_dialect
def test_a_manifest_becomes_the_very_request_again(dialect):
    done, contents = finished(dialect)

    again = materialise(done.manifest, contents, naming=content_ref, adapter_name="http", tools=[tool("look")])

    assert json.dumps(again.wire) == json.dumps(done.request.wire)
    assert again.messages == done.request.messages
    assert replay(done.manifest, contents, content_ref).body.decode() == json.dumps(
        done.request.wire, separators=(",", ":"), ensure_ascii=False
    )


def test_row_39_a_manifest_that_was_tampered_with_is_found_out():
    done, _ = finished()
    data = done.contents[done.manifest_ref].replace(b'"agent_id":"a"', b'"agent_id":"b"')

    with pytest.raises(IntegrityError):
        decode_manifest(data, done.manifest_ref, content_ref)


def test_row_39_a_content_that_was_tampered_with_is_named():
    done, contents = finished()
    for ref in done.manifest.referenced_content_refs:
        with pytest.raises(IntegrityError) as caught:
            materialise(done.manifest, {**contents, ref: contents[ref] + b" "}, naming=content_ref)
        assert caught.value.fields["ref"] == ref
        with pytest.raises(NotFoundError) as missing:
            materialise(done.manifest, {key: data for key, data in contents.items() if key != ref})
        assert missing.value.fields["ref"] == ref


def test_row_39_a_tool_that_is_gone_or_was_changed_is_a_wrong_configuration():
    done, contents = finished()
    other = structs.replace(tool("look"), definition={"name": "look", "description": "It looks twice."})

    for now in ([], [tool("other")], [other]):
        with pytest.raises(ConfigurationError) as caught:
            materialise(done.manifest, contents, tools=now)
        assert caught.value.fields["tool"] == "look"


def test_row_39_another_adapter_is_a_wrong_configuration():
    done, contents = finished()

    with pytest.raises(ConfigurationError):
        materialise(done.manifest, contents, adapter_name="other")
    materialise(structs.replace(done.manifest, adapter_name=None), contents, adapter_name="other")


def test_a_manifest_of_other_rules_cannot_be_made_again():
    done, contents = finished()

    with pytest.raises(ConfigurationError) as caught:
        materialise(structs.replace(done.manifest, assembly_policy_version=9), contents)
    assert caught.value.fields["key"] == "assembly_policy_version"


def test_two_stored_tools_of_one_name_are_refused():
    done, contents = finished()
    doubled = json.dumps([{"type": "x", "name": "look"}] * 2).encode()
    manifest = structs.replace(done.manifest, tool_definitions_ref="t")

    with pytest.raises(InvalidInputError):
        materialise(manifest, {**contents, "t": doubled})


def test_a_replay_that_differs_from_what_was_sent_is_found_out():
    done, contents = finished()
    first, *others = done.manifest.segments
    manifest = structs.replace(done.manifest, segments=(structs.replace(first, role="user"), *others))

    with pytest.raises(IntegrityError):
        replay(manifest, contents, content_ref)


strange = st.text(st.characters(codec=None, exclude_categories=()) | st.just("\0"), min_size=1)


@settings(max_examples=40)
@example(text="\ud83d\ude00 \ud800", dialect="openai", nested=True)
@example(text="\ud83d\ude00 \ud800", dialect="google", nested=False)
@given(text=strange, dialect=st.sampled_from(DIALECTS), nested=st.booleans())
def test_law_any_text_is_replayed_to_the_byte(text, dialect, nested):
    content = messages_in(dialect, [{"role": "user", "content": "x" + text}])[0].wire if nested else text
    writer = ContextAssembler(policy=DefaultPolicy(), measure=Measure(), naming=content_ref, dialect=dialect)
    given_ = asked(None, knowledge=[known("k", content=text)], conversation=[said("m", content=content)])

    done = writer.finish(writer.prepare(given_))

    stored_ = decode_manifest(done.contents[done.manifest_ref])
    again = replay(stored_, done.contents, content_ref)
    assert content_ref(again.body) == done.manifest.request_digest


def test_numbers_that_only_python_has_room_for_are_replayed_too():
    wire = {"role": "user", "content": "x", "n": 2**70, "f": 1e300, "neg": -(2**65)}
    writer = ContextAssembler(policy=DefaultPolicy(), measure=Measure(), naming=content_ref, dialect="openai")

    done = writer.finish(writer.prepare(asked(None, conversation=[said("m", content=wire)])))

    assert replay(done.manifest, done.contents, content_ref).request.wire["messages"] == [wire]


# Later calls of a run


def test_row_33_a_later_call_keeps_the_base_instructions_once_and_drops_a_hooks():
    done, contents = finished()

    kept = base_instructions(done.manifest, contents, content_ref)

    assert [(item.id, item.content, item.required) for item in kept] == [("i", "do i", True)]
    assert kept[0].provenance.origin == "agent_configuration"


def test_row_32_a_later_call_needs_its_request_and_its_latest_exchange():
    run = {"origin": "working", "execution_id": "run"}
    groups = [
        (said("old", sequence=1),),
        (said("request", sequence=2, provenance=run),),
        exchange("x", (1, 1), sequence=3, provenance=run),
        exchange("y", (1, 1), sequence=5, provenance=run),
        exchange("z", (1, 1), sequence=7),
    ]

    marked = with_required(groups, "run")

    assert [[item.required for item in group] for group in marked] == [
        [False],
        [True],
        [False, False],
        [True, True],
        [False, False],
    ]


def test_a_whole_talk_is_in_the_manifest_message_by_message():
    done, _ = finished()

    spoken = [s for s in done.manifest.segments if s.category == "conversation"]
    assert [s.record_id for s in spoken] == [str(n) for n in range(len(TALK))]
    assert [s.group for s in spoken] == [0, 1, 2, 3, 3, 3, 4, 5]
    assert {s.tool_call_id for s in spoken} == {None, "c1", "c2"}
