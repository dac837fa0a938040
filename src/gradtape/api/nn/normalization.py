"""Means, variances and normalization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...core.type_hints import AxisLike, TensorLike
from ...engine.registry.devices import REAL
from ...engine.run.convert import to_operand, to_tensor, with_default
from ...engine.run.namespace import ops
from ..math.elementwise import refuse_unsigned
from ..math.reductions import reduced_axes

NAMESPACES = ("nn",)
__all__ = [
    "batch_norm_with_global_normalization", "batch_normalization", "bias_add", "local_response_normalization",
    "moments", "normalize_moments", "sufficient_statistics", "weighted_moments",
]  # fmt: skip


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Adds one bias per channel to `value`: `y[..., c] = value[..., c] + bias[c]`.

    - Shape: that of `value`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`,
      `complex128`, `string` (TensorFlow does not take `string`); the result has that of `value`.
    - Derivative: the gradient of `bias` is summed over all other axes.

    >>> tf.nn.bias_add(tf.zeros((1, 3)), tf.constant([1.0, 2.0, 3.0])).numpy()
    array([[1., 2., 3.]], dtype=float32)
    """
    x = to_tensor(value)
    b = to_tensor(bias, dtype=None if hasattr(bias, "dtype") else x.dtype)
    if data_format is not None and not (data_format.startswith("NC") or (data_format[:1] + data_format[-1:]) == "NC"):
        raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
    if len(x.dims) < 2:
        raise errors.InvalidArgumentError(f"Input tensor must be at least 2D: {list(x.dims)} [Op:BiasAdd]")
    first = data_format is not None and data_format.startswith("NC") and len(x.dims) > 2
    channels = x.dims[1 if first else -1]
    if b.dims != (channels,):
        raise errors.InvalidArgumentError(
            f"Must provide as many biases as the {'second' if first else 'last'} dimension of the input tensor: "
            f"{list(b.dims)} vs. {list(x.dims)} [Op:BiasAdd]"
        )
    return x + (ops.reshape(b, shape=(channels, *(1,) * (len(x.dims) - 2))) if first else b)


def moments(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the mean and the variance of the `n` elements of `x` along `axes`:
    `Σ_i x[i] / n` and `Σ_i (x[i] - mean)**2 / n`; `shift` is ignored.d.

    - Shape: that of `x` without `axes`, which have size 1 with `keepdims`, of both.
    - Dtypes: `int8` … `int64`, `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128` (TensorFlow does
      not take `int8` and `int16`); the result has that of `x`.
    - Derivative: `1 / n` of the mean, `2 * (x[i] - mean) / n` of the variance.

    Args:
      x: a tensor, or a value that converts to one.
      axes: the axes to compute along; negative ones count from the end.
      shift: ignored; accepted for compatibility with TensorFlow.
      keepdims: whether the results keep the reduced axes, with size 1.

    Returns:
      The mean and the variance, two tensors.

    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    x = to_tensor(x)
    axis, keepdims = reduced_axes(x, axes), bool(keepdims)
    mean: Tensor
    variance: Tensor
    if x.dtype is dtypes.float16:
        mean, variance = ops.moments(ops.cast(x, dtype=dtypes.float32), axis=axis, keepdims=keepdims)
        return ops.cast(mean, dtype=x.dtype), ops.cast(variance, dtype=x.dtype)
    if x.dtype.is_floating:
        mean, variance = ops.moments(x, axis=axis, keepdims=keepdims)
        return mean, variance
    refuse_unsigned(x, "SquaredDifference")
    mean = ops.mean(x, axis=axis, keepdims=True)
    variance = ops.mean(ops.squared_difference(x, mean), axis=axis, keepdims=keepdims)
    return mean if keepdims else ops.reshape(mean, shape=variance.dims), variance


def weighted_moments(
    x: TensorLike, axes: AxisLike, frequency_weights: TensorLike, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the mean and variance of `x` along `axes`, weighted by `frequency_weights`; 0 if all weights are zero.

    >>> mean, variance = tf.nn.weighted_moments(tf.constant([1.0, 4.0]), [0], tf.constant([2.0, 1.0]))
    >>> float(mean), float(variance)
    (2.0, 2.0)
    """
    x = to_tensor(x)
    w = to_tensor(frequency_weights, dtype=None if hasattr(frequency_weights, "dtype") else x.dtype)
    axis = reduced_axes(x, axes)
    wide = dtypes.float32 if x.dtype is dtypes.float16 else x.dtype
    values = ops.cast(x, dtype=wide)
    w = ops.cast(w, dtype=wide)
    total = ops.sum(ops.broadcast_to(w, shape=np.broadcast_shapes(w.dims, x.dims)), axis=axis, keepdims=True)
    mean = ops.divide_no_nan(ops.sum(w * values, axis=axis, keepdims=True), total)
    spread = ops.sum(w * ops.squared_difference(values, mean), axis=axis, keepdims=True)
    variance = ops.divide_no_nan(spread, total)
    if not keepdims:
        kept = tuple(n for i, n in enumerate(mean.dims) if i not in axis)
        mean, variance = ops.reshape(mean, shape=kept), ops.reshape(variance, shape=kept)
    return ops.cast(mean, dtype=x.dtype), ops.cast(variance, dtype=x.dtype)


def sufficient_statistics(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Returns the count, the sum and the sum of squares of `x - shift` along `axes`, and the shift.

    >>> count, total, squares, _ = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])
    >>> float(count), float(total), float(squares)
    (2.0, 4.0, 10.0)
    """
    x = to_tensor(x)
    axis = reduced_axes(x, axes)
    count = ops.constant(np.array(math.prod(x.dims[i] for i in axis), x.dtype.numpy))
    if shift is not None:
        shift = to_tensor(shift, dtype=None if hasattr(shift, "dtype") else x.dtype)
        total, squares = x - shift, ops.squared_difference(x, shift)
    else:
        total, squares = x, ops.square(x)
    keep = bool(keepdims)
    return count, ops.sum(total, axis=axis, keepdims=keep), ops.sum(squares, axis=axis, keepdims=keep), shift


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike | None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance from the results of `sufficient_statistics`.

    >>> mean, variance = tf.nn.normalize_moments(2.0, tf.constant(4.0), tf.constant(10.0), None)
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    total, squares = to_tensor(mean_ss), to_tensor(variance_ss)
    share = ops.reciprocal(to_tensor(counts, dtype=None if hasattr(counts, "dtype") else total.dtype))
    shifted = total * share
    variance = squares * share - ops.square(shifted)
    return (shifted if shift is None else shifted + shift), variance


def batch_normalization(
    x: TensorLike, mean: TensorLike, variance: TensorLike, offset: TensorLike | None, scale: TensorLike | None,
    variance_epsilon: TensorLike, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`; `scale` and `offset` may be None.

    >>> tf.nn.batch_normalization(tf.constant([1.0, 3.0]), 2.0, 1.0, None, None, 0.0).numpy()
    array([-1.,  1.], dtype=float32)
    """
    x = to_operand(x)

    def like_x(value: Any) -> Tensor:
        if type(value) in REAL:
            return value
        return to_operand(value) if hasattr(value, "dtype") else to_tensor(value, dtype=x.dtype)

    center, spread = like_x(mean), like_x(variance)
    bias, gain = None if offset is None else like_x(offset), None if scale is None else like_x(scale)
    y = _normalized(x, center, spread, bias, gain, variance_epsilon)
    if y is not None:
        return y
    factor: Tensor = ops.rsqrt(spread + variance_epsilon)
    if gain is not None:
        factor = factor * gain
    shift = -center * factor if bias is None else bias - center * factor
    if factor.dtype is not x.dtype:
        factor = ops.cast(factor, dtype=x.dtype)
    if shift.dtype is not x.dtype:
        shift = ops.cast(shift, dtype=x.dtype)
    return x * factor + shift


def _normalized(
    x: Tensor, mean: Tensor, variance: Tensor, bias: Tensor | None, gain: Tensor | None, epsilon: TensorLike
) -> Tensor | None:
    """`batch_normalization` as one op; None unless operands are by channel, or statistics by row and the gain given."""
    dims = x.dims
    if not dims or not x.dtype.is_floating:
        return None
    center, spread = _as_row(mean, dims, x.dtype), _as_row(variance, dims, x.dtype)
    if center is None or spread is None:
        if gain is None or len(dims) < 2 or not mean.dims == variance.dims == (*dims[:-1], 1):
            return None
        if not mean.dtype is variance.dtype is x.dtype:
            return None
        center, spread = mean, variance
    scale = ops.ones_like(center) if gain is None else _as_row(gain, dims, x.dtype)
    if scale is None:
        return None
    shift = ops.zeros_like(scale) if bias is None else _as_row(bias, dims, x.dtype)
    if shift is None:
        return None
    if type(epsilon) is not float:
        spread, epsilon = spread + epsilon, 0.0
    return ops.normalization(x, center, spread, scale, shift, epsilon=epsilon)


def _as_row(a: Tensor, x_dims: tuple[int, ...], dtype: DType) -> Tensor | None:
    """Returns `a`, if it has a number for each channel of a tensor of shape `x_dims`, as a row; else None.

    It may have the shape `(1, 1, 1, channels)`, too.
    """
    dims, channels = a.dims, x_dims[-1:]
    if a.dtype is not dtype or dims[-1:] != channels:
        return None
    if len(dims) == 1:
        return a
    if len(dims) > len(x_dims) or any(n != 1 for n in dims[:-1]):
        return None
    return ops.reshape(a, shape=channels)


def local_response_normalization(
    input: TensorLike, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Divides each value by `(bias + alpha * sum of squares of the nearby channels) ** beta`.

    >>> x = tf.reshape(tf.constant([3.0, 4.0]), (1, 1, 1, 2))
    >>> tf.nn.local_response_normalization(x, depth_radius=1, bias=0.0).numpy().ravel()
    array([0.6, 0.8], dtype=float32)
    """
    x = with_default(input, dtypes.float32, dtypes.FLOAT | dtypes.NARROW)
    if len(x.dims) != 4:
        raise errors.InvalidArgumentError(f"in must be 4-dimensional [Op:LRN]. Received: shape {x.dims}")
    channels = np.arange(x.dims[-1])
    near = np.abs(channels[:, None] - channels) <= int(depth_radius)
    squares = ops.matmul(ops.square(x), ops.constant(near.astype(x.dtype.numpy)))
    return x * (bias + alpha * squares) ** -beta


def batch_norm_with_global_normalization(
    input: TensorLike, mean: TensorLike, variance: TensorLike, beta: TensorLike, gamma: TensorLike,
    variance_epsilon: TensorLike, scale_after_normalization: bool, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`batch_normalization`, scaled by `gamma` only if `scale_after_normalization`.

    >>> x = tf.constant([[[[3.0]]]])
    >>> tf.nn.batch_norm_with_global_normalization(x, [1.0], [4.0], [0.5], [9.0], 0.0, False).numpy().ravel().tolist()
    [1.5]
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)
