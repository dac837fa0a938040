"""Image windows as columns (im2col), and blocks of pixels as channels."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor as convert_to_tensor


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


def _one_window_a_filter(window: tuple[int, int], like: Tensor) -> Tensor:
    """Returns filters that each select one position of the window: convolving with them lays windows out as columns."""
    places = window[0] * window[1]
    return convert_to_tensor(np.eye(places).reshape(*window, 1, places), dtype=like.dtype)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    x = convert_to_tensor(input)
    window, holes, margin, steps = map(_pair, (kernel_size, dilation, padding, stride))
    n, channels, *space = x.dims
    images = ops.reshape(x, shape=(n * channels, *space, 1))
    y = ops.conv(
        images, _one_window_a_filter(window, x), strides=steps, paddings=tuple((p, p) for p in margin),
        dilations=holes, groups=1,
    )  # fmt: skip
    _, height, width, places = y.dims
    y = ops.reshape(y, shape=(n, channels, height * width, places))
    return ops.reshape(ops.transpose(y, perm=(0, 1, 3, 2)), shape=(n, channels * places, height * width))


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The transpose of `unfold`: sums overlapping windows."""
    x = convert_to_tensor(x)
    size, window, holes, margin, steps = map(_pair, (output_size, kernel_size, dilation, padding, stride))
    n, columns, _ = x.dims
    places = window[0] * window[1]
    channels = columns // places
    positions = [
        (size[i] + 2 * margin[i] - holes[i] * (window[i] - 1) - 1) // steps[i] + 1 for i in range(2)
    ]
    y = ops.transpose(ops.reshape(x, shape=(n * channels, places, *positions)), perm=(0, 2, 3, 1))
    y = ops.conv_input(
        y, _one_window_a_filter(window, x), size=size, strides=steps, paddings=tuple((p, p) for p in margin),
        dilations=holes, groups=1,
    )  # fmt: skip
    return ops.reshape(y, shape=(n, channels, *size))


def depth_to_space(x, block_size, data_format="channels_last"):
    return tf.nn.depth_to_space(convert_to_tensor(x), block_size, _layout(data_format))


def space_to_depth(x, block_size, data_format="channels_last"):
    return tf.nn.space_to_depth(convert_to_tensor(x), block_size, _layout(data_format))


def _layout(data_format: str) -> str:
    return "NHWC" if data_format == "channels_last" else "NCHW"
