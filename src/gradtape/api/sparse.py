"""Sparse tensors: made from dense ones and back, put in order, thinned out, and given a value in every row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..engine.convert import to_array, to_tensor
from ..engine.op import ops
from ..sparse_tensor import SparseTensor
from ..tensor import Tensor

NAMESPACES = ("sparse", "")
__all__ = ["SparseTensor", "fill_empty_rows", "from_dense", "reorder", "retain", "to_dense"]


def _sparse(sp_input: Any) -> SparseTensor:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {sp_input!r}. Use tf.sparse.from_dense")
    return sp_input


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of `tensor` that are not zero, in row-major order.

    >>> import gradtape as tf
    >>> s = tf.sparse.from_dense([[0, 5], [7, 0]])
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[0, 1], [1, 0]], [5, 7])
    """
    x = to_tensor(tensor)
    if not x.dims:
        raise errors.InvalidArgumentError(
            f"WhereOp : Unhandled input dimensions: 0 [Op:Where]. The tensor must have an axis, got {tensor!r}"
        )
    array = to_array(x)
    places = np.nonzero(array != (b"" if x.dtype is dtypes.string else 0))
    flat = np.ravel_multi_index(places, x.dims) if x.dims and array.size else np.zeros(0, np.int64)
    values = ops.gather(ops.reshape(x, shape=(array.size,)), to_tensor(flat), axis=0, batch=0)
    return SparseTensor(np.stack(places, axis=1), values, np.array(x.dims, np.int64))


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The dense tensor, with `default_value` (zero unless told) where `sp_input` has nothing.

    Args:
      validate_indices: whether to raise `InvalidArgumentError` for places out of order or given twice.

    >>> import gradtape as tf
    >>> s = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
    >>> tf.sparse.to_dense(s, default_value=-1).numpy().tolist()
    [[-1, 5], [7, -1]]
    """
    s = _sparse(sp_input)
    indices, shape = to_array(s.indices), tuple(int(n) for n in to_array(s.dense_shape))
    flat = _places(indices, shape)
    if validate_indices:
        wrong = np.flatnonzero(np.diff(flat) <= 0) + 1
        if wrong.size:
            at = int(wrong[0])
            how = "repeated" if flat[at] == flat[at - 1] else "out of order. Use tf.sparse.reorder"
            raise errors.InvalidArgumentError(f"indices[{at}] = {indices[at].tolist()} is {how} [Op:SparseToDense]")
    if default_value is None:
        default_value = "" if s.dtype is dtypes.string else 0
    default = to_tensor(default_value, s.dtype)
    if default.dims:
        raise errors.InvalidArgumentError(
            f"default_value should be a scalar, got shape {list(default.dims)} [Op:SparseToDense]"
        )
    filled = ops.broadcast_to(default, shape=(math.prod(shape),))
    return ops.reshape(ops.put_rows(filled, to_tensor(flat), s.values), shape=shape)


def _places(indices: Any, shape: tuple[int, ...]) -> Any:
    """Where in the flattened dense tensor each row of `indices` is."""
    outside = np.flatnonzero(((indices < 0) | (indices >= shape)).any(axis=1))
    if outside.size:
        raise errors.InvalidArgumentError(
            f"indices[{outside[0]}] = {indices[outside[0]].tolist()} is out of bounds: need 0 <= index < {list(shape)} "
            "[Op:SparseToDense]"
        )
    strides = np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)
    return indices @ strides


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its elements in row-major order.

    >>> import gradtape as tf
    >>> s = tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [7, 5], [2, 2]))
    >>> s.indices.numpy().tolist(), s.values.numpy().tolist()
    ([[0, 1], [1, 0]], [5, 7])
    """
    s = _sparse(sp_input)
    indices = to_array(s.indices)
    order = np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))
    return SparseTensor(indices[order], ops.gather(s.values, to_tensor(order), axis=0, batch=0), s.dense_shape)


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Only those elements for which `to_retain` is true.

    >>> import gradtape as tf
    >>> s = tf.SparseTensor([[0], [2], [3]], [1, 2, 3], [5])
    >>> tf.sparse.retain(s, s.values != 2).values.numpy().tolist()
    [1, 3]
    """
    s = _sparse(sp_input)
    keep = to_tensor(to_retain)
    (flags,), (count,) = keep.shape.with_rank(1), s.values.dims
    if flags != count:
        raise ValueError(
            f"Dimensions {count} and {flags} are not compatible: to_retain must have one entry for each value"
        )
    kept = np.flatnonzero(to_array(keep))
    return SparseTensor(to_array(s.indices)[kept], ops.gather_rows(s.values, to_tensor(kept)), s.dense_shape)


def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Tensor]:
    """`sp_input` with `default_value` first in each row that has nothing, and which rows those are.

    >>> import gradtape as tf
    >>> s, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0]], [5, 7], [3, 2]), -1)
    >>> tf.sparse.to_dense(s).numpy().tolist(), empty.numpy().tolist()
    ([[0, 5], [-1, 0], [7, 0]], [False, True, False])
    """
    s = _sparse(sp_input)
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
    sources = np.minimum(order, len(rows))  # the value after the last one is the default
    values = ops.concat(s.values, ops.reshape(default, shape=(1,)), axis=0)
    filled = ops.gather(values, to_tensor(sources), axis=0, batch=0)
    return SparseTensor(np.concatenate([indices, added])[order], filled, s.dense_shape), to_tensor(empty)
