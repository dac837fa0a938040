"""Segment reductions over rows with equal ids; dynamic partition and stitch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike, ValueLike
from ...engine.run.convert import integer, to_array, to_tensor
from ...engine.run.namespace import ops
from ...engine.run.verification import verify
from ...graph.trace.scratch import is_in_scratch_graph

NAMESPACES = ("math", "")
__all__ = [
    "dynamic_partition", "dynamic_stitch", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]  # fmt: skip


def _numbers(segment_ids: Any, title: str) -> Tensor:
    ids = to_tensor(segment_ids)
    if ids.dtype is dtypes.int16 and title == "UnsortedSegmentSum":
        ids = ops.cast(ids, dtype=dtypes.int32)
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'Tindices' of {ids.dtype.kernel_name()} is not in the list of allowed values: int32, "
            f"int64 [Op:{title}]"
        )
    return ids


def _sorted(data: Any, segment_ids: Any, title: str) -> tuple[Tensor, Tensor, int]:
    """Returns the data, the ids and the number of segments, after checking that the ids do not decrease."""
    x, ids = to_tensor(data), _numbers(segment_ids, title)
    if len(ids.dims) != 1 or not x.dims or ids.dims[0] != x.dims[0]:
        raise errors.InvalidArgumentError(
            f"segment_ids should be a vector of the same size as dimension 0 of input: got the shapes {list(ids.dims)} "
            f"and {list(x.dims)} [Op:{title}]"
        )
    if not ids.dims[0]:
        return x, ids, 0

    def test(values: Any) -> None:
        if values[0] < 0 or (np.diff(values) < 0).any():
            raise errors.InvalidArgumentError(
                f"segment ids must be >= 0 and must not decrease: {values} [Op:{title}]. Use the one whose name begins "
                "with unsorted_"
            )

    verify(test, ids)
    return x, ids, int(ids[-1]) + 1


def _unsorted(data: Any, segment_ids: Any, num_segments: Any, title: str) -> tuple[Tensor, Tensor, int]:
    """Returns the data with one axis of rows, their ids, and the number of segments."""
    count = integer(num_segments, "num_segments")
    x, ids = _rows(data, segment_ids, title)
    if is_in_scratch_graph():  # whose values stand for others, so that they need not be ids of segments
        ids = ops.where(ops.less(ids, to_tensor(count, ids.dtype)), ids, to_tensor(-1, ids.dtype))
    if type(ids) is Tensor and ids.dims[0] and np.max(ids.array) >= count:
        at = int(np.argmax(ids.array >= count))
        raise errors.InvalidArgumentError(
            f"segment_ids[{at}] = {ids.array[at]} is out of range [0, {count}) [Op:{title}]"
        )
    return x, ids, count


def _rows(data: Any, segment_ids: Any, title: str) -> tuple[Tensor, Tensor]:
    """Returns the data with one axis of rows, and their ids."""
    x, ids = to_tensor(data), _numbers(segment_ids, title)
    rank = len(ids.dims)
    if x.dims[:rank] != ids.dims:
        raise errors.InvalidArgumentError(
            f"data.shape = {list(x.dims)} does not start with segment_ids.shape = {list(ids.dims)} [Op:{title}]"
        )
    rows = math.prod(ids.dims)
    return ops.reshape(x, shape=(rows, *x.dims[rank:])), ops.reshape(ids, shape=(rows,))


def _counts(x: Tensor, ids: Tensor, count: int, dtype: Any) -> Tensor:
    """Returns the number of rows in each segment, at least 1, shaped to divide the segments of `x`."""
    ones = to_tensor(np.ones(ids.dims, dtype.real_dtype.numpy))
    found = ops.segment_sum(ones, ids, count=count)
    counts = ops.reshape(ops.maximum(found, ops.ones_like(found)), shape=(count, *(1,) * (len(x.dims) - 1)))
    return ops.cast(counts, dtype=dtype) if dtype.is_complex else counts


def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Sums the rows of `data` with equal ids; `segment_ids` must not decrease.

    >>> tf.math.segment_sum([1.0, 2.0, 10.0], [0, 0, 1]).numpy()
    array([ 3., 10.], dtype=float32)
    """
    x, ids, count = _sorted(data, segment_ids, "SegmentSum")
    return ops.segment_sum(x, ids, count=count)


def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the mean of the rows of `data` with equal ids; 0 for an unused id.

    >>> tf.math.segment_mean([1.0, 2.0, 10.0], [0, 0, 1]).numpy()
    array([ 1.5, 10. ], dtype=float32)
    """
    x, ids, count = _sorted(data, segment_ids, "SegmentMean")
    total = ops.segment_sum(x, ids, count=count)
    if x.dtype.is_integer:
        counts = _counts(x, ids, count, dtypes.float64)
        return ops.cast(ops.cast(total, dtype=dtypes.float64) / counts, dtype=x.dtype)
    return total / _counts(x, ids, count, x.dtype)


def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the maximum of the rows of `data` with equal ids; 0 for an unused id.

    >>> tf.math.segment_max([1.0, 2.0, 10.0], [0, 0, 1]).numpy()
    array([ 2., 10.], dtype=float32)
    """
    x, ids, count = _sorted(data, segment_ids, "SegmentMax")
    return ops.segment_max(x, ids, count=count, empty=0)


def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the minimum of the rows of `data` with equal ids; 0 for an unused id.

    >>> tf.math.segment_min([1.0, 2.0, 10.0], [0, 0, 1]).numpy()
    array([ 1., 10.], dtype=float32)
    """
    x, ids, count = _sorted(data, segment_ids, "SegmentMin")
    return ops.segment_min(x, ids, count=count, empty=0)


def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the product of the rows of `data` with equal ids; 1 for an unused id.

    >>> tf.math.segment_prod([3.0, 2.0, 10.0], [0, 0, 1]).numpy()
    array([ 6., 10.], dtype=float32)
    """
    x, ids, count = _sorted(data, segment_ids, "SegmentProd")
    return ops.segment_prod(x, ids, count=count)


def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Sums the slices of `data` with equal ids; slices with a negative id are dropped.

    >>> tf.math.unsorted_segment_sum([1.0, 2.0, 10.0], [1, 0, 1], 2).numpy()
    array([ 2., 11.], dtype=float32)
    """
    if isinstance(num_segments, Tensor) and num_segments.holds_dynamic_size:
        return ops.dynamic_segment_sum(*_rows(data, segment_ids, "UnsortedSegmentSum"), num_segments)
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentSum")
    return ops.segment_sum(x, ids, count=count)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the mean of the slices of `data` with equal ids; 0 for an unused id.

    >>> tf.math.unsorted_segment_mean([1.0, 2.0, 10.0], [1, 0, 1], 2).numpy()
    array([2. , 5.5], dtype=float32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentSum")
    if x.dtype.is_integer:
        x = ops.cast(x, dtype=dtypes.float32 if x.dtype.size < 4 else dtypes.float64)
    return ops.segment_sum(x, ids, count=count) / _counts(x, ids, count, x.dtype)


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Sums the slices of `data` with equal ids, divided by the square root of their number.

    >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], 1).numpy()
    array([5.], dtype=float32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentSum")
    return ops.segment_sum(x, ids, count=count) / ops.sqrt(_counts(x, ids, count, x.dtype))


def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the maximum of the slices of `data` with equal ids; the dtype's minimum for an unused id.

    >>> tf.math.unsorted_segment_max([1.0, 2.0, 10.0], [1, 0, 1], 2).numpy()
    array([ 2., 10.], dtype=float32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentMax")
    return ops.segment_max(x, ids, count=count, empty=x.dtype.min)


def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the minimum of the slices of `data` with equal ids; the dtype's maximum for an unused id.

    >>> tf.math.unsorted_segment_min([1.0, 2.0, 10.0], [1, 0, 1], 2).numpy()
    array([2., 1.], dtype=float32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentMin")
    return ops.segment_min(x, ids, count=count, empty=x.dtype.max)


def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the product of the slices of `data` with equal ids; 1 for an unused id.

    >>> tf.math.unsorted_segment_prod([3.0, 2.0, 10.0], [1, 0, 1], 2).numpy()
    array([ 2., 30.], dtype=float32)
    """
    x, ids, count = _unsorted(data, segment_ids, num_segments, "UnsortedSegmentProd")
    return ops.segment_prod(x, ids, count=count)


def dynamic_partition(
    data: ValueLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Partitions the slices of `data` into `num_partitions` tensors by their partition number.

    >>> odd, even = tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)
    >>> odd.numpy(), even.numpy()
    (array([1, 3], dtype=int32), array([2], dtype=int32))
    """
    x, numbers = to_tensor(data), to_tensor(partitions)
    num_partitions = int(num_partitions)
    if num_partitions < 1:
        raise errors.InvalidArgumentError(
            f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1 [Op:DynamicPartition]"
        )
    rank = len(numbers.dims)
    if x.dims[:rank] != numbers.dims:
        raise errors.InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {list(x.dims)}, partitions.shape = "
            f"{list(numbers.dims)} [Op:DynamicPartition]"
        )
    values = np.ravel(to_array(numbers))
    outside = np.flatnonzero((values < 0) | (values >= num_partitions))
    if outside.size:
        raise errors.InvalidArgumentError(
            f"partitions[{outside[0]}] = {values[outside[0]]} is not in [0, {num_partitions}) [Op:DynamicPartition]"
        )
    rows = math.prod(numbers.dims)
    return list(
        ops.dynamic_partition(
            ops.reshape(x, shape=(rows, *x.dims[rank:])), ops.reshape(numbers, shape=(rows,)), count=num_partitions
        )
    )


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """Merges tensors: `merged[indices[m][i]] = data[m][i]`; the last value written to an index wins.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy()
    array([10, 20, 30], dtype=int32)
    """
    where = [to_array(i) for i in indices]
    hint = next((x.dtype for x in data if isinstance(x, Tensor)), None)
    parts = [to_tensor(x, hint=hint) for x in data]
    if len(where) != len(parts):
        raise ValueError(
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(parts)} must match length {len(where)} of "
            "argument 'indices'."
        )
    if not where:
        raise errors.InvalidArgumentError("dynamic_stitch needs at least one part, got none [Op:DynamicStitch]")
    rows = []
    for k, (at, x) in enumerate(zip(where, parts, strict=True)):
        if x.dims[: at.ndim] != at.shape:
            raise errors.InvalidArgumentError(
                f"data[{k}].shape = {list(x.dims)} does not start with indices[{k}].shape = {list(at.shape)} "
                "[Op:DynamicStitch]"
            )
        rows.append(ops.reshape(x, shape=(at.size, *x.dims[at.ndim :])))
    places = np.concatenate([at.reshape(-1) for at in where])
    negative = np.flatnonzero(places < 0)
    if negative.size:
        raise errors.InvalidArgumentError(
            f"indices[{negative[0]}] = {places[negative[0]]} is out of range [Op:DynamicStitch]"
        )
    writers = np.full(int(places.max(initial=-1)) + 1, -1)
    writers[places] = np.arange(places.size)
    return ops.segment_spread(ops.concat(*rows, axis=0), to_tensor(writers))
