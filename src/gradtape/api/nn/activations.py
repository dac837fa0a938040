"""Activation functions that are more than one op, and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import ShapeLike, TensorLike
from ...engine.run.convert import integer, to_array, to_tensor
from ...engine.run.namespace import ops
from ..arrays.casting import cast
from ..math.elementwise import refuse_unsigned

NAMESPACES = ("nn", "nn.experimental")
__all__ = ["crelu", "dropout", "gelu", "general_dropout", "leaky_relu", "silu", "stateless_dropout", "swish"]


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """The leaky rectifier: `y = features if features > 0 else alpha * features`; the derivative at 0 is `alpha`.

    - Shape: that of `features`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64`; the result has that of
      `features`, but `int8`, `int16`, `int32`, `int64`, `uint8`, `uint16`, `uint32` and `uint64` give `float32`.
    - Derivative: `dy/dfeatures = 1 if features > 0 else alpha`.

    >>> tf.nn.leaky_relu(tf.constant([-1.0, 2.0])).numpy()
    array([-0.2,  2. ], dtype=float32)
    """
    if isinstance(alpha, Tensor):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    x = to_tensor(features)
    return ops.leaky_relu(ops.cast(x, dtype=dtypes.float32) if x.dtype.is_integer else x, alpha=float(alpha))


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """`relu(x)` and `relu(-x)`, concatenated along `axis`.

    >>> tf.nn.crelu(tf.constant([-1.0, 2.0])).numpy()
    array([0., 2., 1., 0.], dtype=float32)
    """
    x = refuse_unsigned(to_tensor(features), "Neg")
    return ops.relu(ops.concat(x, -x, axis=integer(axis, "axis") % len(x.dims)))


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """`x` times the probability that a standard normal variable is below it; `approximate` uses tanh.

    >>> tf.nn.gelu(tf.constant([0.0, 1.0])).numpy()
    array([0.       , 0.8413448], dtype=float32)
    """
    x = to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(f"`features.dtype` must be a floating point tensor. Received: features.dtype={x.dtype!r}")
    return ops.gelu_tanh(x) if approximate else ops.gelu(x)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """The sigmoid linear unit, also called swish: `y = features * sigmoid(beta * features)`.

    - Shape: that of `features`.
    - Dtypes: `bfloat16`, `float16`, `float32`, `float64`, `complex64`, `complex128`; the result has that of `features`.
    - Derivative: `dy/dfeatures = s * (1 + features * (1 - s))` for `s = sigmoid(features)` and `beta` 1.

    >>> tf.nn.silu(tf.constant([0.0, 1.0])).numpy()
    array([0.       , 0.7310586], dtype=float32)
    """
    x = to_tensor(features)
    if type(beta) in (int, float) and beta == 1 and not x.dtype.is_complex:
        return ops.silu(x)
    return x * ops.sigmoid(x * cast(beta, x.dtype))


swish = silu


def dropout(
    x: TensorLike, rate: Any, noise_shape: ShapeLike | None = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Sets each element to 0 with probability `rate`, and scales the others by `1 / (1 - rate)`.

    Args:
      noise_shape: the shape of the mask, which is broadcast to that of `x`.

    >>> tf.nn.dropout(tf.constant([1.0, 2.0]), rate=0.0).numpy()
    array([1., 2.], dtype=float32)
    """
    from ..random.draws import uniform

    return general_dropout(x, rate, lambda shape, dtype: uniform(shape, dtype=dtype, seed=seed), noise_shape)


def stateless_dropout(
    x: TensorLike, rate: Any, seed: int, rng_alg: Any = None, noise_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`dropout` with the mask determined by `seed`, two integers: the same in every call.

    >>> tf.nn.experimental.stateless_dropout(tf.ones([4]), rate=0.5, seed=[1, 2]).numpy()
    array([2., 0., 2., 0.], dtype=float32)
    """
    from ..random.stateless import stateless_uniform

    alg = "auto_select" if rng_alg is None else rng_alg
    return general_dropout(
        x, rate, lambda shape, dtype: stateless_uniform(shape, seed, dtype=dtype, alg=alg), noise_shape
    )


def general_dropout(
    x: TensorLike, rate: Any, uniform_sampler: Any, noise_shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """`dropout` that keeps elements where `uniform_sampler(shape=..., dtype=...)`, in [0, 1), is at least `rate`.

    >>> tf.nn.experimental.general_dropout(
    ...     tf.ones([2]), 0.5, lambda shape, dtype: tf.constant([0.2, 0.7], dtype)
    ... ).numpy()
    array([0., 2.], dtype=float32)
    """
    x = to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype!r}"
        )
    number = isinstance(rate, int | float | np.number)
    if number and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if number and rate == 0:
        return ops.identity(x)
    shape = x.dims
    if noise_shape is not None:
        wished = list(noise_shape) if isinstance(noise_shape, list | tuple) else to_array(noise_shape).tolist()
        shape = tuple(n if k is None else int(k) for n, k in zip(x.dims, wished, strict=True))
    if not number:
        rate = to_tensor(rate)
        rate = rate if rate.dtype is x.dtype else ops.cast(rate, dtype=x.dtype)
    keep = ops.greater_equal(uniform_sampler(shape=shape, dtype=x.dtype), rate)
    scaled = x * (1 / (1 - rate)) if number else x / (1 - rate)
    return ops.masked(keep, scaled)
