"""Dialogues whose topics people have marked, and how well found boundaries agree with the marks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from threadline.messages import Message, chat_message


class Dialogue(NamedTuple):
    messages: list[Message]
    boundaries: list[int]  # numbers of the messages that begin a topic, the first one aside


Segmenter = Callable[[list[Message]], list[int]]


def folder(name: str) -> Path:
    """The folder of a set, in the one that `THREADLINE_DATA` names."""
    path = Path(os.environ.get("THREADLINE_DATA", "data")) / name
    if not path.is_dir():
        pytest.skip(f"THREADLINE_DATA names no folder with {name}")
    return path


def _dialogue(texts: Sequence[str], topics: Sequence[object], *, peers: bool) -> Dialogue:
    """A user and an assistant in turn; among peers both are people."""
    messages = [
        chat_message("user" if peers or number % 2 == 0 else "assistant", text, sender_id=f"speaker-{number % 2}")
        for number, text in enumerate(texts)
    ]
    return Dialogue(messages, [n for n in range(1, len(topics)) if topics[n] != topics[n - 1]])


def dialseg711() -> list[Dialogue]:
    recorded = [one for path in sorted(folder("dialseg711").glob("*.json")) for one in json.loads(path.read_bytes())]
    return [_dialogue(one["utterances"], one["segment"], peers=False) for one in recorded]


def tiage() -> list[Dialogue]:
    out: list[Dialogue] = []
    for path in sorted(folder("tiage").glob("*.json")):
        for turns in json.loads(path.read_bytes()).values():
            topic, topics = 0, []
            for _, mark in turns:
                topic += mark.strip() == "1"
                topics.append(topic)
            out.append(_dialogue([text for text, _ in turns], topics, peers=True))
    return out


def crosswoz() -> list[Dialogue]:
    lines = [line for path in sorted(folder("crosswoz").glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    recorded = [json.loads(line)["messages"] for line in lines]
    return [_dialogue([text for _, text, _ in one], [domain for *_, domain in one], peers=False) for one in recorded]


SETS = {"DialSeg711": dialseg711, "TIAGE": tiage, "CrossWOZ": crosswoz}


def _topics(count: int, boundaries: Sequence[int]) -> list[int]:
    starts = set(boundaries)
    topic, topics = 0, []
    for number in range(count):
        topic += number in starts
        topics.append(topic)
    return topics


def window(dialogue: Dialogue) -> int:
    """Half the mean length of a true segment, at least 2."""
    return max(2, round(len(dialogue.messages) / (len(dialogue.boundaries) + 1) / 2))


def pk(dialogue: Dialogue, found: Sequence[int]) -> float:
    """How often a probe of two messages `window` apart is wrong about their being on one topic (Beeferman 1999)."""
    k, count = window(dialogue), len(dialogue.messages)
    true, guess = _topics(count, dialogue.boundaries), _topics(count, found)
    probes = range(max(0, count - k))
    wrong = sum((true[n] == true[n + k]) != (guess[n] == guess[n + k]) for n in probes)
    return wrong / len(probes) if probes else 0.0


def window_diff(dialogue: Dialogue, found: Sequence[int]) -> float:
    """How often such a probe counts a wrong number of boundaries (Pevzner and Hearst 2002)."""
    k, count = window(dialogue), len(dialogue.messages)
    true, guess = _topics(count, dialogue.boundaries), _topics(count, found)
    probes = range(max(0, count - k))
    wrong = sum(true[n + k] - true[n] != guess[n + k] - guess[n] for n in probes)
    return wrong / len(probes) if probes else 0.0


class Agreement(NamedTuple):
    pk: float
    window_diff: float
    f1: float
    found_to_true: float


def agreement(dialogues: Sequence[Dialogue], segment: Segmenter) -> Agreement:
    """Pk and WindowDiff averaged over dialogues; F1 and the ratio of found to true boundaries over all of them."""
    found = [segment(dialogue.messages) for dialogue in dialogues]
    pairs = [*zip(dialogues, found, strict=True)]
    right = sum(len({*dialogue.boundaries} & {*cuts}) for dialogue, cuts in pairs)
    true, made = sum(len(dialogue.boundaries) for dialogue in dialogues), sum(map(len, found))
    return Agreement(
        pk=sum(pk(*pair) for pair in pairs) / len(pairs),
        window_diff=sum(window_diff(*pair) for pair in pairs) / len(pairs),
        f1=2 * right / (true + made) if right else 0.0,
        found_to_true=made / true,
    )
