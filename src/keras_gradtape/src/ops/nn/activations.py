"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

from gradtape import Tensor
from gradtape.engine.op import ops

from ..core import convert_to_tensor


def relu(x: Any) -> Tensor:
    return ops.relu(convert_to_tensor(x))


def relu6(x: Any) -> Tensor:
    return ops.relu6(convert_to_tensor(x))


def sigmoid(x: Any) -> Tensor:
    return ops.sigmoid(convert_to_tensor(x))


def sparse_sigmoid(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return _clipped(0.5 * (x + 1), 0.0, 1.0)


def tanh(x: Any) -> Tensor:
    return ops.tanh(convert_to_tensor(x))


def tanh_shrink(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return x - ops.tanh(x)


def softplus(x: Any) -> Tensor:
    return ops.softplus(convert_to_tensor(x))


def softsign(x: Any) -> Tensor:
    return ops.softsign(convert_to_tensor(x))


def soft_shrink(x: Any, threshold: float = 0.5) -> Tensor:
    x = convert_to_tensor(x)
    return x - _clipped(x, -threshold, threshold)


def sparse_plus(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    inside = ops.where(x < 1, 0.25 * ops.square(x + 1), x)
    return ops.masked(x > -1, inside)


def silu(x: Any) -> Tensor:
    return ops.silu(convert_to_tensor(x))


def squareplus(x: Any, b: Any = 4) -> Tensor:
    x = convert_to_tensor(x)
    return 0.5 * (x + ops.sqrt(ops.square(x) + convert_to_tensor(b, dtype=x.dtype)))


def log_sigmoid(x: Any) -> Tensor:
    return ops.log_sigmoid(convert_to_tensor(x))


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Tensor:
    return ops.leaky_relu(convert_to_tensor(x), alpha=float(negative_slope))


def hard_sigmoid(x: Any) -> Tensor:
    return ops.relu6(convert_to_tensor(x) + 3.0) / 6.0


def hard_silu(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return x * hard_sigmoid(x)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    x = convert_to_tensor(x)
    y = ops.elu(x)
    return y if alpha == 1 else ops.where(x > 0, x, alpha * y)


def selu(x: Any) -> Tensor:
    return ops.selu(convert_to_tensor(x))


def gelu(x: Any, approximate: bool = True) -> Tensor:
    x = convert_to_tensor(x)
    return ops.gelu_tanh(x) if approximate else ops.gelu(x)


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    x = convert_to_tensor(x)
    return ops.relu(x) + alpha * ops.expm1(-ops.relu(-x) / alpha)


def glu(x: Any, axis: int = -1) -> Tensor:
    x = convert_to_tensor(x)
    axis = axis % len(x.dims)
    if x.dims[axis] % 2:
        raise ValueError(f"axis size must be divisible by 2. Received: x.shape={x.dims} with axis={axis}")
    half = x.dims[axis] // 2
    value, gate = ops.split(x, sizes=(half, half), axis=axis)
    return value * ops.sigmoid(gate)


def hard_tanh(x: Any) -> Tensor:
    return _clipped(convert_to_tensor(x), -1.0, 1.0)


def hard_shrink(x: Any, threshold: float = 0.5) -> Tensor:
    x = convert_to_tensor(x)
    return ops.masked(ops.abs(x) > threshold, x)


def threshold(x: Any, threshold: Any, default_value: Any) -> Tensor:
    x = convert_to_tensor(x)
    return ops.where(x > threshold, x, convert_to_tensor(default_value, dtype=x.dtype))


def _clipped(x: Tensor, low: float, high: float) -> Tensor:
    return ops.minimum(ops.maximum(x, low), high)


def softmax(x: Any, axis: int | None = -1) -> Tensor:
    return _along(ops.softmax, convert_to_tensor(x), axis)


def log_softmax(x: Any, axis: int | None = -1) -> Tensor:
    return _along(ops.log_softmax, convert_to_tensor(x), axis)


def _along(op: Any, x: Tensor, axis: int | None) -> Tensor:
    """`op` along an axis, or over all elements."""
    if axis is None:
        return ops.reshape(op(ops.reshape(x, shape=(math.prod(x.dims),)), axis=0), shape=x.dims)
    return op(x, axis=axis % len(x.dims))


def sparsemax(x: Any, axis: int = -1) -> Tensor:
    """The projection of `x` onto the probability simplex."""
    x = convert_to_tensor(x)
    axis = axis % len(x.dims)
    size = x.dims[axis]
    ordered = -ops.sort(-x, axis=axis)
    sums = ops.cumsum(ordered, axis=axis, exclusive=False, reverse=False)
    rank = convert_to_tensor(range(1, size + 1), dtype=x.dtype)
    rank = ops.reshape(rank, shape=(size, *(1,) * (len(x.dims) - axis - 1)))
    support = rank * ordered > sums - 1
    count = ops.sum(ops.cast(support, dtype=x.dtype), axis=(axis,), keepdims=True)
    total = ops.sum(ops.masked(support, ordered), axis=(axis,), keepdims=True)
    return ops.relu(x - (total - 1) / count)
