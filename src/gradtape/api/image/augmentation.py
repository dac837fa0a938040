"""Random image augmentation: from the global random streams, or as a function of a given seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...ops.random.boxes import random_box
from ..random.arguments import scrambled
from ..random.draws import uniform
from ..random.stateless import stateless_uniform
from .arguments import require, to_image_or_batch
from .color import adjust_brightness, adjust_contrast, adjust_hue, adjust_jpeg_quality, adjust_saturation
from .geometry import flipped

NAMESPACES = ("image",)
__all__ = [
    "random_brightness", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down",
    "random_hue", "random_jpeg_quality", "random_saturation", "stateless_random_brightness",
    "stateless_random_contrast", "stateless_random_crop", "stateless_random_flip_left_right",
    "stateless_random_flip_up_down", "stateless_random_hue", "stateless_random_jpeg_quality",
    "stateless_random_saturation", "stateless_sample_distorted_bounding_box",
]  # fmt: skip

Draw = Callable[..., Tensor]


def _global(seed: Any) -> Draw:
    return lambda shape, low, high, dtype=dtypes.float32: uniform(shape, low, high, dtype, seed)


def _stateless(seed: Any) -> Draw:
    return lambda shape, low, high, dtype=dtypes.float32: stateless_uniform(shape, seed, low, high, dtype)


def _flip(image: Any, axis: int, draw: Draw) -> Tensor:
    picture = to_image_or_batch(image)
    if len(picture.dims) == 3:
        return flipped(picture, axis) if draw([], 0, 1.0).array < 0.5 else picture
    chance = draw([picture.dims[0]], 0, 1.0)
    chosen = ops.reshape(ops.rint(chance) > 0.5, shape=(picture.dims[0], 1, 1, 1))
    return ops.where(chosen, flipped(picture, axis), picture)


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Flips the image, or each image of a batch, horizontally with probability one half.

    >>> tf.image.random_flip_left_right(tf.zeros([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flip(image, 1, _global(seed))


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Flips the image, or each image of a batch, vertically with probability one half.

    >>> tf.image.random_flip_up_down(tf.zeros([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flip(image, 0, _global(seed))


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_left_right` as a function of a seed of two integers.

    >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], seed=[2, 1]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return _flip(image, 1, _stateless(seed))


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """`random_flip_up_down` as a function of a seed of two integers.

    >>> tf.image.stateless_random_flip_up_down([[[1]], [[2]]], seed=[2, 1]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return _flip(image, 0, _stateless(seed))


def _brightness(image: Any, most: Any, draw: Draw) -> Tensor:
    require(most >= 0, "max_delta must be non-negative.")
    return adjust_brightness(image, draw([], -most, most))


def random_brightness(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """Changes the brightness of the image by a random delta of up to `max_delta`.

    >>> tf.image.random_brightness(tf.zeros([2, 3, 1]), 0.2).shape
    TensorShape([2, 3, 1])
    """
    return _brightness(image, max_delta, _global(seed))


def stateless_random_brightness(image: TensorLike, max_delta: TensorLike, seed: TensorLike) -> Tensor:
    """`random_brightness` as a function of a seed of two integers.

    >>> tf.image.stateless_random_brightness(tf.zeros([2, 3, 1]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    return _brightness(image, max_delta, _stateless(seed))


def _factor(lower: Any, upper: Any, draw: Draw) -> Tensor:
    require(upper > lower, "upper must be > lower.")
    require(lower >= 0, "lower must be non-negative.")
    return draw([], lower, upper)


def random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None) -> Tensor:
    """Multiplies the contrast of the image by a random factor between `lower` and `upper`.

    >>> tf.image.random_contrast(tf.zeros([2, 3, 1]), 0.2, 0.5).shape
    TensorShape([2, 3, 1])
    """
    return adjust_contrast(image, _factor(lower, upper, _global(seed)))


def stateless_random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike) -> Tensor:
    """`random_contrast` as a function of a seed of two integers.

    >>> tf.image.stateless_random_contrast(tf.zeros([2, 3, 1]), 0.2, 0.5, seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    return adjust_contrast(image, _factor(lower, upper, _stateless(seed)))


def random_saturation(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None) -> Tensor:
    """Multiplies the saturation of the image by a random factor between `lower` and `upper`.

    >>> tf.image.random_saturation(tf.zeros([2, 3, 3]), 0.2, 0.5).shape
    TensorShape([2, 3, 3])
    """
    return adjust_saturation(image, _factor(lower, upper, _global(seed)))


def stateless_random_saturation(
    image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike | None = None
) -> Tensor:
    """`random_saturation` as a function of a seed of two integers.

    >>> tf.image.stateless_random_saturation(tf.zeros([2, 3, 3]), 0.2, 0.5, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return adjust_saturation(image, _factor(lower, upper, _stateless(seed)))


def _hue(image: Any, most: Any, draw: Draw) -> Tensor:
    require(most <= 0.5, "max_delta must be <= 0.5.")
    require(most >= 0, "max_delta must be non-negative.")
    return adjust_hue(image, draw([], -most, most))


def random_hue(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """Rotates the hue of the image by a random delta of up to `max_delta`.

    >>> tf.image.random_hue(tf.zeros([2, 3, 3]), 0.2).shape
    TensorShape([2, 3, 3])
    """
    return _hue(image, max_delta, _global(seed))


def stateless_random_hue(image: TensorLike, max_delta: TensorLike, seed: TensorLike) -> Tensor:
    """`random_hue` as a function of a seed of two integers.

    >>> tf.image.stateless_random_hue(tf.zeros([2, 3, 3]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    return _hue(image, max_delta, _stateless(seed))


def _jpeg_quality(image: Any, low: Any, high: Any, draw: Draw) -> Tensor:
    require(0 <= low <= 100 and 0 <= high <= 100, "jpeg encoding range must be between 0 and 100.")
    require(low < high, "`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return adjust_jpeg_quality(image, draw([], low, high, dtypes.int32))


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: TensorLike, max_jpeg_quality: TensorLike, seed: int | None = None
) -> Tensor:
    """Encodes and decodes the image as a JPEG of random quality in the given range.

    >>> tf.image.random_jpeg_quality(tf.zeros([8, 8, 3]), 75, 95).shape
    TensorShape([8, 8, 3])
    """
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, _global(seed))


def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: TensorLike, max_jpeg_quality: TensorLike, seed: TensorLike
) -> Tensor:
    """`random_jpeg_quality` as a function of a seed of two integers.

    >>> tf.image.stateless_random_jpeg_quality(tf.zeros([8, 8, 3]), 75, 95, seed=[1, 2]).shape
    TensorShape([8, 8, 3])
    """
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, _stateless(seed))


def _crop(value: Any, size: Any, draw: Draw) -> Tensor:
    given, wanted = to_tensor(value), to_array(size)
    dims = np.array(given.dims)
    if wanted.shape != dims.shape or (wanted > dims).any():
        raise errors.InvalidArgumentError(f"Need value.shape >= size, got {dims.tolist()} {wanted.tolist()}")
    drawn = np.asarray(draw([dims.size], 0, 2**31 - 1, dtypes.int32).array)
    first = drawn % (dims - wanted + 1)
    return given[tuple(slice(int(a), int(a + n)) for a, n in zip(first, wanted, strict=True))]


def random_crop(value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Crops a random part of shape `size` from `value`.

    >>> tf.image.random_crop(tf.zeros([5, 5, 3]), [2, 3, 3]).shape
    TensorShape([2, 3, 3])
    """
    return _crop(value, size, _global(seed))


def stateless_random_crop(value: TensorLike, size: TensorLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """`random_crop` as a function of a seed of two integers.

    >>> tf.image.stateless_random_crop([1, 2, 3, 4], [2], seed=[1, 2]).shape
    TensorShape([2])
    """
    return _crop(value, size, _stateless(seed))


_SIZE_DTYPES = ("uint8", "int8", "int16", "int32", "int64")


class SampledBox(NamedTuple):
    """The result of `stateless_sample_distorted_bounding_box`."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: TensorLike,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None,
    area_range: TensorLike | None = None,
    max_attempts: SupportsInt | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampledBox:
    """Samples a box that covers enough of one of the objects: returns its start, its size, and the box.

    Args:
      image_size: [height, width, channels].
      bounding_boxes: the objects, [batch, n, 4] with [y_min, x_min, y_max, x_max] relative to the image's size.
      min_object_covered: the fraction of an object that must be inside.
      aspect_ratio_range: width over height, [0.75, 1.33] by default.
      area_range: the fraction of the image that the box may cover, [0.05, 1] by default.
      max_attempts: the number of boxes to try, 100 by default; after that, the whole image is returned.

    >>> begin, size, box = tf.image.stateless_sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=[1, 2])
    >>> begin.numpy(), size.numpy()
    (array([12,  3,  0], dtype=int32), array([26, 32, -1], dtype=int32))
    """
    return sampled_box(
        scrambled(seed), image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes,
    )  # fmt: skip


def sampled_box(
    state: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any, aspect_ratio_range: Any,
    area_range: Any, max_attempts: SupportsInt | None, use_image_if_no_bounding_boxes: Any,
) -> SampledBox:  # fmt: skip
    """Returns the box drawn from a state of Philox."""
    size, boxes = to_tensor(image_size), to_tensor(bounding_boxes, dtypes.float32)
    if size.dtype.name not in _SIZE_DTYPES:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {size.dtype.kernel_name()} is not in the list of allowed values: "
            f"{', '.join(_SIZE_DTYPES)}. image_size must be one of these, got {size!r}"
        )
    if len(size.dims) != 1:
        raise errors.InvalidArgumentError(f"image_size must be 1-dimensional, got shape {list(size.dims)}")
    if size.dims[0] != 3:
        raise errors.InvalidArgumentError(f"image_size must contain 3 elements, got shape {list(size.dims)}")
    if len(boxes.dims) != 3:
        raise errors.InvalidArgumentError(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {list(boxes.dims)}"
        )
    if boxes.dims[-1] != 4:
        raise errors.InvalidArgumentError(f"bounding boxes must have shape [4] or [*, 4], got {list(boxes.dims)}")
    found = random_box(
        state, ops.cast(size, dtype=dtypes.int64), boxes, to_tensor(min_object_covered, dtypes.float32),
        **box_attributes(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )  # fmt: skip
    y, x, rows, columns = (found[i] for i in range(4))
    height, width = (ops.cast(size[i], dtype=dtypes.float32) for i in range(2))
    corners = [
        ops.cast(edge, dtype=dtypes.float32) / length
        for edge, length in ((y, height), (x, width), (y + rows, height), (x + columns, width))
    ]
    begin, extent = ops.stack(y, x, ops.zeros_like(y), axis=0), ops.stack(rows, columns, -ops.ones_like(y), axis=0)
    return SampledBox(
        ops.cast(begin, dtype=size.dtype), ops.cast(extent, dtype=size.dtype),
        ops.reshape(ops.stack(*corners, axis=0), shape=(1, 1, 4)),
    )  # fmt: skip


def box_attributes(aspect_ratio_range: Any, area_range: Any, max_attempts: Any, use_image: Any) -> dict[str, Any]:
    """Returns the attributes of `random_box` with TensorFlow's defaults; raises its error for impossible ones."""
    aspects = (0.75, 1.33) if aspect_ratio_range is None else tuple(map(float, aspect_ratio_range))
    areas = (0.05, 1.0) if area_range is None else tuple(map(float, area_range))
    for title, numbers in (("Aspect ratio", aspects), ("Area", areas)):
        if len(numbers) != 2:
            raise errors.InvalidArgumentError(f"{title} range field must specify 2 dimensions, got {list(numbers)}")
        if min(numbers) <= 0:
            raise errors.InvalidArgumentError(f"{title} range must be non-negative: it has to be above 0 in {numbers}")
    if max(areas) > 1:
        raise errors.InvalidArgumentError(f"Area range must be less then or equal to 1.0: {list(areas)}")
    attempts = 100 if max_attempts is None else int(max_attempts)
    if attempts <= 0:
        raise errors.InvalidArgumentError(f"Max attempts must be non-negative: it has to be above 0, got {attempts}")
    return {"aspects": aspects, "areas": areas, "attempts": attempts, "whole_image": bool(use_image)}
