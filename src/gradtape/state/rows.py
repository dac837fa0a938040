"""Row updates by index, `rows[at[i]] = combine(rows[at[i]], values[i])`, as recorded ops on immutable tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..backends.arrays import HALF
from ..core import dtypes, errors
from ..core.dtypes import DType
from ..core.tensor import Tensor
from ..engine.registry.devices import DeviceTensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops

Combine = Callable[[Any, Any], Any]
Rows = np.ndarray[Any, Any]
Value = TypeVar("Value")
ARITHMETIC = dtypes.INT | dtypes.FLOAT | dtypes.COMPLEX
_UFUNCS: dict[Combine, tuple[np.ufunc, int]] = {  # with the dtype kinds for which NumPy's result is identical
    operator.add: (np.add, ARITHMETIC),
    operator.sub: (np.subtract, ARITHMETIC),
    operator.mul: (np.multiply, ARITHMETIC),
    operator.truediv: (np.divide, dtypes.FLOAT | dtypes.COMPLEX),
    ops.truncatediv: (np.floor_divide, 0),  # which rounds toward negative infinity
    ops.maximum: (np.maximum, dtypes.INT | dtypes.FLOAT),
    ops.minimum: (np.minimum, dtypes.INT | dtypes.FLOAT),
}


def last(old: Value, new: Value) -> Value:
    """Combine by replacement: the last update of a row wins."""
    return new


def named_rows(
    dims: tuple[int, ...], dtype: DType, indices: Tensor, updates: object, has_axis: bool = True
) -> tuple[Tensor, Tensor]:
    """Returns the row numbers, in `as_rows`, that the last axis of `indices` selects, and the update of each.

    Without `has_axis`, the indices are row numbers themselves.
    """
    if not indices.dtype.is_integer:
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tindices' of {indices.dtype.kernel_name()} is not in the list of allowed values: int32, "
            "int64. Use tf.cast(indices, tf.int32)"
        )
    row = dims[indices.dims[-1] if has_axis else 1 :]
    values = to_tensor(updates, dtype=dtype)
    expected = (*(indices.dims[:-1] if has_axis else indices.dims), *row)
    if values.dims not in (expected, ()):
        raise errors.InvalidArgumentError(
            f"The shape of updates, {list(values.dims)}, must be that of the indices followed by that of a row: "
            f"{list(expected)}"
        )
    if has_axis:
        at = row_numbers(dims, indices)
    elif type(indices) is DeviceTensor and indices.dtype in (dtypes.int32, dtypes.int64):
        at = indices  # kernels on a device handle those out of range, and do not raise for them
    else:
        at = row_numbers(dims, ops.reshape(indices, shape=(*indices.dims, 1)))
    if values.dims != expected:
        values = ops.broadcast_to(values, shape=expected)
    if len(at.dims) != 1:
        count = math.prod(at.dims)
        at, values = ops.reshape(at, shape=(count,)), ops.reshape(values, shape=(count, *row))
    return at, values


def scattered(x: Tensor, depth: int, at: Tensor, values: Tensor, combine: Combine) -> Tensor:
    """Returns `x` with the rows `at` of `as_rows(x, depth)` combined with `values`, in order."""
    return ops.reshape(combined(as_rows(x, depth), at, values, combine), shape=x.dims)


def as_rows(x: Tensor, depth: int) -> Tensor:
    """Merge the first `depth` axes of `x` into one."""
    return ops.reshape(x, shape=(math.prod(x.dims[:depth]), *x.dims[depth:]))


def row_numbers(dims: tuple[int, ...], indices: Tensor) -> Tensor:
    """The row numbers in `as_rows` that the last axis of `indices` selects."""
    depth = indices.dims[-1]
    if depth > len(dims):
        raise errors.InvalidArgumentError(f"indices of {depth} numbers do not index into shape {list(dims)}")
    return ops.ravel_index(indices, dims=dims[:depth])


def combined(rows: Tensor, at: Tensor, values: Tensor, combine: Combine) -> Tensor:
    """Returns `rows` after `rows[at[i]] = combine(rows[at[i]], values[i])` for every i in order."""
    if combine in (operator.add, operator.sub):
        return combine(rows, ops.scatter_add(values, at, shape=rows.dims))
    if type(at) is not Tensor:
        by_one_op = {last: ops.put_rows, ops.maximum: ops.max_rows, ops.minimum: ops.min_rows}.get(combine)
        if by_one_op is not None:
            return by_one_op(rows, at, values)
    return _in_rounds(rows, at.array, values, combine)


def _in_rounds(rows: Tensor, at: Rows, values: Tensor, combine: Combine) -> Tensor:
    """Do the same for known row numbers, with the correct derivative for repeated rows."""
    inside = (at >= 0) & (at < rows.dims[0])  # others, which are possible on a device, are ignored as by its kernels
    todo = np.flatnonzero(inside)[:: -1 if combine is last else 1]
    while todo.size:  # one round for the first update of every row, the next for the second updates, ...
        named, first = np.unique(at[todo], return_index=True)
        source = np.zeros(rows.dims[0], np.int64)
        source[named] = todo[first]
        hit = np.zeros((rows.dims[0], *(1,) * (len(rows.dims) - 1)), np.bool_)
        hit[named] = True
        updated = combine(rows, ops.gather_rows(values, to_tensor(source)))
        rows = ops.where(to_tensor(hit), updated, rows)
        todo = todo[:0] if combine is last else np.delete(todo, first)
    return rows


def writable(dtype: DType, at: Tensor, values: Tensor, combine: Combine) -> bool:
    """Whether `write` is equivalent: concrete arrays, and a NumPy ufunc with the same arithmetic."""
    kinds = ARITHMETIC if combine is last else _UFUNCS[combine][1]
    return bool(dtype.kind & kinds) and type(at) is Tensor and type(values) is Tensor


def write(array: Rows, at: Rows, values: Rows, combine: Combine) -> None:
    """Write the result of `combined` into a contiguous array."""
    if not values.size:
        return
    rows = array.reshape(-1, *values.shape[1:])
    if combine is last:
        rows[at] = values
        return
    ufunc, _ = _UFUNCS[combine]
    numbers = np.arange(len(at))
    first = np.empty(len(rows), np.intp)  # only written elements are read, so the table need not be initialized
    first[at[::-1]] = numbers[::-1]
    again = first[at] != numbers
    if again.any() and array.dtype in HALF:  # rounds each row once
        named, at = np.unique(at, return_inverse=True)
        table = rows[named].astype(np.float32)
        write(table, at, values.astype(np.float32), combine)
        rows[named] = table
    elif again.any():
        once = ~again
        _write_once(rows, at[once], values[once], ufunc)
        width = math.prod(rows.shape[1:])
        places = at[again][:, None] * width + np.arange(width)
        ufunc.at(rows.reshape(-1), places.reshape(-1), values[again].reshape(-1))
    else:
        _write_once(rows, at, values, ufunc)


def _write_once(rows: Rows, at: Rows, values: Rows, ufunc: np.ufunc) -> None:
    """Apply `write` where no row is repeated."""
    new = rows.take(at, axis=0)
    rows[at] = ufunc(new, values, out=new)
