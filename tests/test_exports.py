"""`__all__` of every public module is what the module really offers."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import threadline

SOURCE = Path(threadline.__file__).parent


def name_of(path):
    steps = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(steps[:-1] if steps[-1] == "__init__" else steps)


PUBLIC = [path for path in sorted(SOURCE.rglob("*.py")) if not re.search(r"(^|\.)_", name_of(path))]
MODULES = [name_of(path) for path in PUBLIC]


@pytest.mark.parametrize("name", MODULES)
def test_every_listed_name_exists_and_is_listed_once(name):
    module = import_module(name)

    assert [entry for entry in module.__all__ if not hasattr(module, entry)] == []
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_and_class_is_listed(name):
    module = import_module(name)

    defined = {
        key
        for key, value in vars(module).items()
        if (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == name
        and not key.startswith("_")
    }

    listed = [getattr(module, key) for key in module.__all__]
    suites = [check.__name__ for value in listed if isinstance(value, tuple) for check in value if callable(check)]
    assert defined - set(module.__all__) - set(suites) == set()


@pytest.mark.parametrize("name", threadline.__all__)
def test_a_root_name_is_the_object_its_room_exports(name):
    room = threadline._ROOM_OF[name]

    assert getattr(threadline, name) is getattr(import_module(room), name)
    assert name in import_module(room).__all__


def test_type_checkers_and_the_interpreter_see_the_same_root_names():
    tree = ast.parse(Path(threadline.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")

    seen = {
        alias.name: node.module for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }

    assert seen == threadline._ROOM_OF
    assert sorted(seen) == sorted(threadline.__all__)


def test_dir_of_the_root_shows_names_that_are_not_loaded_yet():
    assert set(threadline.__all__) <= set(dir(threadline))


def test_an_unknown_root_name_is_an_attribute_error_that_says_which():
    with pytest.raises(AttributeError, match="'nonsense'") as caught:
        _ = threadline.nonsense

    assert caught.value.name == "nonsense"
