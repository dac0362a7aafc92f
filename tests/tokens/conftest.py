"""Reference counts, and short ways to build messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def references() -> dict[str, dict[str, Any]]:
    """Texts in many languages with their tokens as real vocabularies count them, by name; see `about` in the file."""
    data = json.loads(Path(__file__).with_name("references.json").read_text("utf-8"))
    return {sample["name"]: sample for sample in data["samples"]}
