"""Which schema a place has and which this release needs."""

from __future__ import annotations

from threadline.errors import ConfigurationError
from threadline.stores.statements import Migration, migrations

__all__ = ["check_version", "pending"]


def pending(dialect: str, version: int) -> list[Migration]:
    """The steps from a version to the newest; version 0 is an empty place."""
    return [step for step in migrations(dialect) if step.number > version]


def check_version(dialect: str, version: int, place: str) -> None:
    """Hold a place's version against the one this release needs.

    Args:
        dialect: which SQL.
        version: what the place has.
        place: its URL, without a password.

    Raises:
        ConfigurationError: it is older or newer; says what to run.
    """
    newest = migrations(dialect)[-1].number
    if version < newest:
        raise ConfigurationError(
            f"{place} has schema {version}, this release needs {newest}; run: threadline db migrate --db {place}",
            found=version,
            needed=newest,
        )
    if version > newest:
        raise ConfigurationError(
            f"{place} has schema {version}, newer than the {newest} of this release; "
            "run: pip install --upgrade threadline",
            found=version,
            needed=newest,
        )
