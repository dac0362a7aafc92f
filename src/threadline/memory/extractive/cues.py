"""`Cues`: what shows, in a language, that a sentence says something of its speaker."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from msgspec import Struct

from threadline.errors import InvalidInputError
from threadline.text.stems import language_of

__all__ = ["LANGUAGES", "Cues", "categories", "cues_of", "language_in", "named_language"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile("[\u3040-\u30fa\u30fc-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_LATIN = re.compile(r"[^\W\d_]")
_LETTERS = (("spanish", re.compile("[\u00bf\u00a1\u00f1]")), ("german", re.compile("[\u00df\u00e4\u00f6\u00fc]")))
_NOTHING = re.compile(r"(?!)")
_TAGS = {"en": "english", "zh": "chinese", "de": "german", "es": "spanish", "ru": "russian", "ja": "japanese"}
_TAGS["ko"] = "korean"

LANGUAGES: tuple[str, ...] = tuple(_TAGS.values())
"""The languages that cues exist for."""


class Cues(Struct, frozen=True, kw_only=True):
    """The patterns of one language, as `cues.toml` explains them; what a language has none for never matches."""

    language: str
    self: re.Pattern[str] = _NOTHING
    state: re.Pattern[str] = _NOTHING
    acts: re.Pattern[str] = _NOTHING
    doubt: re.Pattern[str] = _NOTHING
    stable: re.Pattern[str] = _NOTHING
    courtesy: re.Pattern[str] = _NOTHING
    future: re.Pattern[str] = _NOTHING
    past: re.Pattern[str] = _NOTHING
    passing: re.Pattern[str] = _NOTHING
    numbers: re.Pattern[str] = _NOTHING
    names: re.Pattern[str] = _NOTHING
    dates: re.Pattern[str] = _NOTHING
    date_code: str | None = None


@cache
def _entries() -> dict[str, dict[str, str | list[str]]]:
    text = resources.files("threadline.memory.extractive").joinpath("cues.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def cues_of(language: str) -> Cues:
    """The cues of a language; none for one that has no entry: then only numbers and names tell."""
    entry = dict(_entries().get(language, {}))
    code = entry.pop("date_code", None)
    dates = _dates(entry)
    patterns = {name: re.compile(value, re.IGNORECASE) for name, value in entry.items() if isinstance(value, str)}
    known = {name: pattern for name, pattern in patterns.items() if name in Cues.__struct_fields__}
    return Cues(language=language, dates=dates, date_code=code if isinstance(code, str) else None, **known)


@cache
def categories() -> dict[str, re.Pattern[str]]:
    """What statements of a profile are about, by label; a word may begin another, but not stand inside one."""
    listed = _entries()["categories"]
    return {name: re.compile(rf"(?<![a-z])(?:{words})", re.IGNORECASE) for name, words in listed.items()}


_EVERYWHERE = r"(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)|(?<![\d.])\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d(?!\d)"


def _dates(entry: dict[str, str | list[str]]) -> re.Pattern[str]:
    """One pattern: `next` or `this` before a day or a span, named in groups; `other` is what a parser has to read."""
    if "days" not in entry:
        return re.compile(f"(?P<other>{_EVERYWHERE})")
    days = "|".join(f"(?P<day{number}>{day})" for number, day in enumerate(entry.pop("days")))
    part = {name: entry.pop(name) for name in ("next", "this", "weekend", "week", "month", "other")}
    spaced = part["week"][0] < "\u1100"  # words have spaces around them, so that a part of a word is none
    gap, edge = (r" ", r"\b") if spaced else ("", "")
    return re.compile(
        rf"{edge}(?:(?P<other>{_EVERYWHERE}|{part['other']})"
        rf"|(?:(?P<next>{part['next']}){gap}|(?P<this>{part['this']}){gap})?"
        rf"(?:{days}|(?P<weekend>{part['weekend']})|(?(next)(?P<week>{part['week']})|(?!))"
        rf"|(?(next)(?P<month>{part['month']})|(?!))))(?:{edge})",
        re.IGNORECASE,
    )


def language_in(text: str, default: str = "english") -> str:
    """The language of a text: by its script where that tells, else by its commonest words.

    Args:
        text: what was said.
        default: the answer where nothing tells.
    """
    if _KANA.search(text):
        return "japanese"
    han, hangul = len(_HAN.findall(text)), len(_HANGUL.findall(text))
    if max(han, hangul) * 4 > len(_LATIN.findall(text)):  # a quarter: a character says as much as a word
        return "chinese" if han >= hangul and han else "korean" if hangul else default
    found = language_of(text, "")
    return found or next((name for name, letters in _LETTERS if letters.search(text)), default)


def named_language(name: str) -> str:
    """The language that a name or a BCP 47 tag means, whatever its case: `zh-CN` is `chinese`.

    Raises:
        InvalidInputError: there is nothing in that name.
    """
    wanted = name.strip().casefold()
    if not wanted:
        raise InvalidInputError("language must not be blank", key="language")
    return _TAGS.get(wanted.split("-")[0], wanted)
