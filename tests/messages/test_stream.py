"""A conversation of lines is read message by message, and is the same as read whole."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from threadline.errors import InvalidInputError
from threadline.messages import check_conversation, convert, encode, read_conversation, read_document

CHAT = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "weather in Oslo and Rome?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}},
            {"id": "b", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "sun"},
    {"role": "user", "content": "are you there?"},
    {"role": "tool", "tool_call_id": "a", "content": "rain"},
    {"role": "assistant", "content": "Rain and sun."},
    {"role": "developer", "content": "now in French"},
    {"role": "assistant", "content": "Pluie et soleil."},
    {"role": "tool", "tool_call_id": "zz", "content": "orphan"},
]
CLAUDE = [
    {"type": "summary", "summary": "about weather"},
    {"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}},
    {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}},
    {"type": "user", "uuid": "3", "isMeta": True, "message": {"role": "user", "content": "a note"}},
    {"type": "user", "uuid": "4", "isCompactSummary": True, "message": {"role": "user", "content": "so far"}},
]
SHAREGPT = [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi"}]
CODEX = [
    {"type": "session_meta", "payload": {"id": "s"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hello"}},
    {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}},
]
LISTS = {"chat": CHAT, "claude-code": CLAUDE, "sharegpt": SHAREGPT, "codex": CODEX}


def lines(items) -> bytes:
    return b"\n\n".join(json.dumps(item).encode() for item in items) + b"\n"


@pytest.mark.parametrize("name", LISTS)
def test_lines_read_one_by_one_are_the_messages_of_the_whole_document(name):
    data = lines(LISTS[name])
    conversation = read_conversation(io.BytesIO(data))
    whole = read_document(data).unwrapped()
    assert conversation.frame.dialect == whole.dialect
    assert tuple(conversation.messages) == whole.messages
    assert tuple(conversation.messages) == whole.messages  # and can be gone through again


@pytest.mark.parametrize("form", [json.dumps(CHAT), json.dumps({"model": "gpt-4o", "messages": CHAT}), '{\n"role": '])
def test_what_is_not_lines_is_read_as_a_document(form):
    file = io.BytesIO(form.encode())
    try:
        whole = read_document(form.encode())
    except InvalidInputError:
        with pytest.raises(InvalidInputError):
            read_conversation(file)
        return
    conversation = read_conversation(file)
    assert tuple(conversation.messages) == whole.request.messages
    assert conversation.frame.model == whole.request.model


def test_a_malformed_line_is_named_by_file_line_index_and_key():
    data = lines([*CHAT[:2], {"role": "user"}])
    conversation = read_conversation(io.BytesIO(data), name="day.jsonl")
    with pytest.raises(InvalidInputError, match=r"day\.jsonl: line 5: .*2.*content"):
        list(conversation.messages)


def run(*arguments, stdin=b""):
    return subprocess.run(
        [sys.executable, "-m", "threadline", *arguments], input=stdin, capture_output=True, check=False
    )


@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "google"])
@pytest.mark.parametrize("name", LISTS)
def test_the_command_converts_lines_as_the_library_converts_the_whole(name, dialect):
    data = lines(LISTS[name])
    expected = convert(read_document(data).unwrapped(), dialect)
    ran = run("convert", "-", "--to", dialect, stdin=data)
    assert ran.stdout.decode() == json.dumps(encode(expected.request), ensure_ascii=False, indent=2) + "\n"
    assert len(ran.stderr.splitlines()) == len(expected.losses)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_the_command_checks_lines_as_the_library_checks_the_whole(dialect):
    data = lines(CHAT)
    found = check_conversation(read_document(data).request, dialect)
    ran = run("check", "-", "--provider", dialect, "--json", stdin=data)
    assert [(one["index"], one["rule"]) for one in json.loads(ran.stdout)["violations"]] == [
        (one.index, one.rule) for one in found
    ]
    assert ran.returncode == (1 if found else 0)


@pytest.mark.parametrize("command", [["count"], ["check"], ["convert", "--to", "anthropic", "-o", "{out}"]])
def test_lines_of_any_length_take_little_memory(tmp_path, command):
    path = tmp_path / "long.jsonl"
    turn = lines([{"role": "user", "content": "word " * 8000}, {"role": "assistant", "content": "yes " * 8000}])
    path.write_bytes(turn * 700)  # 50 MB
    arguments = [part.format(out=tmp_path / "out.json") for part in command]
    script = (
        "import resource, sys\n"
        "from threadline.cli import main\n"
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, arguments[0], str(path), *arguments[1:]], capture_output=True, check=True
    )
    kilobytes = int(ran.stderr.splitlines()[-1]) * (1 if sys.platform != "darwin" else 1 / 1024)
    assert kilobytes < 40_000
