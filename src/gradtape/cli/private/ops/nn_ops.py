"""`tensorflow.python.ops.nn_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def _get_noise_shape(x: Any, noise_shape: Any) -> Any:
    """Returns the shape of a dropout's noise, in which None is the size of `x`."""
    if noise_shape is None:
        return gradtape.shape(x)
    try:
        shape = gradtape.TensorShape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.rank is not None and shape.rank == x.shape.rank:
        return gradtape.TensorShape(
            [given if size is None else size for size, given in zip(shape, x.shape, strict=True)]
        )
    return noise_shape


def convolution_internal(
    input: Any, filters: Any, strides: Any = None, padding: str = "VALID", data_format: str | None = None,
    dilations: Any = None, name: str | None = None, call_from_convolution: bool = True, num_spatial_dims: Any = None,
) -> Any:  # fmt: skip
    """Same as `tf.nn.convolution`."""
    return gradtape.nn.convolution(input, filters, strides, padding, data_format, dilations, name)
