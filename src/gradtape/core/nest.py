"""Nested structures: lists, tuples, named tuples, dicts (in sorted key order) and the other types of `tf.nest`.

A class takes part if it defines `__tf_flatten__`, which returns (metadata, parts), and
`__tf_unflatten__(metadata, parts)`, or if it is an attrs class. A *composite*, such as IndexedSlices, is a leaf unless
the caller passes `expand_composites=True`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence, ValuesView
from functools import cache
from typing import Any, TypeGuard

from .tensor import Tensor

_PLAIN = (list, tuple)  # the types of most structures; tests on abstract classes are slow


class Composite:
    """A value that consists of several tensors, `_parts()`, or its spec; `_with_parts` rebuilds it from other parts."""

    __slots__ = ()
    _is_whole = False  # whether it is a leaf nevertheless, as the spec of a single tensor is

    def _parts(self) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} must say what it is made of")

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        return type(self)(*parts)


def is_composite(x: object) -> bool:
    """Whether `x` is a leaf that `expand_composites=True` flattens."""
    return isinstance(x, Composite) and not x._is_whole


def is_nested(seq: object) -> bool:
    """Whether `seq` is a nested structure rather than a leaf.

    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("text")
    (True, False)
    """
    return _has_parts(type(seq))  # type: ignore[arg-type]


@cache
def _has_parts(kind: type) -> bool:
    """Whether values of this type are nested; cached per type, because `issubclass` on abstract classes is slow."""
    if issubclass(kind, str | bytes | Tensor):
        return False
    return issubclass(kind, Sequence | Mapping | MappingView) or is_nest_class(kind)


def is_nest_class(kind: type) -> bool:
    """Whether a user's class takes part in nests, by its methods or as a class of attrs."""
    return hasattr(kind, "__tf_flatten__") or hasattr(kind, "__attrs_attrs__")


def is_values_view(structure: object) -> bool:
    """Whether `structure` is `dict.values()`."""
    return isinstance(structure, ValuesView)


def parts(structure: Any) -> list[Any]:
    """Returns the immediate children of a structure or a composite."""
    if type(structure) in _PLAIN:
        return list(structure)
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted_keys(structure)]
    if isinstance(structure, Composite):
        return structure._parts()
    if hasattr(type(structure), "__tf_flatten__"):
        return list(structure.__tf_flatten__()[1])
    if hasattr(type(structure), "__attrs_attrs__"):
        return [getattr(structure, field.name) for field in type(structure).__attrs_attrs__]
    return list(structure)


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """Returns the keys in the order in which the values are flattened."""
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, got {list(mapping)!r}") from None


def _opens(structure: object, expand_composites: bool) -> bool:
    return is_nested(structure) or (expand_composites and is_composite(structure))


def _is_flat(structure: object) -> TypeGuard[list[Any]]:
    """Whether `structure` is a flat list of leaves, by far the most frequent case."""
    if type(structure) is not list:
        return False
    for part in structure:
        kind: Any = type(part)
        if _has_parts(kind):
            return False
    return True


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """Returns the leaves of `structure`, in order; a single leaf gives a list of one.

    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    if not expand_composites and _is_flat(structure):
        return list(structure)
    if not _opens(structure, expand_composites):
        return [structure]
    found: list[Any] = []
    for part in parts(structure):
        if _opens(part, expand_composites):
            found.extend(flatten(part, expand_composites))
        else:
            found.append(part)
    return found


def pack_sequence_as(structure: object, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Packs the leaves `flat_sequence` into the structure of `structure`.

    >>> tf.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    if type(flat_sequence) is list and _is_flat(structure) and len(structure) == len(flat_sequence):
        return list(flat_sequence)
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead. Give a list"
        )
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        if not is_nested(structure):
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure!r}\nHowever the input is a "
                f"sequence ({type(flat_sequence)}) of length {len(flat_sequence)}.\n  {flat_sequence!r}\nnest cannot "
                "guarantee that it is safe to map one to the other."
            )
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(flat_sequence)} items. "
            f"Structure: {structure!r}, flat_sequence: {flat_sequence!r}."
        )
    return _pack(structure, iter(flat_sequence), expand_composites)


def _pack(structure: object, leaves: Iterator[Any], expand: bool) -> Any:
    if not _opens(structure, expand):
        return next(leaves)
    return like(structure, [_pack(part, leaves, expand) for part in parts(structure)])


def like(structure: Any, its_parts: list[Any]) -> Any:
    """Rebuilds a structure of the same type from new immediate children, in the order of `parts`."""
    kind: Any = type(structure)
    if isinstance(structure, Mapping):
        packed = dict(zip(sorted_keys(structure), its_parts, strict=True))
        ordered = {key: packed[key] for key in structure}
        return defaultdict(structure.default_factory, ordered) if isinstance(structure, defaultdict) else kind(ordered)
    if hasattr(kind, "__tf_unflatten__"):  # a class method, or a method
        return structure.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(its_parts))
    if issubclass(kind, Composite):
        return structure._with_parts(its_parts)
    if hasattr(structure, "_fields") or hasattr(kind, "__attrs_attrs__"):
        return kind(*its_parts)
    return its_parts if isinstance(structure, MappingView | range) else kind(its_parts)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to the corresponding leaves of one or more structures; returns the same structure.

    >>> tf.nest.map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: {list(kwargs)}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    columns = zip(*(flatten(s, expand) for s in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in columns], expand)


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises `ValueError` if the nesting differs, `TypeError` if the sequence types differ.

    >>> tf.nest.assert_same_structure([1, (2,)], [3, (4,)])
    """
    check_types, expand_composites = bool(check_types), bool(expand_composites)
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        raise type(error)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {_described(nest1)}\n\n"
            f"Second structure: {_described(nest2)}\n\nMore specifically: {error}\nEntire first structure:\n"
            f"{_outline(nest1)}\nEntire second structure:\n{_outline(nest2)}"
        ) from None


def _described(structure: object) -> str:
    return f"type={type(structure).__name__} str={structure}"


class _Leaf:
    def __repr__(self) -> str:
        return "."


def _outline(structure: object) -> str:
    """Formats the structure with a dot for each leaf."""
    return str(map_structure(lambda _: _Leaf(), structure))


def _assert_same(a: object, b: object, check_types: bool, expand: bool) -> None:
    opens = _opens(a, expand)
    if opens != _opens(b, expand):
        sequence, other = (a, b) if opens else (b, a)
        raise ValueError(
            f'Substructure "{_described(sequence)}" is a sequence, while substructure "{_described(other)}" is not'
        )
    if not opens:
        return
    plain = type(a) in _PLAIN
    if not plain and isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{list(a)}, while second structure has keys {list(b)}"
            )
    elif check_types and not _same_type(a, b):
        raise TypeError(
            f"The two structures don't have the same sequence type: {type(a).__name__} and {type(b).__name__}"
        )
    if not plain:
        _check_specs(a, b)
    mine, its = parts(a), parts(b)
    for x, y in zip(mine, its, strict=False):
        _assert_same(x, y, check_types, expand)
    if len(mine) != len(its):
        raise ValueError(f"The two structures don't have the same number of elements: {len(mine)} and {len(its)}")


def _check_specs(a: object, b: object) -> None:
    """Raises TypeError unless the specs of two composites have a common supertype."""
    mine, its = (getattr(x, "_type_spec", x) if isinstance(x, Composite) else None for x in (a, b))
    common = getattr(mine, "most_specific_common_supertype", None)
    if common is not None and mine != its and common([its]) is None:
        raise TypeError(f"Incompatible CompositeTensor TypeSpecs: {mine} vs. {its}")


def _same_type(a: object, b: object) -> bool:
    if isinstance(a, Composite) and isinstance(b, Composite):  # a spec matches the values that it describes
        return getattr(a, "value_type", type(a)) is getattr(b, "value_type", type(b))
    if type(a) is type(b) or (isinstance(a, list) and isinstance(b, list)):
        return True
    fields = getattr(a, "_fields", None)  # equal named tuple types may be created twice
    return fields is not None and fields == getattr(b, "_fields", None) and type(a).__name__ == type(b).__name__
