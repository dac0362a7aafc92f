"""The law of every dialect: what was decoded comes back as the very same object."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from threadline.messages import (
    Dialect,
    Message,
    OpaquePart,
    Part,
    RefusalPart,
    TextPart,
    ToolResultPart,
    decode,
    encode,
)
from threadline.messages.wire import get_at, replace_at

from .conversations import DIALECTS, body_of, strange_wires

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def parts_of(message: Message) -> list[Part]:
    return [
        *message.parts,
        *(inner for part in message.parts if isinstance(part, ToolResultPart) for inner in part.parts),
    ]


@every_dialect
@given(data=st.data())
def test_an_unchanged_list_comes_back_as_the_same_object(dialect: Dialect, data: st.DataObject):
    wires = data.draw(strange_wires(dialect))
    before = copy.deepcopy(wires)

    request = decode(wires, dialect)

    assert encode(request) is wires
    assert wires == before
    assert all(message.wire is wire for message, wire in zip(request.messages, wires, strict=True))


@every_dialect
@given(data=st.data())
def test_an_unchanged_body_comes_back_as_the_same_object(dialect: Dialect, data: st.DataObject):
    body = body_of(data.draw(strange_wires(dialect)), dialect)
    before = copy.deepcopy(body)

    assert encode(decode(body, dialect)) is body
    assert body == before


@every_dialect
@given(data=st.data())
def test_a_changed_text_changes_nothing_else(dialect: Dialect, data: st.DataObject):
    body = body_of(data.draw(strange_wires(dialect)), dialect)
    request = decode(body, dialect)
    spots = [
        (number, part)
        for number, message in enumerate(request.messages)
        for part in parts_of(message)
        if isinstance(part, TextPart)
    ]
    number, part = data.draw(st.sampled_from(spots))
    message = request.messages[number]
    changed = structs.replace(message, wire=replace_at(message.wire, part.path, "changed"))
    messages = (*request.messages[:number], changed, *request.messages[number + 1 :])

    encoded = encode(structs.replace(request, messages=messages))

    key = next(key for key in ("messages", "input", "contents") if key in body)
    assert {k: v for k, v in encoded.items() if k != key} == {k: v for k, v in body.items() if k != key}
    assert get_at(encoded[key][number], part.path) == "changed"
    for place, wire in enumerate(encoded[key]):
        assert place == number or wire is body[key][place]


@every_dialect
@given(data=st.data())
def test_every_path_leads_to_what_the_part_says(dialect: Dialect, data: st.DataObject):
    for message in decode(data.draw(strange_wires(dialect)), dialect).messages:
        for part in parts_of(message):
            found = get_at(message.wire, part.path)
            if isinstance(part, TextPart | RefusalPart):
                assert found == part.text
            else:
                assert found is not None


@every_dialect
@given(data=st.data())
def test_unread_blocks_are_shown_without_base64(dialect: Dialect, data: st.DataObject):
    for message in decode(data.draw(strange_wires(dialect)), dialect).messages:
        for part in parts_of(message):
            if isinstance(part, OpaquePart):
                assert "iVBOR" not in part.text
                assert len(part.text) < 400


@every_dialect
def test_an_empty_list_is_a_conversation_too(dialect: Dialect):
    empty: list[Any] = []

    assert decode(empty, dialect).messages == ()
    assert encode(decode(empty, dialect)) is empty


def test_a_request_comes_back_as_it_is():
    request = decode([{"role": "user", "content": "hi"}])

    assert decode(request) is request


def test_messages_make_a_request_of_their_dialect():
    messages = decode([{"role": "user", "parts": [{"text": "hi"}]}]).messages

    request = decode(list(messages))

    assert request.dialect == "google"
    assert encode(request) == [messages[0].wire]


def test_an_input_that_is_a_string_stays_a_string():
    body = {"model": "gpt-5", "input": "hello"}
    request = decode(body)

    assert [message.content for message in request.messages] == ["hello"]
    assert encode(request) is body
    changed = structs.replace(request.messages[0], wire="bye")
    assert encode(structs.replace(request, messages=(changed,))) == {"model": "gpt-5", "input": "bye"}


def test_a_second_message_makes_a_string_input_a_list():
    request = decode({"model": "gpt-5", "input": "hello"})
    more = decode([{"type": "message", "role": "assistant", "content": "hi"}]).messages

    encoded = encode(structs.replace(request, messages=request.messages + more))

    assert encoded["input"] == [{"role": "user", "content": "hello"}, more[0].wire]


def test_a_removed_system_removes_its_key():
    body = body_of([], "anthropic")

    assert "system" not in encode(structs.replace(decode(body), system=()))


def test_a_bare_list_with_instructions_of_its_own_becomes_a_body():
    system = decode({"system": "Be brief.", "messages": []}).system
    request = decode([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}])

    encoded = encode(structs.replace(request, system=system))

    assert encoded == {"system": "Be brief.", "messages": [request.messages[0].wire]}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "compaction", "content": "so far", "encrypted_content": "QUJD" * 60},
        {"type": "compaction_delta", "content": None},
    ],
)
def test_a_compaction_block_survives_as_it_is(block: dict[str, Any]):
    wires = [{"role": "assistant", "content": [block, {"type": "text", "text": "go on"}]}]
    request = decode(wires, "anthropic")

    assert isinstance(request.messages[0].parts[0], OpaquePart)
    assert encode(request)[0]["content"][0] is block


def test_a_compaction_item_survives_as_it_is():
    item = {"type": "compaction", "id": "cmp", "encrypted_content": "QUJD" * 60}
    body = {"model": "gpt-5", "input": [item, {"role": "user", "content": "go on"}]}
    request = decode(body)

    changed = structs.replace(request, messages=request.messages[:1])

    assert encode(changed)["input"][0] is item
