"""Concatenation, stacking and splitting along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike, ValueLike
from ...engine.run.convert import integer, integers, to_tensor, to_tensors
from ...engine.run.namespace import ops
from .shaping import identity

NAMESPACES = ("",)
__all__ = ["concat", "parallel_stack", "split", "stack", "unstack"]


def concat(values: ValueLike, axis: AxisLike, name: str = "concat") -> Tensor:
    """Concatenates tensors along an existing axis; their shapes agree along all others.

    - Shape: that of the values, whose sizes along `axis` add up.
    - Dtypes: any; the result has that of `values`.
    - Derivative: each value gets its part of the gradient.

    >>> tf.concat([[[1], [2]], [[3], [4]]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if not isinstance(values, list | tuple):
        return identity(values)
    tensors = to_tensors(values, "ConcatV2")
    if len(tensors) == 1:
        return identity(tensors[0])
    at = [axis] if type(axis) is int else integers(axis, "ConcatV2").reshape(-1).tolist()
    if not tensors or len(at) != 1:
        raise errors.InvalidArgumentError(f"ConcatOp : needs tensors and one axis, got {len(tensors)} and {len(at)}")
    n = len(tensors[0].dims)
    if not n:
        raise errors.InvalidArgumentError("ConcatOp : Can't concatenate scalars (use tf.stack instead) [Op:ConcatV2]")
    if not -n <= at[0] < n:
        raise errors.InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-n}, {n}), but got {at[0]} [Op:ConcatV2]"
        )
    where = at[0] % n
    first = tensors[0].dims
    before, after = first[:where], first[where + 1 :]
    for i, x in enumerate(tensors):
        if len(x.dims) != n or x.dims[:where] != before or x.dims[where + 1 :] != after:
            raise errors.InvalidArgumentError(
                f"ConcatOp : Ranks and all dimensions but {where} of the inputs should match: shape[0] = {list(first)} "
                f"vs. shape[{i}] = {list(x.dims)} [Op:ConcatV2]"
            ).about(first, x.dims)
    return ops.concat(*tensors, axis=where)


def stack(values: Sequence[ValueLike] | Tensor, axis: int = 0, name: str = "stack") -> Tensor:
    """Stacks tensors of the same shape along a new axis.

    - Shape: that of each value, with a new axis of their number at `axis`.
    - Dtypes: any; the result has that of `values`.
    - Derivative: each value gets its slice of the gradient.

    >>> tf.stack([[1, 4], [2, 5]], axis=1).numpy().tolist()
    [[1, 2], [4, 5]]
    """
    axis = integer(axis, "axis")
    if isinstance(values, np.ndarray) and values.ndim > 1 and axis:
        raise ValueError(f"expected a sequence for attr N, got an ndarray with rank {values.ndim} instead")
    if axis == 0 and not any(isinstance(v, Tensor) for v in (values if isinstance(values, list | tuple) else ())):
        try:
            return to_tensor(values)
        except (TypeError, ValueError):
            pass
    tensors = to_tensors(list(values), "Pack")
    n = len(tensors[0].dims) + 1 if tensors else 1
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    for i, x in enumerate(tensors):
        if x.dims != tensors[0].dims:
            raise errors.InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {list(tensors[0].dims)} != values[{i}].shape = "
                f"{list(x.dims)} [Op:Pack]"
            ).about(tensors[0].dims, x.dims)
    return ops.stack(*tensors, axis=axis % n)


def parallel_stack(values: Sequence[ValueLike] | Tensor, name: str = "parallel_stack") -> Tensor:
    """Not available in eager execution, as in TensorFlow: use `tf.stack`.

    >>> tf.parallel_stack([1, 2])
    Traceback (most recent call last):
    RuntimeError: tf.parallel_stack() is not compatible with eager execution. Use tf.stack
    """
    raise RuntimeError("tf.parallel_stack() is not compatible with eager execution. Use tf.stack")


def unstack(value: ValueLike, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """Splits `value` along `axis` into tensors without that axis.

    - Shape: that of `value` without `axis`, for each of the tensors.
    - Dtypes: any; the result has that of `value`.
    - Derivative: the gradients are stacked.

    >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = to_tensor(value)
    n, axis = len(x.dims), integer(axis, "axis")
    if not -n <= axis < n:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    if num is not None and num != x.dims[axis]:
        raise errors.InvalidArgumentError(
            f"Input shape axis {axis} must equal {num}, got shape {list(x.dims)} [Op:Unpack]"
        )
    return list(ops.unstack(x, axis=axis % n))


def split(
    value: ValueLike, num_or_size_splits: TensorLike, axis: AxisLike = 0, num: int | None = None, name: str = "split"
) -> list[Tensor]:
    """Splits `value` along `axis` into equal parts, or into parts of the given sizes, one of which may be -1.

    - Shape: that of `value`, with the sizes of the parts along `axis`.
    - Dtypes: any; the result has that of `value`.
    - Derivative: the gradients are concatenated.

    >>> [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]
    """
    x = to_tensor(value)
    n, at = len(x.dims), integer(axis, "axis")
    if not -n <= at < n:
        raise errors.InvalidArgumentError(f"-input rank(-{n}) <= split_dim < input rank ({n}), but got {at} [Op:Split]")
    at %= n
    length = x.dims[at]
    if isinstance(num_or_size_splits, Integral):
        count = int(num_or_size_splits)
        if count < 1:
            raise errors.InvalidArgumentError(f"Value for attr 'num_split' of {count} must be at least minimum 1")
        if length % count:
            raise errors.InvalidArgumentError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} (size = "
                f"{length}) and num_split {count} [Op:Split]"
            )
        sizes = (length // count,) * count
    else:
        sizes = _sizes(num_or_size_splits, length, num)
    return list(ops.split(x, sizes=sizes, axis=at))


def _sizes(given: Any, length: int, num: Any) -> tuple[int, ...]:
    if not to_tensor(given).dims:
        raise ValueError(
            f"Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: {given}"
        )
    sizes = integers(given, "SplitV").tolist()
    if num is not None and num != len(sizes):
        raise errors.InvalidArgumentError(
            f"size of the split_tensor must be 1-D and have the same elements as outputs, {num}, got {sizes} "
            "[Op:SplitV]"
        )
    for i, n in enumerate(sizes):
        if n < -1:
            raise errors.InvalidArgumentError(f"Split size at index {i} must be >= 0. Got: {n} [Op:SplitV]")
    if sizes.count(-1) > 1:
        raise errors.InvalidArgumentError("There can only be one -1 in the input. [Op:SplitV]")
    known = sum(n for n in sizes if n != -1)
    if (known > length) if -1 in sizes else (known != length):
        raise errors.InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {known} for {length} [Op:SplitV]"
        )
    return tuple(length - known if n == -1 else n for n in sizes)
