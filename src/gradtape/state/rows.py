"""Updates of rows by index, `rows[at[i]] = combine(rows[at[i]], values[i])`, as recorded ops on immutable tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import errors
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops

Combine = Callable[[Any, Any], Any]


def last(old: Any, new: Any) -> Any:
    """Combines by replacing: of several updates the last counts."""
    return new


def scattered(x: Tensor, indices: Tensor, updates: Any, combine: Combine) -> Tensor:
    """`x` with the entries or slices that the last axis of `indices` names combined with `updates`, in order."""
    if not indices.dtype.is_integer:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tindices' of {indices.dtype.kernel_name()} is not in the list of allowed values: int32, "
            "int64. Use tf.cast(indices, tf.int32)"
        )
    depth = indices.dims[-1]
    rows = as_rows(x, depth)
    values = to_tensor(updates, dtype=x.dtype)
    expected = (*indices.dims[:-1], *rows.dims[1:])
    if values.dims not in (expected, ()):
        raise errors.InvalidArgumentError(
            f"The shape of updates, {list(values.dims)}, must be that of the indices followed by that of a row: "
            f"{list(expected)}"
        )
    count = math.prod(indices.dims[:-1])
    values = ops.reshape(ops.broadcast_to(values, shape=expected), shape=(count, *rows.dims[1:]))
    at = ops.reshape(row_numbers(x.dims, indices), shape=(count,))
    return ops.reshape(combined(rows, at, values, combine), shape=x.dims)


def as_rows(x: Tensor, depth: int) -> Tensor:
    """`x` with its first `depth` axes made one."""
    return ops.reshape(x, shape=(math.prod(x.dims[:depth]), *x.dims[depth:]))


def row_numbers(dims: tuple[int, ...], indices: Tensor) -> Tensor:
    """The rows of `as_rows` that `indices` name by their last axis."""
    depth = indices.dims[-1]
    if depth > len(dims):
        raise errors.InvalidArgumentError(f"indices of {depth} numbers do not index into shape {list(dims)}")
    return ops.ravel_index(indices, dims=dims[:depth])


def combined(rows: Tensor, at: Tensor, values: Tensor, combine: Combine) -> Tensor:
    """`rows` with `rows[at[i]] = combine(rows[at[i]], values[i])` for every i in turn."""
    if combine in (operator.add, operator.sub):
        return combine(rows, ops.scatter_add(values, at, shape=rows.dims))
    if type(at) is not Tensor:
        by_one_op = {last: ops.put_rows, ops.maximum: ops.max_rows, ops.minimum: ops.min_rows}.get(combine)
        if by_one_op is not None:
            return by_one_op(rows, at, values)
    return _in_rounds(rows, at.array, values, combine)


def _in_rounds(rows: Tensor, at: np.ndarray[Any, Any], values: Tensor, combine: Combine) -> Tensor:
    """The same for row numbers that are known, with the right derivative where a row is named twice."""
    todo = np.arange(at.size)[:: -1 if combine is last else 1]
    while todo.size:  # a round for the first update of every row, another for the second of some, ...
        named, first = np.unique(at[todo], return_index=True)
        source = np.zeros(rows.dims[0], np.int64)
        source[named] = todo[first]
        hit = np.zeros((rows.dims[0], *(1,) * (len(rows.dims) - 1)), np.bool_)
        hit[named] = True
        updated = combine(rows, ops.gather_rows(values, to_tensor(source)))
        rows = ops.where(to_tensor(hit), updated, rows)
        todo = todo[:0] if combine is last else np.delete(todo, first)
    return rows
