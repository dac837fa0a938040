"""Validation of image arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops


def to_image(image: TensorLike) -> Tensor:
    """Converts an image or a batch of images to a tensor; its last three axes must not be empty."""
    tensor = to_tensor(image)
    if len(tensor.dims) < 3:
        raise ValueError(f"'image' (shape {tensor.shape}) must be at least three-dimensional.")
    if 0 in tensor.dims[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {tensor.shape}")
    return tensor


def to_image_or_batch(image: TensorLike) -> Tensor:
    """Returns an image of rank 3 or a batch of rank 4, after checking."""
    tensor = to_image(image)
    if len(tensor.dims) > 4:
        raise ValueError(f"'image' (shape {tensor.shape}) must have either 3 or 4 dimensions.")
    return tensor


def on_batch(image: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Applies `function`, which takes a batch, to a batch or a single image."""
    if len(image.dims) == 4:
        return function(image)
    result = function(ops.reshape(image, shape=(1, *image.dims)))
    return ops.reshape(result, shape=result.dims[1:])


def require(condition: Any, message: str) -> None:
    """Raises ValueError with the message unless the condition holds."""
    if not bool(condition):
        raise ValueError(message)
