"""Image sampling at positions between pixels: coordinates, affine, perspective and elastic transforms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type
from keras.src.random.seed_generator import draw_seed

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.convert import to_array
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor
from .filters import blurred
from .layout import checked, on_batch, one_of

INTERPOLATIONS = {"nearest": 0, "bilinear": 1}
FILL_MODES = ("constant", "nearest", "wrap", "mirror", "reflect")


def _mirrored(i: Tensor, size: int) -> Tensor:
    last = size - 1
    return ops.abs(ops.mod(i + last, max(2 * last, 1)) - last)


# Maps an out-of-bounds index to a position in the image.
_PLACES: dict[str, Any] = {
    "constant": lambda i, size: ops.minimum(ops.maximum(i, 0), size - 1),
    "nearest": lambda i, size: ops.minimum(ops.maximum(i, 0), size - 1),
    "wrap": lambda i, size: ops.mod(i, size),
    "mirror": _mirrored,
    "reflect": lambda i, size: ops.floordiv(_mirrored(2 * i + 1, 2 * size + 1) - 1, 2),
}


def _neighbours(at: Tensor, order: int) -> list[tuple[Tensor, Any]]:
    """Returns the indices around each position and their weights; only the nearest one for order 0."""
    if order == 0:
        return [(cast(ops.sign(at) * ops.floor(ops.abs(at) + 0.5), "int64"), 1)]
    below = ops.floor(at)
    part = at - ops.stop_gradient(below)
    index = cast(below, "int64")
    return [(index, 1 - part), (index + 1, part)]


def interpolated(
    pixels: Tensor, sizes: Sequence[int], positions: Sequence[Tensor], order: int, fill_mode: str, fill_value: Any,
    first: Any = 0,
) -> Tensor:  # fmt: skip
    """Interpolates images of `sizes` at `positions`, one tensor per axis.

    `pixels` holds all pixels as rows, those of an image starting at row `first`; the result has one row per position.
    """
    place = _PLACES[fill_mode]
    dtype = positions[0].dtype
    if pixels.dtype.is_floating:
        dtype = tf.as_dtype(result_type(dtype.name, pixels.dtype.name))
    positions = [ops.cast(at, dtype=dtype) for at in positions]
    rows = ops.cast(pixels, dtype=dtype)
    fill = convert_to_tensor(fill_value, dtype=dtype)
    total: Any = None
    for corner in itertools.product(*(_neighbours(at, order) for at in positions)):
        row, inside = first, None
        weight: Any = 1
        stride = 1
        for (index, part), size in reversed(list(zip(corner, sizes, strict=True))):
            row = row + place(index, size) * stride
            weight = part * weight
            stride *= size
            if fill_mode == "constant":
                here = ops.logical_and(index >= 0, index < size)
                inside = here if inside is None else ops.logical_and(inside, here)
        seen = ops.gather(rows, row, axis=0, batch=0)
        if inside is not None:
            seen = ops.where(inside[..., None], seen, fill)
        term = seen if order == 0 else weight[..., None] * seen
        total = term if total is None else total + term
    if pixels.dtype.is_integer:
        total = ops.sign(total) * ops.floor(ops.abs(total) + 0.5)
    return ops.cast(total, dtype=pixels.dtype)


def map_coordinates(inputs, coordinates, order, fill_mode="constant", fill_value=0.0):
    x, at = convert_to_tensor(inputs), convert_to_tensor(coordinates)
    if at.dims[0] != len(x.dims):
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. Received inputs with shape: "
            f"{x.dims} and coordinate leading dim of {at.dims[0]}"
        )
    if len(at.dims) < 2:
        raise ValueError(f"Invalid coordinates rank: expected at least rank 2. Received input with shape: {at.dims}")
    one_of(fill_mode, FILL_MODES, "fill_mode")
    if order not in (0, 1):
        raise ValueError(f"Invalid value for argument `order`. Expected one of {[0, 1]}. Received: order={order}")
    at = at if at.dtype.is_floating else cast(at, "float32")
    pixels = ops.reshape(x, shape=(-1, 1))
    return interpolated(pixels, x.dims, ops.unstack(at, axis=0), order, fill_mode, fill_value)[..., 0]


def _sampled(x: Tensor, down: Tensor, across: Tensor, interpolation: str, fill_mode: str, fill_value: Any) -> Tensor:
    """Samples the images `x`, `(batch, height, width, channels)`, at positions `(batch or 1, height, width)`."""
    batch, height, width, channels = x.dims
    first = convert_to_tensor(np.arange(batch).reshape(-1, 1, 1) * (height * width), dtype="int64")
    pixels = ops.reshape(x, shape=(batch * height * width, channels))
    down, across = (ops.broadcast_to(at, shape=(batch, height, width)) for at in (down, across))
    order = INTERPOLATIONS[interpolation]
    return interpolated(pixels, (height, width), (down, across), order, fill_mode, fill_value, first)


def _grid(height: int, width: int, dtype: Any) -> tuple[Tensor, Tensor]:
    """Returns the row and column of each pixel."""
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    return convert_to_tensor(rows, dtype=dtype), convert_to_tensor(columns, dtype=dtype)


def _projected(x: Tensor, transforms: Tensor, interpolation: str, fill_mode: str, fill_value: Any) -> Tensor:
    """Samples pixel `(x, y)` at `((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)` of the image."""
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        ops.reshape(value, shape=(-1, 1, 1)) for value in ops.unstack(transforms, axis=1)
    )
    rows, columns = _grid(x.dims[1], x.dims[2], transforms.dtype)
    k = c0 * columns + c1 * rows + 1
    across, down = (a0 * columns + a1 * rows + a2) / k, (b0 * columns + b1 * rows + b2) / k
    return _sampled(x, down, across, interpolation, fill_mode, fill_value)


def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0, data_format=None):
    one_of(interpolation, INTERPOLATIONS, "interpolation")
    one_of(fill_mode, FILL_MODES, "fill_mode")
    x, transform = checked(images), convert_to_tensor(transform)
    if len(transform.dims) not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). Received "
            f"input with shape: transform.shape={transform.dims}"
        )
    if len(transform.dims) == 1:
        transform = transform[None]
    transform = transform if transform.dtype.is_floating else cast(transform, "float32")
    return on_batch(lambda x: _projected(x, transform, interpolation, fill_mode, fill_value), x, data_format)


def perspective_transform(images, start_points, end_points, interpolation="bilinear", fill_value=0, data_format=None):
    one_of(interpolation, INTERPOLATIONS, "interpolation")
    x = checked(images)
    start, end = convert_to_tensor(start_points, dtype="float32"), convert_to_tensor(end_points, dtype="float32")
    for name, points in (("start_points", start), ("end_points", end)):
        if len(points.dims) not in (2, 3) or points.dims[-2:] != (4, 2):
            raise ValueError(
                f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. Received shape: "
                f"{points.dims}"
            )
    if start.dims != end.dims:
        raise ValueError(
            "start_points and end_points must have the same shape. Received start_points.shape="
            f"{start.dims}, end_points.shape={end.dims}"
        )
    if len(start.dims) == 2:
        start, end = start[None], end[None]
    transforms = compute_homography_matrix(start, end)
    return on_batch(lambda x: _projected(x, transforms, interpolation, "constant", fill_value), x, data_format)


def compute_homography_matrix(start_points, end_points):
    """Returns the eight parameters of the projection that maps four end points to start points, per batch entry."""
    start, end = convert_to_tensor(start_points, dtype="float32"), convert_to_tensor(end_points, dtype="float32")
    (x, y), (to_x, to_y) = ops.unstack(end, axis=2), ops.unstack(start, axis=2)
    one, zero = ops.ones_like(x), ops.zeros_like(x)
    for_x = ops.stack(x, y, one, zero, zero, zero, -to_x * x, -to_x * y, axis=2)
    for_y = ops.stack(zero, zero, zero, x, y, one, -to_y * x, -to_y * y, axis=2)
    goal = ops.concat(to_x, to_y, axis=1)
    return tf.linalg.solve(ops.concat(for_x, for_y, axis=1), goal[..., None])[..., 0]


def elastic_transform(
    images, alpha=20.0, sigma=5.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0, seed=None,
    data_format=None,
):  # fmt: skip
    one_of(interpolation, INTERPOLATIONS, "interpolation")
    one_of(fill_mode, FILL_MODES, "fill_mode")
    x = checked(images)
    seeds = tf.unstack(tf.random.split(cast(draw_seed(seed), "int64"), 2))
    window = int(6 * to_array(convert_to_tensor(sigma))) | 1

    def bent(x: Tensor) -> Tensor:
        batch, height, width, _ = x.dims
        dtype = x.dtype if x.dtype.is_floating else tf.float32
        spread, strength = (convert_to_tensor(value, dtype=dtype) for value in (sigma, alpha))
        moves = []
        for drawn in seeds:
            noise = tf.random.stateless_normal((batch, height, width, 1), drawn, dtype=dtype) * spread
            moves.append(strength * blurred(noise, (window, window), (spread, spread))[..., 0])
        rows, columns = _grid(height, width, dtype)
        return _sampled(x, rows + moves[0], columns + moves[1], interpolation, fill_mode, fill_value)

    return on_batch(bent, x, data_format)
