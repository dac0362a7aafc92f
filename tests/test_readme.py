"""What the README shows is what happens."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys

import pytest


@pytest.fixture
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_python_example_prints_what_the_readme_says(readme):
    [(code, shown)] = re.findall(r"```python\n(import threadline\n.*?)```\n\n```text\n(.*?)```", readme, re.DOTALL)

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)

    assert ran.stdout == shown


def test_the_thread_of_the_readme_runs_against_a_client(readme, tmp_path, monkeypatch):
    [code] = re.findall(r"```python\n(from threadline import Engine\n.*?)```", readme, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    sent = []

    class Client:
        """Answers like the SDK, on the same path."""

        @property
        def chat(self):
            return self

        completions = chat

        async def create(self, **body):
            sent.append(body)
            return {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Soon."}}]}

    indented = "".join(f"    {line}" for line in code.splitlines(keepends=True))
    known: dict = {"client": Client()}
    exec(f"async def main():\n{indented}", known)
    asyncio.run(known["main"]())

    assert [message["role"] for message in sent[0]["messages"]] == ["system", "user"]


def test_every_command_of_the_readme_exists(readme):
    lines = re.findall(r"^threadline ((?:\w+(?: \| )?)+) ", readme, re.MULTILINE)
    commands = {name for line in lines for name in line.split(" | ")}

    assert commands >= {
        "fit",
        "restore",
        "count",
        "check",
        "convert",
        "optimize",
        "ingest",
        "assemble",
        "manifest",
        "db",
    }
    for command in commands:
        subprocess.run([sys.executable, "-m", "threadline", command, "--help"], capture_output=True, check=True)


def test_every_make_target_of_the_readme_exists(root, readme):
    makefile = (root / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
