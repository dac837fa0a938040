"""Image metrics: PSNR, SSIM, total variation, gradients and edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..arrays.casting import cast
from ..math.elementwise import refuse_unsigned
from .color import convert_image_dtype
from .resampling import mapped

NAMESPACES = ("image",)
__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]

_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _axes(x: Tensor, *axes: int) -> tuple[int, ...]:
    return tuple(axis + len(x.dims) for axis in axes)


def _comparable(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any]:
    """Returns two images and the range of their values, in float32."""
    first = to_tensor(a)
    second = to_tensor(b, hint=first.dtype)
    span = convert_image_dtype(cast(max_val, first.dtype), dtypes.float32)
    return convert_image_dtype(first, dtypes.float32), convert_image_dtype(second, dtypes.float32), span


def _check_compatible(a: Tensor, b: Tensor) -> None:
    """Checks that images have the same size; batches may be broadcast."""
    try:
        np.broadcast_shapes(a.dims[:-3], b.dims[:-3])
        fits = min(len(a.dims), len(b.dims)) >= 3 and a.dims[-3:] == b.dims[-3:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"Two images are not compatible: shapes {a.shape} and {b.shape}")


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Returns the peak signal-to-noise ratio of two images, or of pairs of images, in decibels.

    >>> print(tf.image.psnr(tf.zeros([2, 2, 1]), tf.fill([2, 2, 1], 0.1), max_val=1.0).numpy().round(4))
    20.0
    """
    first, second, span = _comparable(a, b, max_val)
    error = ops.squared_difference(first, second)
    _check_compatible(first, second)
    mean = ops.mean(error, axis=_axes(error, -3, -2, -1))
    return 20.0 * ops.log(span) / math.log(10.0) - (10.0 / math.log(10.0)) * ops.log(mean)


def _smooth(x: Tensor, window: Any) -> Tensor:
    """Averages `x` in the window at every valid position along height and width."""
    size = window.size
    for axis in _axes(x, -3, -2):
        length = x.dims[axis]
        matrix = np.zeros((length - size + 1, length))
        for i, weight in enumerate(window):
            matrix[np.arange(length - size + 1), np.arange(length - size + 1) + i] = weight
        x = mapped(x, axis, matrix)
    return x


def _similarity(
    x: Any, y: Any, span: Any, size: int, sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """Returns SSIM and its contrast-structure term, for every window position and channel."""
    if min(*x.dims[-3:-1], *y.dims[-3:-1]) < size:
        raise errors.InvalidArgumentError(
            f"images of shapes {x.shape} and {y.shape} are smaller than the filter, {size}. Use a smaller filter_size"
        )
    distance = np.arange(size) - (size - 1) / 2.0
    window = np.exp(-0.5 * (distance / sigma) ** 2)
    window /= window.sum()
    c1, c2 = ops.square(k1 * span), ops.square(k2 * span)
    mean_x, mean_y = _smooth(x, window), _smooth(y, window)
    product, squares = mean_x * mean_y * 2.0, ops.square(mean_x) + ops.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    both = _smooth(x * y, window) * 2.0
    power = _smooth(ops.square(x) + ops.square(y), window)
    structure = (both - product + c2) / (power - squares + c2)
    return luminance * structure, structure


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Returns the structural similarity of two images, or of pairs of images: 1 for equal images.

    >>> image = tf.random.stateless_uniform([16, 16, 3], seed=[1, 2])
    >>> print(tf.image.ssim(image, image, max_val=1.0).numpy())
    1.0
    """
    x, y, span = _comparable(img1, img2, max_val)
    _check_compatible(x, y)
    similarity, _ = _similarity(x, y, span, int(filter_size), float(filter_sigma), k1, k2)
    if not return_index_map:
        similarity = ops.mean(similarity, axis=_axes(similarity, -3, -2))
    return ops.mean(similarity, axis=_axes(similarity, -1))


def _halve(x: Tensor) -> Tensor:
    """Averages blocks of 2 by 2 pixels; a last odd row or column is counted twice."""
    for axis in _axes(x, -3, -2):
        if x.dims[axis] % 2:
            last = ops.slice(x, key=(*(slice(None),) * axis, slice(x.dims[axis] - 1, None)))
            x = ops.concat(x, last, axis=axis)
        x = ops.reshape(x, shape=(*x.dims[:axis], x.dims[axis] // 2, 2, *x.dims[axis + 1 :]))
        x = ops.mean(x, axis=(axis + 1,))
    return x


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _SCALE_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Returns the structural similarity of two images over several scales, each half the size of the previous one.

    >>> image = tf.random.stateless_uniform([32, 32, 1], seed=[1, 2])
    >>> print(tf.image.ssim_multiscale(image, image, 1.0, power_factors=(0.5, 0.5)).numpy())
    1.0
    """
    x, y, span = _comparable(img1, img2, max_val)
    _check_compatible(x, y)
    factors = []
    for scale in range(len(power_factors)):
        if scale:
            x, y = _halve(x), _halve(y)
        similarity, structure = _similarity(x, y, span, int(filter_size), float(filter_sigma), k1, k2)
        chosen = similarity if scale == len(power_factors) - 1 else structure
        factors.append(ops.relu(ops.mean(chosen, axis=_axes(chosen, -3, -2))))
    stacked = ops.stack(*factors, axis=len(factors[0].dims))
    powers = ops.pow(stacked, to_tensor(power_factors, dtype=dtypes.float32))
    total = ops.prod(powers, axis=_axes(powers, -1))
    return ops.mean(total, axis=_axes(total, -1))


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """Sums the absolute differences of neighboring pixels for each image.

    >>> print(tf.image.total_variation(tf.constant([[[1.0], [4.0]]])).numpy())
    3.0
    """
    pictures = to_tensor(images)
    if len(pictures.dims) not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    refuse_unsigned(pictures, "Abs")
    down = abs(pictures[..., 1:, :, :] - pictures[..., :-1, :, :])
    right = abs(pictures[..., 1:, :] - pictures[..., :-1, :])
    axes = _axes(pictures, -3, -2, -1)
    return ops.sum(down, axis=axes) + ops.sum(right, axis=axes)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Returns the differences of each pixel to the one below and to the one on the right; 0 at the borders.

    >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
    >>> dy.numpy().ravel(), dx.numpy().ravel()
    (array([2., 2., 0., 0.], dtype=float32), array([1., 0., 1., 0.], dtype=float32))
    """
    picture = to_tensor(image)
    if len(picture.dims) != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {picture.shape}.")
    down, right = picture[:, 1:] - picture[:, :-1], picture[:, :, 1:] - picture[:, :, :-1]
    none = (0, 0)
    return ops.pad(down, paddings=(none, (0, 1), none, none)), ops.pad(right, paddings=(none, none, (0, 1), none))


def sobel_edges(image: TensorLike) -> Tensor:
    """Returns Sobel's vertical and horizontal derivatives of a batch of images, along a new last axis.

    >>> tf.image.sobel_edges(tf.zeros([1, 4, 5, 3])).shape
    TensorShape([1, 4, 5, 3, 2])
    """
    picture: Any = to_tensor(image)
    if len(picture.dims) != 4:
        raise ValueError(f"sobel_edges expects a 4D tensor [batch_size, h, w, d], not {picture.shape}.")
    for axis in (1, 2):
        size = picture.dims[axis]
        if size < 2:
            raise errors.InvalidArgumentError(
                f"paddings must be less than the dimension size: 1, 1 not less than {size}. Use a larger image"
            )
        lead = (slice(None),) * axis
        before, after = (*lead, slice(1, 2)), (*lead, slice(size - 2, size - 1))
        picture = ops.concat(ops.slice(picture, key=before), picture, ops.slice(picture, key=after), axis=axis)
    across = picture[:, :, :-2] + 2.0 * picture[:, :, 1:-1] + picture[:, :, 2:]
    along = picture[:, :-2] + 2.0 * picture[:, 1:-1] + picture[:, 2:]
    return ops.stack(across[:, 2:] - across[:, :-2], along[:, :, 2:] - along[:, :, :-2], axis=4)
