"""Pooling over windows of equal size, and adaptive pooling to a given output size."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor as convert_to_tensor

_LAYOUTS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def layout_of(x: Tensor, data_format: str | None) -> str:
    """Returns TensorFlow's name for Keras' `data_format` of `x`."""
    names = _LAYOUTS[backend.standardize_data_format(data_format)]
    if len(x.dims) not in names:
        raise ValueError(f"inputs must have 1, 2 or 3 axes of space, rank 3, 4 or 5. Received: shape {x.dims}")
    return names[len(x.dims)]


def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pooled(tf.nn.max_pool, inputs, pool_size, strides, padding, data_format)


def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return _pooled(tf.nn.avg_pool, inputs, pool_size, strides, padding, data_format)


def _pooled(pool: Any, inputs: Any, pool_size: Any, strides: Any, padding: str, data_format: str | None) -> Tensor:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding '{padding}', must be 'same' or 'valid'.")
    x = convert_to_tensor(inputs)
    return pool(x, pool_size, pool_size if strides is None else strides, padding.upper(), layout_of(x, data_format))


def adaptive_average_pool(inputs, output_size, data_format=None):
    return _adaptive(_mean_of_parts, inputs, output_size, data_format)


def adaptive_max_pool(inputs, output_size, data_format=None):
    return _adaptive(_largest_of_parts, inputs, output_size, data_format)


def _adaptive(pool: Any, inputs: Any, output_size: Any, data_format: str | None) -> Tensor:
    """Applies `pool` along each spatial axis in turn."""
    x = convert_to_tensor(inputs)
    first = 2 if layout_of(x, data_format).startswith("NC") else 1
    n = len(x.dims) - 2
    sizes = (output_size,) * n if isinstance(output_size, int) else tuple(output_size)
    for axis, parts in enumerate(sizes, first):
        size = x.dims[axis]
        starts = np.arange(parts) * size // parts
        ends = -(-np.arange(1, parts + 1) * size // parts)
        x = pool(x, axis, starts, ends)
    return x


def _mean_of_parts(x: Tensor, axis: int, starts: Any, ends: Any) -> Tensor:
    places = np.arange(x.dims[axis])[:, None]
    weights = ((places >= starts) & (places < ends)) / (ends - starts)
    rank = len(x.dims)
    last = (*(i for i in range(rank) if i != axis), axis)
    back = (*range(axis), rank - 1, *range(axis, rank - 1))
    y = ops.matmul(ops.transpose(x, perm=last), convert_to_tensor(weights, dtype=x.dtype))
    return ops.transpose(y, perm=back)


def _largest_of_parts(x: Tensor, axis: int, starts: Any, ends: Any) -> Tensor:
    # A shorter window repeats its last position.
    places = np.minimum(starts[:, None] + np.arange((ends - starts).max()), ends[:, None] - 1)
    seen = tf.gather(x, convert_to_tensor(places, dtype="int32"), axis=axis)
    return ops.max(seen, axis=(axis + 1,), keepdims=False)
