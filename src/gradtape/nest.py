"""Nested structures: lists, tuples, named tuples, dicts and what else TensorFlow looks into; dicts go by sorted key."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, ValuesView
from typing import Any


def is_nested(structure: Any) -> bool:
    """Whether `structure` has parts.

    >>> import gradtape as tf
    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("text")
    (True, False)
    """
    return isinstance(structure, list | tuple | Mapping | ValuesView) and not _is_shape(structure)


def is_values_view(structure: Any) -> bool:
    """Whether `structure` is `dict.values()`."""
    return isinstance(structure, ValuesView)


def _is_shape(structure: Any) -> bool:
    return type(structure).__name__ in ("TensorShape", "_UnknownRank")


def _children(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, got {list(mapping)!r}") from None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`, in order; a leaf by itself gives a list of one.

    >>> import gradtape as tf
    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    if not is_nested(structure):
        return [structure]
    found: list[Any] = []
    for child in _children(structure):
        if is_nested(child):
            found.extend(flatten(child))
        else:
            found.append(child)
    return found


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The leaves `flat_sequence` in the shape of `structure`.

    >>> import gradtape as tf
    >>> tf.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    if not isinstance(flat_sequence, list | tuple):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence!r}\ninto a structure, but found incompatible type "
                        f"`{type(flat_sequence)}` instead of a list.")
    count = len(flatten(structure))
    if count != len(flat_sequence):
        if not is_nested(structure):
            raise ValueError(f"The target structure is of type `{type(structure)}`\n  {structure!r}\nHowever the input "
                             f"is a sequence ({type(flat_sequence)}) of length {len(flat_sequence)}.")
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(flat_sequence)} items. "
            f"Structure: {structure!r}, flat_sequence: {flat_sequence!r}."
        )
    return _pack(structure, iter(flat_sequence))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        packed = {key: _pack(structure[key], leaves) for key in _keys(structure)}
        ordered = {key: packed[key] for key in structure}
        if isinstance(structure, defaultdict):
            return defaultdict(structure.default_factory, ordered)
        if type(structure) is dict or isinstance(structure, OrderedDict):
            return type(structure)(ordered)
        try:
            return type(structure)(ordered)  # type: ignore[call-arg]
        except TypeError:
            return ordered
    parts = [_pack(child, leaves) for child in structure]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if isinstance(structure, ValuesView):
        return parts
    return type(structure)(parts)  # type: ignore[call-arg]


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` on the corresponding leaves of one or more structures, in the same structure.

    >>> import gradtape as tf
    >>> tf.nest.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    kwargs.pop("expand_composites", None)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: {list(kwargs)}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    columns = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in columns])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises `ValueError` for another arrangement, `TypeError` for other sequence types.

    >>> import gradtape as tf
    >>> tf.nest.assert_same_structure([1, (2,)], [3, (4,)])
    """
    try:
        _assert_same(nest1, nest2, check_types)
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1!r}\n\nSecond "
            f"structure: {nest2!r}\n\nMore specifically: {error}"
        ) from None


def _assert_same(a: Any, b: Any, check_types: bool) -> None:
    if is_nested(a) != is_nested(b):
        raise ValueError(f"one is a sequence and the other is not: {a!r} and {b!r}")
    if not is_nested(a):
        return
    both_maps = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types and type(a) is not type(b) and not both_maps:
        same_names = getattr(a, "_fields", None) == getattr(b, "_fields", ()) and type(a).__name__ == type(b).__name__
        if not same_names:
            raise TypeError(f"the types differ: {type(a).__name__} and {type(b).__name__}")
    if both_maps and set(a) != set(b):
        raise ValueError(f"the keys differ: {list(a)} and {list(b)}")
    if len(a) != len(b):
        raise ValueError(f"the numbers of elements differ: {len(a)} and {len(b)}")
    for x, y in zip(_children(a), _children(b), strict=True):
        _assert_same(x, y, check_types)
