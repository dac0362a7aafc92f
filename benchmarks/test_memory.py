"""What memory without a model keeps of conversations that people were later asked about: BFCL memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from boundary_sets import folder
from threadline.boundary import BoundaryDetector, MemCell
from threadline.memory.extractive import extract_memories, quotes
from threadline.messages import chat_message
from threadline.text.sentences import sentence_spans

pytestmark = pytest.mark.eval

LEAST = 0.85
"""The share of answers that must be in the memory; it was 0.90 when this was written."""

MOST = 0.70
"""The size that it may have, all scenarios together; it was 0.65."""

_CLOCK = re.compile(r"(?<!\d)0?(\d{1,2})(?::00)?(:\d\d)? ?([ap]m)\b")


class Case(NamedTuple):
    sessions: list[list[MemCell]]
    questions: list[tuple[list[str], str]]  # answers of which one is enough; the passage that holds it


Method = Callable[[Case], list[str]]
"""The texts of a memory."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def cases() -> dict[str, Case]:
    place = folder("bfcl-memory")
    answers = {one["id"]: one for one in lines(place / "possible_answer_BFCL_v4_memory.json")}
    out: dict[str, Case] = {}
    for path in sorted(place.glob("memory_prereq_conversation_memory_*.json")):
        name = path.stem.rsplit("_", 1)[1]
        sessions = []
        for session in lines(path):
            said = [turn for turns in session["question"] for turn in turns]
            messages = [
                chat_message(turn["role"], turn["content"], id=f"{session['id']}-{number}")
                for number, turn in enumerate(said)
            ]
            cells, _ = BoundaryDetector().detect(messages, is_final=True)
            sessions.append(cells)
        asked = [one for one in lines(place / "BFCL_v4_memory.json") if one["scenario"] == name]
        questions = [(answers[one["id"]]["ground_truth"], answers[one["id"]]["source"]) for one in asked]
        out[name] = Case(sessions, questions)
    return out


def plain(text: str) -> str:
    """Words only, without case; clock times in one spelling."""
    return " ".join(re.findall(r"[\w.:]*\w", _CLOCK.sub(r"\1\2 \3", text.casefold())))


def holds(texts: Sequence[str], answers: Sequence[str]) -> bool:
    """True where an answer begins a word and breaks off no number in one of the texts."""
    return any(re.search(rf"(?<![\w.]){re.escape(plain(answer))}(?!\d)", text) for text in texts for answer in answers)


def is_from(text: str, passage: str) -> bool:
    """True where a text is in the passage, or a piece of the passage in it."""
    pieces = [piece for piece in map(plain, passage.split("...")) if len(piece) >= 24]
    return text in plain(passage) or any(piece in text for piece in pieces)


def spoken(case: Case) -> list[str]:
    """All sentences of a case."""
    return [
        item.content[start:end]
        for cells in case.sessions
        for cell in cells
        for item in cell.items
        for start, end in sentence_spans(item.content)
    ]


def facts(case: Case) -> list[str]:
    found = [extract_memories(cells, owner_id="user") for cells in case.sessions]
    return [fact.content for memories in found for fact in memories.facts]


def facts_and_episodes(case: Case) -> list[str]:
    found = [extract_memories(cells, owner_id="user") for cells in case.sessions]
    texts = [fact.content for memories in found for fact in memories.facts]
    return texts + [episode.episode for memories in found for episode in memories.episodes]


def evenly(case: Case) -> list[str]:
    """A floor: as much text as the facts have, in sentences evenly spaced."""
    size = sum(map(len, facts(case)))
    said = spoken(case)
    step = sum(map(len, said)) / size
    return [said[int(number * step)] for number in range(int(len(said) / step))]


METHODS: dict[str, Method] = {
    "everything said": spoken,
    "evenly spaced, size of facts": evenly,
    "facts": facts,
    "facts and episodes": facts_and_episodes,
}


def measured(case: Case, method: Method) -> dict[str, float]:
    texts = method(case)
    shown = [plain(text) for text in texts]
    whole = sum(len(item.content) for cells in case.sessions for cell in cells for item in cell.items)
    return {
        "questions": len(case.questions),
        "contained": sum(holds(shown, answers) for answers, _ in case.questions),
        "from_passage": sum(
            holds([text for text in shown if is_from(text, passage)], answers) for answers, passage in case.questions
        ),
        "characters": sum(map(len, texts)),
        "of_characters": whole,
    }


def test_what_people_are_asked_later_is_in_the_memory_of_what_they_said():
    loaded = cases()
    results = {method: {name: measured(case, run) for name, case in loaded.items()} for method, run in METHODS.items()}
    for rows in results.values():
        rows["all"] = {key: sum(row[key] for row in rows.values()) for key in next(iter(rows.values()))}

    print("\nBFCL memory, without a model       questions  contained  from its passage   size")
    for method, rows in results.items():
        for name, row in rows.items():
            contained, passage = row["contained"] / row["questions"], row["from_passage"] / row["questions"]
            size = row["characters"] / row["of_characters"]
            print(f"  {method:28} {name:12} {row['questions']:>2} {contained:10.3f} {passage:17.3f} {size:6.3f}")
    out = Path("build/eval/memory.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")

    total, floor = results["facts and episodes"]["all"], results["evenly spaced, size of facts"]["all"]
    assert total["contained"] / total["questions"] >= LEAST
    assert total["characters"] / total["of_characters"] <= MOST
    assert results["facts"]["all"]["from_passage"] > floor["from_passage"]


def test_every_sentence_kept_is_in_the_conversation():
    for case in cases().values():
        said = {item.content for cells in case.sessions for cell in cells for item in cell.items}
        for text in facts(case):
            assert any(text in one for one in said)
        for cells in case.sessions:
            for cell in cells:
                assert all(quote.message.content[quote.start : quote.end] == quote.text for quote in quotes(cell))
