"""What an image, a page, a second of sound or film costs: by its size, never by its base64 text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, assert_never

from msgspec import Struct, field

from threadline.messages.parts import MediaPart

if TYPE_CHECKING:
    from threadline.tokens.profile import Profile

__all__ = ["Crops", "Each", "ImageRule", "Limit", "Patches", "Tiles", "image_tokens", "media_tokens"]

_BYTES_PER_PAGE = 20_000
"""A page of a PDF whose pages are not known; text pages with their share of the fonts are mostly larger. Assumed."""

_BYTES_PER_SECOND = 4_000
"""A second of sound or film whose length is not known: 32 kbit/s, the low end of speech. Assumed."""

_UNKNOWN_PAGES = 10
_UNKNOWN_SECONDS = 60.0


class Limit(Struct, frozen=True, kw_only=True):
    """Down to what an image is scaled before it is counted: `budget` patches and `edge` pixels; None is no limit."""

    budget: int | None = None
    edge: int | None = None


class Tiles(Struct, frozen=True, kw_only=True, tag="tiles"):
    """OpenAI's older models: fit into 2048 px, shortest side to 768, then `base` and `tile` for each 512 px square."""

    base: int
    tile: int


class Patches(Struct, frozen=True, kw_only=True, tag="patches"):
    """Squares of `size` pixels that cover the image, after scaling it into the limit of its level of detail.

    Attributes:
        limits: by level of detail; `auto` also stands for a level that a model does not have.
        unknown: tokens of an image of unknown size.
        multiplier: tokens for one patch.
        whole: the scaled image has whole patches (OpenAI); else it is as large as the budget lets it be (Anthropic).
    """

    size: int
    limits: dict[str, Limit]
    unknown: int
    multiplier: float = 1.0
    whole: bool = False


class Crops(Struct, frozen=True, kw_only=True, tag="crops"):
    """Gemini 1 and 2: `tokens` for an image of at most 384 x 384, else for each crop of it."""

    tokens: int


class Each(Struct, frozen=True, kw_only=True, tag="each"):
    """One figure for any image, or one for each level of detail."""

    default: int
    details: dict[str, int] = field(default_factory=dict[str, int])


ImageRule: TypeAlias = Tiles | Patches | Crops | Each


def media_tokens(part: MediaPart, profile: Profile) -> int:
    """The tokens of a medium, at least 1. Where its size is not known, what the provider documents as the most."""
    match part.kind:
        case "image":
            tokens = image_tokens(profile.image, part.width, part.height, part.detail)
        case "document":
            tokens = profile.page * _pages(part)
        case "audio":
            tokens = math.ceil(profile.audio_second * _seconds(part))
        case "video":
            tokens = math.ceil(profile.video_second * _seconds(part))
        case _:
            assert_never(part.kind)
    return max(1, tokens)


def image_tokens(rule: ImageRule, width: int | None, height: int | None, detail: str | None = None) -> int:
    """The tokens of one image.

    Args:
        rule: how the model counts.
        width: pixels, None where not known.
        height: pixels, None where not known.
        detail: `low`, `high`, `original`, `auto` as OpenAI names it, or Gemini's resolution in lower case.
    """
    if isinstance(rule, Each):
        return rule.details.get(detail or "", rule.default)
    size = (max(1, width), max(1, height)) if width is not None and height is not None else None
    match rule:
        case Tiles():
            return rule.base if detail == "low" else rule.base + rule.tile * (_tiles(*size) if size else 8)
        case Patches():
            limit = rule.limits.get(detail or "auto", rule.limits["auto"])
            if size is None:
                budget = rule.unknown if limit.budget is None else math.ceil(limit.budget * rule.multiplier)
                return min(budget, rule.unknown)
            return math.ceil(_patches(*size, rule, limit) * rule.multiplier)
        case Crops():
            return rule.tokens * (_crops(*size) if size else 16)
        case _:
            assert_never(rule)


def _fit(width: int, height: int, edge: int) -> tuple[int, int]:
    return _scaled(width, height, min(1.0, edge / max(width, height)))


def _scaled(width: int, height: int, scale: float) -> tuple[int, int]:
    return max(1, round(width * scale)), max(1, round(height * scale))


def _tiles(width: int, height: int) -> int:
    """Squares of 512 px. Small images are not enlarged, as OpenAI's own price calculator has it."""
    width, height = _fit(width, height, 2048)
    width, height = _scaled(width, height, min(1.0, 768 / min(width, height)))
    return math.ceil(width / 512) * math.ceil(height / 512)


def _patches(width: int, height: int, rule: Patches, limit: Limit) -> int:
    if limit.edge is not None:
        width, height = _fit(width, height, limit.edge)
    count = math.ceil(width / rule.size) * math.ceil(height / rule.size)
    if limit.budget is None or count <= limit.budget:
        return count
    if not rule.whole:
        return limit.budget
    shrink = math.sqrt(rule.size**2 * limit.budget / (width * height))
    across, down = width * shrink / rule.size, height * shrink / rule.size
    adjust = min(math.floor(across) / across, math.floor(down) / down)
    fitted = math.ceil(round(across * adjust, 6)) * math.ceil(round(down * adjust, 6))
    return fitted or limit.budget


def _crops(width: int, height: int) -> int:
    """Crops of two thirds of the shorter side, from 256 to 768 px, of an image scaled into 3072 x 3072.

    Source: ai.google.dev/gemini-api/docs/image-understanding (formula), .../docs/tokens (384 px, 258 tokens).
    """
    if width <= 384 and height <= 384:
        return 1
    width, height = _fit(width, height, 3072)
    unit = min(768, max(256, math.floor(min(width, height) / 1.5)))
    return math.ceil(width / unit) * math.ceil(height / unit)


def _pages(part: MediaPart) -> int:
    if part.pages is not None:
        return max(1, part.pages)
    return _UNKNOWN_PAGES if part.bytes is None else math.ceil(part.bytes / _BYTES_PER_PAGE)


def _seconds(part: MediaPart) -> float:
    if part.seconds is not None:
        return part.seconds
    return _UNKNOWN_SECONDS if part.bytes is None else part.bytes / _BYTES_PER_SECOND
