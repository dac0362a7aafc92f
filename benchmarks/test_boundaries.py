"""How well episodes agree with people's marks (`make eval DATA=folder`): tables, and `build/eval/boundaries.json`.

The aims hold for the shipped defaults, which were not fitted to these sets (docs/decisions/0023).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from statistics import mean, pstdev

import pytest

from boundary_sets import SETS, Agreement, Segmenter, agreement
from threadline.boundary import BoundaryDetector
from threadline.embedders.use import UniversalSentenceEncoder
from threadline.messages import Message
from threadline.text.stems import content_terms, language_of

pytestmark = pytest.mark.eval

AIMS = {
    ("DialSeg711", "lexical"): 0.33,
    ("DialSeg711", "lexical + embedder"): 0.26,
    ("TIAGE", "lexical + embedder"): 0.40,
}


HEADS = ("Pk", "WinDiff", "F1", "found")


def by(detector: BoundaryDetector) -> Segmenter:
    def segment(messages: list[Message]) -> list[int]:
        cells, _ = asyncio.run(detector.adetect(messages, is_final=True))
        starts, count = [], 0
        for cell in cells[:-1]:
            count += len(cell.items)
            starts.append(count)
        return starts

    return segment


def every(count: int) -> Segmenter:
    return lambda messages: [*range(count, len(messages), count)]


def text_tiling(messages: list[Message]) -> list[int]:
    """Hearst 1997 with a message as unit: blocks of two, depth scores, a cut-off half a deviation below the mean."""
    terms = [Counter(content_terms(message.content, language_of(message.content))) for message in messages]

    def cosine(at: int) -> float:
        left = sum(terms[max(0, at - 2) : at], Counter())
        right = sum(terms[at : at + 2], Counter())
        norm = (sum(n * n for n in left.values()) * sum(n * n for n in right.values())) ** 0.5
        return sum(left[term] * right[term] for term in left) / norm if norm else 0.0

    gaps = [cosine(at) for at in range(1, len(messages))]

    def climb(at: int, step: int) -> float:
        top = gaps[at]
        while 0 <= at + step < len(gaps) and gaps[at + step] >= top:
            at += step
            top = gaps[at]
        return top

    depths = [climb(at, -1) + climb(at, 1) - 2 * gaps[at] for at in range(len(gaps))]
    limit = mean(depths) - pstdev(depths) / 2 if depths else 0.0
    return [
        at + 1
        for at, depth in enumerate(depths)
        if depth > max(limit, 0.0) and all(depth >= depths[n] for n in (at - 1, at + 1) if 0 <= n < len(depths))
    ]


def test_episodes_agree_with_the_marks_of_people():
    embedder = UniversalSentenceEncoder()
    methods: dict[str, Segmenter] = {
        "no boundary": lambda _: [],
        "every 4": every(4),
        "every 8": every(8),
        "TextTiling": text_tiling,
        "lexical": by(BoundaryDetector()),
        "lexical + embedder": by(BoundaryDetector(embedder=embedder)),
    }

    results: dict[str, dict[str, Agreement]] = {}
    for name, load in SETS.items():
        dialogues = load()
        results[name] = {method: agreement(dialogues, segment) for method, segment in methods.items()}
        print(f"\n{name + f', {len(dialogues)} dialogues':31}" + "".join(f"{key:>9}" for key in HEADS))
        for method, found in results[name].items():
            print(f"  {method:28} " + "".join(f"{value:9.3f}" for value in found))
    report = {name: {method: found._asdict() for method, found in rows.items()} for name, rows in results.items()}
    out = Path("build/eval/boundaries.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")

    missed = {aim: results[aim[0]][aim[1]].pk for aim, limit in AIMS.items() if results[aim[0]][aim[1]].pk >= limit}
    worse = [
        (name, method)
        for name, rows in results.items()
        for method in ("lexical", "lexical + embedder")
        if rows[method].pk > rows["no boundary"].pk
    ]
    assert (missed, worse) == ({}, [])
