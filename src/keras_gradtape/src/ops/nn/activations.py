"""Activation functions."""

from __future__ import annotations

import math
from typing import Any

from keras.src.backend.common.backend_utils import canonicalize_axis

from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor as convert_to_tensor


def relu(x):
    return ops.relu(convert_to_tensor(x))


def relu6(x):
    return ops.relu6(convert_to_tensor(x))


def sigmoid(x):
    logits = convert_to_tensor(x)
    return _with_logits(ops.sigmoid(logits), logits)


def _with_logits(y: Tensor, logits: Tensor) -> Tensor:
    """Attaches the logits to `y`: a cross-entropy computed from them does not saturate."""
    y._keras_logits = logits  # type: ignore[attr-defined]
    return y


def sparse_sigmoid(x):
    x = convert_to_tensor(x)
    return _clipped(0.5 * (x + 1), 0.0, 1.0)


def tanh(x):
    return ops.tanh(convert_to_tensor(x))


def tanh_shrink(x):
    x = convert_to_tensor(x)
    return x - ops.tanh(x)


def softplus(x):
    return ops.softplus(convert_to_tensor(x))


def softsign(x):
    return ops.softsign(convert_to_tensor(x))


def soft_shrink(x, threshold=0.5):
    x = convert_to_tensor(x)
    return x - _clipped(x, -threshold, threshold)


def sparse_plus(x):
    x = convert_to_tensor(x)
    inside = ops.where(x < 1, 0.25 * ops.square(_clipped(x, -1.0, 1.0) + 1), x)  # the square of a large x overflows
    return ops.masked(x > -1, inside)


def silu(x):
    return ops.silu(convert_to_tensor(x))


def squareplus(x, b=4):
    x = convert_to_tensor(x)
    root = ops.hypot(x, convert_to_tensor(math.sqrt(b), dtype=x.dtype))  # the square of a large x overflows
    return ops.where(x < 0, 0.5 * b / (root + ops.abs(x)), 0.5 * x + 0.5 * root)  # x + root cancels where x is negative


def log_sigmoid(x):
    return ops.log_sigmoid(convert_to_tensor(x))


def leaky_relu(x, negative_slope=0.2):
    return ops.leaky_relu(convert_to_tensor(x), alpha=float(negative_slope))


def hard_sigmoid(x):
    return ops.relu6(convert_to_tensor(x) + 3.0) / 6.0


def hard_silu(x):
    x = convert_to_tensor(x)
    return x * hard_sigmoid(x)


def elu(x, alpha=1.0):
    x = convert_to_tensor(x)
    y = ops.elu(x)
    return y if alpha == 1 else ops.where(x > 0, x, alpha * y)


def selu(x):
    return ops.selu(convert_to_tensor(x))


def gelu(x, approximate=True):
    x = convert_to_tensor(x)
    return ops.gelu_tanh(x) if approximate else ops.gelu(x)


def celu(x, alpha=1.0):
    x = convert_to_tensor(x)
    return ops.where(x > 0, x, alpha * ops.elu(x / alpha))


def glu(x, axis=-1):
    x = convert_to_tensor(x)
    axis = canonicalize_axis(axis, len(x.dims))
    if x.dims[axis] % 2:
        raise ValueError(f"axis size must be divisible by 2. Received: x.shape={x.dims} with axis={axis}")
    half = x.dims[axis] // 2
    value, gate = ops.split(x, sizes=(half, half), axis=axis)
    return value * ops.sigmoid(gate)


def hard_tanh(x):
    return _clipped(convert_to_tensor(x), -1.0, 1.0)


def hard_shrink(x, threshold=0.5):
    x = convert_to_tensor(x)
    return ops.masked(ops.abs(x) > threshold, x)


def threshold(x, threshold, default_value):
    x = convert_to_tensor(x)
    return ops.where(x > threshold, x, convert_to_tensor(default_value, dtype=x.dtype))


def _clipped(x: Tensor, low: float, high: float) -> Tensor:
    return ops.minimum(ops.maximum(x, low), high)


def softmax(x, axis=-1):
    logits = convert_to_tensor(x)
    return _with_logits(_along(ops.softmax, logits, axis), logits)


def log_softmax(x, axis=-1):
    return _along(ops.log_softmax, convert_to_tensor(x), axis)


def _along(op: Any, x: Tensor, axis: int | None) -> Tensor:
    """Applies `op` along an axis, or over all elements."""
    if axis is None:
        return ops.reshape(op(ops.reshape(x, shape=(math.prod(x.dims),)), axis=0), shape=x.dims)
    return op(x, axis=axis % len(x.dims))


def sparsemax(x, axis=-1):
    """Projects `x` onto the probability simplex."""
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
