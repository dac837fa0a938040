"""Flips, rotations, crops, padding and patches of images; all linear and differentiable."""

from __future__ import annotations

from typing import Any, SupportsFloat, SupportsInt

import numpy as np

from ...core import errors
from ...core.tensor import Tensor
from ...core.type_hints import SizesLike, TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from .arguments import require, to_image, to_image_or_batch

NAMESPACES = ("image",)
__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "resize_with_crop_or_pad",
    "rot90",
    "transpose",
]


def flipped(image: Tensor, axis: int) -> Tensor:
    """Reverses the image, or each image of a batch, along its height (0) or width (1)."""
    return ops.reverse(image, axis=(axis + len(image.dims) - 3,))


def flip_left_right(image: TensorLike) -> Tensor:
    """Flips the image horizontally.

    >>> tf.image.flip_left_right([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return flipped(to_image_or_batch(image), 1)


def flip_up_down(image: TensorLike) -> Tensor:
    """Flips the image vertically.

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
