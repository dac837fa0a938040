"""Backward convolutions as functions, and the convolution for any number of axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...core.type_hints import SizesLike, TensorLike
from ...engine.run.convert import to_array, to_tensor
from ..namespace import resolve

NAMESPACES = ("nn", "")
__all__ = [
    "conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2", "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input", "with_space_to_batch",
]  # fmt: skip


def depthwise_conv2d_backprop_input(
    input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]], data_format: str = "NHWC",
    dilations: SizesLike = [1, 1, 1, 1],  # noqa: B006  as TensorFlow shows it
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `depthwise_conv2d` with respect to its input, of shape `input_sizes`.

    >>> tf.nn.depthwise_conv2d_backprop_input(
    ...     [1, 2, 2, 1], tf.ones([1, 1, 1, 1]), tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    return resolve("raw_ops.DepthwiseConv2dNativeBackpropInput")(
        input_sizes=input_sizes, filter=filter, out_backprop=out_backprop, strides=strides,
        data_format=data_format, dilations=dilations, **_padded(padding),
    )  # fmt: skip


def depthwise_conv2d_backprop_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]], data_format: str = "NHWC",
    dilations: SizesLike = [1, 1, 1, 1],  # noqa: B006  as TensorFlow shows it
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `depthwise_conv2d` with respect to its filter, of shape `filter_sizes`.

    >>> tf.nn.depthwise_conv2d_backprop_filter(
    ...     tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([4.], dtype=float32)
    """
    return resolve("raw_ops.DepthwiseConv2dNativeBackpropFilter")(
        input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides,
        data_format=data_format, dilations=dilations, **_padded(padding),
    )  # fmt: skip


def conv2d_backprop_input_v2(
    input: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: SizesLike, padding: str,
    use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC", dilations: SizesLike = [1, 1, 1, 1],  # noqa: B006
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `conv2d` with respect to its input, of which only the shape matters.

    >>> x = tf.zeros([1, 2, 2, 1])
    >>> tf.conv2d_backprop_input_v2(x, tf.ones([1, 1, 1, 1]), x + 3.0, [1, 1, 1, 1], "VALID").numpy().ravel()
    array([3., 3., 3., 3.], dtype=float32)
    """
    return resolve("raw_ops.Conv2DBackpropInput")(
        input_sizes=list(to_tensor(input).dims), filter=filter, out_backprop=out_backprop, strides=strides,
        padding=padding, explicit_paddings=explicit_paddings, data_format=data_format, dilations=dilations,
    )  # fmt: skip


def conv2d_backprop_filter_v2(
    input: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: SizesLike, padding: str,
    use_cudnn_on_gpu: bool = True, explicit_paddings: Sequence[int] = [],
    data_format: str = "NHWC", dilations: SizesLike = [1, 1, 1, 1],  # noqa: B006
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `conv2d` with respect to its filter, of which only the shape matters.

    >>> x = tf.ones([1, 2, 2, 1])
    >>> tf.conv2d_backprop_filter_v2(x, tf.zeros([1, 1, 1, 1]), x, [1, 1, 1, 1], "VALID").numpy().ravel()
    array([4.], dtype=float32)
    """
    return resolve("raw_ops.Conv2DBackpropFilter")(
        input=input, filter_sizes=list(to_tensor(filter).dims), out_backprop=out_backprop, strides=strides,
        padding=padding, explicit_paddings=explicit_paddings, data_format=data_format, dilations=dilations,
    )  # fmt: skip


def with_space_to_batch(
    input: TensorLike, dilation_rate: TensorLike, padding: str | Sequence[Sequence[int]], op: Callable[..., Any],
    filter_shape: TensorLike | None = None, spatial_dims: Sequence[int] | None = None, data_format: str | None = None,
) -> Tensor:  # fmt: skip
    """Applies an op at dilated positions: to every phase of the input separately, with `space_to_batch_nd`.

    Args:
      op: called with the input, the number of spatial dimensions and "VALID" (or `padding`, if all rates are 1).
      filter_shape: the size of the op's window, for the padding "SAME".
      spatial_dims: increasing positive axes; those after the batch, or after the channels, by default.

    >>> window = lambda x, n, padding: tf.nn.pool(x, [2], "MAX", [1], padding)
    >>> tf.nn.with_space_to_batch([[[1.0], [9.0], [2.0], [3.0]]], [2], "VALID", window).numpy().ravel()
    array([2., 9.], dtype=float32)
    """
    x, rates = to_tensor(input), to_array(dilation_rate)
    if rates.ndim != 1:
        raise ValueError(
            f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate} of rank {rates.ndim}"
        )
    n = rates.size
    channels_first = (data_format or "").startswith("NC")
    start = 2 if channels_first else 1
    dims = list(range(start, start + n)) if spatial_dims is None else list(spatial_dims)
    if dims != sorted({int(axis) for axis in dims}) or any(axis < 1 for axis in dims):
        raise ValueError(
            "`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: "
            f"spatial_dims={dims}"
        )
    rank = dims[-1] + (not channels_first)
    if len(x.dims) < rank:
        raise ValueError(
            f"`input.shape.rank` must be at least {rank}. Received: input.shape={x.shape} with rank {len(x.dims)}"
        )
    if (rates < 1).any():
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    if (rates == 1).all():
        return op(x, n, padding)
    base = _base_paddings(padding, filter_shape, rates, channels_first)
    sizes = [x.dims[axis] for axis in dims]
    paddings, crops = (part.numpy() for part in resolve("required_space_to_batch_paddings")(sizes, rates, base))
    blocks = np.ones(dims[-1], np.int32)
    blocks[np.array(dims) - 1] = rates
    spaces = np.zeros((2, dims[-1], 2), np.int32)
    spaces[:, np.array(dims) - 1] = paddings, crops
    phases = resolve("space_to_batch_nd")(x, blocks, spaces[0])
    return resolve("batch_to_space")(op(phases, n, "VALID"), blocks, spaces[1])


def _base_paddings(padding: Any, filter_shape: Any, rates: Any, channels_first: bool) -> Any:
    if not isinstance(padding, str):
        pairs = np.array(padding).reshape(rates.size + 2, 2)
        return pairs[2:] if channels_first else pairs[1:-1]
    if padding == "VALID":
        return np.zeros((rates.size, 2), np.int32)
    if padding != "SAME":
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if filter_shape is None:
        raise ValueError(
            f"`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape={filter_shape} and "
            f"padding={padding}"
        )
    extra = (to_array(filter_shape)[: rates.size] - 1) * rates
    return np.stack([extra // 2, extra - extra // 2], 1)


def _padded(padding: Any) -> dict[str, Any]:
    if isinstance(padding, str):
        return {"padding": padding}
    return {"padding": "EXPLICIT", "explicit_paddings": [size for pair in padding for size in pair]}


def conv(
    input: Any, filter: Any, strides: Any, padding: str,
    explicit_paddings: Any = [],  # noqa: B006  as TensorFlow shows it
    data_format: str = "CHANNELS_LAST",
    dilations: Any = [],  # noqa: B006
    batch_dims: int = 1, groups: int = 1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves over two or three axes: `nn.conv2d` or `nn.conv3d`.

    >>> tf.conv(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    x = to_tensor(input)
    axes = len(x.dims) - batch_dims - 1
    if axes not in (2, 3):
        raise ValueError(f"conv has two or three axes beside those of the batch and the channels, got {axes}")
    if batch_dims != 1:
        flat = resolve("reshape")(x, (-1, *x.dims[batch_dims:]))
        y = conv(flat, filter, strides, padding, explicit_paddings, data_format, dilations, 1, groups)
        return resolve("reshape")(y, (*x.dims[:batch_dims], *y.dims[1:]))
    last = data_format == "CHANNELS_LAST"
    layout = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[axes][last]
    pads: Any = padding
    if padding == "EXPLICIT":
        pads = [list(explicit_paddings[i : i + 2]) for i in range(0, len(explicit_paddings), 2)]
    return resolve(f"nn.conv{axes}d")(x, filter, strides, pads, layout, list(dilations) or None)
