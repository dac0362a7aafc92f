"""`freeze`: a JSON value that nobody can change, to the bottom; `thaw` makes it plain again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias, cast

from threadline.errors import SerializationError
from threadline.journal.canonical import MAX_DEPTH

__all__ = ["Frozen", "FrozenMap", "freeze", "thaw"]

Frozen: TypeAlias = "bool | int | float | str | tuple[Frozen, ...] | FrozenMap | None"


_LEAVES = frozenset({str, int, float, bool, type(None)})


class FrozenMap(dict[str, Any]):
    """A mapping that refuses every change; equal to any dict with the same items, hashable when its values are.

    It is a dict underneath, so that whatever writes JSON writes it.
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a frozen map cannot be changed; thaw() gives a copy that can")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]  # a dict has none
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"FrozenMap({super().__repr__()})"

    def __copy__(self) -> FrozenMap:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenMap:
        return self

    def __reduce__(self) -> tuple[type[FrozenMap], tuple[dict[str, Any]]]:
        return FrozenMap, (dict(self),)


def freeze(value: Any) -> Any:
    """A deeply immutable copy: mappings as `FrozenMap`, lists as tuples; what is frozen already stays itself.

    Raises:
        SerializationError: a value is not of JSON's types or too deep; `fields["path"]` says where.
    """
    return _freeze(value, "$", 0)


def thaw(value: Any) -> Any:
    """A plain copy, all its own: mappings as dicts, lists and tuples as lists."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in cast("list[Any]", value)]
    return value


def _freeze(value: Any, path: str, depth: int) -> Any:
    # Only `freeze` makes a FrozenMap of frozen values, but anybody can make one: what it holds is looked at again.
    if type(value) in _LEAVES:
        return value
    if depth == MAX_DEPTH:
        raise SerializationError(f"{path[:200]}: nested deeper than {MAX_DEPTH}", path=path)
    if isinstance(value, Mapping):
        return _freeze_map(cast("Mapping[Any, Any]", value), path, depth)
    if isinstance(value, list | tuple):
        held = cast("list[Any] | tuple[Any, ...]", value)
        items = tuple(_freeze(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(held))
        return held if type(held) is tuple and all(map(_is, items, held)) else items
    for plain in (str, int, float):  # their subclasses, enums among them, may carry state of their own
        if isinstance(value, plain):
            return plain(value)
    raise SerializationError(f"{path}: {type(value).__name__} is no JSON type", path=path)


def _freeze_map(value: Mapping[Any, Any], path: str, depth: int) -> FrozenMap:
    items: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise SerializationError(f"{path}: a key of type {type(key).__name__}", path=path)
        items[str(key)] = item if type(item) in _LEAVES else _freeze(item, f"{path}.{key}", depth + 1)
    if isinstance(value, FrozenMap) and all(map(_is, items.values(), value.values())):
        return value
    return FrozenMap(items)


def _is(left: object, right: object) -> bool:
    return left is right
