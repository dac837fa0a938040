"""`tf.sets`: set operations on rows along the last axis. Results are sorted sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import ValueLike
from ..engine.run.convert import to_array, to_tensor
from ..sparse.tensor import SparseTensor

NAMESPACES = ("sets",)
__all__ = ["difference", "intersection", "size", "union"]

_KINDS = [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string]
_Row = tuple[int, ...]


def difference(a: ValueLike, b: ValueLike, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Returns the values in a row of `a` that are not in that of `b`, or vice versa.

    >>> found = tf.sets.difference(tf.constant([[1, 2, 3]]), tf.constant([[2, 5, 6]]))
    >>> tf.sparse.to_dense(found).numpy().tolist()
    [[1, 3]]
    """
    return _combine_sets(a, b, (lambda x, y: x - y) if aminusb else (lambda x, y: y - x), validate_indices)


def intersection(a: ValueLike, b: ValueLike, validate_indices: bool = True) -> SparseTensor:
    """Returns the values in both rows.

    >>> found = tf.sets.intersection(tf.constant([[1, 2, 3]]), tf.constant([[3, 2, 6]]))
    >>> tf.sparse.to_dense(found).numpy().tolist()
    [[2, 3]]
    """
    return _combine_sets(a, b, lambda x, y: x & y, validate_indices)


def union(a: ValueLike, b: ValueLike, validate_indices: bool = True) -> SparseTensor:
    """Returns the values in either row.

    >>> found = tf.sets.union(tf.constant([[1, 2, 3]]), tf.constant([[3, 2, 6]]))
    >>> tf.sparse.to_dense(found).numpy().tolist()
    [[1, 2, 3, 6]]
    """
    return _combine_sets(a, b, lambda x, y: x | y, validate_indices)


def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """Returns the number of distinct values in each row of a sparse tensor.

    >>> rows = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [5, 5, 6], [2, 2])
    >>> tf.sets.size(rows).numpy().tolist()
    [1, 1]
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    _check_dtype(a)
    counts = np.zeros(a.dims[:-1], np.int32)
    for row, values in _sets(a, validate_indices).items():
        counts[row] = len(values)
    return to_tensor(counts)


def _check_dtype(a: Any) -> None:
    if a.dtype not in _KINDS:
        raise TypeError(f"Unsupported dtype of a set: {a.dtype}. Use one of {', '.join(kind.name for kind in _KINDS)}")


def _combine_sets(a: Any, b: Any, combine: Callable[[set[Any], set[Any]], set[Any]], validated: bool) -> SparseTensor:
    first, second = (x if isinstance(x, SparseTensor) else to_tensor(x) for x in (a, b))
    _check_dtype(first)
    if first.dtype is not second.dtype:
        raise TypeError(f"Types don't match, {first.dtype!r} vs {second.dtype!r}.")
    if len(first.dims) != len(second.dims) or first.dims[:-1] != second.dims[:-1]:
        raise errors.InvalidArgumentError(
            f"Mismatched group shapes {list(first.dims[:-1])} vs {list(second.dims[:-1])}: all axes but the last must "
            "be the same"
        )
    if len(first.dims) < 2:
        raise errors.InvalidArgumentError(f"Invalid input rank {len(first.dims)}: rows of sets have rank 2 or more")
    mine, its = _sets(first, validated), _sets(second, validated)
    rows = sorted({*mine, *its})
    found = {row: sorted(combine(mine.get(row, set()), its.get(row, set()))) for row in rows}
    return _as_sparse(found, first)


def _sets(x: Any, validated: bool) -> dict[_Row, set[Any]]:
    """Returns the values of each nonempty row."""
    found: dict[_Row, set[Any]] = {}
    if not isinstance(x, SparseTensor):
        array = to_array(x)
        for row in np.ndindex(*array.shape[:-1]):
            found[row] = set(array[row].tolist())
        return found
    places = [tuple(place) for place in to_array(x.indices).tolist()]
    if not all(0 <= at < size for place in places for at, size in zip(place, x.dims, strict=True)):
        raise errors.InvalidArgumentError(f"Index out of range: {places} of shape {list(x.dims)} [Op:Set]")
    if validated and places != sorted(places):
        raise errors.InvalidArgumentError("indices are out of order: use tf.sparse.reorder, or validate_indices=False")
    for place, value in zip(places, to_array(x.values).tolist(), strict=True):
        found.setdefault(place[:-1], set()).add(value)
    return found


def _as_sparse(sets: dict[_Row, list[Any]], like: Any) -> SparseTensor:
    entries = [(*row, i, value) for row, values in sets.items() for i, value in enumerate(values)]
    rank = len(like.dims)
    indices = np.array([entry[:-1] for entry in entries], np.int64).reshape(-1, rank)
    values = [entry[-1] for entry in entries]
    widest = int(indices[:, -1].max()) + 1 if len(entries) else 0
    array = np.array(values, object if like.dtype is dtypes.string else like.dtype.numpy)
    return SparseTensor(indices, to_tensor(array, like.dtype), [*like.dims[:-1], widest])
