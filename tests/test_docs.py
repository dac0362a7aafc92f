"""What the pages under docs/ show is what happens."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

PAGES = ["durable-thread.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_print_what_it_says(root, page, tmp_path, monkeypatch):
    text = (root / "docs" / page).read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}

    printed = []
    for code, _ in examples:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, page, "exec"), known)
        printed.append(out.getvalue())

    assert examples
    assert printed == [shown for _, shown in examples]
