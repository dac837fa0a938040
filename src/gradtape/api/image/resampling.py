"""Resizing, axis by axis: each output row or column is a weighted sum of a few input ones.

The weights of a method for one axis are a matrix with few entries per row: `Taps`. Positions are pixel centers, as in
TensorFlow 2; `resized` has those of TensorFlow 1: with aligned corners, or without half-pixel centers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from .arguments import on_batch, require, to_image_or_batch
from .geometry import pad_to_bounding_box

NAMESPACES = ("image",)
__all__ = ["ResizeMethod", "crop_and_resize", "resize", "resize_with_pad"]

_FEW = 4  # up to this many input rows per output row, sums of rows are faster than a matrix product


class ResizeMethod:
    """The names of the resize methods.

    >>> tf.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    __module__ = "gradtape.image"

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


class Taps(NamedTuple):
    """For each output row, the indices and weights of its input rows: two arrays of shape [rows, taps]."""

    rows: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]


def _lanczos(radius: float) -> Callable[[Any], Any]:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _cubic(x: Any) -> Any:
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _mitchell(x: Any) -> Any:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


# The radius of each kernel, and its value at a distance.
_KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bilinear": (1.0, lambda x: np.maximum(0.0, 1 - x)),
    "bicubic": (2.0, _cubic),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0.0)),
    "mitchellcubic": (2.0, _mitchell),
}


def _kernel_taps(method: str, size: int, target: int, antialias: bool) -> Taps:
    """Returns a kernel around each output position, widened if the image shrinks and `antialias` is set."""
    radius, kernel = _KERNELS[method]
    step = 1 / np.float32(np.float32(target) / np.float32(size))
    widened = max(float(step), 1.0) if antialias else 1.0
    position = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * np.float32(step)
    first = np.ceil(position - radius * widened - 0.5).clip(0, size - 1).astype(int)
    last = np.floor(position + radius * widened - 0.5).clip(0, size - 1).astype(int)
    rows = first[:, None] + np.arange(int((last - first).max()) + 1)
    weights = kernel(np.abs(rows + 0.5 - position[:, None]) / widened) * (rows <= last[:, None])
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=np.abs(total) >= 1000 * np.finfo(np.float32).tiny)
    return Taps(rows.clip(0, size - 1), weights)


def _centres(size: int, target: int) -> Any:
    """Returns the centers of output pixels in input pixels, in TensorFlow's float32 arithmetic."""
    scale = np.float32(size) / np.float32(target)
    return (np.arange(target, dtype=np.float32) + np.float32(0.5)) * scale


def _bilinear_taps(size: int, target: int) -> Taps:
    position = _centres(size, target) - np.float32(0.5)
    below = np.floor(position)
    part = position - below
    rows = np.stack([below, np.ceil(position)], axis=1).clip(0, size - 1).astype(int)
    return Taps(rows, np.stack([1 - part, part], axis=1))


def _bicubic_taps(size: int, target: int) -> Taps:
    """Keys' kernel sampled at multiples of 1/1024, without taps outside the image."""
    position = _centres(size, target) - np.float32(0.5)
    below = np.floor(position)
    part = np.rint((position - below) * 1024) / 1024
    offsets = np.arange(-1, 3)
    rows = below[:, None].astype(int) + offsets
    weights = _cubic(np.abs(offsets - part[:, None])) * ((rows >= 0) & (rows < size))
    return Taps(rows.clip(0, size - 1), weights / weights.sum(axis=1, keepdims=True))


def _area_taps(size: int, target: int) -> Taps:
    """Each output pixel is the mean over the input interval that it covers."""
    scale = np.float32(size) / np.float32(target)
    start = np.arange(target, dtype=np.float32) * scale
    end = (np.arange(target, dtype=np.float32) + 1) * scale
    first = np.floor(start).astype(int)
    rows = first[:, None] + np.arange(int((np.ceil(end) - first).max()))
    covered = np.minimum(rows + 1, end[:, None]) - np.maximum(rows, start[:, None])
    return Taps(rows.clip(0, size - 1), np.maximum(covered, 0) / scale)


def applied(x: Tensor, axis: int, taps: Taps) -> Tensor:
    """Replaces an axis of `x` by the weighted sums of its rows."""
    rows, weights = taps
    count, rank = weights.shape[1], len(x.dims)
    if count <= _FEW:
        total = None
        for k in range(count):
            weight = weights[:, k].astype(x.dtype.numpy).reshape(-1, *(1,) * (rank - axis - 1))
            term = ops.gather(x, to_tensor(rows[:, k]), axis=axis, batch=0) * to_tensor(weight)
            total = term if total is None else total + term
        return total  # type: ignore[return-value]
    matrix = np.zeros((rows.shape[0], x.dims[axis]))
    np.add.at(matrix, (np.arange(rows.shape[0])[:, None], rows), weights)
    return mapped(x, axis, matrix)


def mapped(x: Tensor, axis: int, matrix: Any) -> Tensor:
    """Applies a matrix along one axis of `x`."""
    dims = x.dims
    flat = ops.reshape(x, shape=(*dims[: axis + 1], math.prod(dims[axis + 1 :])))
    result = ops.matmul(to_tensor(matrix.astype(x.dtype.numpy)), flat)
    return ops.reshape(result, shape=(*dims[:axis], matrix.shape[0], *dims[axis + 1 :]))


def _nearest(x: Tensor, height: int, width: int) -> Tensor:
    for axis, target in ((1, height), (2, width)):
        rows = np.minimum(np.floor(_centres(x.dims[axis], target)).astype(int), x.dims[axis] - 1)
        x = ops.gather(x, to_tensor(rows), axis=axis, batch=0)
    return x


def resize(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes images; the result is float32, except that `"nearest"` keeps the dtype. All methods are differentiable.

    Args:
      size: the new height and width.
      method: one of `tf.image.ResizeMethod`.
      preserve_aspect_ratio: scale by one factor, to the largest image that fits into `size`.
      antialias: widen the kernel when an image shrinks; `"nearest"` and `"area"` do not need it.

    >>> tf.image.resize([[[0.0], [3.0]]], [1, 4]).numpy().ravel()
    array([0.  , 0.75, 2.25, 3.  ], dtype=float32)
    """
    image = to_tensor(images)
    require(len(image.dims) in (3, 4), "'images' must have either 3 or 4 dimensions.")
    target = to_array(size)
    require(target.shape == (2,), "'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    require(target.dtype.kind in "iu", "'size' must be a 1-D int32 Tensor")
    height, width = (int(n) for n in target)
    if preserve_aspect_ratio:
        now = np.array(image.dims[-3:-1], np.float32)
        factor = (target.astype(np.float32) / now).min()
        height, width = (int(n) for n in np.rint(factor * now))
    if height <= 0 or width <= 0:
        raise errors.InvalidArgumentError(f"output dimensions must be positive, got {height} and {width}")
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return on_batch(image, lambda x: _nearest(x, height, width))

    def taps(old: int, new: int) -> Taps:
        if method == ResizeMethod.AREA:
            return _area_taps(old, new)
        if method in ("bilinear", "bicubic") and not antialias:
            return (_bilinear_taps if method == "bilinear" else _bicubic_taps)(old, new)
        if method in _KERNELS:
            return _kernel_taps(method, old, new, antialias)
        raise ValueError(f"Resize method is not implemented: {method}")

    def resized(x: Tensor) -> Tensor:
        steps = [(1, taps(x.dims[1], height)), (2, taps(x.dims[2], width))]
        x = ops.cast(x, dtype=dtypes.float32)
        # The axis that shrinks most is resized first, which leaves less work for the other.
        for axis, weights in sorted(steps, key=lambda step: step[1].rows.shape[0] / x.dims[step[0]]):
            x = applied(x, axis, weights)
        return x

    return on_batch(image, resized)


def resize_with_pad(
    image: TensorLike, target_height: SupportsInt, target_width: SupportsInt, method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Resizes the image with its aspect ratio, and pads it evenly with zeros to the target height and width.

    >>> tf.image.resize_with_pad([[[1.0], [1.0]]], 4, 4).numpy()[:, :, 0]
    array([[0., 0., 0., 0.],
           [1., 1., 1., 1.],
           [1., 1., 1., 1.],
           [0., 0., 0., 0.]], dtype=float32)
    """
    picture = to_image_or_batch(image)
    goal = np.array([int(target_height), int(target_width)], np.float32)
    require(goal[1] > 0, "target_width must be > 0.")
    require(goal[0] > 0, "target_height must be > 0.")
    now = np.array(picture.dims[-3:-1], np.float32)
    fitted = now / (now / goal).max()
    offset = np.maximum(np.floor((goal - fitted) / 2), 0).astype(int)
    small = resize(picture, np.floor(fitted).astype(int), method, antialias=antialias)
    return pad_to_bounding_box(small, int(offset[0]), int(offset[1]), int(target_height), int(target_width))


def _positions(start: Any, end: Any, size: int, count: int) -> Any:
    """Returns `count` positions from `start` to `end` of an axis, in pixels, for each box."""
    if count > 1:
        steps = to_tensor(np.arange(count, dtype=np.float32))
        scale = ops.reshape((end - start) * float(size - 1) / float(count - 1), shape=(-1, 1))
        return ops.reshape(start * float(size - 1), shape=(-1, 1)) + scale * steps
    return ops.reshape((start + end) * 0.5 * float(size - 1), shape=(-1, 1))


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: TensorLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Crops images to `boxes`, [y1, x1, y2, x2] relative to the image's size, and resizes to `crop_size`.

    Differentiable with respect to the images and, for `"bilinear"`, the boxes.

    >>> tf.image.crop_and_resize([[[[0.0], [4.0]]]], [[0.0, 0.0, 0.0, 1.0]], [0], [1, 3]).numpy().ravel()
    array([0., 2., 4.], dtype=float32)
    """
    pixels = ops.cast(to_tensor(image), dtype=dtypes.float32)
    corners, owners = to_tensor(boxes, hint=dtypes.float32), to_array(box_indices)
    if len(pixels.dims) != 4 or len(corners.dims) != 2 or corners.dims[1] != 4 or owners.shape != corners.dims[:1]:
        raise errors.InvalidArgumentError(
            "crop_and_resize needs images of rank 4, boxes of shape [n, 4] and n box_indices, got shapes "
            f"{list(pixels.dims)}, {list(corners.dims)} and {list(owners.shape)}"
        )
    if method not in ("bilinear", "nearest"):
        raise errors.InvalidArgumentError(f"method must be 'bilinear' or 'nearest', got {method!r}")
    count, height, width, channels = pixels.dims
    if owners.size and not (0 <= owners.min() and owners.max() < count):
        raise errors.OutOfRangeError(f"box_index has values outside [0, batch_size): {owners.tolist()}")
    rows, columns = (int(n) for n in to_array(crop_size))
    y = _positions(corners[:, 0], corners[:, 2], height, rows)
    x = _positions(corners[:, 1], corners[:, 3], width, columns)
    flat = ops.reshape(pixels, shape=(count * height * width, channels))
    lead = to_tensor(owners.astype(np.int64).reshape(-1, 1, 1) * (height * width))

    def looked_up(i: Tensor, j: Tensor) -> Tensor:
        i, j = (ops.cast(k, dtype=dtypes.int64) for k in (i, j))
        at = lead + ops.reshape(i, shape=(-1, rows, 1)) * width + ops.reshape(j, shape=(-1, 1, columns))
        return ops.gather(flat, at, axis=0, batch=0)

    def clipped(k: Tensor, size: int) -> Tensor:
        return ops.minimum(ops.maximum(k, 0.0), float(size - 1))

    inside = ops.logical_and(
        ops.reshape(ops.logical_and(y >= 0.0, y <= float(height - 1)), shape=(-1, rows, 1, 1)),
        ops.reshape(ops.logical_and(x >= 0.0, x <= float(width - 1)), shape=(-1, 1, columns, 1)),
    )
    if method == "nearest":
        result = looked_up(clipped(ops.floor(y + 0.5), height), clipped(ops.floor(x + 0.5), width))
    else:
        top, left = ops.floor(y), ops.floor(x)
        down = ops.reshape(y - ops.stop_gradient(top), shape=(-1, rows, 1, 1))
        right = ops.reshape(x - ops.stop_gradient(left), shape=(-1, 1, columns, 1))
        tops, lefts = clipped(top, height), clipped(left, width)
        bottoms, rights = clipped(ops.ceil(y), height), clipped(ops.ceil(x), width)
        upper = looked_up(tops, lefts) * (1.0 - right) + looked_up(tops, rights) * right
        lower = looked_up(bottoms, lefts) * (1.0 - right) + looked_up(bottoms, rights) * right
        result = upper * (1.0 - down) + lower * down
    return ops.where(inside, result, float(extrapolation_value))


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
        position = _aligned_positions(x.dims[axis], target, align_corners)
        if method == "nearest":
            half = 0.5 if align_corners else 0.0  # rounds away from zero: positions are not negative
            rows = np.minimum(np.floor(position.astype(np.float64) + half), x.dims[axis] - 1)
            return ops.gather(x, to_tensor(rows.astype(int)), axis=axis, batch=0)
        return applied(x, axis, _TAPS[method](position, x.dims[axis]))

    def both(x: Tensor) -> Tensor:
        x = x if method == "nearest" else ops.cast(x, dtype=dtypes.float32)
        return along(along(x, 1, height), 2, width)

    return on_batch(to_tensor(images), both)


def _aligned_positions(size: int, target: int, align_corners: bool) -> Any:
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
