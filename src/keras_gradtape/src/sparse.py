"""Sparsity propagation: functions that map zeros to zeros keep sparse arguments sparse; others densify them.

A sparse value is a `SparseTensor` (elements with coordinates) or an `IndexedSlices` (rows with indices, as gradients of
embeddings). Decorators extend a dense function `f` by its behavior at zeros:

- on_values:     f(0) = 0; changes the values, not the indices
- union:         f(0, 0) = 0; nonzeros of either argument
- intersection:  f(x, 0) = f(0, x) = 0
- quotient:      f(0, x) = 0 unless x is 0 or NaN
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.convert import to_tensor
from gradtape.engine.run.namespace import ops
from gradtape.sparse.arithmetic import both_filled
from gradtape.sparse.tensor import coordinates, places

Sparse = tf.SparseTensor | tf.IndexedSlices
_KINDS = (tf.SparseTensor, tf.IndexedSlices)
_DENSE = {Tensor, tf.Variable, float, int, np.ndarray}  # fast path: the types of most arguments


def is_sparse(x: Any) -> bool:
    """Returns whether `x` is a sparse tensor or slices."""
    return isinstance(x, _KINDS)


def densified(x: Any) -> Any:
    """Converts a sparse `x` to a dense tensor, summing duplicates; returns other values unchanged."""
    if isinstance(x, tf.SparseTensor):
        count = math.prod(x.dims)
        if x.dtype.is_bool:
            return tf.sparse.to_dense(x, validate_indices=False)
        return ops.reshape(ops.scatter_add(x.values, places(x), shape=(count,)), shape=x.dims)
    return tf.convert_to_tensor(x) if isinstance(x, tf.IndexedSlices) else x


def dims_of(x: Sparse) -> tuple[int, ...]:
    """Returns the shape of the dense tensor."""
    return tuple(x.shape)


def like(x: Sparse, values: Any) -> Any:
    """Returns a sparse value with the indices of `x` and other values."""
    if isinstance(x, tf.SparseTensor):
        return x.with_values(values)
    return tf.IndexedSlices(values, x.indices, x.dense_shape)


def from_foreign(x: Any) -> Any:
    """Converts a sparse matrix of SciPy, JAX or TensorFlow to a sparse tensor; returns None for other values."""
    module = type(x).__module__
    if module.startswith("scipy.sparse") and hasattr(x, "tocoo"):
        coo = x.tocoo()
        return tf.SparseTensor(np.stack([coo.row, coo.col], axis=1).astype(np.int64), coo.data, coo.shape)
    if module.startswith("jax.experimental.sparse") and hasattr(x, "todense"):
        plain = x.update_layout(n_batch=0, n_dense=0)
        return tf.SparseTensor(np.asarray(plain.indices, np.int64), np.asarray(plain.data), plain.shape)
    if module.startswith("tensorflow.") and type(x).__name__ == "SparseTensor":
        return tf.SparseTensor(*(np.asarray(part) for part in (x.indices, x.values, x.dense_shape)))
    return None


def summed(x: Any) -> Any:
    """Sums duplicate rows of slices."""
    if not isinstance(x, tf.IndexedSlices):
        return x
    indices = to_tensor(x.indices)
    count = indices.dims[0]
    if type(indices) is Tensor:
        if count < 2 or (np.diff(indices.array) > 0).all():
            return x
        first, segments, _ = ops.unique_slices(indices, axis=0)
        rows, kept = ops.gather(indices, first, axis=0, batch=0), first.dims[0]
    else:  # a trace needs a static number of rows: unused ones are zeros, added to the last row
        order = ops.argsort(indices, axis=0)
        rising = ops.gather(indices, order, axis=0, batch=0)
        steps = ops.cast(ops.not_equal(rising[1:], rising[:-1]), dtype=tf.int32)
        numbers = ops.pad(ops.cumsum(steps, axis=0), paddings=((1, 0),))
        rows, kept = ops.segment_max(rising, numbers, count=count, empty=0), count
        used = ops.less_equal(to_tensor(np.arange(count, dtype=np.int32)), numbers[-1])
        rows = ops.where(used, rows, rising[-1])
        segments = ops.scatter_add(numbers, order, shape=(count,))
    return tf.IndexedSlices(ops.segment_sum(x.values, segments, count=kept), rows, x.dense_shape)


def on_values(linear: bool = False) -> Any:
    """Extends `f(x)` with f(0) = 0, as on TensorFlow: its optimizers square each entry of a gradient separately.

    With sums of repeated rows, an `f` that is not linear is applied to these.
    """

    def extended(f: Any) -> Any:
        @functools.wraps(f)
        def call(x):
            if type(x) is not Tensor and isinstance(x, _KINDS):
                x = summed(x) if tf.config.repeated_row_sums_enabled() and not linear else x
                return like(x, f(x.values))
            return f(x)

        return call

    return extended


def union(f: Any) -> Any:
    """Extends `f(x1, x2)` with f(0, 0) = 0: sparse if both are."""

    @functools.wraps(f)
    def call(x1, x2):
        if type(x1) in _DENSE and type(x2) in _DENSE:
            return f(x1, x2)
        if isinstance(x1, _KINDS) or isinstance(x2, _KINDS):
            if not _alike(x1, x2):
                return f(densified(x1), densified(x2))
            a, b = _filled(summed(x1), summed(x2))
            return like(a, f(a.values, b.values))
        return f(x1, x2)

    return call


def intersection(f: Any) -> Any:
    """Extends `f(x1, x2)` with f(x, 0) = f(0, x) = 0: sparse if one is."""

    @functools.wraps(f)
    def call(x1, x2):
        if type(x1) in _DENSE and type(x2) in _DENSE:
            return f(x1, x2)
        first, second = isinstance(x1, _KINDS), isinstance(x2, _KINDS)
        if not first and not second:
            return f(x1, x2)
        if _alike(x1, x2):
            a, b = _filled(summed(x1), summed(x2))
            return like(a, f(a.values, b.values))
        if first and not second:
            beside = _beside(x1, x2)
            return f(densified(x1), x2) if beside is None else like(x1, f(x1.values, beside))
        if second and not first:
            beside = _beside(x2, x1)
            return f(x1, densified(x2)) if beside is None else like(x2, f(beside, x2.values))
        return f(densified(x1), densified(x2))

    return call


def quotient(f: Any) -> Any:
    """Extends `f(x1, x2)` with f(0, x) = 0 unless x is 0 or NaN: sparse if only the dividend is."""

    @functools.wraps(f)
    def call(x1, x2):
        if type(x1) in _DENSE and type(x2) in _DENSE:
            return f(x1, x2)
        if isinstance(x2, _KINDS):
            return f(densified(x1), densified(x2))
        if not isinstance(x1, _KINDS):
            return f(x1, x2)
        if _is_scalar(x2):
            return like(x1, f(x1.values, x2))
        divisor = to_tensor(x2)
        if divisor.dims != dims_of(x1):
            return f(densified(x1), x2)
        zero = ops.equal(divisor, ops.zeros_like(divisor))
        odd = ops.logical_or(zero, ops.is_nan(divisor)) if divisor.dtype.is_floating else zero
        zeros = _at_odd(x1, odd)
        a = _filled(summed(x1), zeros)[0] if zeros.values.dims[0] else x1
        return like(a, f(a.values, _beside(a, divisor)))

    return call


def _at_odd(x: Sparse, odd: Tensor) -> Any:
    """Returns explicit zeros where `odd`, or in the rows with an odd entry."""
    if isinstance(x, tf.IndexedSlices):
        rows = ops.nonzero(ops.any(odd, axis=tuple(range(1, len(odd.dims))), keepdims=False))
        rows = ops.cast(ops.reshape(rows, shape=(rows.dims[0],)), dtype=to_tensor(x.indices).dtype)
        return tf.IndexedSlices(to_tensor(np.zeros((rows.dims[0], *odd.dims[1:]), x.dtype.numpy)), rows, x.dense_shape)
    at = ops.nonzero(odd)
    return tf.SparseTensor(at, np.zeros(at.dims[0], x.dtype.numpy), x.dense_shape)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, int | float) or len(x.shape if hasattr(x, "shape") else np.shape(x)) == 0


def _alike(x1: Any, x2: Any) -> bool:
    """Returns whether both have the same sparse type and shape."""
    kind = type(x1)
    return kind in _KINDS and type(x2) is kind and dims_of(x1) == dims_of(x2)


def _filled(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns both with explicit zeros at the other's indices."""
    if a.indices is b.indices:
        return a, b
    if isinstance(a, tf.SparseTensor):
        return both_filled(a, b)
    mine, its = (to_tensor(x.indices) for x in (a, b))
    every = ops.concat(mine, ops.cast(its, dtype=mine.dtype), axis=0)
    first, segments, _ = ops.unique_slices(every, axis=0)
    rows, count, own = ops.gather(every, first, axis=0, batch=0), first.dims[0], mine.dims[0]
    filled = (ops.segment_sum(x.values, at, count=count) for x, at in ((a, segments[:own]), (b, segments[own:])))
    first_filled, second_filled = (tf.IndexedSlices(values, rows, a.dense_shape) for values in filled)
    return first_filled, second_filled


def _beside(x: Any, dense: Any) -> Any:
    """Returns the values of a dense tensor, broadcast to `x`, at the indices of `x`; None if `x` would be broadcast."""
    if _is_scalar(dense):
        return dense
    dense = to_tensor(dense)
    dims, its = dims_of(x), dense.dims
    if len(its) > len(dims) or any(n not in (1, size) for n, size in zip(its[::-1], dims[::-1], strict=False)):
        return None
    if isinstance(x, tf.SparseTensor):
        return x._beside(dense)
    if len(its) < len(dims) or its[0] == 1:
        return dense
    return ops.gather(dense, to_tensor(x.indices), axis=0, batch=0)


def matmul(x1: Any, x2: Any, dense_matmul: Any) -> Any:
    """Multiplies matrices of which at least one is sparse; the result is sparse if both are."""
    if isinstance(x1, tf.IndexedSlices) or isinstance(x2, tf.IndexedSlices):
        return dense_matmul(densified(x1), densified(x2))
    if isinstance(x1, tf.SparseTensor) and isinstance(x2, tf.SparseTensor):
        return tf.sparse.from_dense(matmul(x1, densified(x2), dense_matmul))
    if not isinstance(x1, tf.SparseTensor):
        if len(x1.dims) < 2 or len(x2.dims) < 2 or x1.dims[:-2] != x2.dims[:-2]:
            return dense_matmul(x1, densified(x2))
        turned = matmul(_turned(x2), ops.transpose(x1, perm=_swapped(len(x1.dims))), dense_matmul)
        return ops.transpose(turned, perm=_swapped(len(turned.dims)))
    if len(x1.dims) < 2 or len(x2.dims) < 2 or x1.dims[:-2] != x2.dims[:-2] or x1.dims[-1] != x2.dims[-2]:
        return dense_matmul(densified(x1), x2)
    # A batch of matrices is treated as one block-diagonal matrix.
    *batch, height, inner = x1.dims
    count, width = math.prod(batch), x2.dims[-1]
    rows = places(x1, range(len(batch) + 1))
    columns = places(x1, [*range(len(batch)), len(batch) + 1])
    if not batch:
        return ops.sparse_matmul(x1.values, x2, rows, columns, count=height, slices=True)
    table = ops.reshape(x2, shape=(count * inner, width))
    y = ops.sparse_matmul(x1.values, table, rows, columns, count=count * height)
    return ops.reshape(y, shape=(*batch, height, width))


def _swapped(rank: int) -> tuple[int, ...]:
    return (*range(rank - 2), rank - 1, rank - 2)


def _turned(s: Any) -> Any:
    return tf.sparse.transpose(s, _swapped(len(s.dims)))


def total(x: Any, axes: tuple[int, ...], keepdims: bool, dense_sum: Any) -> Any:
    """Sums along axes; the result is sparse unless the rows of slices are summed."""
    if isinstance(x, tf.SparseTensor):
        return tf.sparse.reduce_sum(x, axis=list(axes), keepdims=keepdims, output_is_sparse=True)
    values = dense_sum(x.values, axes, keepdims)
    if 0 in axes:
        return values
    return tf.IndexedSlices(values, x.indices, (dims_of(x)[0], *values.dims[1:]))


def hot(x: Any, depth: int, axis: int, dtype: Any) -> Any:
    """Returns sparse one-hot rows; an index outside [0, depth) has an empty row."""
    flat = ops.cast(ops.reshape(x, shape=(math.prod(x.dims),)), dtype=tf.int64)
    zero = ops.zeros_like(flat)
    inside = ops.logical_and(ops.greater_equal(flat, zero), ops.less(flat, zero + depth))
    kept = ops.nonzero(inside)
    kept = ops.reshape(kept, shape=(kept.dims[0],))
    numbers = ops.reshape(ops.gather(flat, kept, axis=0, batch=0), shape=(kept.dims[0], 1))
    lead = coordinates(kept, x.dims)
    indices = ops.concat(lead[:, :axis], numbers, lead[:, axis:], axis=1)
    shape = (*x.dims[:axis], depth, *x.dims[axis:])
    made = tf.SparseTensor(indices, np.ones(kept.dims[0], dtype.numpy), shape)
    return made if axis == len(x.dims) else tf.sparse.reorder(made)
