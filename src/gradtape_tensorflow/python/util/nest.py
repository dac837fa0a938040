"""`tensorflow.python.util.nest`: structures, their paths, and traversal up to the leaves of another structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradtape.core import nest
from gradtape.core.nest import Composite, assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]

Path = tuple[Any, ...]


def is_nested_or_composite(seq: Any) -> bool:
    """Returns whether `seq` is nested or a composite tensor."""
    return is_nested(seq) or isinstance(seq, Composite)


is_sequence = is_nested


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Returns whether `instance` is a named tuple; with `strict`, of a class that derives from tuple only."""
    kind = type(instance)
    fields = getattr(kind, "_fields", None)
    named = isinstance(instance, tuple) and isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)
    return named and (not strict or kind.__bases__ == (tuple,))


_is_namedtuple = is_namedtuple


def same_namedtuples(nest1: Any, nest2: Any) -> bool:
    """Returns whether two named tuples have the same name and fields."""
    return type(nest1).__name__ == type(nest2).__name__ and nest1._fields == nest2._fields


def is_mapping(obj: Any) -> bool:
    """Returns whether `obj` is a mapping."""
    return isinstance(obj, Mapping)


def is_attrs(obj: Any) -> bool:
    """Returns whether the class of `obj` is defined with attrs."""
    return hasattr(type(obj), "__attrs_attrs__")


_is_mapping, _is_attrs = is_mapping, is_attrs


def _yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(iterable, Mapping):
        yield from ((key, iterable[key]) for key in nest.sorted_keys(iterable))
    elif is_namedtuple(iterable):
        yield from zip(iterable._fields, iterable, strict=True)
    elif is_attrs(iterable):
        yield from ((field.name, getattr(iterable, field.name)) for field in type(iterable).__attrs_attrs__)
    else:
        yield from enumerate(nest.parts(iterable))


def _yield_value(iterable: Any) -> Iterator[Any]:
    return (value for _, value in _yield_sorted_items(iterable))


def _sequence_like(instance: Any, args: Any) -> Any:
    """Creates a structure like `instance`, one level deep, with the parts `args`."""
    return nest.like(instance, list(args))


sequence_like = _sequence_like


def list_to_tuple(structure: Any) -> Any:
    """Replaces lists by tuples."""
    if not is_nested(structure):
        return structure
    parts = [list_to_tuple(part) for part in nest.parts(structure)]
    return tuple(parts) if isinstance(structure, list) else nest.like(structure, parts)


def _opens(expand_composites: bool) -> Callable[[Any], bool]:
    return is_nested_or_composite if expand_composites else is_nested


def _down_to(shallow: Any, tree: Any, opens: Callable[[Any], bool], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields the parts of `tree` where `shallow` has leaves, with their paths."""
    if not opens(shallow):
        yield path, tree
        return
    branches = dict(_yield_sorted_items(tree))
    for key, branch in _yield_sorted_items(shallow):
        yield from _down_to(branch, branches[key], opens, (*path, key))


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """Yields the paths of the leaves, in the order of `flatten`."""
    return (path for path, _ in _down_to(nest, nest, _opens(expand_composites)))


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    """Returns the leaves with their paths."""
    return list(_down_to(structure, structure, _opens(expand_composites)))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Returns the leaves with their paths as text."""
    pairs = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises TypeError or ValueError unless `input_tree` matches `shallow_tree` down to its leaves."""
    opens = _opens(expand_composites)
    if not opens(shallow_tree):
        return
    if not opens(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and not _same_kind(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    mine, its = list(_yield_sorted_items(shallow_tree)), list(_yield_sorted_items(input_tree))
    if len(mine) != len(its):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(its)}, while shallow structure has length {len(mine)}."
        )
    absent = {key for key, _ in mine} - {key for key, _ in its} if isinstance(shallow_tree, Mapping) else set()
    if absent:
        raise ValueError(f"The shallow_tree's keys are not a subset of the input_tree's keys. Absent: {sorted(absent)}")
    for (_, a), (_, b) in zip(mine, its, strict=True):
        assert_shallow_structure(a, b, check_types, expand_composites)


def _same_kind(shallow: Any, tree: Any) -> bool:
    if isinstance(tree, type(shallow)) or (isinstance(shallow, Composite) and isinstance(tree, Composite)):
        return True
    if is_namedtuple(shallow) and is_namedtuple(tree):
        return same_namedtuples(shallow, tree)
    return any(isinstance(shallow, kind) and isinstance(tree, kind) for kind in (list, Mapping))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """Returns the parts of `input_tree` where `shallow_tree` has leaves, with their paths."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_down_to(shallow_tree, input_tree, _opens(expand_composites)))


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """Returns the parts of `input_tree` where `shallow_tree` has leaves."""
    pairs = flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types, expand_composites)
    return [part for _, part in pairs]


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Maps `func(path, *parts)` over the parts of `inputs` where `shallow_tree` has leaves, in its structure."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    options = (kwargs.pop("check_types", True), kwargs.pop("expand_composites", False))
    columns = [flatten_with_tuple_paths_up_to(shallow_tree, tree, *options) for tree in inputs]
    results = [func(row[0][0], *(part for _, part in row), **kwargs) for row in zip(*columns, strict=True)]
    return pack_sequence_as(shallow_tree, results, options[1])


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Maps `func(*parts)` over the parts of all `inputs` where `shallow_tree` has leaves, in its structure."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts, **options: func(*parts, **options), *inputs, **kwargs
    )


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Maps `func(path, *leaves)` over the leaves of equal structures."""
    for other in structure[1:]:
        assert_same_structure(
            structure[0], other, kwargs.get("check_types", True), kwargs.get("expand_composites", False)
        )
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Maps `func(path, *leaves)` over the leaves of equal structures, with the path as text."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves, **options: func("/".join(map(str, path)), *leaves, **options), *structure, **kwargs
    )


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Returns a structure of bools that says how far to traverse `structure`, according to `traverse_fn`."""
    opens = _opens(expand_composites)
    allowed = traverse_fn(structure)
    if not opens(structure):
        if not isinstance(allowed, bool):
            raise TypeError(f"traverse_fn returned structure: {allowed} for non-structure: {structure}")
        return allowed
    branches = list(_yield_value(structure))
    if isinstance(allowed, bool):
        if not allowed:
            return False
        each = [True] * len(branches)
    elif not opens(allowed):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {allowed} for input: {structure}")
    else:
        assert_shallow_structure(allowed, structure, expand_composites=expand_composites)
        each = list(_yield_value(allowed))
        if not all(isinstance(one, bool) for one in each):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {allowed}  for structure: {structure}"
            )
    level = [
        get_traverse_shallow_structure(traverse_fn, branch, expand_composites) if go else False
        for go, branch in zip(each, branches, strict=True)
    ]
    return _sequence_like(structure, level)
