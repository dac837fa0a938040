"""`tensorflow.python.data.util.nest`: nests of dataset elements, in which a list is a leaf."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradtape.core import nest
from gradtape.data.elements.structure import is_nest, leaves, map_leaves, pack_leaves

from ...util.nest import flatten_up_to, map_structure_up_to  # noqa: F401

is_nested = is_nest


def flatten(structure: Any) -> list[Any]:
    """Returns the leaves of a nest."""
    return leaves(structure)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Packs leaves into a nest."""
    if not isinstance(flat_sequence, tuple | list):
        raise TypeError(f"Argument `flat_sequence` must be a sequence, got {flat_sequence!r}")
    if len(leaves(structure)) != len(flat_sequence):
        raise ValueError(
            f"The nest has {len(leaves(structure))} leaves, but {len(flat_sequence)} values were given: {structure!r} "
            f"and {flat_sequence!r}"
        )
    return pack_leaves(structure, iter(flat_sequence))


def map_structure(func: Callable[..., Any], *structure: Any, check_types: bool = True) -> Any:
    """Applies a function to the corresponding leaves of nests of the same structure."""
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got {func!r}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return map_leaves(func, *structure)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises `ValueError` if the structures of two nests differ, `TypeError` if only the types of parts do."""
    if is_nest(nest1) != is_nest(nest2) or (is_nest(nest1) and len(nest.parts(nest1)) != len(nest.parts(nest2))):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r} and {nest2!r}")
    if not is_nest(nest1):
        return
    kinds = type(nest1), type(nest2)
    if check_types and kinds[0] is not kinds[1] and not (isinstance(nest1, Mapping) and isinstance(nest2, Mapping)):
        raise TypeError(f"The two structures have different types: {nest1!r} ({kinds[0]}) and {nest2!r} ({kinds[1]})")
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {list(nest1)} and {list(nest2)}")
    for part, other in zip(nest.parts(nest1), nest.parts(nest2), strict=True):
        assert_same_structure(part, other, check_types)
