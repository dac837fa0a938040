"""Projective transforms of images: `tf.raw_ops.ImageProjectiveTransformV3`."""

from __future__ import annotations

from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ..namespace import root as tf


def transform_images(
    images: Any, transforms: Any, output_shape: Any, fill_value: Any, interpolation: str, fill_mode: str
) -> Tensor:
    """Returns images whose pixel at (x, y) is the input's at the transformed position.

    A transform is `[a0, a1, a2, b0, b1, b2, c0, c1]`: with `k = c0 x + c1 y + 1`, the position is
    `((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)`.
    """
    images = to_tensor(images)
    if len(images.shape) != 4:
        raise InvalidArgumentError(f"images must have rank 4, got shape {images.shape}")
    batch, height, width, _ = images.dims
    rows, columns = output_shape[0], output_shape[1]
    y, x = (tf.cast(part, "float32") for part in tf.meshgrid(tf.range(rows), tf.range(columns), indexing="ij"))
    a0, a1, a2, b0, b1, b2, c0, c1 = tf.unstack(tf.cast(transforms, "float32")[:, None, None], axis=-1)
    k = c0 * x + c1 * y + 1.0
    at_x = _in_range(tf.math.divide_no_nan(a0 * x + a1 * y + a2, k), width, fill_mode)
    at_y = _in_range(tf.math.divide_no_nan(b0 * x + b1 * y + b2, k), height, fill_mode)
    flat = tf.reshape(images, [batch * height * width, -1])
    fill = tf.cast(fill_value, images.dtype)
    first = tf.range(batch)[:, None, None] * (height * width)

    def read(row: Tensor, column: Tensor) -> Tensor:
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & (k != 0)
        index = first + tf.cast(tf.where(inside, row * width + column, 0.0), "int32")
        return tf.where(inside[..., None], tf.gather(flat, index), fill)

    if interpolation == "NEAREST":
        return read(_rounded(at_y), _rounded(at_x))
    low_y, low_x = tf.floor(at_y), tf.floor(at_x)
    up, left = (at_y - low_y)[..., None], (at_x - low_x)[..., None]
    lower = read(low_y, low_x), read(low_y, low_x + 1)
    upper = read(low_y + 1, low_x), read(low_y + 1, low_x + 1)
    (a, b), (c, d) = ([tf.cast(part, "float32") for part in row] for row in (lower, upper))
    found = (1 - up) * ((1 - left) * a + left * b) + up * ((1 - left) * c + left * d)
    return tf.cast(found, images.dtype)


def _rounded(x: Tensor) -> Tensor:
    """Rounds half away from zero."""
    return tf.sign(x) * tf.floor(tf.abs(x) + 0.5)


def _in_range(x: Tensor, size: int, fill_mode: str) -> Tensor:
    """Moves positions into an axis as the fill mode says."""
    if fill_mode == "CONSTANT":
        return x
    if fill_mode == "REFLECT":
        period = 2.0 * size
        x = tf.math.floormod(x, period)
        x = tf.where(x >= size, period - x - 1, x)
    elif fill_mode == "WRAP":
        below, above = x < 0, x > size - 1
        span = max(size - 1, 1)
        x = tf.where(below, x + size * (tf.floor(-x / span) + 1), tf.where(above, x - size * tf.floor(x / span), x))
    elif fill_mode != "NEAREST":
        raise InvalidArgumentError(f"fill_mode must be REFLECT, WRAP, CONSTANT or NEAREST, got {fill_mode!r}")
    return tf.clip_by_value(x, 0.0, size - 1.0)
