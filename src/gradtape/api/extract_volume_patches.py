"""The windows of volumes; those of images are in `gradtape.image`."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..engine.convert import to_tensor
from ..tensor import Tensor
from .image.geometry import inner_axes, patches

NAMESPACES = ("",)
__all__ = ["extract_volume_patches"]


def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Tensor:
    """The windows of a batch of volumes, each as one row of values along the last axis.

    Args:
      ksizes: [1, planes, rows, columns, 1], the size of a window.
      strides: [1, planes, rows, columns, 1], how far apart windows begin.

    >>> import gradtape as tf
    >>> volume = tf.reshape(tf.range(8), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").numpy().ravel()
    array([0, 1, 2, 3, 4, 5, 6, 7], dtype=int32)
    """
    volumes = to_tensor(input)
    if len(volumes.dims) != 5:
        raise errors.InvalidArgumentError(f"input must be 5-dimensional, got shape {list(volumes.dims)}")
    windows, steps = inner_axes(ksizes, 5, "ksizes"), inner_axes(strides, 5, "strides")
    return patches(volumes, windows, steps, [1, 1, 1], padding)
