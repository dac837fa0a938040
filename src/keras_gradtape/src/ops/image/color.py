"""Color conversions."""

from __future__ import annotations

from typing import Any

from keras.src import backend
from keras.src.backend.common.dtypes import result_type

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor
from .layout import checked, on_batch


def rgb_to_grayscale(images, data_format=None):
    x = checked(images)
    channels = x.dims[-1 if backend.standardize_data_format(data_format) == "channels_last" else -3]
    if channels not in (1, 3):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). Received input with shape: "
            f"images.shape={x.dims}"
        )
    if channels == 1:
        return ops.identity(x)

    def gray(pixels: Tensor) -> Tensor:
        wide = cast(pixels, result_type(x.dtype.name, float))
        weights = convert_to_tensor([[0.2989], [0.5870], [0.1140]], dtype=wide.dtype)
        return ops.cast(ops.matmul(wide, weights), dtype=x.dtype)

    return on_batch(gray, x, data_format)


def rgb_to_hsv(images, data_format=None):
    return on_batch(tf.image.rgb_to_hsv, _floating(images), data_format)


def hsv_to_rgb(images, data_format=None):
    return on_batch(tf.image.hsv_to_rgb, _floating(images), data_format)


def _floating(images: Any) -> Tensor:
    x = checked(images)
    if not x.dtype.is_floating:
        raise ValueError(f"Invalid images dtype: expected float dtype. Received: images.dtype={x.dtype.name}")
    return x
