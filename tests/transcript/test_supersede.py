"""Under pressure, results that a later one made stale go first, and nothing else that still tells something."""

from __future__ import annotations

import json

import pytest

from threadline import Fate, fit
from threadline.transcript import FitPolicy

FILLER = [{"role": "user", "content": f"question {n}: " + " ".join(f"{n}w{k}" for k in range(60))} for n in range(12)]


def exchange(id: str, name: str, arguments: dict, content: str) -> list[dict]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": content},
    ]


def numbered(start: int, end: int, tag: str) -> str:
    return "\n".join(f"{n}\t{tag} line {n} says {n * 37 % 101}" for n in range(start, end + 1))


def words(tag: str) -> str:
    return " ".join(f"{tag}{n * 7919 % 997}" for n in range(150))


def superseded(*exchanges: list[dict], policy: FitPolicy | None = None) -> set[int]:
    """Which of the exchanges, by number, have their results superseded when a little must go."""
    messages = [FILLER[0], *(message for one in exchanges for message in one), *FILLER[1:]]
    whole = fit(messages, max_input_tokens=10**6, policy=policy).tokens_after
    policy = policy or FitPolicy(low_water=0.97, min_gain=0.01, result_share=1.0)
    result = fit(messages, max_input_tokens=whole - 40, policy=policy)
    return {(elision.message - 2) // 2 for elision in result.elisions.elisions if elision.fate is Fate.SUPERSEDED}


def test_the_same_call_again_makes_the_older_result_stale():
    first = exchange("a", "status", {"job": 1, "all": True}, words("old"))
    again = exchange("b", "status", {"all": True, "job": 1}, words("new"))
    assert superseded(first, again) == {0}


def test_a_call_with_other_arguments_does_not():
    first = exchange("a", "status", {"job": 1}, words("old"))
    other = exchange("b", "status", {"job": 2}, words("new"))
    assert superseded(first, other) == set()


def test_a_later_view_of_the_same_lines_makes_the_older_one_stale():
    narrow = exchange("a", "read_file", {"path": "x.py", "offset": 10}, numbered(10, 40, "old"))
    wide = exchange("b", "read_file", {"path": "x.py", "offset": 1}, numbered(1, 80, "new"))
    assert superseded(narrow, wide) == {0}


@pytest.mark.parametrize("path", ["x.py", "y.py"])
def test_a_view_of_other_lines_or_of_another_file_does_not(path: str):
    first = exchange("a", "read_file", {"path": "x.py", "offset": 10}, numbered(10, 60, "old"))
    other = exchange("b", "read_file", {"path": path, "offset": 61 if path == "x.py" else 1}, numbered(61, 90, "new"))
    assert superseded(first, other) == set()


def test_a_tool_that_writes_is_no_view_of_the_file_it_names():
    view = exchange("a", "read_file", {"path": "x.py"}, words("old"))
    edit = exchange("b", "write_file", {"path": "x.py"}, words("new"))
    assert superseded(view, edit) == set()


def test_supersede_can_be_turned_off():
    first = exchange("a", "status", {"job": 1}, words("old"))
    again = exchange("b", "status", {"job": 1}, words("new"))
    assert superseded(first, again, policy=FitPolicy(supersede=False)) == set()


def test_a_pinned_tools_result_is_never_stale():
    first = exchange("a", "status", {"job": 1}, words("old"))
    again = exchange("b", "status", {"job": 1}, words("new"))
    policy = FitPolicy(pinned_tools=frozenset({"status"}), low_water=0.97, min_gain=0.01)
    assert superseded(first, again, policy=policy) == set()


@pytest.mark.parametrize(
    "later", ["", "  \n", "Error: connection reset", "Traceback (most recent call last):", "timed out"]
)
def test_a_later_result_that_shows_nothing_makes_none_stale(later: str):
    first = exchange("a", "status", {"job": 1}, words("old"))
    again = exchange("b", "status", {"job": 1}, later)
    assert superseded(first, again) == set()


def test_a_later_result_that_says_it_failed_makes_none_stale():
    use = {"type": "tool_use", "name": "status", "input": {"job": 1}}
    messages = [FILLER[0]]
    for name, text, failed in (("a", words("old"), False), ("b", words("new"), True)):
        result = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": failed}
        messages += [
            {"role": "assistant", "content": [{**use, "id": name}]},
            {"role": "user", "content": [result]},
        ]
    policy = FitPolicy(low_water=0.97, min_gain=0.01, result_share=1.0)
    budget = fit([*messages, *FILLER[1:]], max_input_tokens=10**6, policy=policy).tokens_after - 40
    result = fit([*messages, *FILLER[1:]], max_input_tokens=budget, policy=policy)
    assert not [one for one in result.elisions.elisions if one.fate is Fate.SUPERSEDED]
