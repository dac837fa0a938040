"""Clipping of values and of the norms of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike
from ...engine.registry.devices import call_on_all
from ...engine.run.convert import to_array, to_tensor, to_tensors
from ...engine.run.namespace import ops
from ...ops.elementwise import arithmetic
from ..arrays.casting import cast

NAMESPACES = ("linalg", "")
__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]


@overload
def clip_by_value(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor: ...
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """Clips the values of `t` to the range from `clip_value_min` to `clip_value_max`:
    `y = min(max(t, clip_value_min), clip_value_max)`.

    - Shape: that of `t`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `t`.
    - Derivative: 1 where `clip_value_min <= t <= clip_value_max`, else 0.

    Args:
      t: a tensor, or `tf.IndexedSlices`.
      clip_value_min: the lower bound, which broadcasts to the shape of `t`.
      clip_value_max: the upper bound, which broadcasts to the shape of `t`.

    Returns:
      A tensor of the shape of `t`. No gradient flows through clipped entries.

    Raises:
      tf.errors.InvalidArgumentError: if a bound does not broadcast to the shape of `t`.

    >>> tf.clip_by_value([-1.0, 0.5, 9.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    values = t.values if isinstance(t, IndexedSlices) else to_tensor(t)
    clipped = arithmetic.minimum.call(values, clip_value_max)
    clipped = arithmetic.maximum.call(clipped, clip_value_min)
    if clipped.dims != values.dims:
        raise ValueError(f"Shapes {values.shape} and {clipped.shape} are incompatible: the limits would broadcast `t`")
    return _like(t, clipped)


@overload
def clip_by_norm(  # type: ignore[overload-overlap]
    t: IndexedSlices, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> IndexedSlices: ...
@overload
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> Tensor: ...
def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None) -> Any:
    """Scales `t` down, if necessary, to an L2 norm of `clip_norm` along `axes` (all by default).

    Args:
      t: a tensor, or `tf.IndexedSlices`.
      clip_norm: the largest norm, a positive scalar; infinity leaves `t` as it is.
      axes: the axes of the norm; None means all of them.

    Returns:
      A tensor of the shape of `t`.

    >>> tf.clip_by_norm([3.0, 4.0], 1.0).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    values = t.values if isinstance(t, IndexedSlices) else to_tensor(t)
    rank = len(values.dims)
    given = np.arange(rank) if axes is None else to_array(axes, np.int64).reshape(-1)
    along = tuple((given % max(rank, 1)).tolist())
    limit = ops.maximum(_limit(clip_norm, values), 0)
    unlimited = ops.is_inf(ops.real(limit) if limit.dtype.is_complex else limit)
    limit = ops.where(unlimited, ops.ones_like(limit), limit)
    scaled = values * limit
    if scaled.dims != values.dims:
        raise ValueError(f"Shapes {values.dims} and {limit.dims} are incompatible: clip_norm must broadcast to t")
    squares = ops.sum(values * values, axis=along, keepdims=True)
    positive = squares > 0
    norm = ops.where(positive, arithmetic.sqrt(ops.where(positive, squares, 1)), squares)
    return _like(t, ops.where(unlimited, values, scaled / ops.maximum(norm, limit)))


def clip_by_global_norm(
    t_list: Sequence[TensorLike | None], clip_norm: TensorLike, use_norm: TensorLike | None = None,
    name: str | None = None,
) -> tuple[list[Any], Tensor]:  # fmt: skip
    """Scales a list of tensors down to a joint norm of at most `clip_norm`; also returns their original norm.

    Args:
      t_list: a list of tensors, `tf.IndexedSlices` and None, such as the gradients of a model.
      clip_norm: the largest joint norm, a positive scalar; infinity leaves the tensors as they are.
      use_norm: the joint norm, if it is known; by default, `tf.linalg.global_norm(t_list)`.

    Returns:
      The list of scaled tensors, with None where `t_list` has it, and the joint norm before scaling. If the norm is not
        finite, all entries are NaN.

    Raises:
      TypeError: if `t_list` is not a sequence.

    >>> tf.clip_by_global_norm([tf.constant([3.0, 4.0]), None], 1.0)[0][0].numpy()
    array([0.6, 0.8], dtype=float32)
    """
    _check_list(t_list)
    known: Any = global_norm(t_list) if use_norm is None else use_norm
    norm = to_tensor(known)
    limit = _limit(clip_norm, norm)
    scale = limit * ops.minimum(ops.reciprocal(norm), ops.reciprocal(limit))
    scale = ops.where(ops.is_inf(limit), 1, scale)
    scale = ops.where(ops.is_finite(norm), scale, float("nan"))
    values = _values_of(t_list)
    scaled: Any = call_on_all("scale_arrays", values, scale)
    if scaled is None:
        scaled = [x * (scale if scale.dtype is x.dtype else cast(scale, x.dtype)) for x in values]
    following = iter(scaled)
    return [None if t is None else _like(t, next(following)) for t in t_list], known


def global_norm(t_list: Sequence[TensorLike | None], name: str | None = None) -> Tensor:
    """Returns the L2 norm of all elements of a list of tensors, in which None is ignored.

    Args:
      t_list: a list of tensors, `tf.IndexedSlices` and None.

    Returns:
      A scalar tensor.

    >>> tf.linalg.global_norm([tf.constant([3.0]), None, tf.constant(4.0)]).numpy()
    np.float32(5.0)
    """
    _check_list(t_list)
    values = _values_of(t_list)
    if not values:
        return to_tensor(0.0)
    for x in values:
        if not x.dtype.is_floating:
            raise InvalidArgumentError(
                f"Value for attr 'T' of {x.dtype.kernel_name()} is not in the list of allowed values: half, bfloat16, "
                "float, double [Op:L2Loss]. Use tf.abs or tf.cast first"
            )
    norm: Any = call_on_all("norm_of_arrays", values)
    if norm is not None:
        return norm
    squares = [ops.half_square(x) for x in values]
    total = ops.sum(ops.stack(*to_tensors(squares, "Pack"), axis=0), axis=(0,), keepdims=False)
    return arithmetic.sqrt(2.0 * total)


def _values_of(t_list: Sequence[Any]) -> list[Tensor]:
    """Returns the tensors of a list, those of slices among them."""
    return [to_tensor(t.values if isinstance(t, IndexedSlices) else t) for t in t_list if t is not None]


def _like(t: Any, values: Tensor) -> Any:
    """Returns the values in the form of `t`, a tensor or slices."""
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


def _limit(limit: Any, values: Tensor) -> Tensor:
    limit = to_tensor(limit, hint=values.dtype)
    return limit if limit.dtype is values.dtype else ops.cast(limit, dtype=values.dtype)


def _check_list(t_list: Any) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
