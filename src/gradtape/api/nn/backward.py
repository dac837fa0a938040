"""Backward convolutions as functions, and the convolution for any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...core.type_hints import SizesLike, TensorLike
from ...engine.run.convert import to_tensor
from ..namespace import resolve

NAMESPACES = ("nn", "")
__all__ = ["conv", "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input"]


def depthwise_conv2d_backprop_input(
    input_sizes: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]], data_format: str = "NHWC",
    dilations: SizesLike = [1, 1, 1, 1],  # noqa: B006  as TensorFlow shows it
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of `depthwise_conv2d` with respect to its input, of shape `input_sizes`.

    >>> import gradtape as tf
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

    >>> import gradtape as tf
    >>> tf.nn.depthwise_conv2d_backprop_filter(
    ...     tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([4.], dtype=float32)
    """
    return resolve("raw_ops.DepthwiseConv2dNativeBackpropFilter")(
        input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides,
        data_format=data_format, dilations=dilations, **_padded(padding),
    )  # fmt: skip


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

    >>> import gradtape as tf
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
