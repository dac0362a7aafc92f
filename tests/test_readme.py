"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.fixture
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_python_example_prints_what_the_readme_says(readme):
    [code] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    [shown] = re.findall(r"```python\n.*?```\n\n```text\n(.*?)```", readme, re.DOTALL)

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)

    assert ran.stdout == shown


def test_every_command_of_the_readme_exists(readme):
    commands = set(re.findall(r"^threadline (\w+) ", readme, re.MULTILINE))

    assert commands == {"fit", "restore", "count", "check", "convert", "optimize"}
    for command in commands:
        subprocess.run([sys.executable, "-m", "threadline", command, "--help"], capture_output=True, check=True)


def test_every_make_target_of_the_readme_exists(root, readme):
    makefile = (root / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
