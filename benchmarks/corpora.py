"""What is measured on: recorded conversations where they are, and made ones of a given size."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

Messages = list[dict[str, Any]]


def data() -> Path:
    """The folder with `swe-agent/*.traj` and `tau-bench/airline_100.json`, named by `THREADLINE_DATA`."""
    folder = Path(os.environ.get("THREADLINE_DATA", "data"))
    if not (folder / "swe-agent").is_dir():
        pytest.skip("THREADLINE_DATA names no folder with recorded conversations")
    return folder


def swe_agent() -> list[Messages]:
    return [json.loads(path.read_bytes())["history"] for path in sorted((data() / "swe-agent").glob("*.traj"))]


def tau_bench() -> list[Messages]:
    return [one["traj"] for one in json.loads((data() / "tau-bench" / "airline_100.json").read_bytes())]


def example() -> Messages:
    """The trajectory that ships with the project."""
    path = Path(__file__).parents[1] / "examples" / "marshmallow-1867.traj"
    return json.loads(path.read_bytes())["history"]


class Writer:
    """Unique prose of any length, always the same."""

    def __init__(self) -> None:
        self.dice = random.Random(1)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.dice.choices(letters, k=self.dice.randint(2, 9))) for _ in range(5000)]

    def line(self, words: int) -> str:
        return " ".join(self.dice.choices(self.words, k=words))


def long_trajectory(size: int) -> Messages:
    """The shipped trajectory over and over until it has `size` characters.

    Each copy has words of its own, so that it repeats itself as the original does, and no other copy.
    """
    dice = random.Random(1)
    first, *rest = example()
    words = sorted({word for message in rest for word in re.findall(r"[a-z]{3,}", message["content"])})
    out: Messages = [first]
    total = copy = 0
    while total < size:
        renamed = dict(zip(words, dice.sample(words, len(words)), strict=True))
        for message in rest:
            made: dict[str, Any] = {"role": message["role"], "content": _renamed(message["content"], renamed)}
            if calls := message.get("tool_calls"):
                made["tool_calls"] = [{**call, "id": f"{call['id']}_{copy}"} for call in calls]
            if message["role"] == "tool":
                made["tool_call_id"] = f"{message['tool_call_ids'][0]}_{copy}"
            out.append(made)
            total += len(made["content"])
        copy += 1
    return out


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"[a-z]{3,}", lambda match: names[match.group()], text)
