"""Stored conversations: recognised, read, rebuilt, written back to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from threadline.errors import InvalidInputError
from threadline.messages import (
    Message,
    check_conversation,
    convert,
    encode,
    read_document,
    result_message,
    text_message,
)
from threadline.messages.wire import replace_at

from .conversations import DIALECTS, body_of, json_values, strange_wires


def lines(*items: Any) -> bytes:
    return "".join(json.dumps(item, separators=(",", ":"), ensure_ascii=False) + "\n" for item in items).encode()


HI = {"role": "user", "content": "hi"}
HO = {"role": "assistant", "content": "ho"}

CLAUDE = [
    {"type": "summary", "summary": "About greetings", "leafUuid": "u4"},
    {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/w", "message": {"role": "user", "content": "hi"}},
    {"type": "user", "uuid": "u2", "isMeta": True, "message": {"role": "user", "content": "caveat"}},
    {
        "type": "assistant",
        "uuid": "u3",
        "message": {
            "id": "m",
            "role": "assistant",
            "model": "claude-x",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}],
        },
    },
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    {
        "type": "user",
        "uuid": "u4",
        "toolUseResult": {"stdout": "a.py"},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]},
    },
    {"type": "user", "uuid": "u5", "isSidechain": True, "message": {"role": "user", "content": "sub-agent"}},
    {
        "type": "assistant",
        "uuid": "u6",
        "isApiErrorMessage": True,
        "message": {"role": "assistant", "content": "API Error"},
    },
    {
        "type": "assistant",
        "uuid": "u7",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "one file"}]},
    },
]

CODEX = [
    {"timestamp": "t0", "type": "session_meta", "payload": {"id": "s"}},
    {
        "timestamp": "t1",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    },
    {"timestamp": "t2", "type": "event_msg", "payload": {"type": "user_message", "message": "hi"}},
    {
        "timestamp": "t3",
        "type": "response_item",
        "payload": {"type": "reasoning", "summary": [], "encrypted_content": "x"},
    },
    {
        "timestamp": "t4",
        "type": "response_item",
        "payload": {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"},
    },
    {"timestamp": "t5", "type": "turn_context", "payload": {"cwd": "/w"}},
    {
        "timestamp": "t6",
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c", "output": "a.py"},
    },
    {"timestamp": "t7", "type": "response_item", "payload": {"type": "ghost_snapshot", "ghost_commit": "abc"}},
    {"timestamp": "t8", "type": "event_msg", "payload": {"type": "token_count"}},
]

OLD_CODEX = [
    {"id": "s", "timestamp": "t", "instructions": None},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ho"}]},
]

SWE = {
    "environment": "main",
    "trajectory": [{"action": "ls", "observation": "a.py", "response": "go", "thought": "hm"}],
    "history": [
        {"role": "system", "content": "s", "agent": "primary"},
        {"role": "user", "content": "task", "agent": "primary"},
        {"role": "assistant", "content": "go", "thought": "hm", "action": "ls", "agent": "primary"},
        {"role": "user", "content": "a.py", "agent": "primary"},
    ],
    "info": {"exit_status": "submitted"},
}

TAU = {
    "task_id": 0,
    "reward": 1.0,
    "traj": [
        {"role": "system", "content": "policy"},
        {"role": "user", "content": "book it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "book", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "name": "book", "content": "booked"},
    ],
}

SHAREGPT = {
    "id": "x",
    "conversations": [
        {"from": "system", "value": "s"},
        {"from": "human", "value": "hi"},
        {"from": "function_call", "value": '{"name": "look", "arguments": {"q": 1}}'},
        {"from": "observation", "value": "seen"},
        {"from": "gpt", "value": "ho"},
    ],
}

LANGCHAIN = [
    {"type": "system", "data": {"content": "s", "type": "system", "additional_kwargs": {}}},
    {"type": "human", "data": {"content": "hi", "type": "human"}},
    {
        "type": "ai",
        "data": {
            "content": [{"type": "text", "text": "go"}, {"type": "tool_use", "id": "c", "name": "look", "input": {}}],
            "tool_calls": [{"name": "look", "args": {"q": 1}, "id": "c", "type": "tool_call"}],
        },
    },
    {"type": "tool", "data": {"content": "seen", "tool_call_id": "c", "status": "error"}},
]

FLAT_LANGCHAIN = [{"content": item["data"]["content"], **item["data"], "type": item["type"]} for item in LANGCHAIN]

NAMES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
DUMPED_LANGCHAIN = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", NAMES[item["type"]]],
        "kwargs": item["data"],
    }
    for item in LANGCHAIN
]


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


KNOWN = [
    ("json", dumped([HI, HO]), ["hi", "ho"]),
    ("jsonl", lines(HI, HO), ["hi", "ho"]),
    ("body", dumped({"model": "m", "messages": [HI, HO]}), ["hi", "ho"]),
    ("body", dumped({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}), ["hi"]),
    ("body", dumped({"input": "hi"}), ["hi"]),
    ("message", dumped(HI), ["hi"]),
    ("claude-code", lines(*CLAUDE), ["hi", "", "a.py", "one file"]),
    ("claude-code", lines(CLAUDE[1]), ["hi"]),
    ("claude-code", dumped({"loglines": CLAUDE}), ["hi", "", "a.py", "one file"]),
    ("codex", lines(*CODEX), ["hi", "", "", "a.py"]),
    ("codex", lines(*OLD_CODEX), ["hi", "ho"]),
    ("swe-agent", json.dumps(SWE, indent=2).encode(), ["s", "task", "go", "a.py"]),
    ("tau-bench", dumped(TAU), ["policy", "book it", "", "booked"]),
    ("tau-bench", dumped([TAU]), ["policy", "book it", "", "booked"]),
    ("sharegpt", dumped(SHAREGPT), ["s", "hi", "", "seen", "ho"]),
    ("sharegpt", dumped(SHAREGPT["conversations"]), ["s", "hi", "", "seen", "ho"]),
    ("langchain", dumped(LANGCHAIN), ["s", "hi", "go", "seen"]),
    ("langchain", dumped(FLAT_LANGCHAIN), ["s", "hi", "go", "seen"]),
    ("langchain", dumped(DUMPED_LANGCHAIN), ["s", "hi", "go", "seen"]),
    ("langchain", lines(*LANGCHAIN), ["s", "hi", "go", "seen"]),
    ("langchain", dumped({"messages": LANGCHAIN, "next": []}), ["s", "hi", "go", "seen"]),
]

every_format = pytest.mark.parametrize(("name", "data", "texts"), KNOWN)


def inner(message: Message) -> Any:
    """The spot of a message's first text, to change it."""
    return next(part.path for part in message.texts())


@every_format
def test_a_known_format_is_recognised_and_read(name, data, texts):
    document = read_document(data)

    assert document.format == name
    assert [message.content for message in document.request.messages] == texts
    assert read_document(data, format=name).format == name


@every_format
def test_an_unchanged_document_is_written_back_to_the_byte(name, data, texts):
    document = read_document(data)

    value = document.rebuild(document.request.messages)

    assert value is document.value
    assert document.layout_exact
    assert document.dump(value) == data


@every_format
def test_a_changed_text_changes_nothing_else(name, data, texts):
    document = read_document(data)
    messages = list(document.request.messages)
    number = next(number for number, text in enumerate(texts) if text)
    path = inner(messages[number])
    wire = replace_at(messages[number].wire, path, "changed") if path else "changed"
    messages[number] = structs.replace(messages[number], wire=wire)

    written = document.dump(document.rebuild(messages))

    assert [m.content for m in read_document(written).request.messages] == [
        *texts[:number],
        "changed",
        *texts[number + 1 :],
    ]
    old, new = data.decode().splitlines(), written.decode().splitlines()
    assert sum(one != other for one, other in zip(old, new, strict=True)) == 1


@every_format
def test_a_new_message_is_written_in_the_format_s_own_envelope(name, data, texts):
    document = read_document(data)
    dialect = document.request.dialect
    new = text_message("user", "summary", dialect)

    value = document.rebuild([new, *document.request.messages[1:]])

    again = read_document(document.dump(value), format=name if name != "message" else None)
    assert [message.content for message in again.request.messages] == ["summary", *texts[1:]]
    assert again.request.messages[0].role == "user"
    assert again.request.dialect == dialect


def test_a_wrapped_message_keeps_its_origin_and_a_result_its_id():
    document = read_document(lines(*CLAUDE))
    call = document.request.messages[1].tool_calls[0]

    wrapped = document.wrap(structs.replace(result_message(call, "late", "anthropic"), origin="repair"))

    assert wrapped.wire["message"]["content"][0]["tool_use_id"] == "t1"
    assert wrapped.wire["sessionId"] == "s"
    assert (wrapped.origin, wrapped.tool_results[0].call_id) == ("repair", "t1")
    assert document.wrap(wrapped) is wrapped


# What a log says beyond its messages


def test_claude_code_results_are_no_user_turns_and_summaries_are_marked():
    summary = {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "so far"}}
    messages = read_document(lines(*CLAUDE, summary)).request.messages

    assert [message.is_user_turn for message in messages] == [True, False, False, False, False]
    assert [message.origin for message in messages][2:] == ["observation", "conversation", "summary"]
    assert {message.dialect for message in messages} == {"anthropic"}


def test_swe_agent_observations_are_no_user_turns():
    messages = read_document(dumped(SWE)).request.messages

    assert [message.is_user_turn for message in messages] == [False, True, False, False]


def test_sharegpt_calls_and_langchain_calls_are_paired():
    for value in (SHAREGPT, LANGCHAIN, FLAT_LANGCHAIN, DUMPED_LANGCHAIN):
        request = read_document(dumped(value)).request
        [call] = [call for message in request.messages for call in message.tool_calls]
        [result] = [result for message in request.messages for result in message.tool_results]

        assert (call.name, call.arguments, result.call_id) == ("look", '{"q":1}', call.id)
        assert result.is_error == (value is not SHAREGPT)


def test_the_provider_s_own_objects_can_be_had():
    for items, key in ((CLAUDE, "message"), (CODEX, "payload")):
        document = read_document(lines(*items))
        bare = document.unwrapped()

        assert encode(bare) == [message.wire[key] for message in document.request.messages]
        assert [message.origin for message in bare.messages] == [m.origin for m in document.request.messages]
        assert check_conversation(bare) == check_conversation(document.request) == ()


@pytest.mark.parametrize("target", DIALECTS)
def test_every_log_converts_to_every_dialect(target):
    for _, data, texts in KNOWN:
        document = read_document(data)
        converted = convert(document.unwrapped(), target).request
        said = "".join(message.content for message in (*converted.system, *converted.messages))

        assert sorted(said.replace('{"output":""}', "")) == sorted("".join(texts))


# Lines that are no messages


def rebuilt(document, messages, **more):
    return [item.get("uuid", item["type"]) for item in document.rebuild(messages, **more)]


def test_other_lines_stay_where_they_are():
    document = read_document(lines(*CLAUDE))
    m = document.request.messages

    assert rebuilt(document, m) == ["summary", "u1", "u2", "u3", "file-history-snapshot", "u4", "u5", "u6", "u7"]
    assert rebuilt(document, m[3:]) == ["summary", "u2", "file-history-snapshot", "u5", "u6", "u7"]
    assert rebuilt(document, m[:1]) == ["summary", "u1", "u2", "file-history-snapshot", "u5", "u6"]
    assert rebuilt(document, []) == ["summary", "u2", "file-history-snapshot", "u5", "u6"]


def test_a_changed_line_still_knows_its_place():
    document = read_document(lines(*CLAUDE))
    last = document.request.messages[3]
    changed = structs.replace(last, wire=replace_at(last.wire, ("message", "content", 0, "text"), "x"))

    assert rebuilt(document, [changed]) == ["summary", "u2", "file-history-snapshot", "u5", "u6", "u7"]


def test_a_shortened_document_is_restored_by_the_places_of_the_original():
    original = read_document(lines(*CLAUDE))
    short = read_document(original.dump(original.rebuild(original.request.messages[2:])))

    restored = short.rebuild(original.request.messages, places=original.places)

    assert short.dump(restored) == lines(*CLAUDE)


@given(st.data())
def test_no_other_line_is_ever_lost(data):
    extra = data.draw(st.lists(st.sampled_from([*CLAUDE, {"type": "system", "uuid": "x"}]), max_size=12))
    document = read_document(lines(CLAUDE[1], *extra))
    kept = [message for message in document.request.messages if data.draw(st.booleans())]

    value = document.rebuild(kept)

    wires = [id(message.wire) for message in document.request.messages]
    others = [item for item in document.value if id(item) not in wires]
    assert [item for item in value if id(item) not in wires] == others
    assert [item for item in value if id(item) in wires] == [message.wire for message in kept]


# Layouts


@given(
    value=st.lists(
        st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=9), "x": json_values}), max_size=4
    ),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    compact=st.booleans(),
    ascii_only=st.booleans(),
    ends=st.tuples(st.booleans(), st.sampled_from(["", "\n", "\r\n", " \n\n"]), st.booleans()),
)
def test_any_usual_layout_is_written_back_to_the_byte(value, indent, compact, ascii_only, ends):
    bom, tail, crlf = ends
    separators = (",", ":" if compact and indent is None else ": ") if compact or indent is not None else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    if crlf:
        text = text.replace("\n", "\r\n")
    data = (b"\xef\xbb\xbf" if bom else b"") + (text + tail).encode("utf-8", "surrogatepass")

    document = read_document(data)

    assert document.layout_exact
    assert document.dump(document.rebuild(document.request.messages)) == data


@given(
    st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=9)}), min_size=2, max_size=5),
    st.booleans(),
    st.booleans(),
    st.tuples(st.booleans(), st.sampled_from(["\n", "\r\n"]), st.booleans()),
)
def test_any_usual_lines_are_written_back_to_the_byte(items, compact, ascii_only, ends):
    blank, eol, last = ends
    separators = (",", ":") if compact else None
    texts = [json.dumps(item, separators=separators, ensure_ascii=ascii_only) for item in items]
    if blank:
        texts.insert(1, "")
    data = (eol.join(texts) + (eol if last else "")).encode()

    document = read_document(data)

    assert document.format == "jsonl"
    assert len(document.request.messages) == len(items)
    assert document.layout_exact
    assert document.dump(document.rebuild(document.request.messages)) == data


def test_a_large_document_is_written_in_pieces():
    data = json.dumps([{"role": "user", "content": "word " * 2_000}] * 50).encode()
    document = read_document(data)

    pieces = list(document.stream(document.value))

    assert b"".join(pieces) == data
    assert max(map(len, pieces)) < len(data) / 4


def test_lone_surrogates_stay_escaped():
    data = '[{"role": "user", "content": "漢 \\ud800 字"}]'.encode()
    document = read_document(data)

    assert document.layout_exact
    assert document.request.messages[0].content == "漢 \ud800 字"
    assert document.dump(document.value) == data


def test_numbers_of_any_length_survive():
    data = b'[{"role": "user", "content": "a", "n": 123456789012345678901234567890, "f": 0.1, "z": -0.0}]'

    assert read_document(data).layout_exact


@pytest.mark.parametrize(
    "data",
    [
        b'[ {"role" : "user", "content" : "a"} ]',
        b'[{"role": "user", "content": "\\u00e4\xc3\xa4"}]',
        b'[{"role": "user", "content": "a", "n": 1.0e2}]',
        b'[\n  {"role": "user", "content": "a"}\n]',
    ],
)
def test_a_layout_by_hand_is_told_and_the_nearest_is_written(data):
    document = read_document(data)

    assert not document.layout_exact
    assert json.loads(document.dump(document.value)) == json.loads(data)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_bodies_of_every_dialect_are_written_back_to_the_byte(dialect, data):
    wires = data.draw(strange_wires(dialect))
    raw = json.dumps(body_of(wires, dialect)).encode()
    document = read_document(raw)

    assert document.dump(document.rebuild(document.request.messages)) == raw


# Bad input


@pytest.mark.parametrize(
    ("data", "words", "fields"),
    [
        (b"", ["not JSON"], {}),
        (b"hello", ["not JSON", "line 1"], {}),
        (b'[{"role": "user", "content": "a"}', ["not JSON"], {}),
        (b'[{"role": "user", "content": "\xff"}]', ["not UTF-8"], {}),
        (b"[NaN]", ["NaN"], {}),
        (b"[1e999]", ["out of range"], {}),
        (b"[" + b"9" * 5_000 + b"]", ["too long"], {}),
        (b"[" * 100_000, ["nested too deeply"], {}),
        (b"5", ["no messages"], {}),
        (b'"hello"', ["no messages"], {}),
        (b'{"a": 1}', ["no messages"], {}),
        (b'[{"role": "user"}]', ["message 0", "'content'"], {"index": 0, "key": "content"}),
        (b'[{"content": "a"}]', ["message 0", "'role'"], {"index": 0, "key": "role"}),
        (b'[{"role": "user", "content": "a"}, 5]', ["message 1", "an object"], {"index": 1}),
        (b'[{"role": "user", "content": 5}]', ["message 0", "'content'"], {"index": 0, "key": "content"}),
        (b'[{"role": 5, "content": ""}]', ["message 0", "'role'"], {"index": 0, "key": "role"}),
        (b'{"messages": 5}', ["'messages'"], {"key": "messages"}),
        (lines(HI, {"role": "user"}), ["line 2", "message 1", "'content'"], {"line": 2, "index": 1, "key": "content"}),
        (lines(HI) + b"\n{oops}\n", ["line 3", "not JSON"], {"line": 3}),
        (lines(HI, 5), ["line 2", "message 1"], {"line": 2, "index": 1}),
        (
            lines(*CLAUDE, {"type": "user", "message": {"role": "user"}}),
            ["line 10", "message 4", "'content'"],
            {"line": 10},
        ),
        (dumped([{"from": "human"}, {"from": "human", "value": "a"}]), ["message 0", "'value'"], {}),
        (dumped([{"from": "human", "value": "a"}, {"from": "human"}]), ["message 1", "'value'"], {"index": 1}),
        (dumped([{"type": "human", "content": 5}]), ["message 0", "'content'"], {"index": 0, "key": "content"}),
        (dumped([SHAREGPT, SHAREGPT]), ["holds 2 conversations"], {}),
        (lines({"messages": [HI]}, {"messages": [HO]}), ["holds 2 conversations"], {}),
    ],
)
def test_bad_input_is_told_with_its_name_and_place(data, words, fields):
    with pytest.raises(InvalidInputError) as caught:
        read_document(data, name="chat.json")

    text = str(caught.value)
    assert text.startswith("chat.json: ")
    assert all(word in text for word in words)
    assert "\n" not in text
    assert caught.value.fields.items() >= fields.items()


def test_an_unknown_format_and_a_wrong_one_are_told():
    with pytest.raises(InvalidInputError, match="unknown format 'yaml'"):
        read_document(b"[]", format="yaml")
    with pytest.raises(InvalidInputError, match=r"chat\.json: is json, not sharegpt"):
        read_document(dumped([HI]), name="chat.json", format="sharegpt")


def test_any_lines_pass_for_jsonl():
    assert read_document(lines(*CLAUDE), format="jsonl").format == "claude-code"


def complaint(data: bytes) -> str:
    """What reading complains about; empty where it does not."""
    try:
        read_document(data)
    except InvalidInputError as error:
        return str(error)
    return ""


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_reader(data):
    assert complaint(data)[:7] in ("", "input: ")


@given(json_values)
def test_no_json_crashes_the_reader(value):
    for around in (
        value,
        [value],
        {"messages": [value]},
        {"contents": [value]},
        {"input": [value]},
        {"history": [value]},
    ):
        assert complaint(json.dumps(around).encode())[:7] in ("", "input: ")


# Corners of other tools' spellings


def test_langchain_messages_of_older_and_richer_kinds_are_read():
    items = [
        {"type": "chat", "data": {"content": "obey", "role": "system"}},
        {"type": "human", "data": {"content": ["see", {"type": "text", "text": "this"}, {"type": "odd"}]}},
        {
            "type": "ai",
            "data": {
                "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
                "additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]},
            },
        },
        {"type": "function", "data": {"content": "seen", "name": "look"}},
    ]

    system, human, ai, answer = read_document(dumped(items)).request.messages

    assert (system.role, system.content) == ("system", "obey")
    assert [type(part).__name__ for part in human.parts] == ["TextPart", "TextPart", "OpaquePart"]
    assert ai.parts[0].signed
    assert (ai.tool_calls[0].name, ai.tool_calls[0].arguments) == ("look", "{}")
    assert answer.tool_results[0].call_id == "c"


@pytest.mark.parametrize(
    ("item", "key"),
    [
        ({"type": "human", "data": {}}, "content"),
        ({"type": "human", "data": {"content": 5}}, "content"),
        ({"type": "human", "data": {"content": [5]}}, "content"),
        ({"type": "ai", "data": {"content": "", "tool_calls": [5]}}, "tool_calls"),
        ({"content": "a"}, "type"),
    ],
)
def test_a_malformed_langchain_message_is_told(item, key):
    with pytest.raises(InvalidInputError) as caught:
        read_document(dumped([LANGCHAIN[1], item]))

    assert caught.value.fields == {"index": 1, "key": key}


def test_a_sharegpt_call_that_is_no_json_is_still_a_call():
    items = [{"from": "human", "value": "hi"}, {"from": "function_call", "value": "look(1)"}]

    [call] = read_document(dumped(items)).request.messages[1].tool_calls

    assert (call.name, call.arguments) == ("", "look(1)")


def test_a_value_of_another_type_in_sharegpt_is_told():
    with pytest.raises(InvalidInputError) as caught:
        read_document(dumped([{"from": "human", "value": 5}]))

    assert caught.value.fields == {"index": 0, "key": "value"}


def test_lines_without_marks_of_their_own_are_placed_by_what_is_kept():
    items = [
        item if item["type"] != "response_item" else {k: v for k, v in item.items() if k != "timestamp"}
        for item in CODEX
    ]
    document = read_document(lines(*items))
    *_, last = document.request.messages
    changed = structs.replace(last, wire=replace_at(last.wire, ("payload", "output"), "x"))

    kinds = [item["type"] for item in document.rebuild([changed])]

    assert kinds == ["session_meta", "response_item", "event_msg", "turn_context", "response_item", "event_msg"]


def test_a_message_document_takes_more_messages_as_a_list():
    document = read_document(dumped(HI))

    assert document.rebuild([*document.request.messages, text_message("assistant", "ho", "plain")]) == [HI, HO]


def test_an_indented_single_line_of_a_log_is_still_a_log():
    document = read_document(json.dumps(CLAUDE[1], indent=2).encode())

    assert document.format == "claude-code"
    assert not document.layout_exact
