"""Rows 68 to 71 of the transcript contract and section 5 of the issue: the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import threadline
from threadline.cli import main

from .conversations import P, Q, a, call, measure, prose, s, t, u, working_day
from .judge import frozen, loose_ends

SOURCE = str(Path(threadline.__file__).parents[1])


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error_lines(self) -> list[str]:
        return self.err.decode().rstrip("\n").split("\n")


def run(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> Ran:
    """The command line with these arguments, everything piped; in this process, which is much faster."""
    out, err = io.BytesIO(), io.BytesIO()
    command = ["threadline", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, "utf-8", write_through=True))
        for name, value in environment.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        return Ran(code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue())


def program(*arguments: object, stdin: bytes = b"") -> Ran:
    """The same as a program of its own."""
    command = [sys.executable, "-m", "threadline", *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run(command, input=stdin, capture_output=True, env=variables, check=False, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def refused(ran: Ran, *words: str, code: int = 1) -> None:
    """A refusal: the exit code, nothing on stdout, one line on stderr that holds the words."""
    assert ran.code == code, ran
    assert ran.out == b""
    assert len(ran.error_lines) == 1, ran.error_lines
    assert all(word in ran.error_lines[0] for word in words), ran.error_lines


def listing(folder: Path) -> dict[str, bytes]:
    """Every file under a folder and what is in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A short history with one repeat."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([s("rules"), u(P), a(Q), u(P)]))
    return path


# --- the program


def test_the_program_does_what_the_function_does(chat: Path):
    assert program("count", "-", "--json", stdin=chat.read_bytes()) == run("count", chat, "--json")
    refused(program("fit", chat, "--max-input-tokens", 1), "budget")
    assert program("fit", "x.json").code == 2


# --- optimize


def test_optimize_writes_three_keys_beside_the_input_and_reports_on_stdout(chat: Path):  # 1.7
    before = chat.read_bytes()
    ran = run("optimize", chat)
    assert ran.code == 0
    assert ran.err == b""
    written = json.loads((chat.parent / "chat_optimized.json").read_text("utf-8"))
    assert set(written) == {"optimized_context", "metrics", "top_waste_blocks"}
    assert [message["content"] == P for message in written["optimized_context"]] == [False, True, False, False]
    assert "chat_optimized.json" in ran.out.decode()
    assert chat.read_bytes() == before
    assert set(listing(chat.parent)) == {"chat.json", "chat_optimized.json"}


def test_optimize_to_stdout_gives_only_json_there_and_the_report_on_stderr(chat: Path):  # row 70
    ran = run("optimize", chat, "--stdout")
    assert ran.code == 0
    assert len(ran.json["optimized_context"]) == 4
    assert b"\x1b" not in ran.out + ran.err
    assert ran.err.strip()
    assert P not in ran.err.decode()
    assert set(listing(chat.parent)) == {"chat.json"}


def test_stdout_together_with_an_output_file_is_rejected(chat: Path):  # row 70
    ran = run("optimize", chat, "--stdout", "-o", chat.parent / "out.json")
    assert ran.code in {1, 2}
    assert ran.out == b""
    assert set(listing(chat.parent)) == {"chat.json"}


def test_options_of_optimize_are_real(chat: Path):
    options = ["--marker", "silent", "--keep", "latest", "--min-chars", "100"]
    view = run("optimize", chat, "--stdout", *options).json["optimized_context"]
    assert [message["content"] for message in view] == ["rules", "", Q, P]
    assert run("optimize", chat, "--stdout", "--min-chars", "111").json["metrics"]["removed"] == 0


@pytest.mark.parametrize(
    "content",
    [b"one\r\n\r\ntwo\rthree\n\n\nfour", "\ufeff".encode() + b"with a mark", b'"text"', b"1" * 5000, b""],
)
def test_what_is_no_conversation_is_one_text_byte_for_byte(tmp_path: Path, content: bytes):  # rows 24, 71
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    ran = run("optimize", path, "--stdout")
    assert ran.code == 0, ran
    [message] = ran.json["optimized_context"]
    assert message == {"role": "text", "content": content.decode().removeprefix("\ufeff")}
    refused(run("optimize", path, "--stdout", "--strict"), "notes.txt")


def test_one_message_object_is_a_conversation_also_when_strict(tmp_path: Path):  # 1.7
    path = tmp_path / "one.json"
    path.write_text(json.dumps(u(P)))
    assert run("optimize", path, "--stdout", "--strict").json["optimized_context"] == [u(P)]


def test_json_lines_are_messages(tmp_path: Path):  # row 71
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in [u(P), a(Q), u(P)]))
    view = run("optimize", path, "--stdout").json["optimized_context"]
    assert [message["role"] for message in view] == ["user", "assistant", "user"]
    assert view[2]["content"] != P


def test_a_dash_is_stdin(chat: Path):  # row 71
    ran = run("optimize", "-", "--stdout", stdin=chat.read_bytes(), cwd=chat.parent)
    assert ran.json == run("optimize", chat, "--stdout").json
    counted = run("count", "-", "--json", stdin=chat.read_bytes())
    assert counted.json["total_tokens"] == run("count", chat, "--json").json["total_tokens"]


def test_deep_json_is_text_or_a_clear_error(tmp_path: Path):  # row 71
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000 + "]" * 200_000)
    ran = run("optimize", path, "--stdout")
    if ran.code:
        refused(ran, "deep.json")
    else:
        assert ran.json["optimized_context"][0]["content"] == path.read_text()


@pytest.mark.parametrize(
    ("bad", "word"),
    [("a private text", "2"), ({"role": "user"}, "content"), ({"content": "private"}, "role"), (u(5), "content")],
)
@pytest.mark.parametrize("command", [["optimize", "--stdout"], ["fit", "--max-input-tokens", "500"], ["count"]])
def test_a_list_with_one_bad_message_is_refused_by_its_index(tmp_path: Path, bad: Any, word: str, command: list[str]):
    path = tmp_path / "bad.json"  # row 71
    path.write_text(json.dumps([u(P), a(Q), bad]))
    ran = run(*command, path)
    refused(ran, "bad.json", "2", word)
    assert b"private" not in ran.err
    assert set(listing(tmp_path)) == {"bad.json"}


# --- files


@pytest.mark.parametrize("command", [["optimize"], ["fit", "--max-input-tokens", "900"], ["count"], ["check"]])
def test_input_that_cannot_be_read_is_one_line_on_stderr(tmp_path: Path, command: list[str]):  # row 68
    (tmp_path / "latin.json").write_bytes(b'[{"role": "user", "content": "caf\xe9"}]')
    (tmp_path / "folder.json").mkdir()
    before = listing(tmp_path)
    for name in ("missing.json", "latin.json", "folder.json"):
        refused(run(*command, tmp_path / name), name)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("command", [["optimize"], ["fit", "--max-input-tokens", "900"]])
def test_output_that_cannot_be_written_is_one_line_on_stderr(chat: Path, command: list[str]):  # row 68
    (chat.parent / "folder").mkdir()
    before = listing(chat.parent)
    for target in (chat.parent / "nowhere" / "out.json", chat.parent / "folder"):
        refused(run(*command, chat, "-o", target), target.name)
    assert listing(chat.parent) == before


@pytest.mark.parametrize("command", [["optimize"], ["fit", "--max-input-tokens", "900"]])
def test_input_is_never_overwritten_without_force(chat: Path, command: list[str]):
    before = chat.read_bytes()
    (chat.parent / "alias.json").symlink_to(chat)
    os.link(chat, chat.parent / "hard.json")
    for target in ("chat.json", "./chat.json", "alias.json", "hard.json", str(chat)):
        refused(run(*command, "chat.json", "-o", target, cwd=chat.parent), "--force")
        assert chat.read_bytes() == before
    assert run(*command, "chat.json", "-o", "chat.json", "--force", cwd=chat.parent).code == 0
    assert chat.read_bytes() != before


def test_elisions_never_overwrite_the_input_either(chat: Path):
    before = chat.read_bytes()
    out = chat.parent / "out.json"
    refused(run("fit", chat, "--max-input-tokens", 900, "-o", out, "--elisions", chat), "--force")
    assert chat.read_bytes() == before
    assert not out.exists()
    ran = run("fit", chat, "--max-input-tokens", 900, "-o", out, "--elisions", out)
    assert ran.code in {1, 2}
    assert not out.exists()


def test_a_forced_output_stays_as_it_was_when_the_elisions_cannot_be_written(chat: Path):
    before = listing(chat.parent)
    refused(
        run("fit", chat, "--max-input-tokens", 900, "-o", chat, "--force", "--elisions", chat.parent / "no" / "e.json"),
        "no/e.json",
    )
    assert listing(chat.parent) == before


def test_restore_overwrites_neither_of_its_inputs(chat: Path):
    out, elisions = chat.parent / "out.json", chat.parent / "elisions.json"
    assert run("fit", chat, "--max-input-tokens", 900, "-o", out, "--elisions", elisions).code == 0
    before = listing(chat.parent)
    for target in (out, elisions):
        refused(run("restore", out, "--elisions", elisions, "-o", target), "--force")
    assert listing(chat.parent) == before


@pytest.mark.parametrize(
    "outputs", [["--json", "-o", "-"], ["-o", "-", "--elisions", "-"], ["--json", "--elisions", "-"]]
)
def test_two_outputs_never_share_standard_output(chat: Path, outputs: list[str]):
    ran = run("fit", chat, "--max-input-tokens", 900, *outputs)
    refused(ran, "standard output")
    assert not ran.out


def test_leaving_something_out_without_keeping_it_is_said_on_stderr(chat: Path):
    out = chat.parent / "out.json"
    assert b"--elisions" in run("fit", chat, "--max-input-tokens", 900, "-o", out).err
    kept = chat.parent / "elisions.json"
    assert not run("fit", chat, "--max-input-tokens", 900, "-o", out, "--elisions", kept).err


def test_elisions_of_a_later_version_are_refused(chat: Path):
    out, elisions = chat.parent / "out.json", chat.parent / "elisions.json"
    run("fit", chat, "--max-input-tokens", 900, "-o", out, "--elisions", elisions)
    elisions.write_text(json.dumps({**json.loads(elisions.read_bytes()), "version": 2}))
    refused(run("restore", out, "--elisions", elisions), "version 2")


def test_the_version_is_told(tmp_path: Path):
    from importlib.metadata import version

    assert run("--version", cwd=tmp_path).out.decode().strip() == f"threadline {version('threadline')}"


def test_an_existing_output_is_whole_or_as_it_was(chat: Path):  # row 68: atomic
    target = chat.parent / "out.json"
    target.write_text("as it was")
    assert run("fit", chat, "--max-input-tokens", 1, "-o", target).code == 1
    assert target.read_text() == "as it was"
    assert run("optimize", chat, "-o", target).code == 0
    assert json.loads(target.read_text())
    assert set(listing(chat.parent)) == {"chat.json", "out.json"}


def test_a_lone_surrogate_is_written_as_json(tmp_path: Path):  # row 27, A5
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([u("\ud800" + P), u("\ud800" + P), u("\x00")]))
    assert run("optimize", path, "--stdout").json["optimized_context"][0]["content"] == "\ud800" + P
    assert run("optimize", path).code == 0
    assert json.loads((tmp_path / "odd_optimized.json").read_bytes())["metrics"]["removed"] == 1


# --- usage


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no-such-command"],
        ["optimize"],
        ["optimize", "x.json", "--no-such-option"],
        ["optimize", "x.json", "--marker", "loud"],
        ["optimize", "x.json", "--min-chars", "many"],
        ["fit", "x.json"],
        ["convert", "x.json"],
    ],
)
def test_a_usage_error_is_exit_code_two(arguments: list[str]):  # row 69
    ran = run(*arguments)
    assert ran.code == 2
    assert b"Traceback" not in ran.err


@pytest.mark.parametrize("command", ["", "optimize", "fit", "restore", "count", "check", "convert"])
def test_help_is_exit_code_zero(command: str):  # row 69
    for spelling in ("-h", "--help"):
        ran = run(*command.split(), spelling)
        assert ran.code == 0
        assert ran.out
        assert b"\x1b" not in ran.out


# --- fit and restore


DAY = working_day("openai", rounds=5)
RAW: dict[str, bytes] = {
    "pretty.json": (json.dumps(DAY.messages, indent=3, ensure_ascii=True) + "\n\n").encode(),
    "compact.json": json.dumps(DAY.messages, separators=(",", ":")).encode(),
    "marked.json": b"\xef\xbb\xbf" + json.dumps(DAY.messages).encode(),
    "crlf.jsonl": "".join(json.dumps(m, ensure_ascii=False) + "\r\n" for m in DAY.messages).encode() + b"\r\n",
    "no-newline.jsonl": "\n".join(json.dumps(message) for message in DAY.messages).encode(),
    "numbers.json": json.dumps(DAY.body, indent=1).replace('"temperature": 0.5', '"temperature": 5.00e-1').encode(),
    "twice.json": b'[{"role": "user", "role": "user", "content": "x", "content": "\\u0041"}, '
    + json.dumps(DAY.messages).encode()[1:],
    "odd.json": json.dumps([*DAY.messages[:-1], u("\ud800\x00é"), u("last")]).replace("/", "\\/").encode(),
    "anthropic.json": frozen(working_day("anthropic", rounds=5).body).encode(),
    "google.json": frozen(working_day("google", rounds=5).body).encode(),
    "responses.json": frozen(working_day("responses", rounds=5).body).encode(),
    "run.traj": json.dumps(
        {"environment": "x", "history": DAY.messages, "trajectory": [], "info": {}}, indent=2
    ).encode(),
}


@pytest.mark.parametrize("name", RAW)
def test_restoring_gives_the_very_bytes_of_the_input_file(tmp_path: Path, name: str):
    source, out, kept, back = (tmp_path / part for part in (name, "out" + Path(name).suffix, "kept.json", "back"))
    source.write_bytes(RAW[name])
    ran = run("fit", source, "--max-input-tokens", 2200, "-o", out, "--elisions", kept, "--json")
    assert ran.code == 0, ran.err.decode()
    assert ran.json["tokens_after"] <= 2200 < ran.json["tokens_before"]
    assert out.stat().st_size < source.stat().st_size
    source.rename(tmp_path / "moved")
    assert run("restore", out, "--elisions", kept, "-o", back).code == 0
    assert back.read_bytes() == RAW[name]


def test_a_fit_of_a_list_is_a_list_that_fits(tmp_path: Path):
    source, out = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(frozen(DAY.messages))
    ran = run("fit", source, "--max-input-tokens", 2500, "-o", out)
    assert ran.code == 0
    assert b"\x1b" not in ran.out + ran.err
    view = json.loads(out.read_text())
    assert measure(view) <= 2500
    assert not loose_ends(view, "openai")
    assert view[-1] == DAY.messages[-1]


def test_a_restore_with_the_elisions_of_another_file_is_refused(tmp_path: Path):
    for name, budget in (("one", 2200), ("two", 1800)):
        (tmp_path / f"{name}.json").write_text(frozen([*DAY.messages, u(name)]))
        paths = [tmp_path / f"{name}.json", "-o", tmp_path / f"{name}.out", "--elisions", tmp_path / f"{name}.kept"]
        assert run("fit", *paths, "--max-input-tokens", budget).code == 0
    before = listing(tmp_path)
    refused(run("restore", tmp_path / "one.out", "--elisions", tmp_path / "two.kept", "-o", tmp_path / "back"))
    view = json.loads((tmp_path / "one.out").read_text())
    (tmp_path / "one.out").write_text(frozen(view[:-1]))
    refused(run("restore", tmp_path / "one.out", "--elisions", tmp_path / "one.kept", "-o", tmp_path / "back"))
    assert set(listing(tmp_path)) == set(before)


def test_an_impossible_budget_is_one_line_and_nothing_is_written(tmp_path: Path):  # B19
    source = tmp_path / "in.json"
    source.write_text(frozen([s(prose(4000)), u("hi")]))
    paths = ["-o", tmp_path / "out.json", "--elisions", tmp_path / "kept.json"]
    refused(run("fit", source, "--max-input-tokens", 50, *paths), "50")
    assert set(listing(tmp_path)) == {"in.json"}


def test_an_unknown_model_is_one_line_that_names_near_ones(chat: Path):
    refused(run("count", chat, "--model", "gpt-4oo"), "gpt-4o")


# --- count, check, convert


def test_count_agrees_with_the_library_in_every_shape(tmp_path: Path):
    lines, array = tmp_path / "day.jsonl", tmp_path / "day.json"
    lines.write_text("".join(json.dumps(message) + "\n" for message in DAY.messages))
    array.write_text(frozen(DAY.messages))
    totals = {run("count", path, "--json").json["total_tokens"] for path in (lines, array)}
    assert totals == {measure(DAY.messages)}


def test_count_in_words_shows_no_colour_when_piped(chat: Path):
    ran = run("count", chat)
    assert ran.code == 0
    assert b"\x1b" not in ran.out
    assert b"user" in ran.out
    assert b"\x1b" not in run("count", chat, NO_COLOR="1", FORCE_COLOR="1").out


def test_check_names_what_is_wrong_and_where(tmp_path: Path):
    path = tmp_path / "torn.json"
    path.write_text(frozen([u("hello"), a("hi"), t("lost", "never_asked"), u("so?")]))
    ran = run("check", path, "--provider", "openai")
    assert b"2" in ran.out
    assert b"Traceback" not in ran.err
    path.write_text(frozen([u("hello"), call("x"), t("found", "x"), a("hi")]))
    assert run("check", path, "--provider", "openai").code == 0


def test_convert_keeps_every_pair(tmp_path: Path):
    path = tmp_path / "day.json"
    path.write_text(frozen(DAY.messages))
    ran = run("convert", path, "--to", "anthropic")
    assert ran.code == 0
    converted = ran.json if isinstance(ran.json, list) else ran.json["messages"]
    assert not loose_ends(converted, "anthropic")
    assert ran.out.count(b'"tool_use"') == ran.out.count(b'"tool_result"') == 10
