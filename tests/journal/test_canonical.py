"""Canonical JSON: RFC 8785, and what it refuses."""

from __future__ import annotations

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.errors import SerializationError
from threadline.journal.canonical import MAX_DEPTH, MAX_INTEGER, canonical_json, content_ref, parse_canonical

# RFC 8785, appendix B, but for -0, which we refuse, and for integers a Python int would not be read back as.
NUMBERS = {
    "0000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
TEXTS = st.text(st.characters(), max_size=6)  # surrogates and NUL among them
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0 or math.copysign(1, x) > 0)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("bits", NUMBERS)
def test_a_double_is_written_as_ecmascript_writes_it(bits):
    (value,) = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical_json(value).decode() == NUMBERS[bits]
    assert parse_canonical(canonical_json(value)) == value


def test_keys_stand_in_the_order_of_their_utf_16_units():
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]

    written = canonical_json(dict.fromkeys(keys))

    assert list(json.loads(written)) == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_only_what_must_be_escaped_is_escaped():
    assert canonical_json('\0\x08\t\n\x0c\r\x1f"\\/\x7f€') == b'"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\x7f\xe2\x82\xac"'


def test_a_lone_surrogate_stays_escaped_and_a_pair_is_its_character():
    assert canonical_json("\ud800") == b'"\\ud800"'
    assert parse_canonical(b'"\\ud800"') == "\ud800"
    assert canonical_json("\ud83d\ude00") == canonical_json("\U0001f600")


@given(VALUES)
def test_what_is_written_is_read_again_and_written_the_same(value):
    written = canonical_json(value)

    assert canonical_json(parse_canonical(written)) == written


@given(st.dictionaries(TEXTS, st.integers(0, 9), max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(value, random):
    items = list(value.items())
    random.shuffle(items)

    assert canonical_json(dict(items)) == canonical_json(value)


NESTED = None
for _ in range(MAX_DEPTH + 1):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (float("nan"), "$"),
        ([float("inf")], "$[0]"),
        ({"a": {"b": [0, -0.0]}}, "$.a.b[1]"),
        ({"a": 2**53}, "$.a"),
        ([-(2**53)], "$[0]"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": b"bytes"}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        ({"\ud83d\ude00": 1, "\U0001f600": 2}, "$"),
        (NESTED, "$" + "[0]" * 20),
    ],
)
def test_a_value_without_a_canonical_form_is_refused_by_its_path(value, path):
    with pytest.raises(SerializationError) as caught:
        canonical_json(value)

    assert caught.value.fields["path"] == path


@pytest.mark.parametrize(
    "data",
    [
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b"1.0",
        b"1e2",
        b"-0",
        b'"\\u0041"',
        b'"\\ud83d\\ude00"',
        b"NaN",
        b"1e999",
        b"9" * 5000,
        b"9007199254740993",
        b"\xff",
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf1",
        b"",
        b"1 2",
        b"[" * 100_000,
        b"[" * 300 + b"]" * 300,
    ],
)
def test_any_other_spelling_is_no_canonical_json(data):
    with pytest.raises(SerializationError):
        parse_canonical(data)


def test_an_error_quotes_no_value():
    with pytest.raises(SerializationError) as caught:
        canonical_json({"key": {"secret": object()}})

    assert str(caught.value) == "$.key.secret: object is no JSON type"


def test_a_content_is_named_by_the_hash_of_its_bytes():
    assert content_ref(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
