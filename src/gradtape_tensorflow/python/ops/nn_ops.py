"""`tensorflow.python.ops.nn_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


class Convolution:
    """A convolution with given strides, padding and dilations, to be called with an input and filters."""

    def __init__(
        self, input_shape: Any, filter_shape: Any, padding: str, strides: Any = None, dilation_rate: Any = None,
        name: str | None = None, data_format: str | None = None, num_spatial_dims: int | None = None,
    ) -> None:  # fmt: skip
        self.input_shape, self.filter_shape = gradtape.TensorShape(input_shape), gradtape.TensorShape(filter_shape)
        self.padding, self.strides, self.dilation_rate = padding, strides, dilation_rate
        self.name, self.data_format = name, data_format

    def __call__(self, inp: Any, filter: Any) -> Any:
        """Convolves an input with filters."""
        return gradtape.nn.convolution(
            inp, filter, self.strides, self.padding, self.data_format, self.dilation_rate, self.name
        )
