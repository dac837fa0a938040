"""Reductions along the axes of ragged tensors, and over segments of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.math import elementwise, segments
from ..api.math import reductions as dense
from ..core import dtypes, errors
from ..core.tensor import Tensor
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import arrays, indices
from .constructors import rows_of
from .partition import cut_at
from .tensor import RaggedTensor, axis_of

_PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (dense.reduce_sum, segments.unsorted_segment_sum),
    "prod": (dense.reduce_prod, segments.unsorted_segment_prod),
    "max": (dense.reduce_max, segments.unsorted_segment_max),
    "min": (dense.reduce_min, segments.unsorted_segment_min),
}


def segment(combine: Callable[..., Any], data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """Combines the rows of `data` with the same id, elementwise; a result is as long as the longest of them."""
    if not isinstance(data, RaggedTensor) and not isinstance(segment_ids, RaggedTensor):
        return combine(data, segment_ids, num_segments)
    if not isinstance(data, RaggedTensor):
        raise ValueError(
            "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
        )
    ids = segment_ids if isinstance(segment_ids, RaggedTensor) else to_tensor(segment_ids, None, data.row_splits.dtype)
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError("segment_ids must have dtype int32 or int64.")
    if isinstance(ids, RaggedTensor):
        arrays.check_same_rows([data, ids], "segment_ids.shape must be a prefix of data.shape")
        return segment(combine, data.values, ids.values, num_segments)
    dtype = data.row_splits.dtype
    ids = ids if ids.dtype is dtype else ops.cast(ids, dtype=dtype)
    lengths = data.row_lengths()
    longest = segments.unsorted_segment_max(lengths, ids, num_segments)
    splits = indices.splits_of(ops.maximum(longest, indices.number(0, dtype)))
    # The destination of each value: its position in the row of its segment.
    rows = data.value_rowids()
    places = ops.add(indices.picked(indices.picked(splits, ids), rows), data._row_partition.offsets_in_rows())
    found = segment(combine, data.values, places, indices.looked_at(splits[-1]))
    return RaggedTensor(found, cut_at(splits), internal=True)


def reduced(kind: str, x: Any, axis: Any, keepdims: bool) -> Any:
    """Reduces `x` along an axis, several, or all."""
    whole, by_segment = _PAIRS[kind]
    return along(x, axis, keepdims, whole, by_segment)


def along(x: Any, axis: Any, keepdims: bool, whole: Callable[..., Any], by_segment: Callable[..., Any]) -> Any:
    """Reduces `x` by a function of a whole tensor, or by a segment reduction of its rows."""
    if not isinstance(x, RaggedTensor):
        return whole(x, axis=axis, keepdims=keepdims)
    if axis is None:
        result = whole(x.flat_values, axis=None, keepdims=keepdims)
        # As in TensorFlow, inner dimensions of the values add dimensions of size 1.
        return ops.reshape(result, shape=(1,) * (len(x.shape) + len(result.dims) - 1)) if keepdims else result
    if isinstance(axis, Tensor):
        axis = to_array(axis).tolist()
    if isinstance(axis, list | tuple):
        if not axis:
            return x
        if len(axis) > 1:
            axes = sorted(axis_of(one, x.shape.rank, f"axis[{i}]") for i, one in enumerate(axis))
            inner = along(x, axes[-1], keepdims, whole, by_segment)
            return along(inner, axes[:-1], keepdims, whole, by_segment)
        axis = axis[0]
    axis = axis_of(axis, x.shape.rank)
    if axis > 1:
        return x.with_values(along(x.values, axis - 1, keepdims, whole, by_segment))
    if axis == 1:
        result = segment(by_segment, x.values, x.value_rowids(), rows_of(x))
    else:
        count = indices.looked_at(ops.max(x.row_lengths(), axis=(0,), keepdims=False)) if rows_of(x) else 0
        result = segment(by_segment, x.values, x._row_partition.offsets_in_rows(), count)
    return arrays.expand_dims(result, axis) if keepdims else result


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_sum`."""
    return reduced("sum", input_tensor, axis, keepdims)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_prod`."""
    return reduced("prod", input_tensor, axis, keepdims)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_max`; of an empty row, the smallest number of the dtype."""
    return reduced("max", input_tensor, axis, keepdims)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_min`; of an empty row, the largest number of the dtype."""
    return reduced("min", input_tensor, axis, keepdims)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_mean`; of an empty row, NaN."""
    total = reduced("sum", input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(ops.ones_like(input_tensor.flat_values))
    count = reduced("sum", ones, axis, keepdims)
    if not isinstance(total, RaggedTensor):
        return total / count
    return RaggedTensor.from_nested_row_splits(
        total.flat_values / count.flat_values, total.nested_row_splits, validate=False
    )


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.math.reduce_variance`."""
    if input_tensor.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    mean = reduce_mean(input_tensor, axis, keepdims)
    squares = reduce_mean(ops.square(input_tensor), axis, keepdims)
    return ops.maximum(squares - ops.square(mean), 0)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.math.reduce_std`."""
    return ops.sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_all`; of an empty row, True."""
    return arrays.cast(reduced("prod", arrays.cast(input_tensor, dtypes.int32), axis, keepdims), dtypes.bool)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_any`; of an empty row, False."""
    return arrays.cast(reduced("sum", arrays.cast(input_tensor, dtypes.int32), axis, keepdims), dtypes.bool)


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """`tf.reduce_logsumexp`."""
    if axis is None:
        result = dense.reduce_logsumexp(input_tensor.flat_values)
        return ops.reshape(result, shape=(1,) * len(input_tensor.shape)) if keepdims else result
    largest = reduce_max(input_tensor, axis, keepdims=True)
    finite = elementwise.where(ops.is_finite(largest), largest, to_tensor(0, input_tensor.dtype))
    shifted = ops.log(reduce_sum(ops.exp(input_tensor - finite), axis, keepdims))
    return shifted + (finite if keepdims else reduce_max(finite, axis))


def _of_segments(combine: Callable[..., Any]) -> Callable[..., Any]:
    def answered(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
        return segment(combine, data, segment_ids, num_segments)

    return answered


unsorted_segment_sum = _of_segments(segments.unsorted_segment_sum)
unsorted_segment_prod = _of_segments(segments.unsorted_segment_prod)
unsorted_segment_max = _of_segments(segments.unsorted_segment_max)
unsorted_segment_min = _of_segments(segments.unsorted_segment_min)


def _counted(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    ones = data.with_flat_values(ops.ones_like(data.flat_values))
    return unsorted_segment_sum(data, segment_ids, num_segments), unsorted_segment_sum(ones, segment_ids, num_segments)


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
    """`tf.math.unsorted_segment_mean`."""
    total, count = _counted(data, segment_ids, num_segments)
    return total / count


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
    """`tf.math.unsorted_segment_sqrt_n`."""
    total, count = _counted(data, segment_ids, num_segments)
    return total / ops.sqrt(count)


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: Any = None) -> tuple[Any, Any]:
    """`tf.nn.moments`: mean and variance."""
    mean = reduce_mean(x, axes, keepdims=True)
    squares = ops.squared_difference(x, mean)
    return (mean if keepdims else reduce_mean(x, axes)), reduce_mean(squares, axes, keepdims)


def softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
    """`tf.nn.softmax`."""
    axis = -1 if axis is None else axis
    powers = ops.exp(logits - reduce_max(logits, axis, keepdims=True))
    return powers / reduce_sum(powers, axis, keepdims=True)


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None) -> Any:
    """`tf.cumsum`: the cumulative sums of all values minus the sum before the row."""
    axis = axis_of(axis, x.shape.rank)
    depth = x.ragged_rank
    if axis > depth:
        return x.with_flat_values(
            ops.cumsum(x.flat_values, axis=axis - depth, exclusive=bool(exclusive), reverse=bool(reverse))
        )
    if axis < depth:
        summed = ops.cumsum(x.to_tensor(), axis=axis, exclusive=bool(exclusive), reverse=bool(reverse))
        return RaggedTensor.from_tensor(summed, lengths=x.nested_row_lengths(), row_splits_dtype=x.row_splits.dtype)
    flat, rows = x.flat_values, x._nested_row_partitions[-1]
    summed = ops.cumsum(flat, axis=0, exclusive=True, reverse=bool(reverse))
    edges = indices.picked(rows.row_splits(), rows.value_rowids())
    if reverse:
        one = indices.number(1, rows.dtype)
        edges = ops.sub(indices.picked(rows.row_splits(), ops.add(rows.value_rowids(), one)), one)
    summed = ops.sub(summed, indices.picked(summed, edges))
    return x.with_flat_values(summed if exclusive else ops.add(summed, flat))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *others: Any,
    **named: Any,
) -> Any:
    """`tf.matmul`, matrix by matrix: their numbers of rows and columns may differ."""
    from ..api.math.contraction import matmul as product

    a, b = (x if isinstance(x, RaggedTensor) else to_tensor(x) for x in (a, b))
    if a.dtype is not b.dtype:
        raise ValueError("`a` and `b` must have the same dtype.")
    rank = a.shape.rank
    if b.shape.rank != rank:
        raise ValueError("`a` and `b` must have the same rank.")
    flags: dict[str, Any] = {
        "transpose_a": transpose_a, "transpose_b": transpose_b, "adjoint_a": adjoint_a, "adjoint_b": adjoint_b
    }  # fmt: skip
    if rank == 2:
        return product(_uniform(a), _uniform(b), **flags)
    dtype = next(x.row_splits.dtype for x in (a, b) if isinstance(x, RaggedTensor))
    if rank > 3:
        a, b = (
            x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x, row_splits_dtype=dtype) for x in (a, b)
        )
        arrays.check_same_rows([a, b], "Batch dimensions of `a` and `b` do not have the same size.")
        return a.with_values(matmul(a.values, b.values, **flags))
    if isinstance(a, RaggedTensor) and a.ragged_rank == 1 and not (
        isinstance(b, RaggedTensor) or transpose_a or adjoint_a
    ):  # one product for all rows, each with the matrix of its batch
        rows = ops.reshape(a.values, shape=(a.values.dims[0], 1, *a.values.dims[1:]))
        found = product(rows, indices.picked(b, a.value_rowids()), **flags)
        return a.with_values(ops.reshape(found, shape=(found.dims[0], found.dims[2])))
    last = isinstance(b, RaggedTensor) and (b.ragged_rank == 2 or transpose_b or adjoint_b)
    made: list[Any] = [product(_uniform(a[i]), _uniform(b[i]), **flags) for i in range(rows_of(a))]
    if last:
        made = [RaggedTensor.from_tensor(y, row_splits_dtype=dtype) for y in made]
        return arrays.stack(made).with_row_splits_dtype(dtype)
    return arrays.stacked_rows(made, dtype)


def _uniform(x: Any) -> Tensor:
    """Returns a matrix from a ragged tensor with rows of equal length."""
    if not isinstance(x, RaggedTensor):
        return x
    lengths = x.row_lengths()

    def test(counts: Any) -> None:
        if len(counts) and counts.min() != counts.max():
            raise errors.InvalidArgumentError(
                "The matrices in `a` and `b` may not be ragged in their innermost dimension. The rows of one have the "
                f"lengths {counts.tolist()}"
            )

    verify(test, lengths)
    return x.to_tensor()
