"""`tensorflow.python.data.util.nest`: structures of dataset elements, in which a list is a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.datasets import structure as _structure

from ...util import nest as _nest


def is_nested(structure: Any) -> bool:
    """Returns whether a value is a tuple or a mapping."""
    return _structure.is_nest(structure)


is_sequence = is_nested


def flatten(structure: Any) -> list[Any]:
    """Returns the leaves."""
    return list(_structure.leaves(structure))


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """Replaces the leaves of a structure in order."""
    flat = iter(list(flat_sequence))
    return _structure.map_leaves(lambda _: next(flat), structure)


def map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """Maps a function over the corresponding leaves of structures."""
    return _structure.map_leaves(func, *structure)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises if two structures differ."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r} and {nest2!r}")
    if len(flatten(nest1)) != len(flatten(nest2)):
        raise ValueError(f"The two structures don't have the same number of elements: {nest1!r} and {nest2!r}")
    if check_types and is_nested(nest1) and type(nest1) is not type(nest2):
        raise TypeError(f"The two structures don't have the same sequence type: {type(nest1)} and {type(nest2)}")
    map_structure(lambda *_: None, nest1, nest2)


flatten_up_to = _nest.flatten_up_to
map_structure_up_to = _nest.map_structure_up_to
