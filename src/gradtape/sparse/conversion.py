"""Conversion, sorting, filtering and filling of sparse tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.slices import IndexedSlices
from ..core.tensor import Tensor
from ..core.type_hints import DTypeLike, TensorLike, ValueLike
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from .tensor import SparseTensor, columns, made_sparse, places

NAMESPACES = ("sparse",)
__all__ = [
    "SparseTensor", "eye", "fill_empty_rows", "from_dense", "map_values", "mask", "reorder", "retain", "to_dense",
    "to_indicator",
]  # fmt: skip


def sparse(sp_input: Any) -> SparseTensor:
    """Returns `sp_input`, which must be a sparse tensor or its arrays."""
    sp_input = made_sparse(sp_input)
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {sp_input!r}. Use tf.sparse.from_dense")
    return sp_input


def from_dense(tensor: ValueLike, name: str | None = None) -> SparseTensor:
    """Returns the nonzero elements of `tensor`, in row-major order.

    >>> s = tf.sparse.from_dense([[0, 5], [7, 0]])
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[0, 1], [1, 0]], [5, 7])
    """
    x = to_tensor(tensor)
    if not x.dims:
        raise errors.InvalidArgumentError(
            f"WhereOp : Unhandled input dimensions: 0 [Op:Where]. The tensor must have an axis, got {tensor!r}"
        )
    empty = to_tensor(b"" if x.dtype is dtypes.string else np.zeros((), x.dtype.numpy))
    indices = ops.nonzero(ops.not_equal(x, empty))
    flat = ops.ravel_index(indices, dims=x.dims)
    values = ops.gather(ops.reshape(x, shape=(math.prod(x.dims),)), flat, axis=0, batch=0)
    return SparseTensor(indices, values, np.array(x.dims, np.int64))


def to_dense(
    sp_input: SparseTensor, default_value: ValueLike | None = None, validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the dense tensor, with `default_value` (zero by default) where `sp_input` has no element.

    Args:
      validate_indices: whether to raise `InvalidArgumentError` for unsorted or duplicate indices.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
    >>> tf.sparse.to_dense(s, default_value=-1).numpy().tolist()
    [[-1, 5], [7, -1]]
    """
    s = sparse(sp_input)
    flat = places(s)
    if validate_indices:
        verify(_check_order, flat, s.indices)
    if default_value is None:
        default_value = "" if s.dtype is dtypes.string else 0
    default = to_tensor(default_value, s.dtype)
    if default.dims:
        raise errors.InvalidArgumentError(
            f"default_value should be a scalar, got shape {list(default.dims)} [Op:SparseToDense]"
        )
    filled = ops.broadcast_to(default, shape=(math.prod(s.dims),))
    return ops.reshape(ops.put_rows(filled, flat, s.values), shape=s.dims)


def _check_order(flat: Any, indices: Any) -> None:
    wrong = np.flatnonzero(np.diff(flat) <= 0) + 1
    if wrong.size:
        at = int(wrong[0])
        how = "repeated" if flat[at] == flat[at - 1] else "out of order. Use tf.sparse.reorder"
        raise errors.InvalidArgumentError(f"indices[{at}] = {indices[at].tolist()} is {how} [Op:SparseToDense]")


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Sorts the elements of a sparse tensor in row-major order.

    >>> s = tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [7, 5], [2, 2]))
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[0, 1], [1, 0]], [5, 7])
    """
    s = sparse(sp_input)
    return selected(s, ops.argsort(places(s), axis=0))


def selected(s: SparseTensor, which: Tensor) -> SparseTensor:
    """Returns the selected elements, in this order."""
    values = ops.gather(s.values, which, axis=0, batch=0)
    return SparseTensor(ops.gather(s.indices, which, axis=0, batch=0), values, s.dense_shape)


def where_true(flags: Tensor) -> Tensor:
    """Returns the indices at which the vector `flags` is true."""
    found = ops.nonzero(flags)
    return ops.reshape(found, shape=(found.dims[0],))


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Keeps the elements for which `to_retain` is true.

    >>> s = tf.SparseTensor([[0], [2], [3]], [1, 2, 3], [5])
    >>> tf.sparse.retain(s, s.values != 2).values.numpy().tolist()
    [1, 3]
    """
    s = sparse(sp_input)
    keep = to_tensor(to_retain)
    (flags,), (count,) = keep.shape.with_rank(1), s.values.dims
    if flags != count:
        raise ValueError(
            f"Dimensions {count} and {flags} are not compatible: to_retain must have one entry for each value"
        )
    return selected(s, where_true(keep))


def fill_empty_rows(
    sp_input: SparseTensor, default_value: ValueLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Returns `sp_input` with `default_value` first in each empty row, and which rows were empty.

    >>> s, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0]], [5, 7], [3, 2]), -1)
    >>> tf.sparse.to_dense(s).numpy().tolist(), empty.numpy().tolist()
    ([[0, 5], [-1, 0], [7, 0]], [False, True, False])
    """
    s = sparse(sp_input)
    default = to_tensor(default_value, s.dtype)
    if default.dims:
        raise errors.InvalidArgumentError(
            f"default_value must be a scalar, saw: {list(default.dims)} [Op:SparseFillEmptyRows]"
        )
    indices, count = to_array(s.indices), int(to_array(s.dense_shape)[0])
    rows = indices[:, 0]
    outside = np.flatnonzero((rows < 0) | (rows >= count))
    if outside.size:
        raise errors.InvalidArgumentError(
            f"indices({outside[0]}, 0) is invalid: {rows[outside[0]]} is not in [0, {count}) [Op:SparseFillEmptyRows]"
        )
    empty = np.bincount(rows, minlength=count) == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    order = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    sources = np.minimum(order, len(rows))  # the default is appended after the last value
    values = ops.concat(s.values, ops.reshape(default, shape=(1,)), axis=0)
    filled = ops.gather(values, to_tensor(sources), axis=0, batch=0)
    return SparseTensor(np.concatenate([indices, added])[order], filled, s.dense_shape), to_tensor(empty)


def eye(
    num_rows: TensorLike, num_columns: TensorLike | None = None, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Returns a sparse matrix with ones on its diagonal.

    >>> tf.sparse.eye(2, 3).indices.numpy().tolist()
    [[0, 0], [1, 1]]
    """
    rows = int(to_array(num_rows))
    width = rows if num_columns is None else int(to_array(num_columns))
    count = min(rows, width)
    indices = np.repeat(np.arange(count)[:, None], 2, axis=1)
    return SparseTensor(indices, np.ones(count, dtypes.as_dtype(dtype).numpy), [rows, width])


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """Applies `op` to the values of the sparse tensors among the arguments, which must have the same indices.

    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 7.0], [2, 2])
    >>> tf.sparse.map_values(tf.add, s, 1.0).values.numpy().tolist()
    [6.0, 8.0]
    """
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = given[0]
    for other in given[1:]:
        if other.indices is first.indices and other.dense_shape is first.dense_shape:
            continue
        if other.indices.dims != first.indices.dims or other.dims != first.dims:
            raise _mismatch_error()
        verify(_check_same, first.indices, other.indices)
    values = op(
        *(x.values if isinstance(x, SparseTensor) else x for x in args),
        **{key: x.values if isinstance(x, SparseTensor) else x for key, x in kwargs.items()},
    )
    return first.with_values(values)


def _check_same(a: Any, b: Any) -> None:
    if (a != b).any():
        raise _mismatch_error()


def _mismatch_error() -> Exception:
    return errors.InvalidArgumentError("Mismatched indices! The sparse tensors must have values at the same places")


def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Returns the slices of `a` except those whose index is in `mask_indices`.

    >>> slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 5]))
    >>> tf.sparse.mask(slices, [3]).values.numpy().tolist()
    [[2.0]]
    """
    masked = to_tensor(mask_indices, a.indices.dtype)
    found = ops.equal(ops.reshape(a.indices, shape=(*a.indices.dims, 1)), masked)
    kept = where_true(ops.logical_not(ops.any(found, axis=(1,), keepdims=False)))
    values = ops.gather(to_tensor(a.values), kept, axis=0, batch=0)
    return IndexedSlices(values, ops.gather(a.indices, kept, axis=0, batch=0), a.dense_shape)


def to_indicator(sp_input: SparseTensor, vocab_size: TensorLike, name: str | None = None) -> Tensor:
    """Returns a dense bool tensor that is true at the values of `sp_input` along the last axis.

    >>> words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [2, 0, 1], [2, 2])
    >>> tf.sparse.to_indicator(words, 3).numpy().tolist()
    [[False, False, True], [True, True, False]]
    """
    s = sparse(sp_input)
    words = ops.cast(s.values, dtype=dtypes.int64)
    lead = columns(s.indices, range(len(s.dims) - 1))
    indices = ops.concat(lead, ops.reshape(words, shape=(*words.dims, 1)), axis=1)
    truth = to_tensor(np.ones(words.dims, np.bool_))
    merged = SparseTensor(indices, truth, [*s.dims[:-1], int(to_array(vocab_size))])
    return to_dense(merged, default_value=False, validate_indices=False)
