"""Sorting and searching: argmax, sort, top_k and similar functions."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, DTypeLike, TensorLike
from ...engine.run.convert import how_to_agree, integer, to_tensor, with_default, wrong_input
from ...engine.run.namespace import ops

NAMESPACES = ("math", "")
__all__ = [
    "approx_max_k", "approx_min_k", "approx_top_k", "argmax", "argmin", "argsort", "in_top_k", "invert_permutation",
    "is_non_decreasing", "is_strictly_increasing", "searchsorted", "sort", "top_k",
]  # fmt: skip

TopKV2 = namedtuple("TopKV2", ["values", "indices"])
ApproxTopK = namedtuple("ApproxTopK", ["values", "indices"])


def _axis_of(x: Tensor, axis: Any, title: str) -> int:
    rank, i = len(x.dims), integer(axis, "axis")
    if not -rank <= i < rank:
        raise errors.InvalidArgumentError(
            f"Expected dimension in the range [{-rank}, {rank}), but got {i} [Op:{title}] for a tensor of shape "
            f"{list(x.dims)}"
        )
    return i % rank


def position_type(dtype: Any, allowed: tuple[DType, ...], title: str, attribute: str = "output_type") -> DType:
    """Returns the dtype of positions, after checking that the op `title` allows it."""
    wanted = dtypes.as_dtype(dtype)
    if wanted not in allowed:
        raise errors.InvalidArgumentError(
            f"Value for attr '{attribute}' of {wanted.kernel_name()} is not in the list of allowed values: "
            f"{', '.join(d.name for d in allowed)} [Op:{title}]"
        )
    return wanted


def _ordered(x: Any, title: str) -> Tensor:
    x = to_tensor(x)
    if x.dtype is dtypes.string or x.dtype.is_complex:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {x.dtype.kernel_name()} is not in the list of allowed values: reals and bool "
            f"[Op:{title}]"
        )
    return x


def argmax(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """Returns the index of the largest value along `axis` (by default the first axis); the first one at a tie.

    - Shape: that of `input` without `axis`.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result is
      `int64`, or `output_type`.
    - Derivative: none; gradients are `None`.

    >>> tf.argmax([[1.0, 5.0, 5.0], [7.0, 3.0, 4.0]], axis=1).numpy()
    array([1, 0])
    """
    x = _ordered(input, "ArgMax")
    dtype = position_type(output_type, (dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64), "ArgMax")
    return ops.argmax(x, axis=_axis_of(x, 0 if axis is None else axis, "ArgMax"), dtype=dtype.numpy)


def argmin(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = dtypes.int64, name: str | None = None
) -> Tensor:
    """Returns the index of the smallest value along `axis` (by default the first axis); the first one at a tie.

    - Shape: that of `input` without `axis`.
    - Dtypes: `bool`, `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result is
      `int64`, or `output_type`.
    - Derivative: none; gradients are `None`.

    >>> tf.argmin([[1.0, 5.0, 5.0], [7.0, 3.0, 4.0]], axis=1).numpy()
    array([0, 1])
    """
    x = _ordered(input, "ArgMin")
    dtype = position_type(output_type, (dtypes.int32, dtypes.int64), "ArgMin")
    return ops.argmin(x, axis=_axis_of(x, 0 if axis is None else axis, "ArgMin"), dtype=dtype.numpy)


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    return direction == "DESCENDING"


def argsort(
    values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """Returns the indices that sort `values` along `axis`; the sort is always stable.

    - Shape: that of `values`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result is `int32`.
    - Derivative: none; gradients are `None`.

    >>> tf.argsort([3.0, 1.0, 2.0]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    descending = _descending(direction)
    x = to_tensor(values)
    return ops.argsort(x, axis=_axis_of(x, axis, "Sort"), descending=descending)


def sort(values: TensorLike, axis: AxisLike = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sorts `values` along `axis`; each value keeps its gradient.

    - Shape: that of `values`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `values`.
    - Derivative: the gradient, in the order of `values`.

    >>> tf.sort([3.0, 1.0, 2.0], direction="DESCENDING").numpy()
    array([3., 2., 1.], dtype=float32)
    """
    descending = _descending(direction)
    x = to_tensor(values)
    return ops.sort(x, axis=_axis_of(x, axis, "Sort"), descending=descending)


def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> TopKV2:  # fmt: skip
    """Returns the `k` largest values along the last axis in descending order, and their indices.

    - Shape: `[..., n]` → `[..., k]`, both results.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `input`.
    - Derivative: the values' gradient goes to the elements that they are.

    >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
    >>> values.numpy(), indices.numpy()
    (array([5., 3.], dtype=float32), array([1, 2], dtype=int32))
    """
    x = to_tensor(input)
    count = integer(k, "k")
    if not x.dims:
        raise errors.InvalidArgumentError("input must be >= 1-D, got shape [] [Op:TopKV2]")
    if count < 0:
        raise errors.InvalidArgumentError(f"Need k >= 0, got {count} [Op:TopKV2]")
    if count > x.dims[-1]:
        raise errors.InvalidArgumentError(
            f"input must have at least k columns. Had {x.dims[-1]}, needed {count} [Op:TopKV2]"
        )
    dtype = position_type(index_type, (dtypes.int16, dtypes.int32, dtypes.int64), "TopKV2")
    values, indices = ops.top_k(x, k=count)
    return TopKV2(values, indices if dtype is dtypes.int32 else ops.cast(indices, dtype=dtype))


def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether each row's target class is among its `k` largest predictions, including ties.

    >>> tf.math.in_top_k([1, 2], [[0.1, 0.8, 0.1], [0.5, 0.3, 0.2]], k=1).numpy()
    array([ True, False])
    """
    predicted = to_tensor(predictions, dtype=dtypes.float32)
    wanted = to_tensor(targets)
    if wanted.dtype not in (dtypes.int32, dtypes.int64):
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {wanted.dtype.name} is not in the list of allowed values: int32, int64 "
            "[Op:InTopKV2]"
        )
    if len(predicted.dims) != 2:
        raise errors.InvalidArgumentError(
            f"predictions must be 2-dimensional, got shape {list(predicted.dims)} [Op:InTopKV2]"
        )
    if wanted.dims != predicted.dims[:1]:
        raise errors.InvalidArgumentError(
            f"First dimension of predictions {predicted.dims[0]} must match length of targets {list(wanted.dims)} "
            "[Op:InTopKV2]"
        )
    return ops.in_top_k(wanted, predicted, k=integer(k, "k"))


def _extreme_k(operand: Any, k: int, axis: int, largest: bool) -> ApproxTopK:
    x = to_tensor(operand)
    axis = _axis_of(x, axis, "ApproxTopK")
    order = (*(i for i in range(len(x.dims)) if i != axis), axis)
    back = (*range(axis), len(order) - 1, *range(axis, len(order) - 1))
    turned = ops.transpose(x, perm=order)
    values, indices = top_k(turned if largest else -turned, k)
    values, indices = (ops.transpose(y, perm=back) for y in (values, indices))
    return ApproxTopK(values if largest else -values, indices)


def approx_max_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Returns the `k` largest values along an axis and their indices; exact, whatever the recall target.

    >>> tf.math.approx_max_k([1.0, 5.0, 3.0], k=2)[0].numpy()
    array([5., 3.], dtype=float32)
    """
    return _extreme_k(operand, k, reduction_dimension, largest=True)


def approx_min_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Returns the `k` smallest values along an axis and their indices; exact, whatever the recall target.

    >>> tf.math.approx_min_k([1.0, 5.0, 3.0], k=2)[0].numpy()
    array([1., 3.], dtype=float32)
    """
    return _extreme_k(operand, k, reduction_dimension, largest=False)


def searchsorted(
    sorted_sequence: TensorLike, values: TensorLike, side: str = "left", out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the insertion index of each of `values` in the sorted last axis of `sorted_sequence`.

    >>> tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0]).numpy()
    array([0, 1, 3], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = {side!r}.")
    sequence, sought = to_tensor(sorted_sequence), to_tensor(values)
    if not sequence.dims or not sought.dims:
        raise errors.InvalidArgumentError("searchsorted needs at least one dimension, got a scalar. Use [value]")
    if sequence.dtype is not sought.dtype:
        raise errors.InvalidArgumentError(
            f"{wrong_input('LowerBound', 1, sequence.dtype, sought.dtype)}. "
            f"{how_to_agree(sequence.dtype, sought.dtype)}"
        )
    lead = math.prod(sequence.dims[:-1])
    if math.prod(sought.dims[:-1]) != lead:
        raise errors.InvalidArgumentError(
            f"Leading dim_size of both tensors must match: got the shapes {list(sequence.dims)} and "
            f"{list(sought.dims)} [Op:LowerBound]"
        )
    rows, places = (ops.reshape(x, shape=(lead, x.dims[-1])) for x in (sequence, sought))
    dtype = position_type(out_type, (dtypes.int32, dtypes.int64), "LowerBound")
    found = ops.search_sorted(rows, places, side=side, dtype=dtype.numpy)
    return ops.reshape(found, shape=sought.dims)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns `y` with `y[x[i]] = i`.

    >>> tf.math.invert_permutation([2, 0, 1]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    x = with_default(x, dtypes.int32, dtypes.INT)
    if len(x.dims) != 1:
        raise errors.InvalidArgumentError(
            f"invert_permutation expects a 1D vector, got shape {list(x.dims)} [Op:InvertPermutation]"
        )
    return ops.invert_permutation(x)


def _neighbours(x: Any) -> tuple[Tensor, Tensor]:
    x = to_tensor(x)
    if not x.dtype.is_numeric:
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    size = math.prod(x.dims)
    flat = ops.reshape(x, shape=(size,))
    return ops.slice(flat, key=(slice(0, max(size - 1, 0)),)), ops.slice(flat, key=(slice(1, None),))


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether no element is smaller than its predecessor.

    >>> tf.math.is_non_decreasing([1.0, 1.0, 3.0]).numpy()
    np.True_
    """
    before, after = _neighbours(x)
    return ops.all(ops.less_equal(before, after), axis=(0,))


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether every element is larger than its predecessor.

    >>> tf.math.is_strictly_increasing([1.0, 1.0, 3.0]).numpy()
    np.False_
    """
    before, after = _neighbours(x)
    return ops.all(ops.less(before, after), axis=(0,))


def approx_top_k(
    input: TensorLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, is_max_k: bool = True,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, name: str | None = None,
) -> ApproxTopK:  # fmt: skip
    """`approx_max_k` or `approx_min_k`, which are exact.

    >>> tf.approx_top_k([1.0, 3.0, 2.0], 2, is_max_k=False).indices.numpy().tolist()
    [0, 2]
    """
    choose = approx_max_k if is_max_k else approx_min_k
    return ApproxTopK(*choose(input, k, reduction_dimension, recall_target))
