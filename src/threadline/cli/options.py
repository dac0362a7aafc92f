"""What many commands take, and how they print one JSON value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from threadline.cli import files

__all__ = ["AsJson", "Force", "Input", "Model", "Output", "print_json"]

Input = Annotated[Path, typer.Argument(metavar="INPUT", help="A conversation; - is standard input.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Where to write it.")]
Force = Annotated[bool, typer.Option("--force", help="Allow an output to overwrite the input.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Model = Annotated[str | None, typer.Option("--model", help="Whose tokens to count.")]


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    files.write((Path("-"), [text.encode("utf-8", "threadline.json"), b"\n"]))
