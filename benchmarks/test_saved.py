"""Tokens saved with nothing lost, whole and turn by turn; ContextRay and the others on the same conversations."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

import corpora
import threadline
from threadline.tokens import Measure

pytestmark = pytest.mark.bench

ROOMY = 10**9
MEASURE = Measure()


def contents(messages: list[Any]) -> list[str]:
    return [message["content"] for message in messages if isinstance(message.get("content"), str)]


def content_tokens(messages: list[Any]) -> int:
    """Tokens of message content alone: the figure that other tools report."""
    return sum(MEASURE.texts(contents(messages)))


def saved(conversations: list[Any], view: Callable[[Any], list[Any]]) -> float:
    before = sum(map(content_tokens, conversations))
    return 100 * (before - sum(content_tokens(view(one)) for one in conversations)) / before


def fitted(tables: bool) -> Callable[[Any], list[Any]]:
    def view(messages: Any) -> list[Any]:
        policy = threadline.FitPolicy(tables=tables)
        result = threadline.fit(messages, max_input_tokens=ROOMY, policy=policy)
        assert result.restore() == messages
        return result.messages

    return view


def contextray(messages: Any) -> list[Any]:
    from contextray import optimize_context

    plain = [{"role": m["role"], "content": m["content"] or ""} for m in messages]
    return optimize_context(plain)["optimized_context"]


def test_tokens_saved_with_nothing_lost():
    rows = {
        "SWE-agent": (corpora.swe_agent(), False, 24.0),
        "tau-bench": (corpora.tau_bench(), False, 10.0),
        "tau-bench with tables": (corpora.tau_bench(), True, 16.0),
    }
    for name, (conversations, tables, least) in rows.items():
        ours, theirs = saved(conversations, fitted(tables)), saved(conversations, contextray)
        print(f"\n{name}: {ours:.1f} % saved; ContextRay {theirs:.1f} %")
        assert ours >= least


@pytest.mark.parametrize(("name", "least"), [("swe_agent", 20.0), ("tau_bench", 6.5)])
def test_turn_by_turn_the_inputs_are_smaller_and_extend_one_another(name: str, least: float):
    """One request before each assistant turn. Bill: a token read from the cache costs 0.1, one written to it 1.25."""
    sums = {"raw": 0, "ours": 0}
    bills = {"raw": 0.0, "ours": 0.0}
    reused = {"raw": 0, "ours": 0}
    violations = 0
    for messages in getattr(corpora, name)():
        fitter = threadline.Fitter(max_input_tokens=ROOMY)
        sent: dict[str, list[Any]] = {"raw": [], "ours": []}
        for index, message in enumerate(messages):
            if message["role"] == "assistant" and index:
                for kind, now in (("raw", messages[:index]), ("ours", fitter.messages)):
                    tokens = MEASURE.texts(contents(now))
                    kept = sent[kind] == now[: len(sent[kind])]
                    violations += kind == "ours" and not kept
                    hit = sum(MEASURE.texts(contents(sent[kind]))) if kept else 0
                    sums[kind] += sum(tokens)
                    reused[kind] += hit
                    bills[kind] += 0.1 * hit + 1.25 * (sum(tokens) - hit)
                    sent[kind] = list(now)
            fitter.append([message])
    smaller = 100 * (1 - sums["ours"] / sums["raw"])
    print(
        f"\n{name}: inputs {smaller:.1f} % smaller, {violations} prefix violations, "
        f"reuse {100 * reused['raw'] / sums['raw']:.1f} -> {100 * reused['ours'] / sums['ours']:.1f} %, "
        f"bill {100 * (1 - bills['ours'] / bills['raw']):.1f} % smaller"
    )
    assert violations == 0
    assert smaller >= least


def test_others_on_the_same_trajectory_and_what_they_lose():
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import trim_messages

    messages = corpora.example()
    before = content_tokens(messages)
    budget = threadline.count_request(messages).total // 2
    start = time.perf_counter()
    ours = threadline.fit(messages, max_input_tokens=budget)
    ours_s = time.perf_counter() - start
    print(
        f"\nfit to half: {before} -> {content_tokens(ours.messages)} tokens, {1000 * ours_s:.0f} ms, "
        f"restorable: {ours.restore() == messages}"
    )

    plain = [{"role": m["role"] if m["role"] != "tool" else "user", "content": m["content"] or ""} for m in messages]
    start = time.perf_counter()
    trimmed = trim_messages(
        convert_to_messages(plain),
        max_tokens=before // 2,
        strategy="last",
        token_counter=lambda some: sum(MEASURE.texts([str(one.content) for one in some])),
    )
    trim_s = time.perf_counter() - start
    left = sum(MEASURE.texts([str(one.content) for one in trimmed]))
    print(
        f"LangChain trim_messages: {before} -> {left} tokens, {1000 * trim_s:.0f} ms; "
        f"{len(messages) - len(trimmed)} of {len(messages)} messages gone, not restorable"
    )

    headroom = pytest.importorskip("headroom")
    start = time.perf_counter()
    compressed = headroom.compress(plain, model="gpt-4o").messages
    headroom_s = time.perf_counter() - start
    changed = sum(new["content"] != old["content"] for new, old in zip(compressed, plain, strict=False))
    print(
        f"headroom compress: {before} -> {content_tokens(compressed)} tokens, {1000 * headroom_s:.0f} ms; "
        f"{changed} messages changed, restorable only while its own store keeps them"
    )
