"""The commands `segment`, where the episodes of a conversation end, and `remember`, what they leave behind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs

from threadline.cli import files, show, show_understanding
from threadline.cli.options import AsJson, Input, print_json
from threadline.errors import InvalidInputError

if TYPE_CHECKING:
    from threadline.boundary import BoundaryDetector, MemCell
    from threadline.messages import Message

__all__ = ["register_understanding", "remember", "segment"]

ModelName = Annotated[
    str | None, typer.Option("--model", help="A model that finds the ends; its key is in OPENAI_API_KEY.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", envvar="OPENAI_BASE_URL", help="Another server for the model, up to /v1.")
]
TimeZone = Annotated[str, typer.Option("--timezone", help="Whose days are meant: an IANA name.")]
Language = Annotated[str | None, typer.Option("--language", help="Of all messages; default what each shows.")]


def register_understanding(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("segment")(segment)
    app.command("remember")(remember)


def segment(
    source: Input,
    model: ModelName = None,
    base_url: BaseUrl = None,
    language: Language = None,
    timezone: TimeZone = "UTC",
    *,
    as_json: AsJson = False,
) -> None:
    """Cut a conversation into episodes: when, how long, about what."""
    from threadline.boundary.limits import message_tokens
    from threadline.memory.extractive import extract_episode

    spoken, clock = _language(language), _clock(timezone)
    with show.progress("looking for where episodes end"):
        cells = _cells(_messages(source), model, base_url)
        told: list[dict[str, Any]] = []
        before = 0
        for cell in cells:
            times = [item.timestamp for item in cell.items if item.timestamp]
            episode = extract_episode(cell, language=spoken)
            told.append(
                {
                    "id": cell.id,
                    "first": before + 1,
                    "last": before + len(cell.items),
                    "tokens": sum(message_tokens(cell.items)),
                    "begins": clock(min(times, default=0)),
                    "ends": clock(max(times, default=0)),
                    "title": "" if episode is None else episode.subject,
                }
            )
            before += len(cell.items)
    if as_json:
        print_json({"method": "lexical" if model is None else "model", "episodes": told})
    else:
        show_understanding.episodes(told)


def remember(
    source: Input,
    owner: Annotated[str | None, typer.Option("--owner", help="Whose memory: an id or name; default the user.")] = None,
    language: Language = None,
    timezone: TimeZone = "UTC",
    *,
    as_json: AsJson = False,
) -> None:
    """Tell what a conversation leaves behind: episodes, facts, what is to come, a profile; all of it quotes."""
    from threadline.memory.extractive import extract_memories
    from threadline.messages import message_id

    spoken, clock = _language(language), _clock(timezone)
    with show.progress("remembering"):
        messages = _messages(source)
        owner = owner or _first_user(messages)
        found = extract_memories(_cells(messages), owner_id=owner, time_zone=timezone, language=spoken)
    if as_json:
        print_json(
            {
                "owner": owner,
                "episodes": [one.as_dict() for one in found.episodes],
                "facts": [one.as_dict() for one in found.facts],
                "foresight": [one.as_dict() for one in found.foresights],
                "profile": found.profile.as_dict(),
            }
        )
    else:
        numbers = {message_id(message): number for number, message in enumerate(messages, 1)}
        show_understanding.memories(owner, found, numbers, clock)


def _messages(source: Path) -> list[Message]:
    """The messages of a file; a time of 0 is none."""
    from threadline.messages import read_document

    document = read_document(files.read(source), name=files.name_of(source))
    if not document.request.messages:
        raise InvalidInputError(f"{files.name_of(source)} holds no messages")
    return [structs.replace(one, timestamp=one.timestamp or None) for one in document.request.messages]


def _cells(messages: Sequence[Message], model: str | None = None, base_url: str | None = None) -> list[MemCell]:
    """All episodes; what belongs to none, where nobody speaks, is the last."""
    import anyio

    from threadline.boundary import BoundaryDetector, MemCell

    if model is None:
        found = BoundaryDetector().detect(messages, is_final=True)
    else:
        found = anyio.run(partial(_asked, messages, model, base_url))
    return [*found.cells, MemCell.of(found.tail)] if found.tail else found.cells


async def _asked(messages: Sequence[Message], model: str, base_url: str | None) -> Any:
    from threadline.boundary import BoundaryDetector
    from threadline.models import OpenAIClient

    # A server of one's own often wants no key, but the SDK wants a text.
    key = "none" if base_url is not None and "OPENAI_API_KEY" not in os.environ else None
    client = OpenAIClient(model=model, base_url=base_url, api_key=key)
    try:
        detector: BoundaryDetector = BoundaryDetector(llm=client)
        return await detector.adetect(messages, is_final=True)
    finally:
        await client.aclose()


def _language(name: str | None) -> str | None:
    from threadline.memory.extractive import named_language

    return None if name is None else named_language(name)


def _clock(time_zone: str) -> show_understanding.Clock:
    """Moments as that zone writes them, to the minute; nothing for none."""
    from threadline.memory.extractive import zone_of

    zone = zone_of(time_zone)

    def written(timestamp_ms: int | None) -> str:
        if not timestamp_ms:
            return ""
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=timestamp_ms)
            return moment.astimezone(zone).isoformat(" ", "minutes")[:16]
        except OverflowError:
            raise InvalidInputError("timestamp: outside the years 1 to 9999", key="timestamp") from None

    return written


def _first_user(messages: Sequence[Message]) -> str:
    """Who the first person is that speaks; `user` where nobody has a name."""
    speaking = (message for message in messages if message.is_user_turn)
    first = next(speaking, None)
    return "user" if first is None else first.sender_id or first.name or "user"
