"""Conversion of images to a batch with channels last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras.src import backend

from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import dense_tensor as convert_to_tensor


def checked(images: Any) -> Tensor:
    """Converts to a tensor; raises ValueError unless it is one image or a batch of them."""
    x = convert_to_tensor(images)
    if len(x.dims) not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). Received input with "
            f"shape: images.shape={x.dims}"
        )
    return x


def on_batch(function: Callable[[Tensor], Tensor], images: Any, data_format: str | None) -> Tensor:
    """Calls `function` on images as `(batch, height, width, channels)`; restores their layout in the result."""
    x = checked(images)
    first = backend.standardize_data_format(data_format) == "channels_first"
    single = len(x.dims) == 3
    if single:
        x = ops.reshape(x, shape=(1, *x.dims))
    if first:
        x = ops.transpose(x, perm=(0, 2, 3, 1))
    y = function(x)
    if first:
        y = ops.transpose(y, perm=(0, 3, 1, 2, *range(4, len(y.dims))))
    return ops.reshape(y, shape=y.dims[1:]) if single else y


def one_of(value: Any, allowed: Any, argument: str) -> None:
    """Raises an error if `value` is not one of those allowed."""
    if value not in allowed:
        raise ValueError(
            f"Invalid value for argument `{argument}`. Expected of one {set(allowed)}. Received: {argument}={value}"
        )
