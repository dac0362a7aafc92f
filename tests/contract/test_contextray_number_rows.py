"""Rows 35 to 39 of the transcript contract: cost, waste and token figures."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from threadline.compat import nous
from threadline.compat.contextray import optimize_context

from .conversations import P, Q, R, a, call, measure, prose, s, t, u

# --- rows 35 and 36: cost; growth is compared in one run, the bars are three times the contract's


def _seconds(run: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def test_four_thousand_fences_cost_four_times_a_thousand():  # row 35
    def fences(count: int) -> str:
        return "\n\n".join(f"```python\n{prose(300, f'fence-{n}')}\n```\n{prose(20, n)}" for n in range(count))

    small, large = fences(1000), fences(4000)
    cost = _seconds(lambda: optimize_context(small)), _seconds(lambda: optimize_context(large))
    assert cost[1] < 1.5
    assert cost[1] < 9 * cost[0] + 0.05


def test_a_hundred_thousand_messages_take_seconds_not_minutes():  # row 36
    texts = [f"message {n} " + "lorem ipsum dolor sit amet " * 10 for n in range(50_000)]
    messages = [u(text) for text in texts] * 2
    start = time.process_time()
    result = optimize_context(messages)
    assert time.process_time() - start < 4.8
    assert len(result["optimized_context"]) == 100_000
    assert result["metrics"]["removed"] == 50_000


# --- rows 37 to 39: numbers


def test_waste_rows_list_what_was_removed_or_flagged_with_a_hash_and_no_text():  # row 37
    result = optimize_context([s(R), s(R), u(P), u(P), u(P), a(Q), u(Q), u("ok"), u("ok"), u("ok")])
    rows = result["top_waste_blocks"]
    assert all(set(row) >= {"hash", "role", "count", "chars_wasted", "removed", "flagged"} for row in rows)
    assert all(re.fullmatch(r"[0-9a-f]{64}", row["hash"]) for row in rows)
    assert all(row["removed"] or row["flagged"] for row in rows)
    [removed] = [row for row in rows if row["removed"]]
    assert (removed["role"], removed["count"], removed["chars_wasted"]) == ("user", 3, 220)
    assert removed["hash"] == hashlib.sha256(P.encode()).hexdigest()
    assert "system" not in {row["role"] for row in rows}


def test_waste_rows_are_the_five_worst_in_order():  # row 37
    messages = [u(prose(100 + 10 * n, f"w-{n}")) for n in range(9)] * 2
    rows = optimize_context(messages)["top_waste_blocks"]
    assert [row["chars_wasted"] for row in rows] == [180, 170, 160, 150, 140]


def test_the_report_shows_no_text_of_the_conversation():  # row 37
    private = "the-private-word " * 8
    report = optimize_context([u(private), u(private), u("the-private-word"), u("the-private-word")])["report"]
    assert "the-private-word" not in report


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("航班已经改签到明天上午九点座位在靠窗" * 6, 60, 160), ("four " * 80, 70, 140)],
)
def test_tokens_are_estimated_by_script(text: str, low: int, high: int):  # row 38
    text = text[:400] if text.isascii() else text[:100]
    assert low <= optimize_context([u(text)])["metrics"]["est_tokens_in"] <= high


def test_tool_arguments_and_messages_themselves_cost_tokens():  # row 38
    def exchange(arguments: str) -> list[dict[str, Any]]:
        return [u("go"), call("call_a", arguments=arguments), t("done")]

    long = json.dumps({"query": prose(800)})
    assert measure(exchange(long)) > measure(exchange("{}")) + 100
    assert measure([u("one"), a("two"), u("three")]) > measure([u("one two three")])


def test_nothing_costs_nothing_and_bytes_are_summed_before_rounding():  # row 39
    assert nous.estimate_tokens("") == 0
    assert nous.estimate_tokens(None) == 0
    assert nous.estimate_messages_tokens([]) == 0
    assert nous.estimate_messages_tokens([u("abc")] * 3) == 2
    assert nous.estimate_messages_tokens([u("hello world"), a("hi there friend")]) == 6


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("abc", 0),
        ("abcd", 1),
        ("Hello world", 2),
        ("中文字", 2),
        ("中" * 100, 75),
        ("def f(x), do: {:ok, x}", 5),
        ("\ud800", 0),
    ],
)
def test_an_estimate_is_a_quarter_of_the_bytes(text: str, tokens: int):  # row 39
    assert nous.estimate_tokens(text) == tokens


def test_parts_and_calls_count_as_nous_counts_them():  # row 39
    assert (
        nous.estimate_messages_tokens([u([{"type": "text", "text": "abcd"}, {"type": "image_url", "image_url": {}}])])
        == 1
    )
    assert nous.estimate_messages_tokens([call("call_a", arguments=json.dumps({"q": prose(400)}), content="abcd")]) == 1
