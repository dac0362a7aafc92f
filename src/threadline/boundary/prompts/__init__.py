"""What the model is told, one file a prompt; the same text on every call, so that a provider's cache keeps it."""

from __future__ import annotations

from importlib import resources

__all__ = ["BATCH_SYSTEM_PROMPT", "STEP_SYSTEM_PROMPT"]


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text("utf-8").rstrip()


BATCH_SYSTEM_PROMPT = _read("batch.md")
STEP_SYSTEM_PROMPT = _read("step.md")
