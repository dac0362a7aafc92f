"""How many characters of each kind a text has: the ground of a token estimate.

No Python code runs per character. ASCII is sorted through one byte table; the rest through the high byte of its UTF-16
form, for a Unicode page of 256 characters almost always belongs to one script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["CLASSES", "class_counts", "weigher"]

_ASCII_CLASSES = ("lower", "upper", "digit", "space", "newline", "punctuation")

_PAGES: dict[str, tuple[tuple[int, int], ...]] = {
    "latin": ((0x00, 0x02), (0x1D, 0x1E), (0xA7, 0xA7)),
    "greek": ((0x03, 0x03), (0x1F, 0x1F)),
    "cyrillic": ((0x04, 0x04),),
    "hebrew": ((0x05, 0x05),),  # and Armenian, which shares the page
    "arabic": ((0x06, 0x08), (0xFB, 0xFD)),
    "indic": ((0x09, 0x0B),),
    "dravidian": ((0x0C, 0x0D),),
    "thai": ((0x0E, 0x0E),),
    "hangul": ((0x11, 0x11), (0xAC, 0xD7)),
    "kana": ((0x30, 0x31), (0xFF, 0xFF)),  # with CJK punctuation and full-width forms
    "han": ((0x2E, 0x2F), (0x32, 0x9F), (0xF9, 0xFA)),
    # dashes, quotes, arrows, boxes, private use, variation selectors
    "symbol": ((0x20, 0x2D), (0xE0, 0xF8), (0xFE, 0xFE)),
    "astral": ((0xD8, 0xDF),),  # surrogates: emoji and everything else beyond the basic plane
    "other": (),
}

CLASSES: tuple[str, ...] = (*_ASCII_CLASSES, *_PAGES)
"""The names of the classes; `class_counts` answers in this order. `latin` is Latin beyond ASCII."""

_ASCII = len(_ASCII_CLASSES)
_INDEX = {name: index for index, name in enumerate(CLASSES)}
_LATIN, _ASTRAL = _INDEX["latin"] - _ASCII, _INDEX["astral"] - _ASCII


def _ascii_class(code: int) -> int:
    char = chr(code)
    if char.isalpha():
        return 0 if char.islower() else 1
    if char.isdigit():
        return 2
    if char in "\n\r\v\f":
        return 4
    return 3 if char in " \t" else 5


def _page_table() -> bytes:
    table = bytearray([_INDEX["other"]]) * 256
    for name, ranges in _PAGES.items():
        for first, last in ranges:
            table[first : last + 1] = bytes([_INDEX[name]]) * (last + 1 - first)
    return bytes(table)


_ASCII_TABLE = bytes(_ascii_class(code) for code in range(128)) + bytes(128)
_PAGE_TABLE = _page_table()


def _wide_counts(text: str, plain: bytes) -> list[int]:
    """The counts of the classes beyond ASCII; `plain` is the ASCII part of `text`."""
    pages = text.encode("utf-16-be", "surrogatepass")[::2]
    classes = pages.translate(_PAGE_TABLE)
    counts = [classes.count(index) for index in range(_ASCII, len(CLASSES))]
    counts[_LATIN] -= len(plain)
    counts[_ASTRAL] -= len(pages) - len(text)
    return counts


def class_counts(text: str) -> tuple[int, ...]:
    """The number of characters of each class, in the order of `CLASSES`; their sum is `len(text)`.

    A character beyond the basic plane counts once; so does a lone surrogate, as `astral`.
    """
    plain = text.encode("ascii", "ignore")
    kinds = plain.translate(_ASCII_TABLE)
    narrow = [kinds.count(index) for index in range(_ASCII)]
    wide = [0] * len(_PAGES) if len(plain) == len(text) else _wide_counts(text, plain)
    return (*narrow, *wide)


def weigher(weights: Mapping[str, float]) -> Callable[[str], float]:
    """A function that sums weight times count over the classes of a text; classes without weight are not even counted.

    Args:
        weights: by class name; a class left out weighs nothing.

    Raises:
        KeyError: a name is not among `CLASSES`.
    """
    by_class = [0.0] * len(CLASSES)
    for name, weight in weights.items():
        by_class[_INDEX[name]] = weight
    narrow = [(index, weight) for index, weight in enumerate(by_class[:_ASCII]) if weight]
    wide = by_class[_ASCII:]

    def weigh(text: str) -> float:
        plain = text.encode("ascii", "ignore")
        total = 0.0
        if narrow:
            count = plain.translate(_ASCII_TABLE).count
            for index, weight in narrow:
                total += weight * count(index)
        if len(plain) != len(text):
            for weight, number in zip(wide, _wide_counts(text, plain), strict=True):
                total += weight * number
        return total

    return weigh
