"""`make fuzz`: very many triples of history, budget and dialect; a short stretch of them runs with the tests.

Histories come from a seeded generator of their own, which is a hundred times faster than a strategy, so that 100,000 of
them take minutes. `THREADLINE_FUZZ` says how many.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

import threadline
from threadline.errors import ContextBudgetExceededError

from .conversations import P, Q, R, json_copy, prose, stored
from .dialects import TOOL_NAMES, Answered, Called, Event, Said, write
from .judge import DIALECTS, Dialect, frozen, loose_ends

TEXTS = [
    P, Q, R,
    f"{P}\n\n{Q}", f"intro\n{P}\nmore\n{R}", "ok", prose(60, "sixty"),
    "\n".join(prose(70, f"line-{n}") for n in range(12)),
    "\n".join(f"{n}: def step_{n}(value, other=None): return value + {n}" for n in range(40)),
    "\n".join(f"{n}: def step_{n}(value, other=None): return value + {n}" for n in range(12, 52)),
    f"```python\n{P}\n```\nand\n```python\n{P}\n```", "漢字仮名交じり文" * 20, "👩‍👩‍👧‍👦🇫🇷" * 30,
    "naïve\x00\ttext " * 12, "Traceback: ValueError " * 40,
    '{"flights": [' + ", ".join(f'{{"id": {n}, "from": "JFK", "to": "SFO"}}' for n in range(40)) + "]}",
]  # fmt: skip


def history(dice: random.Random) -> list[Event]:
    """Events with parallel, pending, interleaved, orphaned and dead calls, reused ids and repeats."""
    told: list[Event] = []
    if dice.random() < 0.6:
        told.append(Said("system", dice.choice(TEXTS[:4])))
    told.append(Said("user", dice.choice(TEXTS)))
    waiting: list[tuple[str, str]] = []
    for _ in range(dice.randrange(1, 14)):
        roll = dice.random()
        if roll < 0.3:
            told.append(Said("user", dice.choice(TEXTS)))
        elif roll < 0.45:
            told.append(Said("assistant", dice.choice(TEXTS)))
        elif roll < 0.5:
            told.append(Answered(f"call_{dice.randrange(9)}", "search", dice.choice(TEXTS)))
        else:
            calls = tuple(
                (f"call_{dice.randrange(60)}", dice.choice(TOOL_NAMES)) for _ in range(dice.choice((1, 1, 1, 2, 3)))
            )
            calls = tuple(dict(calls).items())
            told.append(Called(dice.choice(("", "", P)), calls, thinking=dice.random() < 0.3))
            answers = [Answered(i, name, dice.choice(TEXTS)) for i, name in calls if dice.random() < 0.93]
            dice.shuffle(answers)
            told += answers
            waiting += [call for call in calls if call[0] not in {answer.id for answer in answers}]
        if waiting and dice.random() < 0.2:
            late = waiting.pop(dice.randrange(len(waiting)))
            told.append(Answered(*late, dice.choice(TEXTS)))
    return told


UNFIXABLE = {"duplicate_call_id", "missing_id", "unknown_role", "first_message", "alternation", "reasoning_pair"}
"""What is wrong with the input's own ids, roles and order is not for a reduction to change."""


def violations(messages: list[object], dialect: Dialect) -> Counter[str]:
    return Counter(one.rule for one in threadline.check_conversation(messages, dialect))


def waits(messages: list[object], dialect: Dialect) -> bool:
    """Whether the last thing said is a call, or part of its results: it may still be answered."""
    return bool(loose_ends(messages, dialect))


def tried(seed: int) -> None:
    dice = random.Random(seed)
    dialect: Dialect = dice.choice(DIALECTS)
    messages = write(history(dice), dialect).messages
    before = frozen(messages)
    budget = int(dice.choice((30, 120, 300, 700, 1500, 4000, 10**7)) * (0.5 + dice.random()))
    refused = 0
    try:
        result = threadline.fit(messages, max_input_tokens=budget, dialect=dialect)
    except ContextBudgetExceededError as error:
        refused = error.required
    assert frozen(messages) == before, seed
    if refused:
        assert refused > budget, seed
        return
    assert result.tokens_after <= budget, seed
    assert threadline.count_request(result.messages).total == result.tokens_after, seed
    assert sum(result.by_fate.values()) == result.tokens_before, seed
    assert frozen(result.restore()) == before, seed
    assert frozen(threadline.restore(json_copy(result.messages), stored(result.elisions))) == before, seed
    found = violations(result.messages, dialect)
    new = found - violations(messages, dialect)
    assert not new, (seed, new)
    fixable = {rule for rule in found if rule not in UNFIXABLE}
    if fixable - {"unanswered_call"} or (fixable and not waits(result.messages, dialect)):
        raise AssertionError((seed, found))


def test_two_thousand_drawn_triples_fit_restore_and_pass_the_check():
    for seed in range(2000):
        tried(seed)


@pytest.mark.fuzz
def test_very_many_drawn_triples_fit_restore_and_pass_the_check():
    for seed in range(int(os.environ.get("THREADLINE_FUZZ", "100000"))):
        tried(seed)
