"""Image resizing: each output row or column is a weighted sum of input rows or columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor
from .layout import on_batch, one_of

RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")
_METHODS = {
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
    "tricubic": "cubic",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
}


def resize(
    images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
    fill_mode="constant", fill_value=0.0, data_format=None,
):  # fmt: skip
    one_of(interpolation, RESIZE_INTERPOLATIONS, "interpolation")
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
            f"fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if len(size) != 2:
        raise ValueError(f"Argument `size` must be a tuple of two elements (height, width). Received: size={size}")
    target = (int(size[0]), int(size[1]))

    def resized(x: Tensor) -> Tensor:
        if crop_to_aspect_ratio:
            x = _cropped(x, *target)
        elif pad_to_aspect_ratio:
            x = _padded(x, target[0], target[1], fill_value)
        return tf.image.resize(x, target, method=interpolation, antialias=antialias)

    return on_batch(resized, images, data_format)


def _in_proportion(x: Tensor, height: int, width: int) -> tuple[int, int]:
    """Returns the height proportional to the target width, and the width proportional to the target height."""
    return int(x.dims[2] * height / width), int(x.dims[1] * width / height)


def _cropped(x: Tensor, height: int, width: int) -> Tensor:
    tall, wide = _in_proportion(x, height, width)
    tall, wide = max(min(x.dims[1], tall), 1), max(min(x.dims[2], wide), 1)
    top, left = (x.dims[1] - tall) // 2, (x.dims[2] - wide) // 2
    return x[:, top : top + tall, left : left + wide]


def _padded(x: Tensor, height: int, width: int, fill_value: float) -> Any:
    tall, wide = _in_proportion(x, height, width)
    rows, columns = (max(tall, x.dims[1]) - x.dims[1]) // 2, (max(wide, x.dims[2]) - x.dims[2]) // 2
    margins = [(0, 0), (rows, rows), (columns, columns), (0, 0)]
    return tf.pad(x, margins, constant_values=convert_to_tensor(fill_value, dtype=x.dtype))


def _triangle(x: Any) -> Any:
    return ops.relu(1 - x)


def _cubic(x: Any) -> Any:
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return ops.where(x < 1.0, near, ops.masked(x < 2.0, far))


def _lanczos(radius: float) -> Any:
    def kernel(x: Any) -> Any:
        product = radius * ops.sin(math.pi * x) * ops.sin(math.pi * x / radius)
        away = x > 1e-3
        ratio = product / ops.where(away, math.pi**2 * ops.square(x), ops.ones_like(x))
        return ops.masked(x <= radius, ops.where(away, ratio, ops.ones_like(x)))

    return kernel


_KERNELS = {"linear": _triangle, "cubic": _cubic, "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0)}


def _weights(
    size: int, target: int, scale: Any, translation: Any, kernel: Any, antialias: bool
) -> Tensor:
    """Returns the `(size, target)` matrix of the weights of input rows in output rows."""
    inverse = 1.0 / scale
    positions = convert_to_tensor(np.arange(target) + 0.5, dtype=scale.dtype)
    at = positions * inverse - translation * inverse - 0.5
    rows = convert_to_tensor(np.arange(size)[:, None], dtype=scale.dtype)
    distance = ops.abs(at - rows)
    if antialias:
        distance = distance / ops.maximum(inverse, 1.0)
    weights = kernel(distance)
    total = ops.sum(weights, axis=(0,), keepdims=True)
    counts = ops.abs(total) > 1000.0 * float(np.finfo(np.float32).eps)
    weights = ops.masked(counts, weights / ops.where(counts, total, ops.ones_like(total)))
    inside = ops.logical_and(at >= -0.5, at <= size - 0.5)
    return ops.masked(inside, weights)


def scale_and_translate(images, output_shape, scale, translation, spatial_dims, method, antialias=True):
    one_of(method, _METHODS, "method")
    x, scale, translation = (convert_to_tensor(value) for value in (images, scale, translation))
    dtype = result_type(scale.dtype.name, translation.dtype.name, float)
    scale, translation = cast(scale, dtype), cast(translation, dtype)
    y = x if x.dtype.is_floating else cast(x, "float32")
    rank = len(x.dims)
    for i, axis in enumerate(spatial_dims):
        axis = axis % rank
        weights = _weights(
            x.dims[axis], int(output_shape[axis]), scale[i], translation[i], _KERNELS[_METHODS[method]], antialias
        )
        last = (*(k for k in range(rank) if k != axis), axis)
        back = (*range(axis), rank - 1, *range(axis, rank - 1))
        y = ops.transpose(ops.matmul(ops.transpose(y, perm=last), ops.cast(weights, dtype=y.dtype)), perm=back)
    if x.dtype.is_floating:
        return y
    everything = tuple(range(rank))
    low, high = (cast(extreme(x, axis=everything, keepdims=False), "float32") for extreme in (ops.min, ops.max))
    return ops.cast(ops.minimum(ops.maximum(ops.rint(y), low), high), dtype=x.dtype)
