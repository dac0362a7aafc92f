"""Rows 59 to 64 of the transcript contract: what of a long tool result is shown, under a true cap."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import threadline
from threadline import transcript
from threadline.compat import nous

from .conversations import FAMILY, LAW, a, call, prose, s, t, texts, u
from .judge import frozen, text_of

both = pytest.mark.parametrize(
    "prune", [transcript.prune_tool_results, nous.prune_tool_results], ids=["native", "nous"]
)

LONG = "\n".join(f"{n:05} {prose(70, f'log-{n}')}" for n in range(400))


def pruned(prune: Any, content: Any, *cap: int) -> Any:
    """What is left of one tool result."""
    [_, _, result] = prune([u("go"), call("call_a"), t(content)], *cap)
    return result["content"]


def _shared(one: Iterable[str], other: Iterable[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def ends(result: str, content: str) -> tuple[int, int]:
    """How many characters of the content stand at the start and at the end of what is left of it."""
    return _shared(result, content), _shared(reversed(result), reversed(content))


@both
def test_the_default_cap_keeps_8192_characters_and_prunes_8193(prune: Any):  # row 59
    content = LONG[:8192]
    assert pruned(prune, content) is content
    content = LONG[:8193]
    result = pruned(prune, content)
    assert len(result) <= 8192
    assert result.startswith(content[:4096])
    assert result.endswith(content[-1024:])


@both
def test_more_of_the_head_than_of_the_tail_is_kept(prune: Any):  # row 59
    head, tail = ends(pruned(prune, LONG, 2000), LONG)
    assert head > 2 * tail > 200
    assert head + tail <= 2000


@both
@pytest.mark.parametrize(
    ("length", "cap"),
    [(101, 100), (4000, 100), (5120, 100), (9000, 1), (300, 2), (9000, 60), (9000, 61), (8193, 8192), (5222, 5221)],
)
def test_the_cap_is_true_and_no_count_is_negative(prune: Any, length: int, cap: int):  # row 60
    for content in (LONG[:length], "x" * length, "界" * length):
        result = pruned(prune, content, cap)
        assert len(result) <= cap or result == content
        assert not re.search(r"-\d", result.replace(content[:cap], ""))
        assert pruned(prune, result, cap) == result


@both
@pytest.mark.parametrize("cap", [200, 1000, 8192])
def test_a_result_over_the_cap_is_really_shortened(prune: Any, cap: int):  # row 60
    assert len(pruned(prune, LONG, cap)) <= cap
    assert len(pruned(prune, LONG.replace("\n", " "), cap)) <= cap


@both
def test_every_cap_is_obeyed_and_a_second_pass_changes_nothing(prune: Any):  # rows 60, 61
    @LAW
    @given(texts, st.integers(1, 3000))
    def law(content: str, cap: int) -> None:
        messages = [u(content), call("call_a"), t(content), a(content)]
        once = prune(messages, cap)
        result = once[2]["content"]
        assert len(result) <= max(cap, 0) or result == content
        assert len(frozen(result)) <= len(frozen(content))
        assert prune(once, cap) == once
        assert all(x is y for n, (x, y) in enumerate(zip(once, messages, strict=True)) if n != 2)

    law()


@both
def test_only_the_string_of_a_tool_is_pruned(prune: Any):  # row 62
    long = "long " * 4000
    parts = [{"type": "text", "text": long}]
    messages = [s(long), u(long), a(long), call("a", "b", content=long), t(parts, "a"), t(None, "b")]
    result = prune(messages)
    assert all(x is y for x, y in zip(result, messages, strict=True))


@both
def test_short_results_come_back_as_the_same_objects(prune: Any):
    messages = [u("go"), call("call_a"), t(LONG[:800], name="look_up")]
    assert all(x is y for x, y in zip(prune(messages), messages, strict=True))


@both
def test_a_pruned_message_keeps_its_keys_and_its_original_is_not_changed(prune: Any):
    message = t(LONG, name="look_up", extra={"x": 1})
    before = frozen(message)
    [_, result] = prune([call("call_a"), message], 500)
    assert {**result, "content": LONG} == message
    assert frozen(message) == before


@both
@pytest.mark.parametrize("cap", [0, -1, None, 1.5, "8192"])
def test_a_cap_that_is_no_positive_whole_number_is_an_error(prune: Any, cap: Any):
    for messages in ([], [t("short")]):
        with pytest.raises(ValueError, match="max_result_chars"):
            prune(messages, cap)


@both
@pytest.mark.parametrize("cluster", ["界", FAMILY, "e\u0301", "\U0001f1eb\U0001f1f7"])
def test_no_cluster_is_cut_and_the_missing_are_counted_right(prune: Any, cluster: str):  # row 63
    size = len(cluster)
    content = cluster * 10_000
    for cap in (500, 501, 502, 503, 8192):
        result = pruned(prune, content, cap)
        result.encode()
        assert len(result) <= cap * size
        head, tail = ends(result, content)
        assert head % size == tail % size == 0
        gone = content[head : len(content) - tail]
        counts = {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", result)}
        assert counts & {len(gone), len(gone) // size, len(gone.encode())}
        if cluster == "界":
            assert len(gone.encode()) not in counts or "byte" in result
            assert len(gone) not in counts or "byte" not in result


@both
def test_text_with_carriage_returns_and_surrogates_is_pruned_like_any_other(prune: Any):  # row 63
    content = "\r\n".join(f"line {n} \ud800 \x00" for n in range(2000))
    result = pruned(prune, content, 1000)
    assert len(result) <= 1000
    assert result.startswith("line 0 \ud800 \x00\r\n")


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: the disk is full",
        "Process exited with exit status 2",
        "Traceback (most recent call last):",
        "ValueError: bad day",
        "FAILED tests/test_x.py::test_y - AssertionError",
        "========= 3 failed, 20 passed in 1.2s =========",
    ],
)
def test_a_line_that_tells_of_an_error_is_kept_out_of_the_middle(line: str):  # row 64
    lines = LONG.splitlines()
    lines.insert(200, line)
    result = pruned(transcript.prune_tool_results, "\n".join(lines), 4000)
    assert line in result.splitlines()
    assert len(result) <= 4000


def test_lines_worth_keeping_never_break_the_cap():  # rows 60, 64
    content = "\n".join(f"ERROR: number {n} of very many" for n in range(3000))
    for cap in (50, 100, 1000, 8192):
        assert len(pruned(transcript.prune_tool_results, content, cap)) <= cap


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": n, "name": prose(20, n), "tags": ["a", "b"], "price": n / 8} for n in range(count)]


@pytest.mark.parametrize(
    "value",
    [
        {"status": "ok", "rows": rows(400), "next": None},
        rows(400),
        {"log": "word " * 9000, "code": 0},
        {"deep": {"er": {"still": {"text": prose(20_000)}}}, "flag": True},
        {f"key_{n}": prose(30, n) for n in range(600)},
        [["nested", [1, 2, [3] * 3000]], "tail " * 3000],
        {"emoji": FAMILY * 3000},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json_of_the_same_shape_under_the_cap(value: Any, indent: int | None):  # issue, prune
    content = json.dumps(value, ensure_ascii=False, indent=indent)
    result = pruned(transcript.prune_tool_results, content)
    assert len(result) <= 8192 < len(content)
    shown = json.loads(result)
    assert type(shown) is type(value)
    if isinstance(value, dict) and len(value) < 20:
        assert set(value) <= set(shown)
    assert pruned(transcript.prune_tool_results, result) == result


@pytest.mark.parametrize("cap", [20, 100, 300, 1000])
def test_json_under_a_small_cap_is_still_capped(cap: int):  # row 60
    content = json.dumps({f"a_rather_long_key_number_{n}": rows(20) for n in range(20)})
    result = pruned(transcript.prune_tool_results, content, cap)
    assert len(result) <= cap or result == content
    assert pruned(transcript.prune_tool_results, result, cap) == result


def test_what_only_looks_like_json_is_text():
    for content in ("[1, 2, " * 3000, '{"a": ' * 5000, "[" * 50_000, "9" * 20_000, '"' + "s" * 20_000 + '"'):
        assert len(pruned(transcript.prune_tool_results, content, 1000)) <= 1000


def test_the_pass_inside_fit_prunes_text_parts_and_gives_them_back():  # README's departure from row 62
    parts = [{"type": "text", "text": LONG}, {"type": "text", "text": "tail"}]
    messages = [u("go"), call("call_a"), t(parts), u("and?")]
    fitted = threadline.fit(messages, max_input_tokens=6000)
    assert len(text_of(fitted.messages[2])) < len(LONG)
    assert fitted.messages[2]["content"][1] == parts[1]
    assert fitted.restore() == messages
