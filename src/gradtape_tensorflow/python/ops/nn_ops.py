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


def squeeze_batch_dims(inp: Any, op: Any, inner_rank: int, name: str | None = None) -> Any:
    """Applies an op of tensors with one batch axis to `inp`, whose axes before the last `inner_rank` are batch axes."""
    inp = gradtape.convert_to_tensor(inp)
    shape = gradtape.shape(inp)
    found = op(gradtape.reshape(inp, gradtape.concat([[-1], shape[-inner_rank:]], 0)))
    result = gradtape.reshape(found, gradtape.concat([shape[:-inner_rank], gradtape.shape(found)[-inner_rank:]], 0))
    result.set_shape(inp.shape[:-inner_rank] + found.shape[-inner_rank:])
    return result
