"""Frozen values: immutable to the bottom, equal by value, at home wherever a dict is."""

from __future__ import annotations

import copy
import json
import pickle

import msgspec
import pytest
from hypothesis import given

from threadline.errors import SerializationError
from threadline.journal import FrozenMap, canonical_json, freeze, thaw

from .test_canonical import VALUES

CHANGES = {
    "set": lambda one: one.__setitem__("a", 1),
    "del": lambda one: one.__delitem__("a"),
    "clear": lambda one: one.clear(),
    "pop": lambda one: one.pop("a"),
    "popitem": lambda one: one.popitem(),
    "setdefault": lambda one: one.setdefault("z", 1),
    "update": lambda one: one.update(a=2),
    "or": lambda one: one.__ior__({"a": 2}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_frozen_map_refuses_every_change_at_every_depth(change):
    value = freeze({"a": {"a": [{"a": 1}]}})

    for one in (value, value["a"], value["a"]["a"][0]):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(one)
    with pytest.raises(TypeError):
        value["a"]["a"][0] = 2
    assert value == {"a": {"a": ({"a": 1},)}}


def test_what_was_frozen_does_not_follow_its_source():
    source = {"a": [1, {"b": 2}]}
    value = freeze(source)

    source["a"][1]["b"] = 3

    assert value["a"][1]["b"] == 2


@given(VALUES)
def test_freezing_and_thawing_change_no_value(value):
    frozen = freeze(value)

    assert canonical_json(frozen) == canonical_json(value)
    assert thaw(frozen) == value
    assert freeze(frozen) == frozen


def test_what_is_frozen_stays_the_very_same_object():
    value = freeze({"a": [1, {"b": ()}]})

    assert freeze(value) is value
    assert copy.deepcopy(value) is value
    assert copy.copy(value) is value


def test_a_map_that_was_not_frozen_to_the_bottom_is_not_taken_for_one():
    value = freeze(FrozenMap(a=[1]))

    assert value["a"] == (1,)


def test_a_frozen_map_is_equal_and_hashed_by_value():
    assert freeze({"a": [1], "b": 2}) == freeze({"b": 2, "a": [1]})
    assert hash(freeze({"a": [1], "b": 2})) == hash(freeze({"b": 2, "a": [1]}))
    assert freeze({"a": 1}) != freeze({"a": 2})


def test_every_writer_of_json_writes_a_frozen_map():
    value = freeze({"a": [1, {"b": None}]})

    assert msgspec.json.encode(value) == b'{"a":[1,{"b":null}]}'
    assert json.loads(json.dumps(value)) == {"a": [1, {"b": None}]}
    assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "path"),
    [({"a": {1, 2}}, "$.a"), ([b""], "$[0]"), ({1: 2}, "$"), ({"a": [object()]}, "$.a[0]")],
)
def test_what_is_no_json_is_refused_by_its_path(value, path):
    with pytest.raises(SerializationError) as caught:
        freeze(value)

    assert caught.value.fields["path"] == path


def test_a_value_that_holds_itself_is_refused():
    value = []
    value.append(value)

    with pytest.raises(SerializationError, match="nested deeper"):
        freeze(value)
