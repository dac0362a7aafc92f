"""The commands of durable threads, in this process."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from threadline.cli.app import app
from threadline.errors import ConflictError, InvalidInputError, NotFoundError

LONG = "\n".join(f"line {number} of the build" for number in range(120))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command on a database of its own; gives back what it prints, as JSON where `--json` is asked."""
    monkeypatch.setenv("THREADLINE_DB", f"sqlite:///{tmp_path / 'agent.db'}")
    monkeypatch.setenv("THREADLINE_OWNER", "ana")

    def call(*arguments, code=0, **options):
        result = CliRunner().invoke(app, [str(one) for one in arguments], **options)
        if code is not None:
            assert result.exit_code == code, (result.output, result.exception)
        elif result.exception is not None:
            raise result.exception
        return json.loads(result.stdout) if "--json" in arguments else result.stdout

    return call


@pytest.fixture
def conversation(tmp_path):
    """A file with a conversation in it."""
    path = tmp_path / "talk.json"
    function = {"name": "build", "arguments": "{}"}
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "build it"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": LONG},
        {"role": "user", "content": "and now?"},
    ]
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path


def test_a_file_is_ingested_once_and_its_growth_later(run, conversation):
    first = run("ingest", conversation, "--agent", "m", "--json")
    again = run("ingest", conversation, "--agent", "m", "--json")
    grown = [*json.loads(conversation.read_text()), {"role": "assistant", "content": "done"}]
    conversation.write_text(json.dumps(grown), encoding="utf-8")
    more = run("ingest", conversation, "--agent", "m", "--json")

    assert [one["files"][0]["new"] for one in (first, again, more)] == [5, 0, 1]
    assert len(run("history", "--agent", "m", "--json")["messages"]) == 6


def test_a_conversation_comes_from_standard_input(run, conversation):
    run("ingest", "-", "--agent", "m", input=conversation.read_text())

    assert "build it" in run("history", "--agent", "m")


def test_an_assembled_call_prints_its_manifest_ref_and_its_body(run, conversation, tmp_path):
    tools = tmp_path / "tools.json"
    tools.write_text(
        json.dumps([{"type": "function", "function": {"name": "build", "parameters": {"type": "object"}}}])
    )
    run("ingest", conversation, "--agent", "m")

    made = run("assemble", "--agent", "m", "--max-input-tokens", 2000, "--model", "gpt-4o", "--tools", tools, "--json")

    assert made["manifest_ref"].startswith("sha256:")
    assert made["tokens"] <= 2000
    assert made["body"]["messages"][0] == {"role": "system", "content": "be brief"}
    assert made["body"]["tools"]
    shown = run("manifest", "show", made["manifest_ref"], "--agent", "m", "--json")
    assert shown == made["manifest"]


def test_a_manifest_is_a_table_of_blocks_for_people(run, conversation):
    run("ingest", conversation, "--agent", "m")
    run("assemble", "--agent", "m", "--max-input-tokens", 2000, "--model", "gpt-4o")

    table = run("manifest", "show", "--agent", "m")

    assert "tokens" in table
    assert "required" in table
    assert "conversation" in table


def test_two_manifests_are_compared(run, conversation):
    run("ingest", conversation, "--agent", "m")
    first = run("assemble", "--agent", "m", "--max-input-tokens", 2000, "--json")["manifest_ref"]
    run("ingest", "-", "--agent", "m", input='[{"role": "user", "content": "more"}]')
    run("assemble", "--agent", "m", "--max-input-tokens", 2000)

    assert "current_input user" in run("manifest", "diff", first, "--agent", "m")
    assert run("manifest", "diff", first, "--agent", "m", "--json")


def test_a_call_is_replayed_and_put_together_again(run, conversation):
    run("ingest", conversation, "--agent", "m")
    run("assemble", "--agent", "m", "--max-input-tokens", 2000, "--model", "gpt-4o")

    assert "the same" in run("manifest", "replay", "--agent", "m")
    assert run("manifest", "replay", "--reassemble", "--agent", "m", "--json")["same"]


def test_a_message_is_explained(run, conversation):
    run("ingest", conversation, "--agent", "m")
    ids = [one["message_id"] for one in run("history", "--agent", "m", "--json")["messages"]]
    run("assemble", "--agent", "m", "--max-input-tokens", 2000, "--model", "gpt-4o")

    assert run("explain", ids[3], "--agent", "m", "--json")["fate"] == "pruned"
    assert "tokens are shown" in run("explain", ids[3], "--agent", "m")


def test_a_journal_is_exported_imported_and_checked(run, conversation, tmp_path):
    run("ingest", conversation, "--agent", "m")
    run("assemble", "--agent", "m", "--max-input-tokens", 2000)
    run("export", "--agent", "m", "-o", tmp_path / "out.jsonl")

    run("import", tmp_path / "out.jsonl", "--owner", "bob")
    with pytest.raises(ConflictError):
        run("import", tmp_path / "out.jsonl", "--owner", "bob", code=None)
    run("import", tmp_path / "out.jsonl", "--owner", "bob", "--agent", "copy")

    report = run("db", "check", "--json")
    assert (report["agents"], report["findings"]) == (3, [])


def test_a_damaged_database_is_found_by_the_check(run, conversation, tmp_path):
    import sqlite3

    run("ingest", conversation, "--agent", "m")
    with sqlite3.connect(tmp_path / "agent.db") as file:
        file.execute("UPDATE contents SET body = x'00' WHERE instr(body, CAST('build it' AS BLOB))")
    file.close()

    assert "findings" in run("db", "check", code=1)


def test_forgetting_asks_first_and_prints_a_certificate(run, conversation):
    run("ingest", conversation, "--agent", "m")
    said = run("history", "--agent", "m", "--json")["messages"]

    run("forget", "--agent", "m", code=1, input="n\n")
    told = run("forget", "--agent", "m", "--message", said[1]["message_id"], "--json")
    run("forget", "--agent", "m", "--force")

    assert told["records"] == 1
    assert run("history", "--agent", "m", "--json")["messages"] == []


def test_the_schema_is_up_to_date_once_it_was_made(run, conversation):
    run("ingest", conversation, "--agent", "m")

    assert "up to date" in run("db", "migrate")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["history", "--agent", "m", "--branch", "7"], NotFoundError),
        (["assemble", "--agent", "nobody", "--max-input-tokens", "100"], NotFoundError),
        (["manifest", "show", "--agent", "m"], NotFoundError),
        (["assemble", "--agent", "m", "--max-input-tokens", "0"], InvalidInputError),
    ],
)
def test_what_is_not_there_or_makes_no_sense_is_a_typed_error(run, conversation, arguments, error):
    run("ingest", conversation, "--agent", "m")
    with pytest.raises(error):
        run(*arguments, code=None)
