"""Convolutions in every layout and dimension, based on `ops.conv` and its transposes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

from ...core import dtypes, errors
from ...core.tensor import Tensor
from ...core.type_hints import ShapeLike, SizesLike, TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_array, to_operand, to_tensor
from ...engine.run.namespace import ops

NAMESPACES = ("nn",)
__all__ = [
    "atrous_conv2d", "atrous_conv2d_transpose", "conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "conv_transpose", "convolution", "depthwise_conv2d", "separable_conv2d",
]  # fmt: skip

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def channels_first(data_format: str | None, n: int) -> bool:
    """Returns whether `data_format`, for `n` spatial axes, has the channels first."""
    last, first = _LAYOUTS[n]
    if data_format is None or data_format == last:
        return False
    if data_format == first:
        return True
    raise errors.InvalidArgumentError(
        f'Value for attr \'data_format\' of "{data_format}" is not in the list of allowed values: "{last}", "{first}"'
    )


def by_axis(value: Any, n: int, first: bool, what: str) -> tuple[int, ...]:
    """Returns a stride, dilation or window for each of `n` spatial axes, from 1, `n` or `n + 2` numbers."""
    if value is None:
        return (1,) * n
    if type(value) is int and value > 0:
        return (value,) * n
    given = [value] if type(value) is int else [int(k) for k in to_array(value).ravel()]
    if len(given) == 1:
        given = given * n
    if len(given) == n + 2:
        rest, given = (given[:2], given[2:]) if first else ([given[0], given[-1]], given[1:-1])
        if rest != [1, 1]:
            kind = errors.UnimplementedError if n == 2 else errors.InvalidArgumentError
            raise kind(
                f"Current implementation does not yet support {what} in the batch and depth dimensions: both must be "
                f"1, got {value!r}"
            )
    if len(given) != n:
        lengths = f"1, {n} or {n + 2}" if n > 1 else "1 or 3"
        raise ValueError(f"{what} should be of length {lengths}. Received: {what}={value!r} of length {len(given)}")
    if min(given) < 1:
        raise errors.InvalidArgumentError(f"{what} must be positive. Received: {what}={value!r}")
    return tuple(given)


def _are_pairs(padding: Any) -> bool:
    """Whether a value is a list of pairs of Python's integers, which is the usual form of explicit paddings."""
    return type(padding) in (list, tuple) and all(
        [type(p) in (list, tuple) and len(p) == 2 and type(p[0]) is type(p[1]) is int for p in padding]
    )


def paddings_of(
    padding: Any,
    space: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    first: bool,
) -> tuple[tuple[int, int], ...]:
    """Returns the padding before and after each spatial axis: from "SAME", "VALID", or a list of pairs for all axes."""
    n = len(space)
    if not isinstance(padding, str):
        pairs = [(int(a), int(b)) for a, b in (padding if _are_pairs(padding) else to_array(padding).tolist())]
        if len(pairs) != n + 2:
            raise ValueError(
                f"When padding is a list, it must be of size {n + 2}. Received: padding={padding!r} of size "
                f"{len(pairs)}"
            )
        outer, pairs = (pairs[:2], pairs[2:]) if first else ([pairs[0], pairs[-1]], pairs[1:-1])
        if outer != [(0, 0), (0, 0)]:
            raise ValueError(f"padding must be zero for the examples and the channels. Received: padding={padding!r}")
        return tuple(pairs)
    if padding == "VALID":
        return ((0, 0),) * n
    if padding != "SAME":
        raise errors.InvalidArgumentError(
            f'Value for attr \'padding\' of "{padding}" is not in the list of allowed values: "SAME", "VALID", '
            '"EXPLICIT"'
        )
    found = []
    for size, k, s, d in zip(space, window, strides, dilations, strict=True):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        found.append((total // 2, total - total // 2))
    return tuple(found)


def checked_paddings(
    padding: Any,
    space: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    first: bool,
) -> tuple[tuple[int, int], ...]:
    """`paddings_of`, after checking that the window fits. An output of size 0 is an error in functions only."""
    if not isinstance(padding, str):
        padding = tuple(map(tuple, padding if _are_pairs(padding) else to_array(padding).tolist()))
    is_eager = dispatch.thread.trace is None
    return _known_paddings(padding, tuple(space), tuple(window), tuple(strides), tuple(dilations), first, is_eager)


@lru_cache(maxsize=1024)
def _known_paddings(
    padding: Any, space: Any, window: Any, strides: Any, dilations: Any, first: bool, is_eager: bool
) -> Any:  # fmt: skip
    """`checked_paddings` of a named mode, or of pairs."""
    given = padding if isinstance(padding, str) else [list(pair) for pair in padding]
    pairs = paddings_of(given, space, window, strides, dilations, first)
    if min(map(min, pairs), default=0) < 0:
        raise errors.InvalidArgumentError(f"All elements of explicit_paddings must be nonnegative, got {given}")
    if padding != "SAME":
        _check_window(pairs, space, window, strides, dilations, is_eager)
    return pairs


def _check_window(pairs: Any, space: Any, window: Any, strides: Any, dilations: Any, is_eager: bool) -> None:
    """Raises if a window does not fit into the padded image."""
    for size, k, d, stride, pair in zip(space, window, dilations, strides, pairs, strict=True):
        whole, extent = size + sum(pair), (k - 1) * d + 1
        if whole < extent - (2 * stride - 1 if is_eager else 0):  # TensorFlow's kernels round the size towards 0
            raise errors.InvalidArgumentError(
                f"Computed output size would be negative: Negative dimension size caused by subtracting {extent} from "
                f"{whole}. A window of {k} with dilation {d} does not fit into {size} values with padding {pair}. Use "
                "padding='SAME' or a smaller window"
            )


def to_channels_last(x: Tensor, first: bool) -> Tensor:
    """Moves the channels of `x`, the second axis, to the end."""
    return ops.transpose(x, perm=(0, *range(2, len(x.dims)), 1)) if first else x


def to_channels_first(x: Tensor, first: bool) -> Tensor:
    """The inverse of `to_channels_last`."""
    if not first:
        return x
    rank = len(x.dims)
    return ops.transpose(x, perm=(0, rank - 1, *range(1, rank - 1)))


def _operands(x: Any, filters: Any) -> tuple[Tensor, Tensor]:
    if hasattr(filters, "dtype") and not hasattr(x, "dtype"):
        filters = to_operand(filters)
        return to_tensor(x, hint=filters.dtype), filters
    x = to_operand(x)
    return x, to_operand(filters) if hasattr(filters, "dtype") else to_tensor(filters, dtype=x.dtype)


def _wide(op: Any, x: Tensor, w: Tensor, **attrs: Any) -> Tensor:
    """Runs `op` in float32 for half precision on NumPy, which has no fast matrix product for it."""
    if x.dtype is dtypes.float16 and w.dtype is dtypes.float16 and dispatch.numpy_computes():
        y = op(ops.cast(x, dtype=dtypes.float32), ops.cast(w, dtype=dtypes.float32), **attrs)
        return ops.cast(y, dtype=dtypes.float16)
    return op(x, w, **attrs)


def _wrong_rank(what: str, dims: tuple[int, ...], rank: int) -> NoReturn:
    raise errors.InvalidArgumentError(f"{what} must have {rank} dimensions. Received: shape {dims}")


def _convolve(
    x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, n: int, first: bool, depthwise: bool = False
) -> Tensor:
    x, w = _operands(x, filters)
    dims, filter_dims = x.dims, w.dims
    layout = n, first, depthwise, dispatch.thread.trace is None
    attrs = None
    try:
        keys = _hash_key(strides), _hash_key(padding), _hash_key(dilations)
        attrs = _cached_attributes(dims, filter_dims, *keys, *layout)
    except Exception:  # the error about a wrong value shows it as it was given
        pass
    if attrs is None:
        attrs = _checked_attributes(dims, filter_dims, strides, padding, dilations, *layout)
    lead = dims[: len(dims) - n - 1]
    if len(lead) > 1:
        x = ops.reshape(x, shape=(math.prod(lead), *dims[len(lead) :]))
    if depthwise:
        w = ops.reshape(w, shape=(*filter_dims[:-2], 1, filter_dims[-2] * filter_dims[-1]))
    y = to_channels_first(_wide(ops.conv, to_channels_last(x, first), w, **attrs), first)
    return ops.reshape(y, shape=(*lead, *y.dims[1:])) if len(lead) > 1 else y


def _hash_key(value: Any) -> Any:
    """Returns a value of the usual types with tuples for lists; raises TypeError for others, which might equal it."""
    if value is None or type(value) is int or type(value) is str:
        return value
    if type(value) is list or type(value) is tuple:
        return tuple([_hash_key(x) for x in value])
    raise TypeError(f"{type(value).__name__} is no key of the cache")


def _checked_attributes(
    dims: tuple[int, ...], filter_dims: tuple[int, ...], strides: Any, padding: Any, dilations: Any, n: int,
    first: bool, depthwise: bool, is_eager: bool,
) -> dict[str, Any]:  # fmt: skip
    """Returns the attributes of the op of a convolution after checking its arguments.

    `checked_paddings` depends on `is_eager`, whether no function is traced, so that a cache needs it as an argument.
    """
    if len(filter_dims) != n + 2:
        _wrong_rank("filters", filter_dims, n + 2)
    if len(dims) < n + 2:
        _wrong_rank("input", dims, n + 2)
    space, channels = (dims[-n:], dims[-n - 1]) if first else (dims[-n - 1 : -1], dims[-1])
    window, depth, outputs = filter_dims[:-2], filter_dims[-2], filter_dims[-1]
    steps = by_axis(strides, n, first, "strides")
    holes = by_axis(dilations, n, first, "dilations")
    if depthwise:
        if depth != channels:
            raise errors.InvalidArgumentError(
                f"input and filter must have the same depth: {channels} vs {depth}: the third axis of the filter "
                "counts the channels of the input"
            )
        depth, outputs = 1, channels * outputs
    if not depth:
        raise errors.InvalidArgumentError("filter depth must be stricly positive, got 0")
    if 0 in window and 0 not in dims:
        raise errors.InvalidArgumentError(
            f"filter must not have zero elements (i.e. all dimensions must be non-zero), got shape {list(filter_dims)}"
        )
    groups = channels // depth
    if depth * groups != channels or (groups and outputs % groups):
        raise errors.InvalidArgumentError(
            f"input depth must be evenly divisible by filter depth: {channels} vs {depth}, and the {outputs} outputs "
            "by the number of groups. Change the next to last axis of the filters"
        )
    pairs = checked_paddings(padding, space, window, steps, holes, first)
    return {"strides": steps, "paddings": pairs, "dilations": holes, "groups": groups}


_cached_attributes = lru_cache(maxsize=1024)(_checked_attributes)


def conv1d(
    input: TensorLike, filters: TensorLike, stride: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC", dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A 1-D convolution (cross-correlation) of `(..., width, channels)` with `(window, channels, outputs)`.

    >>> x = tf.reshape(tf.constant([1.0, 2.0, 4.0, 8.0]), (1, 4, 1))
    >>> tf.nn.conv1d(x, tf.reshape(tf.constant([-1.0, 1.0]), (2, 1, 1)), 1, "VALID").numpy().ravel()
    array([1., 2., 4.], dtype=float32)
    """
    return _convolve(input, filters, stride, padding, dilations, 1, channels_first(data_format, 1))


def conv2d(
    input: TensorLike, filters: TensorLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC", dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A 2-D convolution (cross-correlation) of images `(..., height, width, channels)` with `filters`:
    `y[i, j, o] = Σ_{p, q, c} input[stride * i + dilation * p, stride * j + dilation * q, c] * filters[p, q, c, o]`.

    - Shape: `[..., height, width, channels]` → `[..., height', width', outputs]`: with `padding="SAME"`
      `height' = ceil(height / stride)`, with `"VALID"` `height' = ceil((height - (filter - 1) * dilation) / stride)`.
    - Dtypes: `int8` … `int64`, `uint8` … `uint64`, `bfloat16`, `float16`, `float32`, `float64` (TensorFlow does not
      take `int8`, `int16`, `int64`, `uint8`, `uint16`, `uint32` and `uint64`); the result has that of `input`.
    - Derivative: a transposed convolution of the gradient for `input`, a convolution of `input` with the gradient for
      `filters`.

    Args:
      filters: of shape `(height, width, channels // groups, outputs)`.
      padding: "SAME", "VALID", or the zeros before and after each axis,
        `[[0, 0], [top, bottom], [left, right], [0, 0]]`.

    >>> x = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> tf.nn.conv2d(x, tf.ones((2, 2, 1, 1)), strides=1, padding="VALID").numpy()[0, :, :, 0]
    array([[ 8., 12.],
           [20., 24.]], dtype=float32)
    """
    return _convolve(input, filters, strides, padding, dilations, 2, channels_first(data_format, 2))


def conv3d(
    input: TensorLike, filters: TensorLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC", dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A 3-D convolution of volumes `(..., depth, height, width, channels)` with `filters`.

    >>> tf.nn.conv3d(tf.ones((1, 3, 3, 3, 1)), tf.ones((2, 2, 2, 1, 4)), [1, 1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 2, 4])
    """
    return _convolve(input, filters, strides, padding, dilations, 3, channels_first(data_format, 3))


def convolution(
    input: TensorLike, filters: TensorLike, strides: SizesLike | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID", data_format: str | None = None,
    dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution over 1 to 3 spatial axes, as many as `filters` has.

    >>> tf.nn.convolution(tf.ones((2, 5, 3)), tf.ones((2, 3, 4)), padding="SAME").shape
    TensorShape([2, 5, 4])
    """
    n = len(to_tensor(filters).dims) - 2
    if n not in _LAYOUTS:
        raise ValueError(f"filters must have 1, 2 or 3 axes of space. Received: filters of rank {n + 2}")
    first = data_format is not None and data_format.startswith("NC")
    if data_format is not None and data_format not in _LAYOUTS[n]:
        raise ValueError(f"data_format must be one of {_LAYOUTS[n]} for {n} axes of space. Received: {data_format!r}")
    steps, holes = by_axis(strides, n, first, "strides"), by_axis(dilations, n, first, "dilations")
    if max(steps) > 1 and max(holes) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={list(steps)} and dilation_rate={list(holes)}"
        )
    return _convolve(input, filters, steps, padding, holes, n, first)


def _transposed(
    x: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, dilations: Any, n: int, first: bool
) -> Tensor:
    x, w = _operands(x, filters)
    for what, given in (("input", x.dims), ("filters", w.dims)):
        if len(given) != n + 2:
            _wrong_rank(what, given, n + 2)
    x = to_channels_last(x, first)
    dims, filter_dims = x.dims, w.dims
    shape = [int(k) for k in to_array(output_shape).ravel()]
    if len(shape) == n + 2:
        count, size, channels = (shape[0], shape[2:], shape[1]) if first else (shape[0], shape[1:-1], shape[-1])
        if (count, channels) != (dims[0], filter_dims[-2]):
            raise errors.InvalidArgumentError(
                f"output_shape={shape} does not fit {dims[0]} examples and filters of shape {filter_dims}, whose next "
                "to last axis counts the output's channels"
            )
    elif len(shape) == n:
        size = shape
    else:
        raise ValueError(f"output_shape must be of length {n} or {n + 2}. Received: output_shape={output_shape!r}")
    if dims[-1] != filter_dims[-1]:
        raise errors.InvalidArgumentError(
            f"input depth {dims[-1]} must be the last axis of the filters, whose shape is {filter_dims}"
        )
    steps, holes = by_axis(strides, n, first, "strides"), by_axis(dilations, n, first, "dilations")
    window = filter_dims[:-2]
    pairs = paddings_of(padding, size, window, steps, holes, first)
    for i in range(n):
        fits = (size[i] + sum(pairs[i]) - (window[i] - 1) * holes[i] - 1) // steps[i] + 1
        if fits != dims[1 + i]:
            raise errors.InvalidArgumentError(
                f"Conv{n}DSlowBackpropInput: Size of out_backprop doesn't match computed: actual = {dims[1 + i]}, "
                f"computed = {fits}, spatial_dim: {i}, output_shape: {size[i]}, stride: {steps[i]}. Choose an "
                "output_shape whose convolution has the input's shape"
            )
    y = _wide(ops.conv_input, x, w, size=tuple(size), strides=steps, paddings=pairs, dilations=holes, groups=1)
    return to_channels_first(y, first)


def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]] = "SAME", data_format: str = "NWC", dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv1d`; `filters` is `(window, outputs, channels)`.

    >>> tf.nn.conv1d_transpose(tf.ones((1, 2, 1)), tf.ones((2, 1, 1)), [1, 4, 1], 2).numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    first = channels_first(data_format, 1)
    return _transposed(input, filters, output_shape, strides, padding, dilations, 1, first)


def conv2d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]] = "SAME", data_format: str = "NHWC", dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv2d`; `filters` is `(height, width, outputs, channels)`.

    >>> tf.nn.conv2d_transpose(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 5, 3)), [1, 8, 8, 5], strides=2).shape
    TensorShape([1, 8, 8, 5])
    """
    first = channels_first(data_format, 2)
    return _transposed(input, filters, output_shape, strides, padding, dilations, 2, first)


def conv3d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]] = "SAME", data_format: str = "NDHWC", dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv3d`; `filters` is `(depth, height, width, outputs, channels)`.

    >>> tf.nn.conv3d_transpose(tf.ones((1, 2, 2, 2, 1)), tf.ones((2, 2, 2, 3, 1)), [1, 4, 4, 4, 3], 2).shape
    TensorShape([1, 4, 4, 4, 3])
    """
    first = channels_first(data_format, 3)
    return _transposed(input, filters, output_shape, strides, padding, dilations, 3, first)


def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]] = "SAME", data_format: str | None = None, dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `convolution`, over as many spatial axes as `output_shape` has.

    >>> tf.nn.conv_transpose(tf.ones((1, 4, 3)), tf.ones((2, 5, 3)), [1, 8, 5], 2).shape
    TensorShape([1, 8, 5])
    """
    n = to_array(output_shape).size - 2
    if n not in _LAYOUTS:
        raise ValueError(
            f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape!r} of length {n + 2}."
        )
    first = channels_first(data_format, n)
    return _transposed(input, filters, output_shape, strides, padding, dilations, n, first)


def depthwise_conv2d(
    input: TensorLike, filter: TensorLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str | None = None, dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves each channel with its own filters; `filter` is `(height, width, channels, multiplier)`.

    >>> tf.nn.depthwise_conv2d(tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 6])
    """
    if isinstance(strides, int):
        raise TypeError(f"Expected list for 'strides' argument to 'depthwise_conv2d_native' Op, not {strides!r}.")
    first = channels_first(data_format, 2)
    return _convolve(input, filter, strides, padding, dilations, 2, first, depthwise=True)


def separable_conv2d(
    input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: SizesLike,
    padding: str | Sequence[Sequence[int]], data_format: str | None = None, dilations: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`depthwise_conv2d`, then a 1 by 1 convolution that mixes the channels.

    >>> x, depthwise, pointwise = tf.ones((1, 4, 4, 3)), tf.ones((2, 2, 3, 2)), tf.ones((1, 1, 6, 4))
    >>> tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 4])
    """
    y = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(y, pointwise_filter, 1, "VALID", data_format or "NHWC")


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None) -> Tensor:
    """`conv2d` with dilated filters, which read every `rate`-th value.

    >>> tf.nn.atrous_conv2d(tf.ones((1, 5, 5, 1)), tf.ones((2, 2, 1, 1)), 2, "VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    return conv2d(value, filters, 1, padding, dilations=rate)


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`: the gradient of that convolution with respect to its input.

    >>> tf.nn.atrous_conv2d_transpose(tf.ones((1, 3, 3, 1)), tf.ones((2, 2, 4, 1)), [1, 5, 5, 4], 2, "VALID").shape
    TensorShape([1, 5, 5, 4])
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)
