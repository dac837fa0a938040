"""Conversions between color spaces and dtypes; brightness, contrast, gamma, hue and saturation.

All functions are compositions of differentiable ops, including those without a gradient in TensorFlow.
"""

from __future__ import annotations

import io
from typing import Any, SupportsInt

import numpy as np

from ...core import dtypes, errors
from ...core.extras import install_command
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, TensorLike
from ...engine.run.convert import to_tensor, with_default
from ...engine.run.namespace import ops
from ..arrays.casting import cast, saturate_cast
from .arguments import require, to_image

NAMESPACES = ("image",)
__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality", "adjust_saturation",
    "convert_image_dtype", "grayscale_to_rgb", "hsv_to_rgb", "per_image_standardization", "rgb_to_grayscale",
    "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip

_RGB_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YIQ_TO_RGB = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_RGB_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_YUV_TO_RGB = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Converts the image to another dtype and rescales: floats to [0, 1], integers from 0 to the dtype's maximum.

    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy()
    array([0., 1.], dtype=float32)
    """
    picture: Any = to_tensor(image)
    target = dtypes.as_dtype(dtype)
    given = picture.dtype
    for kind, what in ((target, "dtype"), (given, "image dtype")):
        if not kind.is_floating and not kind.is_integer:
            raise AttributeError(f"{what} must be either floating point or integer")
    if target is given:
        return ops.identity(picture)
    if given.is_floating and target.is_floating:
        return cast(picture, target)
    convert = saturate_cast if saturate else cast
    if given.is_integer and target.is_integer:
        most, least = int(given.max), int(target.max)
        if most > least:
            return convert(picture // ((most + 1) // (least + 1)), target)
        return convert(picture, target) * ((least + 1) // (most + 1))
    if given.is_integer:
        return cast(picture, target) * (1.0 / int(given.max))
    return convert(picture * (int(target.max) + 0.5), target)


def _as_float(image: Tensor) -> Tensor:
    """Converts the image to a dtype for computing with colors."""
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


def _mix_channels(images: Any, matrix: Any) -> Tensor:
    """Multiplies each pixel's three channels by a matrix."""
    pictures = to_tensor(images)
    if not pictures.dims or pictures.dims[-1] != 3:
        raise errors.InvalidArgumentError(f"images need 3 channels along the last axis, got shape {pictures.shape}")
    flat = ops.reshape(pictures, shape=(-1, 3)) if 0 not in pictures.dims else ops.reshape(pictures, shape=(0, 3))
    return ops.reshape(ops.matmul(flat, to_tensor(matrix, dtype=pictures.dtype)), shape=pictures.dims)


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Converts colors to luminance and the two NTSC chrominances.

    >>> tf.image.rgb_to_yiq([1.0, 1.0, 1.0]).numpy()[0].round(4)
    np.float32(1.0)
    """
    return _mix_channels(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Converts colors from luminance and the two NTSC chrominances.

    >>> tf.image.yiq_to_rgb([1.0, 0.0, 0.0]).numpy()
    array([1., 1., 1.], dtype=float32)
    """
    return _mix_channels(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Converts colors to luminance and the two PAL chrominances.

    >>> tf.image.rgb_to_yuv([1.0, 1.0, 1.0]).numpy()[0].round(4)
    np.float32(1.0)
    """
    return _mix_channels(images, _RGB_TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Converts colors from luminance and the two PAL chrominances.

    >>> tf.image.yuv_to_rgb([1.0, 0.0, 0.0]).numpy()
    array([1., 1., 1.], dtype=float32)
    """
    return _mix_channels(images, _YUV_TO_RGB)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Returns the brightness of each pixel as one channel of the same dtype.

    >>> tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]).numpy().ravel()
    array([0.2989], dtype=float32)
    """
    pictures = to_tensor(images)
    if not pictures.dims or pictures.dims[-1] != 3:
        raise ValueError(f"images need 3 channels along the last axis, got shape {pictures.shape}")
    weights = to_tensor([[0.2989], [0.587], [0.114]], dtype=dtypes.float32)
    colours = convert_image_dtype(pictures, dtypes.float32)
    gray = ops.matmul(ops.reshape(colours, shape=(int(np.prod(colours.dims[:-1])), 3)), weights)
    return convert_image_dtype(ops.reshape(gray, shape=(*pictures.dims[:-1], 1)), pictures.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Repeats the single channel three times.

    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy().ravel()
    array([7, 7, 7], dtype=int32)
    """
    pictures = to_tensor(images)
    if not pictures.dims or pictures.dims[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1, got shape {pictures.shape}")
    return ops.concat(pictures, pictures, pictures, axis=len(pictures.dims) - 1)


def _check_colours(images: Any) -> Any:
    pictures = with_default(images, dtypes.float32, dtypes.FLOAT | dtypes.NARROW)
    if not pictures.dtype.is_floating:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {pictures.dtype.kernel_name()} is not in the list of allowed values: half, "
            "bfloat16, float, double"
        )
    if not pictures.dims or pictures.dims[-1] != 3:
        kind = errors.FailedPreconditionError if pictures.dims else errors.InvalidArgumentError
        raise kind(f"input must have 3 channels but input has shape {list(pictures.dims)}")
    return pictures


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts colors to hue, saturation and value, each in [0, 1].

    >>> tf.image.rgb_to_hsv([0.0, 1.0, 0.0]).numpy().round(4)
    array([0.3333, 1.    , 1.    ], dtype=float32)
    """
    pictures = _check_colours(images)
    r, g, b = (pictures[..., i] for i in range(3))
    value = ops.maximum(ops.maximum(r, g), b)
    spread = value - ops.minimum(b, ops.minimum(g, r))  # the last one at a tie, unlike the maximum
    coloured, lit = spread > 0.0, value > 0.0
    sixth = 1.0 / (6.0 * ops.where(coloured, spread, 1.0))
    hue = ops.where(
        ops.equal(r, value), sixth * (g - b),
        ops.where(ops.equal(g, value), sixth * (b - r) + 1.0 / 3.0, sixth * (r - g) + 2.0 / 3.0),
    )  # fmt: skip
    hue = ops.where(coloured, ops.where(hue < 0.0, hue + 1.0, hue), 0.0)
    saturation = ops.where(lit, spread / ops.where(lit, value, 1.0), 0.0)
    return ops.stack(hue, saturation, value, axis=len(pictures.dims) - 1)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts colors from hue, saturation and value, each in [0, 1].

    >>> tf.image.hsv_to_rgb([0.0, 1.0, 0.5]).numpy()
    array([0.5, 0. , 0. ], dtype=float32)
    """
    pictures = _check_colours(images)
    turn, saturation, value = pictures[..., 0] * 6.0, pictures[..., 1], pictures[..., 2]

    def channel(distance: Any) -> Any:
        share = ops.minimum(ops.maximum(distance, 0.0), 1.0)
        return ((1.0 - saturation) + saturation * share) * value

    red = channel(abs(turn - 3.0) - 1.0)
    green, blue = channel(2.0 - abs(turn - 2.0)), channel(2.0 - abs(turn - 4.0))
    return ops.stack(red, green, blue, axis=len(pictures.dims) - 1)


def _adjust_in_floats(image: Any, change: Any, saturate: bool = True) -> Tensor:
    """Applies `change` to the image in floats; the result has the image's dtype."""
    picture = to_tensor(image)
    return convert_image_dtype(change(_as_float(picture)), picture.dtype, saturate=saturate)


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Adds `delta` to every pixel, for colors scaled to [0, 1].

    >>> tf.image.adjust_brightness(tf.constant([100], tf.uint8), 0.1).numpy()
    array([125], dtype=uint8)
    """
    return _adjust_in_floats(image, lambda x: x + cast(delta, x.dtype))


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Multiplies each channel's deviation from its mean over the image by `contrast_factor`.

    >>> tf.image.adjust_contrast([[[0.0], [1.0]]], 0.5).numpy().ravel()
    array([0.25, 0.75], dtype=float32)
    """
    pictures = to_tensor(images)
    if len(pictures.dims) < 3:
        raise errors.InvalidArgumentError(f"input must be at least 3-D, got shape {list(pictures.dims)}")
    factor = to_tensor(contrast_factor, dtype=dtypes.float32)
    if factor.dims:
        raise errors.InvalidArgumentError(f"contrast_factor must be scalar: {list(factor.dims)} [Op:AdjustContrastv2]")
    rank = len(pictures.dims)

    def change(x: Tensor) -> Tensor:
        mean = ops.mean(x, axis=(rank - 3, rank - 2), keepdims=True)
        return (x - mean) * cast(factor, x.dtype) + mean

    return _adjust_in_floats(pictures, change)


def adjust_gamma(image: TensorLike, gamma: float | Tensor = 1, gain: TensorLike = 1) -> Tensor:
    """`gain * image ** gamma`, for colors scaled to [0, 1].

    >>> tf.image.adjust_gamma([0.5, 1.0], gamma=2.0).numpy()
    array([0.25, 1.  ], dtype=float32)
    """
    require(gamma >= 0, "Gamma should be a non-negative real number.")
    return _adjust_in_floats(image, lambda x: gain * x**gamma)


def adjust_hue(image: TensorLike, delta: float | Tensor, name: str | None = None) -> Tensor:
    """Rotates the hue of the image by `delta`, where 1 is a full circle.

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 1 / 3).numpy().ravel().round(4)
    array([0., 1., 0.], dtype=float32)
    """
    require(-1 <= delta <= 1, f"delta must be in the interval [-1, 1], got {delta}")

    def change(x: Tensor) -> Tensor:
        _check_image_colours(x)
        hsv = rgb_to_hsv(x)
        turned = hsv[..., 0] + cast(delta, x.dtype)
        turned = turned - ops.floor(turned)
        return hsv_to_rgb(ops.stack(turned, hsv[..., 1], hsv[..., 2], axis=len(x.dims) - 1))

    return _adjust_in_floats(image, change, saturate=False)


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the saturation of the image by a factor, with a maximum of 1.

    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """

    def change(x: Tensor) -> Tensor:
        _check_image_colours(x)
        hsv = rgb_to_hsv(x)
        scaled = ops.minimum(ops.maximum(hsv[..., 1] * cast(saturation_factor, x.dtype), 0.0), 1.0)
        return hsv_to_rgb(ops.stack(hsv[..., 0], scaled, hsv[..., 2], axis=len(x.dims) - 1))

    return _adjust_in_floats(image, change, saturate=False)


def _check_image_colours(image: Tensor) -> None:
    if len(image.dims) < 3:
        raise errors.InvalidArgumentError(f"input must be at least 3-D, got shape {list(image.dims)}")


def per_image_standardization(image: TensorLike) -> Tensor:
    """Subtracts each image's mean and divides by its standard deviation, in float32.

    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    picture = cast(to_image(image), dtypes.float32)
    rank = len(picture.dims)
    axes = tuple(range(rank - 3, rank))
    centred = picture - ops.mean(picture, axis=axes, keepdims=True)
    variance = ops.mean(ops.square(centred), axis=axes, keepdims=True)
    least = 1 / np.sqrt(np.float32(np.prod(picture.dims[-3:])))
    return centred / ops.maximum(ops.sqrt(variance), to_tensor(least))


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: SupportsInt, dct_method: str = "", name: str | None = None
) -> Tensor:
    """Encodes and decodes the image as a JPEG of this quality (0 to 100). It has no gradient.

    Requires Pillow, whose JPEG library may round differently from TensorFlow's by a few units of 1/255.

    >>> tf.image.adjust_jpeg_quality(tf.zeros([8, 8, 3]), 75).shape
    TensorShape([8, 8, 3])
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"tf.image.adjust_jpeg_quality needs Pillow: {install_command('jpeg')}") from None
    picture = to_tensor(image)
    pixels = np.asarray(convert_image_dtype(picture, dtypes.uint8, saturate=True).array)
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3):
        raise errors.InvalidArgumentError(
            f"image must be 3-dimensional with 1 or 3 channels, got shape {list(pixels.shape)}"
        )
    stored = io.BytesIO()
    mode = pixels if pixels.shape[2] == 3 else pixels[:, :, 0]
    Image.fromarray(mode).save(stored, "JPEG", quality=int(jpeg_quality))
    decoded = np.asarray(Image.open(stored)).reshape(pixels.shape)
    return convert_image_dtype(Tensor(decoded), picture.dtype, saturate=True)
