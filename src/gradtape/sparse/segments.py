"""Segment reductions of selected rows, and sparse counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..core.type_hints import TensorLike
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from ..ragged.tensor import RaggedTensor
from .conversion import where_true
from .tensor import SparseTensor

NAMESPACES = ("sparse",)
__all__ = ["bincount", "segment_mean", "segment_sqrt_n", "segment_sum"]


def segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Sums the rows of `data` at `indices` with equal segment ids.

    Args:
      sparse_gradient: whether the gradient of `data` is an `IndexedSlices`.

    >>> tf.sparse.segment_sum([[1.0], [2.0], [4.0]], [0, 2, 1], [0, 0, 1]).numpy().tolist()
    [[5.0], [2.0]]
    """
    rows, ids, count = _rows(data, indices, segment_ids, num_segments, sparse_gradient, "SparseSegmentSum")
    return ops.segment_sum(rows, ids, count=count)


def segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Returns the mean of the rows of `data` at `indices` with equal segment ids.

    >>> tf.sparse.segment_mean([[1.0], [2.0], [4.0]], [0, 2, 1], [0, 0, 1]).numpy().tolist()
    [[2.5], [2.0]]
    """
    rows, ids, count = _rows(data, indices, segment_ids, num_segments, sparse_gradient, "SparseSegmentMean")
    return ops.segment_sum(rows, ids, count=count) / _sizes(rows, ids, count)


def segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Like `segment_sum`, divided by the square root of the number of rows.

    >>> tf.sparse.segment_sqrt_n([[1.0], [2.0], [4.0], [3.0]], [0, 1, 2, 3], [0, 0, 0, 0]).numpy().tolist()
    [[5.0]]
    """
    rows, ids, count = _rows(data, indices, segment_ids, num_segments, sparse_gradient, "SparseSegmentSqrtN")
    return ops.segment_sum(rows, ids, count=count) / ops.sqrt(_sizes(rows, ids, count))


def _rows(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any, sparse_gradient: bool, title: str
) -> tuple[Tensor, Tensor, int]:
    """Returns the selected rows, their segment ids, and the number of segments."""
    x, which, ids = to_tensor(data), *(to_tensor(n, hint=dtypes.int32) for n in (indices, segment_ids))
    if len(which.dims) != 1 or which.dims != ids.dims:
        raise errors.InvalidArgumentError(
            f"segment_ids and indices should be vectors of the same size, got shapes {list(ids.dims)} and "
            f"{list(which.dims)} [Op:{title}]"
        )
    last = to_array(ids)[-1] if ids.dims[0] and num_segments is None else -1
    count = int(last) + 1 if num_segments is None else int(to_array(num_segments))

    def test(numbers: Any) -> None:
        if (np.diff(numbers) < 0).any():
            raise errors.InvalidArgumentError(f"segment ids are not increasing: {numbers} [Op:{title}]")
        if len(numbers) and (numbers[0] < 0 or numbers[-1] >= count):
            raise errors.InvalidArgumentError(f"segment ids must be in [0, {count}), got {numbers} [Op:{title}]")

    verify(test, ids)
    rows = ops.gather_rows(x, which) if sparse_gradient else ops.gather(x, which, axis=0, batch=0)
    return rows, ids, count


def _sizes(rows: Tensor, ids: Tensor, count: int) -> Tensor:
    """Returns the number of rows in each segment, at least 1, shaped to divide the segments of `rows`."""
    found = ops.segment_sum(to_tensor(np.ones(ids.dims, rows.dtype.numpy)), ids, count=count)
    return ops.reshape(ops.maximum(found, ops.ones_like(found)), shape=(count, *(1,) * (len(rows.dims) - 1)))


def bincount(
    values: TensorLike, weights: TensorLike | None = None, axis: int | None = 0, minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None, binary_output: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Counts each number in `values`, or sums its weights, for numbers that occur.

    Args:
      axis: None or 0 counts all values together, -1 counts each row.
      minlength, maxlength: bounds of the size of the last axis; larger numbers are not counted.
      binary_output: return 1 for each number that occurs.

    >>> found = tf.sparse.bincount([1, 1, 4])
    >>> found.indices.numpy().tolist(), found.values.numpy().tolist(), found.dense_shape.numpy().tolist()
    ([[1], [4]], [2, 1], [5])
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if weights is not None and binary_output:
        raise ValueError("`binary_output` and `weights` are mutually exclusive: give one of them")
    values = values.to_sparse() if isinstance(values, RaggedTensor) else values
    weights = weights.to_sparse() if isinstance(weights, RaggedTensor) else weights
    numbers, rows, count = _number_rows(values, axis)
    if not numbers.dtype.is_integer:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {numbers.dtype.kernel_name()} is not in the list of allowed values: int32, int64 "
            "[Op:DenseCountSparseOutput]"
        )
    given = None if weights is None else _weights(values, weights)
    known = to_array(numbers)
    if known.size and known.min() < 0:
        raise errors.InvalidArgumentError("Input values must all be non-negative! [Op:DenseCountSparseOutput]")
    if maxlength is not None:
        most = int(to_array(maxlength))
        inside = where_true(ops.less(numbers, to_tensor(np.asarray(most, numbers.dtype.numpy))))
        numbers, rows = (ops.gather(x, inside, axis=0, batch=0) for x in (numbers, rows))
        given = None if given is None else ops.gather(given, inside, axis=0, batch=0)
        size = min(most, max(int(known.max(initial=-1)) + 1, most if minlength is None else int(to_array(minlength))))
    else:
        size = max(int(known.max(initial=-1)) + 1, 0 if minlength is None else int(to_array(minlength)))
    flat = ops.cast(rows, dtype=dtypes.int64) * size + ops.cast(numbers, dtype=dtypes.int64)
    first, segments, counts = ops.unique_slices(flat, axis=0)
    if given is not None:
        counts = ops.segment_sum(given, segments, count=first.dims[0])
    elif binary_output:
        counts = ops.ones_like(counts)
    picked = [ops.cast(ops.gather(x, first, axis=0, batch=0), dtype=dtypes.int64) for x in (rows, numbers)]
    if count is None:
        return SparseTensor(ops.stack(picked[1], axis=1), counts, [size])
    return SparseTensor(ops.stack(*picked, axis=1), counts, [count, size])


def _number_rows(values: Any, axis: int | None) -> tuple[Tensor, Tensor, int | None]:
    """Returns the numbers, their rows, and the number of rows; None for one count of everything."""
    if isinstance(values, SparseTensor):
        x, rows, dims = values.values, values.indices[:, 0], values.dims
    else:
        dense = to_tensor(values)
        dims = dense.dims
        x = ops.reshape(dense, shape=(int(np.prod(dims, dtype=int)),))
        lead = dims[0] if len(dims) > 1 else 1
        rows = to_tensor(np.repeat(np.arange(lead), x.dims[0] // lead if lead else 0))
    if len(dims) > 2 and axis == -1:
        raise errors.InvalidArgumentError(
            f"Input must be a 1 or 2-dimensional tensor. Got: {list(dims)} [Op:DenseCountSparseOutput]"
        )
    if axis in (None, 0) or len(dims) < 2:
        return x, ops.zeros_like(rows), None
    return x, rows, dims[0]


def _weights(values: Any, weights: Any) -> Tensor:
    """Returns the weights, one per number."""
    if isinstance(values, SparseTensor) != isinstance(weights, SparseTensor):
        raise ValueError("`weights` must be a SparseTensor exactly if `values` is one")
    if isinstance(weights, SparseTensor):
        found, dims = weights.values, values.values.dims
    else:
        found, dims = to_tensor(weights), to_tensor(values).dims
    if found.dims != dims:
        raise errors.InvalidArgumentError(
            f"Weights and values must have the same shape. Weight shape: {list(found.dims)}; values shape: {list(dims)}"
        )
    return ops.reshape(found, shape=(int(np.prod(dims, dtype=int)),))
