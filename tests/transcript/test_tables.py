"""A list of uniform objects as a table says the same, is shorter, and can be turned back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from threadline import fit, restore
from threadline.messages import Decisions
from threadline.transcript import FitPolicy
from threadline.transcript.cuts import splice
from threadline.transcript.tables import table_cuts

FLIGHTS = [
    {"number": f"HAT{n:03}", "date": "2024-05-16", "prices": {"basic": 60 + n, "economy": 120 + n}, "seats": [n, 2]}
    for n in range(6)
]


def shown(value: object, **spelling) -> str:
    text = json.dumps(value, **spelling)
    return splice(text, table_cuts(text))


def expanded(value):
    """The value that a table stands for, wherever there is one."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"columns", "rows"}:
        return [row_of(row, value["columns"]) for row in value["rows"]]
    if set(value) == {"columns", "groups"}:
        return [[row_of(row, value["columns"]) for row in rows] for rows in value["groups"]]
    return {key: expanded(item) for key, item in value.items()}


def row_of(row, columns):
    out = {}
    for name, cell in zip(columns, row, strict=True):
        *path, last = name.split(".")
        inner = out
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = expanded(cell)
    return out


def test_keys_are_named_once_and_inner_keys_become_columns():
    table = json.loads(shown(FLIGHTS))
    assert table["columns"] == ["number", "date", "prices.basic", "prices.economy", "seats"]
    assert table["rows"][1] == ["HAT001", "2024-05-16", 61, 121, [1, 2]]


def test_a_list_of_connections_keeps_its_nesting():
    table = json.loads(shown([FLIGHTS[:2], FLIGHTS[2:4]]))
    assert [len(rows) for rows in table["groups"]] == [2, 2]
    assert expanded(table) == [FLIGHTS[:2], FLIGHTS[2:4]]


def test_a_table_inside_an_object_leaves_the_rest_as_it_is():
    text = shown({"ok": True, "flights": FLIGHTS})
    assert text.startswith('{"ok": true, "flights": {"columns":')
    assert expanded(json.loads(text)) == {"ok": True, "flights": FLIGHTS}


def test_the_spelling_of_values_is_kept():
    text = '[{"n": 1.50, "s": "\\u00e9", "key name": 1}, {"n": 2e3, "s": "\\/", "key name": 2}]'
    assert shown_text(text) == '{"columns":["n","s","key name"],"rows":[[1.50,"\\u00e9",1],[2e3,"\\/",2]]}'


def shown_text(text: str) -> str:
    return splice(text, table_cuts(text))


def test_what_is_not_uniform_stays():
    for text in (
        json.dumps([FLIGHTS[0]]),
        json.dumps([{"a": 1}, {"b": 1}]),
        json.dumps([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
        '[{"a": 1, "a": 2}, {"a": 1, "a": 2}]',
        "[{}, {}]",
        "no JSON: [1",
        '[{"key": 1}, {"key": 2}',
    ):
        assert shown_text(text) == text


def test_a_key_with_a_dot_is_never_taken_for_a_path():
    rows = [{"a": {"b.c": "x" * 20}, "other": 1}] * 3
    assert json.loads(shown(rows))["columns"] == ["a", "other"]
    assert shown([{"a.b": 1}] * 9) == json.dumps([{"a.b": 1}] * 9)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "x.y"]), inner, max_size=2),
    max_leaves=5,
)


@st.composite
def rows(draw):
    names = draw(st.lists(st.sampled_from(["id", "city name", "ä", "total", "x", "x.y"]), min_size=1, unique=True))
    return [{name: draw(VALUES) for name in names} for _ in range(draw(st.integers(1, 5)))]


@given(rows(), st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}]))
def test_a_table_is_json_that_says_the_same_and_is_never_longer(items, spelling):
    text = json.dumps(items, **spelling)
    out = shown(items, **spelling)
    assert len(out) <= len(text)
    assert expanded(json.loads(out)) == items


def test_fit_with_tables_restores_the_very_messages():
    messages = [
        {"role": "user", "content": "which flights?"},
        {"role": "assistant", "content": None, "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps(FLIGHTS)},
    ]
    result = fit(messages, max_input_tokens=10_000, policy=FitPolicy(tables=True))
    assert result.tokens_after < 0.8 * result.tokens_before
    assert json.loads(result.messages[2]["content"])["columns"]
    stored = Decisions.from_builtins(json.loads(json.dumps(result.elisions.to_builtins())))
    assert restore(json.loads(json.dumps(result.messages)), stored) == messages


def call(id: str) -> dict:
    return {"id": id, "type": "function", "function": {"name": "search", "arguments": "{}"}}
