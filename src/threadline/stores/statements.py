"""SQL that lives in named files: `-- name: what it does` heads each statement; numbered files are migrations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from msgspec import Struct

__all__ = ["Migration", "migrations", "statements"]

_HEAD = re.compile(r"^-- (\w+): .+$", re.MULTILINE)


class Migration(Struct, frozen=True):
    """One step of a schema, forward only."""

    number: int
    name: str
    sql: str


@cache
def statements(dialect: str) -> Mapping[str, str]:
    """Every statement of a dialect (`sqlite`, `postgres`) by its name."""
    found: dict[str, str] = {}
    for file in _files(dialect):
        _, *pieces = _HEAD.split(file.read_text("utf-8"))
        found |= {name: sql.strip().removesuffix(";") for name, sql in zip(pieces[::2], pieces[1::2], strict=True)}
    return found


@cache
def migrations(dialect: str) -> tuple[Migration, ...]:
    """The steps of a dialect's schema, first to last."""
    return tuple(
        Migration(number=int(file.name[:4]), name=file.name.removesuffix(".sql"), sql=file.read_text("utf-8"))
        for file in _files(f"{dialect}/migrations")
    )


def _files(folder: str) -> list[Traversable]:
    place = files(__package__ or "").joinpath("sql", *folder.split("/"))
    return sorted((file for file in place.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
