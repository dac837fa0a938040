"""Pooling over windows: maximum, average, fractional and morphological."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...core.type_hints import SizesLike, TensorLike
from ...engine.run import dispatch
from ...engine.run.convert import to_array, to_tensor, with_default
from ...engine.run.namespace import ops
from ...ops.nn.patches import taps, window_sizes
from ...ops.nn.pooling import window_counts
from .convolution import by_axis, channels_first, checked_paddings, paddings_of, to_channels_first, to_channels_last

NAMESPACES = ("nn",)
__all__ = [
    "avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "dilation2d", "erosion2d", "fractional_avg_pool",
    "fractional_max_pool", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_with_argmax", "pool",
]  # fmt: skip


def _depth_only(value: Any, n: int, first: bool) -> int | None:
    """Returns the size of a window over channels only, `[1, 1, 1, k]`, or None."""
    if type(value) is int:
        return None
    given = [int(k) for k in to_array(value).ravel()]
    if len(given) != n + 2:
        return None
    channel = given.pop(1 if first else -1)
    return channel if channel > 1 and all(k == 1 for k in given) else None


def _pooled(
    x: Tensor, ksize: Any, strides: Any, padding: Any, dilations: Any, n: int, first: bool, largest: bool
) -> Tensor:
    if len(x.dims) != n + 2:
        raise ValueError(
            f"Input tensor must be of rank {n + 2}: examples, {n} axes of space and channels. Received: shape {x.dims}"
        )
    depth = _depth_only(ksize, n, first) if largest else None
    if depth is not None and _depth_only(strides, n, first) == depth and x.dims[1 if first else -1] % depth == 0:
        channels_last = to_channels_last(x, first)
        split = ops.reshape(channels_last, shape=(*channels_last.dims[:-1], channels_last.dims[-1] // depth, depth))
        flat = ops.reshape(split, shape=(-1 if split.dims[0] else 0, depth, 1))
        y = _windowed(flat, (depth,), (depth,), ((0, 0),), (1,), True)
        return to_channels_first(ops.reshape(y, shape=split.dims[:-1]), first)
    x = to_channels_last(x, first)
    given = ksize, strides, padding, dilations, x.dims[1:-1], first, dispatch.thread.trace is None
    is_usual = type(ksize) is type(strides) is int and type(padding) is str and dilations is None
    windows = (_cached_windows if is_usual else _checked_windows)(*given)
    return to_channels_first(_windowed(x, *windows, largest), first)


def _checked_windows(
    ksize: Any, strides: Any, padding: Any, dilations: Any, space: tuple[int, ...], first: bool, is_eager: bool
) -> tuple[Any, Any, Any, Any]:
    """Returns window, strides, paddings and dilations of a pooling for each axis of `space`.

    `checked_paddings` depends on `is_eager`, whether no function is traced, so that a cache needs it as an argument.
    """
    n = len(space)
    window = by_axis(ksize, n, first, "ksize")
    steps = by_axis(strides, n, first, "strides")
    holes = by_axis(dilations, n, first, "dilations")
    pairs = checked_paddings(padding, space, window, steps, holes, first)
    for (before, after), k in zip(pairs, window, strict=True):
        if max(before, after) >= k:
            raise errors.InvalidArgumentError(
                f"padding {(before, after)} needs to be smaller than the window size {k}: such a window would see "
                "nothing"
            )
    return window, steps, pairs, holes


_cached_windows = lru_cache(maxsize=256)(_checked_windows)


def _windowed(x: Tensor, window: Any, strides: Any, paddings: Any, dilations: Any, largest: bool) -> Tensor:
    attrs = {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}
    if largest:
        return ops.max_pool(x, **attrs)
    if not x.dtype.is_floating:
        raise errors.InvalidArgumentError(
            f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values: half, bfloat16, float, "
            "double. Use tf.cast(x, tf.float32) first"
        )
    total = ops.window_sum(x, **attrs)
    if not any(map(any, paddings)):
        return total / math.prod(window)
    counts = window_counts(x.dims[1:-1], window, strides, paddings, dilations)
    return total / ops.constant(counts.astype(x.dtype.numpy))


def _only_named(padding: Any) -> None:
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")


def _space(x: Tensor, data_format: str | None) -> tuple[int, bool]:
    n = len(x.dims) - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.dims} of rank {n + 2}.")
    return n, data_format is not None and data_format.startswith("NC")


def _values(images: Any) -> Tensor:
    """Returns the input of `max_pool`: images in NumPy arrays of any dtype become float32."""
    is_image = isinstance(images, np.ndarray) and images.ndim == 4
    return with_default(images, dtypes.float32, dtypes.ANY) if is_image else to_tensor(images)


def max_pool(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the maximum in windows of `ksize`, over 1 to 3 spatial axes.

    >>> tf.nn.max_pool(tf.reshape(tf.range(16.0), (1, 4, 4, 1)), 2, 2, "VALID").numpy()[0, :, :, 0]
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    x = _values(input)
    n, first = _space(x, data_format)
    return _pooled(x, ksize, strides, padding, None, n, first, True)


def max_pool1d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`max_pool` of `(examples, width, channels)`.

    >>> tf.nn.max_pool1d(tf.constant([[[1.0], [3.0], [2.0], [0.0]]]), 2, 2, "VALID").numpy().ravel()
    array([3., 2.], dtype=float32)
    """
    return _pooled(to_tensor(input), ksize, strides, padding, None, 1, channels_first(data_format, 1), True)


def max_pool2d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`max_pool` of images `(examples, height, width, channels)`.

    >>> tf.nn.max_pool2d(tf.ones((2, 5, 5, 3)), 2, 2, "SAME").shape
    TensorShape([2, 3, 3, 3])
    """
    return _pooled(_values(input), ksize, strides, padding, None, 2, channels_first(data_format, 2), True)


def max_pool3d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`max_pool` of volumes `(examples, depth, height, width, channels)`.

    >>> tf.nn.max_pool3d(tf.ones((1, 4, 4, 4, 1)), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    return _pooled(to_tensor(input), ksize, strides, padding, None, 3, channels_first(data_format, 3), True)


def avg_pool(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Returns the mean in windows of `ksize`, without padding, over 1 to 3 spatial axes.

    >>> tf.nn.avg_pool(tf.reshape(tf.range(16.0), (1, 4, 4, 1)), 2, 2, "VALID").numpy()[0, :, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    x = to_tensor(input)
    n, first = _space(x, data_format)
    _only_named(padding)
    return _pooled(x, ksize, strides, padding, None, n, first, False)


def avg_pool1d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`avg_pool` of `(examples, width, channels)`.

    >>> tf.nn.avg_pool1d(tf.constant([[[1.0], [3.0], [2.0]]]), 2, 2, "SAME").numpy().ravel()
    array([2., 2.], dtype=float32)
    """
    _only_named(padding)
    return _pooled(to_tensor(input), ksize, strides, padding, None, 1, channels_first(data_format, 1), False)


def avg_pool2d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`avg_pool` of images `(examples, height, width, channels)`.

    >>> tf.nn.avg_pool2d(tf.ones((2, 5, 5, 3)), 2, 2, "SAME").shape
    TensorShape([2, 3, 3, 3])
    """
    _only_named(padding)
    return _pooled(to_tensor(input), ksize, strides, padding, None, 2, channels_first(data_format, 2), False)


def avg_pool3d(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str | Sequence[Sequence[int]],
    data_format: str = "NDHWC", name: str | None = None,
) -> Tensor:  # fmt: skip
    """`avg_pool` of volumes `(examples, depth, height, width, channels)`.

    >>> tf.nn.avg_pool3d(tf.ones((1, 4, 4, 4, 1)), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    _only_named(padding)
    return _pooled(to_tensor(input), ksize, strides, padding, None, 3, channels_first(data_format, 3), False)


def pool(
    input: TensorLike, window_shape: SizesLike, pooling_type: str, strides: SizesLike | None = None,
    padding: str | Sequence[Sequence[int]] = "VALID", data_format: str | None = None,
    dilations: SizesLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`max_pool` or `avg_pool`, as selected by `pooling_type` ("MAX" or "AVG"); supports dilated windows.

    >>> tf.nn.pool(tf.constant([[[1.0], [3.0], [2.0], [5.0]]]), [2], "MAX", dilations=[2]).numpy().ravel()
    array([2., 5.], dtype=float32)
    """
    x = to_tensor(input)
    n, first = _space(x, data_format)
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
    holes = by_axis(dilations, n, first, "dilations")
    if max(holes) > 1 and padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
            f"padding={padding} and dilation_rate={list(holes)}"
        )
    if max(holes) > 1 and max(by_axis(strides, n, first, "strides")) > 1:
        raise ValueError(
            f"`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides={strides!r} and "
            f"dilation_rate={list(holes)}"
        )
    return _pooled(x, window_shape, strides, padding, holes, n, first, pooling_type == "MAX")


class MaxPoolWithArgmax(NamedTuple):
    """The maxima and their positions."""

    output: Tensor
    argmax: Tensor


def max_pool_with_argmax(
    input: TensorLike, ksize: SizesLike, strides: SizesLike, padding: str, data_format: str = "NHWC",
    output_dtype: DType = dtypes.int64, include_batch_in_index: bool = False, name: str | None = None,
) -> MaxPoolWithArgmax:  # fmt: skip
    """`max_pool2d`, and the index of each maximum in the flattened image (or batch).

    >>> y, where = tf.nn.max_pool_with_argmax(tf.reshape(tf.range(16.0), (1, 4, 4, 1)), 2, 2, "VALID")
    >>> where.numpy().ravel()
    array([ 5,  7, 13, 15])
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    x = to_tensor(input)
    window, steps = by_axis(ksize, 2, False, "ksize"), by_axis(strides, 2, False, "strides")
    pairs = checked_paddings(padding, x.dims[1:-1], window, steps, (1, 1), False)
    attrs: dict[str, Any] = {"window": window, "strides": steps, "paddings": pairs, "dilations": (1, 1)}
    y = ops.max_pool(x, **attrs)
    place = ops.max_pool_place(ops.stop_gradient(x), ops.stop_gradient(y), **attrs)
    index = ops.max_pool_index(place, size=x.dims[1:-1], include_batch=bool(include_batch_in_index), **attrs)
    return MaxPoolWithArgmax(y, ops.cast(index, dtype=dtypes.as_dtype(output_dtype)))


def _sequence(size: int, ratio: float, pseudo_random: bool, rng: np.random.Generator) -> Any:
    """Returns the boundaries of the regions along an axis: steps of `floor(ratio)` or one more, on average `ratio`."""
    count = int(size / ratio)
    if pseudo_random:
        alpha = size / count
        highest = min(1.0, (size - 1) / (alpha * max(count - 1, 1)) if count > 1 else 1.0)
        # ceil(alpha * (i + u)), with u such that the first step is positive and the last region is not empty
        low = max(0.0, size / alpha - count)
        u = rng.uniform(low, max(highest, low + 1e-9)) if count > 1 else 0.0
        points = np.ceil(alpha * (np.arange(count + 1) + u)).astype(np.int64) - int(np.ceil(alpha * u))
        points[-1] = size
        return np.maximum.accumulate(np.minimum(points, size))
    step = size // count
    longer = size - step * count
    return np.concatenate([[0], np.cumsum(rng.permutation(np.array([step + 1] * longer + [step] * (count - longer))))])


def _regions(x: Tensor, axis: int, points: Any, overlapping: bool, largest: bool) -> Tensor:
    """Returns the maximum or the sum over each region of one axis."""
    starts, stops = points[:-1], points[1:] + (1 if overlapping else 0)
    stops = np.minimum(stops, x.dims[axis])
    order = (axis, *(i for i in range(len(x.dims)) if i != axis))
    rows = ops.transpose(x, perm=order)
    parts = []
    for i in range(int((stops - starts).max(initial=1))):
        inside = starts + i < stops
        part = ops.gather_rows(rows, ops.constant(np.where(inside, starts + i, stops - 1)))
        if not largest:
            weight = inside.astype(x.dtype.numpy)
            part = part * ops.constant(weight.reshape(-1, *(1,) * (len(x.dims) - 1)))
        parts.append(part)
    total = reduce(ops.maximum, parts) if largest else ops.add_n(*parts)
    return ops.transpose(total, perm=tuple(np.argsort(order).tolist()))


def pooled_regions(x: Tensor, rows: Any, columns: Any, overlapping: bool, largest: bool) -> Tensor:
    """Returns the maximum or the average of each region between boundaries of rows and of columns."""
    y = _regions(_regions(x, 1, rows, overlapping, largest), 2, columns, overlapping, largest)
    if largest:
        return y
    heights, widths = (
        np.minimum(points[1:] + bool(overlapping), size) - points[:-1]
        for points, size in ((rows, x.dims[1]), (columns, x.dims[2]))
    )
    areas = ops.constant((heights[:, None] * widths)[None, :, :, None].astype(x.dtype.numpy))
    return ops.truncatediv(y, areas) if x.dtype.is_integer else y / areas


def _fractional(
    value: Any, ratio: Any, pseudo_random: bool, overlapping: bool, seed: int, largest: bool
) -> tuple[Tensor, Tensor, Tensor]:
    x = to_tensor(value)
    if len(x.dims) != 4:
        raise errors.InvalidArgumentError(f"tensor_in must be 4-dimensional. Received: shape {x.dims}")
    ratios = [float(r) for r in to_array(ratio).ravel()]
    if len(ratios) == 1:
        ratios = [1.0, ratios[0], ratios[0], 1.0]
    elif len(ratios) == 2:
        ratios = [1.0, *ratios, 1.0]
    if len(ratios) != 4 or min(ratios) < 1:
        raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {ratio!r}, for height and width")
    if ratios[0] != 1 or ratios[3] != 1:
        raise errors.UnimplementedError(
            f"Fractional pooling is not yet supported on the batch nor channel dimension, got {ratios}"
        )
    for axis in (1, 2):
        if int(x.dims[axis] / ratios[axis]) < 1:
            raise errors.InvalidArgumentError(
                f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: "
                f"{x.dims[axis]} pooling ratio: {ratios[axis]}"
            )
    if seed:
        rng = np.random.default_rng(seed)
    else:
        from ...engine.run.randomness import next_global_seed

        rng = np.random.default_rng(np.asarray(next_global_seed("fractional_pool", None, 1)).tolist())
    rows = _sequence(x.dims[1], ratios[1], pseudo_random, rng)
    columns = _sequence(x.dims[2], ratios[2], pseudo_random, rng)
    y = pooled_regions(x, rows, columns, overlapping, largest)
    return y, ops.constant(rows), ops.constant(columns)


def fractional_max_pool(
    value: TensorLike, pooling_ratio: TensorLike, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`max_pool` over random regions that shrink the image by `pooling_ratio`; also returns the regions' boundaries.

    >>> y, rows, columns = tf.nn.fractional_max_pool(tf.ones((1, 6, 6, 1)), 1.5, seed=1)
    >>> y.shape, rows.shape
    (TensorShape([1, 4, 4, 1]), TensorShape([5]))
    """
    return _fractional(value, pooling_ratio, pseudo_random, overlapping, seed, True)


def fractional_avg_pool(
    value: TensorLike, pooling_ratio: TensorLike, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """`avg_pool` over random regions that shrink the image by `pooling_ratio`; also returns the regions' boundaries.

    >>> y, rows, columns = tf.nn.fractional_avg_pool(tf.ones((1, 6, 6, 1)), 1.5, seed=1)
    >>> y.shape, columns.shape
    (TensorShape([1, 4, 4, 1]), TensorShape([5]))
    """
    return _fractional(value, pooling_ratio, pseudo_random, overlapping, seed, False)


def dilation2d(
    input: TensorLike, filters: TensorLike, strides: SizesLike, padding: str, data_format: str, dilations: SizesLike,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Grayscale dilation: the maximum of image plus filter in the window; `filters` is `(height, width, channels)`.

    >>> x = tf.reshape(tf.range(9.0), (1, 3, 3, 1))
    >>> tf.nn.dilation2d(x, tf.zeros((2, 2, 1)), [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]).numpy()[0, :, :, 0]
    array([[4., 5.],
           [7., 8.]], dtype=float32)
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    x = to_tensor(input)
    w = to_tensor(filters, dtype=None if hasattr(filters, "dtype") else x.dtype)
    window = w.dims[:2]
    steps, holes = by_axis(strides, 2, False, "strides"), by_axis(dilations, 2, False, "dilations")
    pairs = paddings_of(padding, x.dims[1:-1], window, steps, holes, False)
    sizes = window_sizes(x.dims[1:-1], window, steps, pairs, holes)
    if any(map(any, pairs)):
        outside = np.full([n + sum(p) for n, p in zip(x.dims, ((0, 0), *pairs, (0, 0)), strict=True)], -np.inf)
        outside[:, pairs[0][0] : pairs[0][0] + x.dims[1], pairs[1][0] : pairs[1][0] + x.dims[2]] = 0
        x = ops.pad(x, paddings=((0, 0), *pairs, (0, 0))) + ops.constant(outside.astype(x.dtype.numpy))
    places = [(i, j) for i in range(window[0]) for j in range(window[1])]
    keys = taps(window, steps, holes, sizes)
    shifted = [ops.slice(x, key=key) + ops.slice(w, key=place) for key, place in zip(keys, places, strict=True)]
    return reduce(ops.maximum, shifted)


def erosion2d(
    value: TensorLike, filters: TensorLike, strides: SizesLike, padding: str, data_format: str, dilations: SizesLike,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Grayscale erosion: the minimum of image minus mirrored filter in the window.

    >>> x = tf.reshape(tf.range(1.0, 10.0), (1, 3, 3, 1))
    >>> tf.nn.erosion2d(x, tf.zeros((2, 2, 1)), [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]).numpy()[0, :, :, 0]
    array([[1., 2.],
           [4., 5.]], dtype=float32)
    """
    x = to_tensor(value)
    w = to_tensor(filters, dtype=None if hasattr(filters, "dtype") else x.dtype)
    return -dilation2d(-x, ops.reverse(w, axis=(0, 1)), strides, padding, data_format, dilations)
