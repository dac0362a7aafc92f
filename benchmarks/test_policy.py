"""The policy under eviction, and whole calls, as ratios in one run."""

from __future__ import annotations

import json

import pytest

from test_speed import best
from threadline.context import (
    ContextAssembler,
    ContextPolicyInput,
    ConversationItem,
    DefaultPolicy,
    KnowledgeItem,
    Provenance,
    TokenBudget,
)
from threadline.journal.canonical import content_ref
from threadline.tokens import Measure

pytestmark = pytest.mark.bench

SIZES = (10, 100, 1_000, 10_000)


def items(count: int, share: float, *, measure: Measure | None = None) -> ContextPolicyInput:
    """Every tenth item is knowledge, every fifth message a tool exchange; the budget holds a share of it all."""
    knowledge = [
        KnowledgeItem(id=f"k{n}", content=f"fact {n}", estimated_tokens=8 + n % 5) for n in range(0, count, 10)
    ]
    groups: list[tuple[ConversationItem, ...]] = []
    for n in (n for n in range(count) if n % 10):
        if n % 5:
            groups.append((said(n, "user" if n % 2 else "assistant", f"message {n}"),))
            continue
        call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        wire = {"role": "assistant", "content": None, "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n}\n" * 40}
        asks = said(n, "assistant", wire, tool_call_ids=(f"c{n}",))
        groups.append((asks, said(n, "tool", result, suffix="r", tool_call_id=f"c{n}")))
    total = sum(item.estimated_tokens for group in groups for item in group)
    budget = TokenBudget(max_input_tokens=int(share * (total + sum(item.estimated_tokens for item in knowledge))))
    return ContextPolicyInput(
        agent_id="a",
        call_mode="complete",
        knowledge=tuple(knowledge),
        conversation=tuple(groups),
        token_budget=budget,
        model_config={"model": "gpt-4o"},
        dialect="openai",
        measure=measure,
    )


def said(n: int, role: str, content: object, *, suffix: str = "", **fields: object) -> ConversationItem:
    kinds = {"user": "external_message", "assistant": "assistant_message", "tool": "tool_message"}
    return ConversationItem(
        id=f"m{n}{suffix}",
        kind=kinds[role],
        role=role,
        content=content,
        sequence=n * 2 + bool(suffix),
        estimated_tokens=8 + n % 7,
        provenance=Provenance(origin="journal", record_id=f"{n}{suffix}"),
        **fields,
    )


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_the_policy_grows_like_its_input(share: float):
    choose = DefaultPolicy()
    times: dict[int, float] = {}
    for size in SIZES:
        given = items(size, share)
        rounds = max(1, 20_000 // size)
        times[size] = best(lambda given=given, rounds=rounds: [choose(given) for _ in range(rounds)]) / rounds
        assert choose(given).omissions
    growth = {size: times[size] / times[100] / (size / 100) for size in SIZES}
    print(
        f"\n{share:.0%} fits: time an item against 100 items: "
        + ", ".join(f"{s:,}: {g:.2f}" for s, g in growth.items())
    )
    assert growth[10_000] < 2.5


def test_a_window_that_stays_costs_no_more_than_one_made_anew():
    measure = Measure("gpt-4o")
    writer = ContextAssembler(policy=DefaultPolicy(), measure=measure, naming=content_ref, dialect="openai")
    given = items(1_000, 0.5, measure=measure)
    limit = TokenBudget(max_input_tokens=100_000)
    import msgspec

    before = writer.finish(writer.prepare(msgspec.structs.replace(given, token_budget=limit))).manifest
    choose = DefaultPolicy()
    anew = best(lambda: choose(given))
    sticky = msgspec.structs.replace(given, previous_manifest=before)
    ratio = best(lambda: choose(sticky)) / anew
    print(f"\nwith the manifest of the call before: {ratio:.2f} of the time without")
    assert ratio < 5


def test_500_calls_from_input_to_manifest():
    """Beside it: only writing the same requests as JSON, 500 times."""
    measure = Measure("gpt-4o")
    writer = ContextAssembler(policy=DefaultPolicy(), measure=measure, naming=content_ref, dialect="openai")
    given = writer.price(items(100, 0.5, measure=measure))
    last = writer.finish(writer.prepare(given))

    def calls() -> None:
        for _ in range(500):
            writer.finish(writer.prepare(given))

    floor = best(lambda: [json.dumps(last.request.wire) for _ in range(500)])
    ratio = best(calls, 2) / floor
    print(f"\n500 calls of {len(last.manifest.segments)} segments: {ratio:.0f} times the time of json.dumps")
    assert ratio < 200
