"""Convolutions over 1 to 3 spatial axes, in both data formats."""

from __future__ import annotations

import math
from typing import Any

from keras.src import backend
from keras.src.backend.common.backend_utils import (
    check_conv_input_channels,
    check_conv_transpose_input_channels,
    compute_conv_transpose_padding_args_for_jax,
)

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run import dispatch
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor
from .pooling import layout_of

_BY_RANK = {3: tf.nn.conv1d, 4: tf.nn.conv2d, 5: tf.nn.conv3d}


def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    w = convert_to_tensor(kernel)
    x = convert_to_tensor(inputs, dtype=w.dtype)
    layout = layout_of(x, data_format)
    channels = x.dims[layout.index("C")]
    if channels % w.dims[-2]:
        raise ValueError(
            "The number of input channels must be evenly divisible by kernel's in_channels. Received input channels "
            f"{channels} and kernel in_channels {w.dims[-2]}. "
        )
    _check_fits(x, w, layout, padding, dilation_rate)
    return _BY_RANK[len(x.dims)](x, w, strides, padding.upper(), layout, dilation_rate)


def _check_fits(x: Tensor, w: Tensor, layout: str, padding: str, dilation_rate: Any) -> None:
    if padding.lower() != "valid":
        return
    space = x.dims[2:] if layout.startswith("NC") else x.dims[1:-1]
    holes = _by_axis(dilation_rate, len(space))
    if any(0 < size <= (k - 1) * d for size, k, d in zip(space, w.dims, holes, strict=False)):
        raise ValueError(
            "The convolution operation resulted in an empty output. This can happen if the input is too small for the "
            "given kernel size, strides, dilation rate, and padding mode. Please check the input shape and convolution "
            "parameters."
        )


def _by_axis(value: Any, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    x, w = convert_to_tensor(inputs), convert_to_tensor(kernel)
    check_conv_input_channels(x, w, backend.standardize_data_format(data_format))
    *window, channels, multiplier = w.dims
    w = ops.reshape(w, shape=(*window, 1, channels * multiplier))
    return conv(x, w, strides, padding, data_format, dilation_rate)


def separable_conv(
    inputs, depthwise_kernel, pointwise_kernel, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    y = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(y, pointwise_kernel, 1, "valid", data_format, dilation_rate)


def conv_transpose(inputs, kernel, strides=1, padding="valid", output_padding=None, data_format=None, dilation_rate=1):
    x, w = convert_to_tensor(inputs), convert_to_tensor(kernel)
    check_conv_transpose_input_channels(x, w, backend.standardize_data_format(data_format))
    first = layout_of(x, data_format).startswith("NC")
    n = len(x.dims) - 2
    steps, holes = _by_axis(strides, n), _by_axis(dilation_rate, n)
    margins = compute_conv_transpose_padding_args_for_jax(
        x.dims, w.dims, steps, padding, output_padding, holes
    )
    if first:
        x = ops.transpose(x, perm=(0, *range(2, n + 2), 1))
    # Each input value contributes to a window. Values outside the output are cropped; an output larger than all windows
    # is padded with zeros.
    crops, zeros, size = [], [], []
    for i, (before, after) in enumerate(margins):
        reach = (w.dims[i] - 1) * holes[i]
        crop = (max(reach - before, 0), max(reach - after, 0))
        crops.append(crop)
        zeros.append((max(before - reach, 0), max(after - reach, 0)))
        size.append((x.dims[1 + i] - 1) * steps[i] + reach + 1 - sum(crop))
    attrs: dict[str, Any] = {"strides": steps, "paddings": tuple(crops), "dilations": holes, "groups": 1}
    narrow = x.dtype if x.dtype.name == "float16" and dispatch.numpy_computes() else None
    if narrow is not None:
        x, w = cast(x, "float32"), cast(w, "float32")  # NumPy has no fast matrix product for half precision
    y = ops.conv_input(x, w, size=tuple(size), **attrs)
    if narrow is not None:
        y = ops.cast(y, dtype=narrow)
    if any(math.fsum(pair) for pair in zeros):
        y = tf.pad(y, [(0, 0), *zeros, (0, 0)])
    return ops.transpose(y, perm=(0, n + 1, *range(1, n + 1))) if first else y
