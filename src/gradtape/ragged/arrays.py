"""Joining, repeating, reversing and splitting ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..api.arrays import casting, shaping
from ..api.arrays import concat as joining
from ..api.math import elementwise
from ..core import dtypes, errors
from ..core.dtypes import DType, as_dtype
from ..core.tensor import Tensor
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.verification import verify
from . import indices
from .constructors import rows_of
from .elementwise import broadcast, same_splits_dtype
from .indexing import end_to_end, take
from .partition import cut_at
from .tensor import RaggedTensor, axis_of


def values_of(value: Any, dtype: Any = None, preferred_dtype: Any = None, name: Any = None) -> Any:
    """Returns a ragged tensor unchanged, anything else as a tensor."""
    wanted, preferred = (None if kind is None else as_dtype(kind) for kind in (dtype, preferred_dtype))
    if not isinstance(value, RaggedTensor):
        return to_tensor(value, wanted, preferred)
    if wanted not in (None, value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {wanted} for RaggedTensor with dtype {value.dtype.name}: {value}."
        )
    return value


def is_ragged(value: Any) -> bool:
    """Returns whether a value is a ragged tensor."""
    return isinstance(value, RaggedTensor)


def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """`tf.cast`."""
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(casting.cast(x.flat_values, dtype))
    return casting.cast(x, dtype)


def check_same_rows(values: Sequence[RaggedTensor], message: str) -> None:
    """Raises an error unless the outermost rows of all values have the same lengths; in a trace, in every run."""
    first = values[0].row_splits
    for other in values[1:]:
        if other.row_splits is first:
            continue

        def test(mine: Any, its: Any) -> None:
            if not np.array_equal(mine, its):
                raise errors.InvalidArgumentError(
                    f"{message}. The rows end at {mine[1:].tolist()} and at {its[1:].tolist()}"
                )

        verify(test, first, other.row_splits)


def expand_dims(input: Any, axis: Any, name: Any = None) -> Any:
    """`tf.expand_dims`."""
    if not isinstance(input, RaggedTensor):
        return shaping.expand_dims(input, axis)
    axis = axis_of(axis, len(input.shape) + 1)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(input, rows_of(input), nrows=1, validate=False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(input, 1, nrows=rows_of(input), validate=False)
    return input.with_values(expand_dims(input.values, axis - 1))


def squeeze(input: Any, axis: Any = None, name: Any = None) -> Any:
    """`tf.squeeze`; the axes are required."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = [axis] if isinstance(axis, int) else axis
    if not isinstance(axes, list | tuple) or not all(isinstance(one, int) for one in axes):
        raise TypeError("Axis must be a list or tuple of integers.")
    axes = [axis_of(one, len(input.shape), f"axis[{i}]") for i, one in enumerate(axes)]
    depth = input.ragged_rank
    for one in axes:
        lengths = input.nested_row_lengths()[one - 1] if 0 < one <= depth else None
        if lengths is not None:
            verify(_all_one(one), lengths)
        elif one == 0 and rows_of(input) != 1:
            raise errors.InvalidArgumentError(
                f"the given axis (axis = 0) is not squeezable! There are {rows_of(input)} rows"
            )
    values = input.flat_values
    inner = tuple(one - depth for one in axes if one > depth)
    if inner:
        values = shaping.squeeze(values, inner)
    kept = [rows for i, rows in enumerate(input._nested_row_partitions, 1) if i not in axes]
    if kept and 0 in axes:
        kept.pop(0)
    for rows in reversed(kept):
        values = RaggedTensor(values, rows, internal=True)
    return shaping.squeeze(values, 0) if set(range(depth + 1)) <= set(axes) else values


def _all_one(axis: int) -> Any:
    def test(lengths: Any) -> None:
        if np.any(lengths != 1):
            raise errors.InvalidArgumentError(
                f"the given axis (axis = {axis}) is not squeezable! Its rows have the lengths {lengths.tolist()}"
            )

    return test


# Joining


def concat(values: Any, axis: Any, name: Any = None) -> Any:
    """`tf.concat`."""
    return _joined(values, axis, stacking=False)


def stack(values: Any, axis: Any = 0, name: Any = None) -> Any:
    """`tf.stack`, and `tf.ragged.stack`."""
    return _joined(values, axis, stacking=True)


def _joined(values: Any, axis: Any, stacking: bool) -> Any:
    given = values if isinstance(values, list | tuple) else [values]
    if not given:
        raise ValueError("rt_inputs may not be empty.")
    known = next((v.dtype for v in given if isinstance(v, RaggedTensor | Tensor)), None)
    parts: list[Any] = [v if isinstance(v, RaggedTensor | Tensor) else to_tensor(v, hint=known) for v in given]
    same_splits_dtype(parts)
    dtype = next((x.row_splits.dtype for x in parts if isinstance(x, RaggedTensor)), dtypes.int64)
    if len(parts) == 1 and not stacking:
        return parts[0]
    rank = len(parts[0].shape)
    for x in parts:
        if len(x.shape) != rank:
            raise ValueError(f"Shape {x.shape} must have rank {rank}: all inputs must have one rank")
    axis = axis_of(axis, rank + stacking)
    if stacking and rank == 1 and axis == 0:
        return stacked_rows(parts, dtypes.int32)
    if not any(isinstance(x, RaggedTensor) for x in parts) and axis in (rank + stacking - 1, rank - 1):
        return joining.stack(parts, axis) if stacking else joining.concat(parts, axis)
    depth = max(x.ragged_rank if isinstance(x, RaggedTensor) else 1 for x in parts)
    parts = [_with_ragged_rank(x, depth, dtype) for x in parts]
    if axis == 0:
        whole = end_to_end(parts)
        if not stacking:
            return whole
        counts = np.array([rows_of(x) for x in parts], dtype.numpy)
        return RaggedTensor.from_row_lengths(whole, to_tensor(counts), validate=False)
    if axis == 1:
        return _side_by_side(parts, stacking, dtype)
    check_same_rows(parts, "Inputs must have identical ragged splits")
    return parts[0].with_values(_joined([x.values for x in parts], axis - 1, stacking))


def stacked_rows(parts: Sequence[Tensor], dtype: DType) -> RaggedTensor:
    """Returns tensors as the rows of a ragged tensor."""
    counts = np.array([x.dims[0] for x in parts], dtype.numpy)
    return RaggedTensor.from_row_lengths(joining.concat(list(parts), 0), to_tensor(counts), validate=False)


def _with_ragged_rank(x: Any, depth: int, dtype: DType) -> Any:
    """Returns the value with this ragged rank."""
    if depth == 0:
        return x
    if not isinstance(x, RaggedTensor):
        x = RaggedTensor.from_tensor(x, row_splits_dtype=dtype)
    return x if x.ragged_rank >= depth else x.with_values(_with_ragged_rank(x.values, depth - 1, dtype))


def _side_by_side(parts: Sequence[RaggedTensor], stacking: bool, dtype: DType) -> RaggedTensor:
    """Joins or stacks several values row by row."""
    count, rows = len(parts), rows_of(parts[0])
    for i, x in enumerate(parts):
        if rows_of(x) != rows:
            raise errors.InvalidArgumentError(
                f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes: {rows} and {rows_of(x)} rows"
            )
    order = np.arange(rows * count, dtype=dtype.numpy).reshape(count, rows).T.ravel()
    turned = take(end_to_end(parts), to_tensor(order))
    if stacking:
        return RaggedTensor.from_row_splits(
            turned, to_tensor(np.arange(rows + 1, dtype=dtype.numpy) * count), validate=False
        )
    every = to_tensor(np.arange(rows + 1, dtype=dtype.numpy) * count)
    splits = indices.picked(turned.row_splits, every)
    return RaggedTensor(turned.values, cut_at(splits), internal=True)


# Repeating, reversing, splitting


def tile(input: Any, multiples: Any, name: Any = None) -> Any:
    """`tf.tile`."""
    times = [int(n) for n in to_array(multiples).ravel()]
    if len(times) != len(input.shape):
        raise ValueError(
            f"Shape ({len(times)},) and rank {len(input.shape)} are not compatible: multiples has one number for each "
            "dimension"
        )
    return _tiled(input, times)


def _tiled(x: Any, times: list[int]) -> Any:
    if not isinstance(x, RaggedTensor):
        from ..api.arrays.repeating import tile as dense

        return x if all(n == 1 for n in times) else dense(x, times)
    values, dtype = _tiled(x.values, [1, *times[2:]]), x.row_splits.dtype
    rows = cut_at(x.row_splits, count=rows_of(x.values))
    if times[1] != 1:
        longer = ops.mul(rows.row_lengths(), indices.number(times[1], dtype))
        splits = indices.splits_of(longer)
        count = rows.count * times[1]
        ids = indices.row_numbers(splits, count)
        each = indices.picked(ops.maximum(rows.row_lengths(), indices.number(1, dtype)), ids)
        places = ops.add(indices.picked(rows.row_starts(), ids), ops.mod(indices.offsets(splits, count), each))
        values = take(values, places)
        rows = cut_at(splits)
    result = RaggedTensor(values, rows, internal=True)
    if times[0] == 1:
        return result
    return take(result, to_tensor(np.tile(np.arange(rows_of(x), dtype=dtype.numpy), times[0])))


def reverse(tensor: Any, axis: Any, name: Any = None) -> Any:
    """`tf.reverse`."""
    if isinstance(axis, Tensor):
        axis = to_array(axis).tolist()
    if not isinstance(axis, list | tuple) or not all(isinstance(one, int) for one in axis):
        raise TypeError("`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor")
    axes = [axis_of(one, len(tensor.shape), f"axis[{i}]") for i, one in enumerate(axis)]
    keys = [slice(None, None, -1) if i in axes else slice(None) for i in range(max(axes, default=-1) + 1)]
    return tensor[tuple(keys)]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: Any = None) -> list[Any]:
    """`tf.split` along a dimension that is not ragged."""
    if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
        return [value]
    axis = axis_of(axis, len(value.shape))
    size = value.shape[axis]
    if size is None:
        raise ValueError(f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {axis}.")
    if isinstance(num_or_size_splits, int):
        if num_or_size_splits < 1:
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`. Received {num_or_size_splits}.")
        sizes = [size // num_or_size_splits] * num_or_size_splits
    else:
        given = to_array(num_or_size_splits)
        if given.ndim != 1:
            raise TypeError(
                f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {num_or_size_splits}."
            )
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(
                "`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers. Received "
                f"{num_or_size_splits}."
            )
        sizes = given.tolist()
        if num is not None and num != len(sizes):
            raise ValueError(
                f"`num` does not match the size of `num_or_size_split`. Received `num`: {num} and size of "
                f"`num_or_size_split`: {len(sizes)}."
            )
    if min(sizes, default=0) < 0 or sum(sizes) != size:
        raise errors.InvalidArgumentError(
            f"Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`: {sizes} of a "
            f"dimension of size {size}"
        )
    ends = np.cumsum([0, *sizes]).tolist()
    lead = (slice(None),) * axis
    return [value[(*lead, slice(i, j))] for i, j in pairwise(ends)]


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """`tf.where`."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    if x is None:
        return _true_places(values_of(condition))
    known = next((v.dtype for v in (x, y) if isinstance(v, RaggedTensor | Tensor)), None)
    x, y = (v if isinstance(v, RaggedTensor | Tensor) else to_tensor(v, hint=known) for v in (x, y))
    operands = same_splits_dtype([values_of(condition), x, y])
    parts = broadcast(operands)
    flat = elementwise.where(*[v.flat_values if isinstance(v, RaggedTensor) else v for v in parts])
    return next(v for v in parts if isinstance(v, RaggedTensor)).with_flat_values(flat)


def _true_places(condition: Any) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return elementwise.where(condition)
    inner = _true_places(condition.values)
    rows = condition.with_row_splits_dtype(inner.dtype)
    first = inner[:, 0]
    at = indices.picked(rows.value_rowids(), first)
    columns = ops.sub(first, indices.picked(rows.row_splits, at))
    return ops.concat(ops.stack(at, columns, axis=1), inner[:, 1:], axis=1)


def rank(input: Any, name: Any = None) -> Tensor:
    """`tf.rank`."""
    return to_tensor(len(input.shape))


def size(input: Any, out_type: Any = None, name: Any = None) -> Tensor:
    """`tf.size`: the number of values."""
    return shaping.size(input.flat_values, dtypes.int32 if out_type is None else out_type)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Any = None,
) -> Any:
    """`tf.one_hot`."""
    from ..api.arrays.creation import one_hot as dense

    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank})."
            )
        axis -= indices.ragged_rank
    return indices.with_flat_values(dense(indices.flat_values, depth, on_value, off_value, axis, dtype))


def bitcast(input: Any, type: Any, name: Any = None) -> Any:
    """`tf.bitcast`."""
    dtype, flat = as_dtype(type), input.flat_values
    if input.dtype.size < dtype.size and len(flat.dims) < 2:
        raise ValueError(
            "`input.flat_values` is required to have rank >= 2 when input.dtype.size < type.size. Actual rank: "
            f"{len(flat.dims)}"
        )
    return input.with_flat_values(casting.bitcast(flat, dtype))
