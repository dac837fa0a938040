"""Counts: unique values, bins, confusion matrices."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, TensorLike, ValueLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ragged.tensor import RaggedTensor
from ...sparse.tensor import SparseTensor
from .sorting import position_type

NAMESPACES = ("math", "")
__all__ = [
    "bincount", "confusion_matrix", "histogram_fixed_width", "histogram_fixed_width_bins", "unique",
    "unique_with_counts",
]  # fmt: skip

Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _unique(x: Any, out_idx: Any) -> tuple[Tensor, Tensor, Tensor]:
    x = to_tensor(x)
    if x.ndim != 1:
        raise errors.InvalidArgumentError(
            f"unique expects a 1D vector, got shape {list(x.dims)} [Op:Unique]. Use tf.reshape(x, [-1])"
        )
    return ops.unique(x, dtype=position_type(out_idx, (dtypes.int32, dtypes.int64), "Unique", "out_idx").numpy)


def unique(x: ValueLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """Returns the distinct values of `x` in order of appearance, and the index of each element of `x` among them.

    - Shape: `[n]` → `[count]` of the values, `[n]` of the indices.
    - Dtypes: any (TensorFlow does not take `complex64` and `complex128`); the result has that of `x`.
    - Derivative: none; `gradient` raises `LookupError`.

    >>> y, idx = tf.unique([4, 2, 4])
    >>> y.numpy(), idx.numpy()
    (array([4, 2], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    return Unique(*_unique(x, out_idx)[:2])


def unique_with_counts(x: ValueLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> UniqueWithCounts:
    """Like `unique`, and also returns the count of each distinct value.

    >>> tf.unique_with_counts([4, 2, 4]).count.numpy()
    array([2, 1], dtype=int32)
    """
    return UniqueWithCounts(*_unique(x, out_idx))


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """Counts the occurrences of 0, 1, 2, ... in `arr`, or sums the weights of each.

    Args:
      minlength, maxlength: bounds of the result's length; larger values are not counted.
      dtype: the result's dtype if there are no weights.
      axis: None or 0 counts all values together, -1 counts each row; rows may be ragged or sparse.
      binary_output: return only whether a number occurs: 0 or 1.

    >>> tf.math.bincount([1, 1, 3]).numpy()
    array([0, 2, 0, 1], dtype=int32)
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if isinstance(arr, SparseTensor) and weights is not None and not isinstance(weights, SparseTensor):
        raise ValueError(f"`weights` must be a SparseTensor if `values` is one. Received: {type(weights).__name__}")
    x = _numbers(arr)
    if not x.dtype.is_integer:
        x = ops.cast(x, dtype=dtypes.int32)
    values = x.array
    if values.size and values.min() < 0:
        raise errors.InvalidArgumentError("Input arr must be non-negative! [Op:DenseBincount]")
    given: tuple[Tensor, ...] = () if weights is None else (_numbers(weights),)
    if given and given[0].dims != x.dims:
        raise errors.InvalidArgumentError(
            f"`weights` must be the same shape as `arr`, {list(x.dims)}, got {list(given[0].dims)} [Op:DenseBincount]"
        )
    size = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        size = max(size, int(to_array(minlength)))
    if maxlength is not None:
        size = min(size, int(to_array(maxlength)))
    counted = given[0].dtype if given else dtypes.as_dtype(dtype)
    if axis == -1 and isinstance(arr, SparseTensor) and len(arr.dims) > 1:
        if len(arr.dims) > 2:
            raise errors.InvalidArgumentError(
                f"Shape must be at most rank 2 but is rank {len(arr.dims)} [Op:SparseBincount]"
            )
        return by_rows(arr.indices[:, 0], x, given[0] if given else None, size, arr.dims[0], counted, binary_output)
    if axis == -1 and isinstance(arr, RaggedTensor):  # the fill value is too large to be counted
        x = arr.with_flat_values(x).to_tensor(default_value=np.asarray(size, x.dtype.numpy)[()])
        given = tuple(arr.with_flat_values(weight).to_tensor() for weight in given)
    elif axis != -1:
        x, *flat = (ops.reshape(t, shape=(values.size,)) for t in (x, *given))
        given = tuple(flat)
    return ops.bincount(x, *given, size=size, binary=bool(binary_output), dtype=counted.numpy)


def _numbers(x: Any) -> Tensor:
    """Returns the values of a tensor that may be ragged or sparse."""
    return to_tensor(x.values if isinstance(x, SparseTensor) else getattr(x, "flat_values", x))


def by_rows(
    rows: Tensor, values: Tensor, weights: Tensor | None, size: int, count: int, dtype: DTypeLike, binary: bool
) -> Tensor:
    """Counts each number below `size` in each of `count` rows, given the row of each value."""
    values = ops.cast(values, dtype=dtypes.int64)
    end = to_tensor(np.int64(size))
    places = ops.add(ops.mul(ops.cast(rows, dtype=dtypes.int64), end), values)
    places = ops.where(ops.less(values, end), places, to_tensor(np.int64(-1)))  # values that are too large are dropped
    ones = ops.cast(ops.ones_like(values), dtype=dtype) if weights is None else weights
    found = ops.reshape(ops.segment_sum(ones, places, count=count * size), shape=(count, size))
    return ops.minimum(found, to_tensor(1, found.dtype)) if binary else found


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Counts how often each label (row) was predicted as each class (column), or sums the weights of these cases.

    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy()
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    given = [ops.cast(to_tensor(x), dtype=dtypes.int64) for x in (labels, predictions)]
    rank = min(len(x.dims) for x in given)
    rows, columns = (ops.reshape(x, shape=x.dims[:-1]) if len(x.dims) > rank and x.dims[-1] == 1 else x for x in given)
    if rows.dims != columns.dims:
        raise errors.InvalidArgumentError(
            f"Shapes of all inputs must match: labels have the shape {list(rows.dims)}, predictions "
            f"{list(columns.dims)}"
        )
    bound = None if num_classes is None else int(to_array(num_classes))
    for what, values in (("labels", rows.array), ("predictions", columns.array)):
        if values.size and values.min() < 0:
            raise errors.InvalidArgumentError(f"`{what}` contains negative values: {values}. Classes count from 0")
        if bound is not None and values.size and values.max() >= bound:
            raise errors.InvalidArgumentError(f"`{what}` out of bound: {values.max()} is not below num_classes={bound}")
    if bound is None:
        bound = int(max(rows.array.max(initial=0), columns.array.max(initial=0))) + 1
    wanted = dtypes.as_dtype(dtype)
    counted = ops.cast(to_tensor(np.ones(rows.dims) if weights is None else weights), dtype=wanted)
    places = rows * to_tensor(np.int64(bound)) + columns
    size = math.prod(rows.dims)
    flat = ops.segment_sum(
        ops.reshape(counted, shape=(size,)), ops.reshape(places, shape=(size,)), count=bound * bound
    )
    return ops.reshape(flat, shape=(bound, bound))


def _bins(values: Any, value_range: Any, nbins: Any, dtype: Any) -> tuple[Tensor, int]:
    x = to_tensor(values)
    limits = to_tensor(value_range, hint=x.dtype)
    if limits.dtype is not x.dtype:
        limits = ops.cast(limits, dtype=x.dtype)
    bins = to_array(nbins)
    if bins.shape:
        raise errors.InvalidArgumentError(f"nbins should be a scalar, got shape {bins.shape} [Op:HistogramFixedWidth]")
    count = int(bins)
    if count < 1:
        raise errors.InvalidArgumentError(
            f"nbins should be a positive number, but got '{count}' [Op:HistogramFixedWidth]"
        )
    if limits.dims != (2,):
        raise errors.InvalidArgumentError(
            f"value_range should be a vector of 2 elements, got shape {list(limits.dims)} [Op:HistogramFixedWidth]"
        )
    low, high = to_array(limits).tolist()
    if not low < high:
        raise errors.InvalidArgumentError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]' "
            "[Op:HistogramFixedWidth]"
        )
    if x.dtype.is_floating and np.isnan(to_array(x)).any():
        raise errors.InvalidArgumentError("Histogram values must not contain NaN [Op:HistogramFixedWidth]")
    return ops.histogram_bins(x, limits, count=count, dtype=dtypes.as_dtype(dtype).numpy), count


def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Counts the values in each of `nbins` equal bins of `value_range`; values outside go to the first or last bin.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    bins, count = _bins(values, value_range, nbins, dtypes.int32)
    flat = ops.reshape(bins, shape=(math.prod(bins.dims),))
    return ops.bincount(flat, size=count, binary=False, dtype=dtypes.as_dtype(dtype).numpy)


def histogram_fixed_width_bins(
    values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the bin of each value among `nbins` equal bins of `value_range`; values outside go to the end bins.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 1, 2, 4, 4], dtype=int32)
    """
    return _bins(values, value_range, nbins, dtypes.int32)[0]
