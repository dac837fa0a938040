"""Filters applied to each channel: blurring and edges."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor as convert_to_tensor
from .layout import on_batch


def gaussian_blur(images, kernel_size=(3, 3), sigma=(1.0, 1.0), data_format=None):
    return on_batch(lambda x: blurred(x, kernel_size, sigma), images, data_format)


def blurred(x: Tensor, kernel_size: Any, sigma: Any) -> Tensor:
    """Convolves a batch of images, channels last, with a Gaussian."""
    spread = convert_to_tensor(sigma, dtype=x.dtype)
    rows, columns = (_gaussian(int(kernel_size[i]), spread[i], x) for i in (1, 0))
    kernel = ops.reshape(rows, shape=(-1, 1)) * columns
    return _depthwise(x, kernel)


def _gaussian(size: int, sigma: Tensor, like: Tensor) -> Tensor:
    places = convert_to_tensor(np.arange(size) - (size - 1) / 2, dtype=like.dtype)
    weights = ops.exp(-0.5 * ops.square(places / sigma))
    return weights / ops.sum(weights, axis=(0,), keepdims=False)


def _depthwise(x: Tensor, kernel: Tensor) -> Tensor:
    channels = x.dims[-1]
    filters = ops.broadcast_to(ops.reshape(kernel, shape=(*kernel.dims, 1, 1)), shape=(*kernel.dims, channels, 1))
    return tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME")


def sobel_edges(images, data_format=None):
    def edges(x: Tensor) -> Tensor:
        down = convert_to_tensor(np.outer([-1, 0, 1], [1, 2, 1]), dtype=x.dtype)
        across = ops.transpose(down, perm=(1, 0))
        return ops.stack(_depthwise(x, down), _depthwise(x, across), axis=4)

    return on_batch(edges, images, data_format or "channels_last")
