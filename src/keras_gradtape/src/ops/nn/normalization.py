"""Moments and normalization."""

from __future__ import annotations

from typing import Any

from keras.src.backend.common.dtypes import result_type
from keras.src.backend.config import epsilon as backend_epsilon

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ... import replicas
from ..core import cast
from ..core import dense_tensor as convert_to_tensor

_FLOAT16_MAX = 65504.0


def moments(x, axes, keepdims=False, synchronized=False):
    x = convert_to_tensor(x)
    given = x.dtype
    narrow = given.name in ("float16", "bfloat16")
    wide = cast(x, "float32") if narrow else x
    if synchronized:
        mean, variance = replicas.moments(wide, axes, keepdims)
    else:
        mean, variance = tf.nn.moments(wide, axes, keepdims=keepdims)
    if not narrow:
        return mean, variance
    return _narrowed(mean, given), _narrowed(variance, given)


def _narrowed(x: Tensor, dtype: Any) -> Tensor:
    """Casts `x` to half precision, saturating at the largest finite float16."""
    return ops.cast(ops.minimum(ops.maximum(x, -_FLOAT16_MAX), _FLOAT16_MAX), dtype=dtype)


def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    x = convert_to_tensor(x)
    after = len(x.dims) - 1 - axis % len(x.dims)

    def along_axis(value: Any) -> Tensor | None:
        if value is None:
            return None
        value = convert_to_tensor(value)
        return ops.reshape(value, shape=(value.dims[0], *(1,) * after)) if after else value

    return tf.nn.batch_normalization(
        x, along_axis(mean), along_axis(variance), along_axis(offset), along_axis(scale), epsilon
    )


def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None):
    y = fused_layer_normalization(x, gamma, beta, axis, epsilon)
    if y is not None:
        return y
    x = convert_to_tensor(x)
    axes = sorted(a % len(x.dims) for a in ([axis] if isinstance(axis, int) else axis))
    shape = [size if a in axes else 1 for a, size in enumerate(x.dims)]
    mean, variance = moments(x, axes, keepdims=True)
    y = (x - mean) * ops.rsqrt(variance + (backend_epsilon() if epsilon is None else epsilon))
    if gamma is not None:
        y = y * tf.reshape(convert_to_tensor(gamma, x.dtype), shape)
    return y if beta is None else y + tf.reshape(convert_to_tensor(beta, x.dtype), shape)


def fused_layer_normalization(x: Any, gamma: Any, beta: Any, axis: Any, epsilon: float | None) -> Tensor | None:
    """Fused layer normalization along the last axis; returns None if it does not apply."""
    x = convert_to_tensor(x)
    size = x.dims[-1] if x.dims else 0
    if not x.dtype.is_floating or not size or axis not in (-1, [-1], (-1,), len(x.dims) - 1, [len(x.dims) - 1]):
        return None
    wide = result_type(x.dtype, "float32")
    scale = tf.ones((size,), wide) if gamma is None else cast(convert_to_tensor(gamma), wide)
    shift = tf.zeros((size,), wide) if beta is None else cast(convert_to_tensor(beta), wide)
    if scale.dims != (size,) or shift.dims != (size,):
        return None
    y = ops.layer_norm(cast(x, wide), scale, shift, epsilon=backend_epsilon() if epsilon is None else float(epsilon))
    return cast(y, x.dtype)
