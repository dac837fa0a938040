"""Resizing as in TensorFlow 1: with aligned corners, or without half-pixel centers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from .arguments import on_batch
from .resampling import Taps, applied, resize


def resized(method: str, images: TensorLike, size: TensorLike, align_corners: bool, half_pixel_centers: bool) -> Tensor:
    """Resizes images by `"nearest"`, `"bilinear"`, `"bicubic"` or `"area"`."""
    if align_corners and half_pixel_centers:
        raise errors.InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    if half_pixel_centers:
        return resize(images, size, method)
    height, width = (int(n) for n in to_array(size))
    if height <= 0 or width <= 0:
        raise errors.InvalidArgumentError(f"output dimensions must be positive, got {height} and {width}")

    def along(x: Tensor, axis: int, target: int) -> Tensor:
        position = _positions(x.dims[axis], target, align_corners)
        if method == "nearest":
            half = 0.5 if align_corners else 0.0  # rounds away from zero: positions are not negative
            rows = np.minimum(np.floor(position.astype(np.float64) + half), x.dims[axis] - 1)
            return ops.gather(x, to_tensor(rows.astype(int)), axis=axis, batch=0)
        return applied(x, axis, _TAPS[method](position, x.dims[axis]))

    def both(x: Tensor) -> Tensor:
        x = x if method == "nearest" else ops.cast(x, dtype=dtypes.float32)
        return along(along(x, 1, height), 2, width)

    return on_batch(to_tensor(images), both)


def _positions(size: int, target: int, align_corners: bool) -> Any:
    """Returns the positions of output rows in the input, in TensorFlow's float32 arithmetic."""
    between = align_corners and target > 1
    scale = np.float32(size - 1) / np.float32(target - 1) if between else np.float32(size) / np.float32(target)
    return np.arange(target, dtype=np.float32) * scale


def _bilinear(position: Any, size: int) -> Taps:
    below = np.floor(position)
    part = position - below
    rows = np.stack([below, np.ceil(position)], axis=1).clip(0, size - 1).astype(int)
    return Taps(rows, np.stack([1 - part, part], axis=1))


def _bicubic(position: Any, size: int) -> Taps:
    """Keys' kernel with a = -0.75, sampled at multiples of 1/1024; rows outside repeat the border."""
    below = np.floor(position)
    part = np.rint((position - below) * 1024) / 1024
    offsets = np.arange(-1, 3)
    x, a = np.abs(offsets - part[:, None]), -0.75
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    rows = (below[:, None].astype(int) + offsets).clip(0, size - 1)
    return Taps(rows, np.where(x < 1, near, np.where(x < 2, far, 0.0)))


def _area(position: Any, size: int) -> Taps:
    step = position[1] - position[0] if min(len(position), size) > 1 else np.float32(size)
    first = np.floor(position).astype(int)
    end = position + step
    rows = first[:, None] + np.arange(int((np.ceil(end) - first).max()))
    covered = np.minimum(rows + 1, end[:, None]) - np.maximum(rows, position[:, None])
    return Taps(rows.clip(0, size - 1), np.maximum(covered, 0) / step)


_TAPS = {"bilinear": _bilinear, "bicubic": _bicubic, "area": _area}
