"""`segment` and `remember`, run as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

CHAT = [
    {
        "role": "user",
        "content": "I live in Oslo. I'm allergic to nuts.",
        "sender_id": "ann",
        "timestamp": 1772625600000,
    },
    {"role": "assistant", "content": "Good to know!", "timestamp": 1772625660000},
    {"role": "user", "content": "I'm flying to Rome tomorrow.", "sender_id": "ann", "timestamp": 1772666700000},
]


def run(*arguments, stdin=None, code=0, **environment):
    command = [sys.executable, "-m", "threadline", *map(str, arguments)]
    done = subprocess.run(
        command,
        input=json.dumps(CHAT if stdin is None else stdin),
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )
    assert done.returncode == code, done.stderr
    return done


def test_segment_tells_when_each_episode_was_how_long_it_is_and_what_it_is_about():
    told = json.loads(run("segment", "-", "--json", "--timezone", "Europe/Berlin").stdout)

    assert told["method"] == "lexical"
    assert [(one["first"], one["last"], one["begins"], one["ends"]) for one in told["episodes"]] == [
        (1, 2, "2026-03-04 13:00", "2026-03-04 13:01"),
        (3, 3, "2026-03-05 00:25", "2026-03-05 00:25"),
    ]
    assert [one["title"] for one in told["episodes"]] == ["I live in Oslo", "I'm flying to Rome tomorrow"]


@pytest.mark.parametrize("timestamp", [{}, {"timestamp": 0}])
def test_without_times_and_names_none_are_shown(timestamp):
    chat = [{"role": "user", "content": "I live in [red]Oslo[/red]. It rains here.", **timestamp}]

    assert run("segment", "-", stdin=chat).stdout.splitlines()[0].split() == ["messages", "tokens", "title"]
    page = run("remember", "-", stdin=chat).stdout
    assert "1970" not in page
    assert "Episode: I live in [red]Oslo[/red]\n" in page


def test_remember_is_a_page_of_quotes_with_the_numbers_of_their_messages():
    page = run("remember", "-", "--timezone", "Europe/Berlin").stdout

    assert page == (
        "What ann leaves behind, in quotes; [n] is the message.\n"
        "\n"
        "Episode: I live in Oslo (2026-03-04 13:01)\n"
        "  ann: I live in Oslo.\n"
        "\n"
        "Episode: I'm flying to Rome tomorrow (2026-03-05 00:25)\n"
        "  ann: I'm flying to Rome tomorrow.\n"
        "\n"
        "Facts\n"
        "  I live in Oslo. [1]\n"
        "  I'm allergic to nuts. [1]\n"
        "  I'm flying to Rome tomorrow. [3]\n"
        "\n"
        "To come\n"
        "  2026-03-06: I'm flying to Rome tomorrow. [3]\n"
        "\n"
        "Profile\n"
        "  home: I live in Oslo. [1]\n"
        "  health: I'm allergic to nuts. [1]\n"
    )


def test_remember_as_json_holds_every_field_and_only_the_owners_memory():
    told = json.loads(run("remember", "-", "--owner", "bob", "--language", "en", "--json").stdout)

    assert told["owner"] == "bob"
    assert (told["facts"], told["foresight"], told["profile"]["explicit_info"]) == ([], [], [])
    assert {one["method"] for one in told["episodes"]} == {"extractive"}


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("remember", "-", "--timezone", "Mars/Base"), CHAT, "no time zone"),
        (("segment", "-"), [], "holds no messages"),
        (("segment", "-", "--language", " "), CHAT, "language"),
    ],
)
def test_what_cannot_be_done_is_one_line_on_stderr(arguments, stdin, words):
    done = run(*arguments, stdin=stdin, code=1)

    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_segment_asks_a_model_where_one_is_named():
    bodies = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            reply = {"role": "assistant", "content": '{"reasoning": "one trip", "boundaries": [2]}'}
            choice = {"index": 0, "finish_reason": "stop", "message": reply}
            made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            data = json.dumps(made).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/v1"
            told = json.loads(run("segment", "-", "--model", "m", "--base-url", url, "--json").stdout)
        finally:
            server.shutdown()
            thread.join()

    assert [body["model"] for body in bodies] == ["m"]
    assert told["method"] == "model"
    assert [(one["first"], one["last"]) for one in told["episodes"]] == [(1, 2), (3, 3)]
