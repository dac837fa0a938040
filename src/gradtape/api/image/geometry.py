"""Flips, rotations, crops, padding, patches and projective transforms of images; all linear and differentiable."""

from __future__ import annotations

from typing import Any, SupportsFloat, SupportsInt

import numpy as np

from ...core import errors
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...core.type_hints import SizesLike, TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ..namespace import root as tf
from .arguments import require, to_image, to_image_or_batch

NAMESPACES = ("image",)
__all__ = [
    "central_crop", "crop_to_bounding_box", "extract_patches", "flip_left_right", "flip_up_down",
    "pad_to_bounding_box", "resize_with_crop_or_pad", "rot90", "transpose",
]  # fmt: skip


def flipped(image: Tensor, axis: int) -> Tensor:
    """Reverses the image, or each image of a batch, along its height (0) or width (1)."""
    return ops.reverse(image, axis=(axis + len(image.dims) - 3,))


def flip_left_right(image: TensorLike) -> Tensor:
    """Flips the image horizontally, or each image of a batch: `y[i, j] = image[i, width - 1 - j]`.

    - Shape: that of `image`.
    - Dtypes: any; the result has that of `image`.
    - Derivative: the gradient, flipped.

    >>> tf.image.flip_left_right([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return flipped(to_image_or_batch(image), 1)


def flip_up_down(image: TensorLike) -> Tensor:
    """Flips the image vertically, or each image of a batch: `y[i, j] = image[height - 1 - i, j]`.

    - Shape: that of `image`.
    - Dtypes: any; the result has that of `image`.
    - Derivative: the gradient, flipped.

    >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return flipped(to_image_or_batch(image), 0)


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchanges height and width of the image.

    >>> tf.image.transpose(tf.zeros([2, 3, 1])).shape
    TensorShape([3, 2, 1])
    """
    picture = to_image_or_batch(image)
    return ops.transpose(picture, perm=(1, 0, 2) if len(picture.dims) == 3 else (0, 2, 1, 3))


def rot90(image: TensorLike, k: SupportsInt = 1, name: str | None = None) -> Tensor:
    """Rotates the image counterclockwise by `k` right angles.

    >>> tf.image.rot90([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    picture = to_image_or_batch(image)
    turns = int(k) % 4
    if turns == 1:
        return transpose(flipped(picture, 1))
    if turns == 2:
        return flipped(flipped(picture, 0), 1)
    return flipped(transpose(picture), 1) if turns == 3 else picture


def central_crop(image: TensorLike, central_fraction: SupportsFloat) -> Tensor:
    """Crops the center of the image: this fraction of its height and width.

    >>> tf.image.central_crop(tf.zeros([8, 6, 3]), 0.5).shape
    TensorShape([4, 4, 3])
    """
    picture, fraction = to_tensor(image), float(central_fraction)
    require(0.0 < fraction <= 1.0, "central_fraction must be within (0, 1]")
    if fraction == 1.0:
        return picture
    picture = to_image(picture)
    if len(picture.dims) > 4:
        raise ValueError(
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {len(picture.dims)}."
        )
    height, width = picture.dims[-3:-1]
    top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
    return picture[..., top : height - top, left : width - left, :]


def crop_to_bounding_box(
    image: TensorLike, offset_height: SupportsInt, offset_width: SupportsInt, target_height: SupportsInt,
    target_width: SupportsInt,
) -> Tensor:  # fmt: skip
    """Crops the image to the target height and width, starting at the offsets.

    >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2).numpy().ravel()
    array([2, 3], dtype=int32)
    """
    picture = to_image_or_batch(image)
    top, left, rows, columns = (int(n) for n in (offset_height, offset_width, target_height, target_width))
    height, width = picture.dims[-3:-1]
    require(left >= 0, "offset_width must be >= 0.")
    require(top >= 0, "offset_height must be >= 0.")
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    require(width >= columns + left, f"width must be >= target + offset, got {width} < {columns} + {left}.")
    require(height >= rows + top, f"height must be >= target + offset, got {height} < {rows} + {top}.")
    return picture[..., top : top + rows, left : left + columns, :]


def pad_to_bounding_box(
    image: TensorLike, offset_height: SupportsInt, offset_width: SupportsInt, target_height: SupportsInt,
    target_width: SupportsInt,
) -> Tensor:  # fmt: skip
    """Pads the image with zeros to the target height and width; it starts at the offsets.

    >>> tf.image.pad_to_bounding_box([[[1], [2]]], 0, 1, 1, 4).numpy().ravel()
    array([0, 1, 2, 0], dtype=int32)
    """
    picture = to_image_or_batch(image)
    top, left, rows, columns = (int(n) for n in (offset_height, offset_width, target_height, target_width))
    height, width = picture.dims[-3:-1]
    bottom, right = rows - top - height, columns - left - width
    require(top >= 0, "offset_height must be >= 0")
    require(left >= 0, "offset_width must be >= 0")
    require(right >= 0, f"width must be <= target - offset, got {width} > {columns} - {left}")
    require(bottom >= 0, f"height must be <= target - offset, got {height} > {rows} - {top}")
    lead = ((0, 0),) * (len(picture.dims) - 3)
    return ops.pad(picture, paddings=(*lead, (top, bottom), (left, right), (0, 0)))


def resize_with_crop_or_pad(image: TensorLike, target_height: SupportsInt, target_width: SupportsInt) -> Tensor:
    """Crops or pads the image evenly on both sides to the target height and width.

    >>> tf.image.resize_with_crop_or_pad(tf.zeros([5, 3, 1]), 3, 5).shape
    TensorShape([3, 5, 1])
    """
    picture = to_image_or_batch(image)
    rows, columns = int(target_height), int(target_width)
    require(columns > 0, "target_width must be > 0.")
    require(rows > 0, "target_height must be > 0.")
    height, width = picture.dims[-3:-1]
    more, wider = rows - height, columns - width
    cropped = crop_to_bounding_box(
        picture, max(-more // 2, 0), max(-wider // 2, 0), min(rows, height), min(columns, width)
    )
    return pad_to_bounding_box(cropped, max(more // 2, 0), max(wider // 2, 0), rows, columns)


def patches(x: Tensor, sizes: list[int], strides: list[int], rates: list[int], padding: str) -> Tensor:
    """Extracts windows over the axes between the first and the last, each flattened along the last axis."""
    spans = [(k - 1) * r + 1 for k, r in zip(sizes, rates, strict=True)]
    inner = x.dims[1:-1]
    if padding == "SAME":
        counts = [-(-n // s) for n, s in zip(inner, strides, strict=True)]
        missing = [max((c - 1) * s + w - n, 0) for c, s, w, n in zip(counts, strides, spans, inner, strict=True)]
        x = ops.pad(x, paddings=((0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)))
    elif padding == "VALID":
        if any(w > n for w, n in zip(spans, inner, strict=True)):
            raise errors.InvalidArgumentError(
                f"no window of size {spans} fits into {list(inner)}: the output size would be negative. Use 'SAME'"
            )
        counts = [-(-(n - w + 1) // s) for n, w, s in zip(inner, spans, strides, strict=True)]
    else:
        raise errors.InvalidArgumentError(f"Value for attr 'padding' of {padding!r} is not 'SAME' or 'VALID'")
    parts = []
    for place in np.ndindex(*sizes):
        key = [
            slice(i * r, i * r + (c - 1) * s + 1, s)
            for i, r, c, s in zip(place, rates, counts, strides, strict=True)
        ]
        parts.append(ops.slice(x, key=(slice(None), *key)))
    return ops.concat(*parts, axis=len(x.dims) - 1)


def inner_axes(values: Any, rank: int, what: str) -> list[int]:
    """Returns the entries of a per-axis argument without those of the first and the last axis."""
    numbers = [int(n) for n in to_array(values)]
    if len(numbers) != rank:
        raise ValueError(f"Expected list of {rank} ints for argument '{what}', got {numbers}")
    if numbers[0] != 1 or numbers[-1] != 1 or min(numbers) < 1:
        raise errors.UnimplementedError(
            f"{what} must be 1 for the first and the last axis and positive for the others, got {numbers}"
        )
    return numbers[1:-1]


def extract_patches(
    images: TensorLike, sizes: SizesLike, strides: SizesLike, rates: SizesLike, padding: str, name: str | None = None
) -> Tensor:
    """Extracts windows from a batch of images, each flattened row by row with the channels innermost.

    Args:
      sizes: [1, rows, columns, 1], the size of a window.
      strides: [1, rows, columns, 1], the distance between windows.
      rates: [1, rows, columns, 1], the distance between the pixels of a window.
      padding: `"VALID"`, or `"SAME"` to zero-pad so that a window starts at every stride.

    >>> image = tf.reshape(tf.range(9), [1, 3, 3, 1])
    >>> tf.image.extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy()[0, 0, 1]
    array([1, 2, 4, 5], dtype=int32)
    """
    pictures = to_tensor(images)
    if len(pictures.dims) != 4:
        raise errors.InvalidArgumentError(f"input must be 4-dimensional, got shape {list(pictures.dims)}")
    windows, steps, gaps = (inner_axes(v, 4, n) for v, n in ((sizes, "ksizes"), (strides, "strides"), (rates, "rates")))
    return patches(pictures, windows, steps, gaps, padding)


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
