"""Pooling: reduces the values under a window that moves over an image `(examples, *space, channels)`.

A sum over windows is linear; the gradient of a maximum goes to the first of the largest values. Neither computes
indices: the windows are traversed offset by offset, or axis by axis, with whole slices of the image at a time.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...backends.arrays import add_into, astype, into, masked, numpy_dtype, put
from ...backends.numpy.blocks import fill
from ...core.dtypes import FLOAT, INT, NARROW
from ...engine.registry.batching import broadcast_batch, fold
from ...engine.registry.examples import rows_of_first
from ...engine.registry.families import constant, linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape, windows
from .convolution import padded
from .patches import taps, window_sizes

_REAL = INT | FLOAT | NARROW


@lru_cache(maxsize=256)
def _keys(space, window, strides, paddings, dilations):
    return taps(window, strides, dilations, window_sizes(space, window, strides, paddings, dilations))


@lru_cache(maxsize=256)
def _keys_by_axis(space, window, strides, paddings, dilations):
    """The number of positions along each axis, and the keys of the values under the offsets along that axis alone."""
    sizes = window_sizes(space, window, strides, paddings, dilations)
    axes = enumerate(zip(sizes, window, strides, dilations, strict=True), 1)
    return sizes, [
        [(slice(None),) * axis + (slice(i * d, i * d + n * s, s),) for i in range(k)] for axis, (n, k, s, d) in axes
    ]


def _lowest(dtype):
    dtype = numpy_dtype(dtype)
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf  # the kind of bfloat16 is "V"


def _inside(space, paddings):
    return (slice(None), *(slice(p[0], p[0] + n) for n, p in zip(space, paddings, strict=True)))


def _reduce_windows(xp, ufunc, x, window, strides, paddings, dilations, padding):
    """Reduces the values under each window along one axis after the other, which takes fewer steps than offsets."""
    sizes, axes = _keys_by_axis(tuple(x.shape[1:-1]), window, strides, paddings, dilations)

    def reduced(y, x):
        for keys in axes:
            x, *others = [x[key] for key in keys]
            for i, other in enumerate(others):
                out = {"out": y} if type(y) is np.ndarray and x.shape == y.shape else {}
                x = into(ufunc, x, other) if i else ufunc(x, other, **out)
        return x if x is y else put(y, ..., x)

    return fill(xp, reduced, xp.empty((x.shape[0], *sizes, x.shape[-1]), x.dtype), padded(xp, x, paddings, padding))


def _max_pool(xp, x, *, window, strides, paddings, dilations):
    return _reduce_windows(xp, xp.maximum, x, window, strides, paddings, dilations, _lowest(x.dtype))


def max_pool_and_place(x: Any, **attrs: Any) -> tuple[Any, Any]:
    """Returns the largest value under each window, and its offset in the window."""
    top = _max_pool(np, x, **attrs)
    return top, _max_pool_place(np, x, top, **attrs)


def _max_pool_place(xp, x, top, *, window, strides, paddings, dilations):
    """The index of the offset in each window that holds the first of its largest values `top`."""
    keys = _keys(x.shape[1:-1], window, strides, paddings, dilations)
    x = padded(xp, x, paddings, _lowest(x.dtype))
    dtype = np.uint8 if len(keys) <= 256 else np.int32

    def count_misses(place, x, top):
        missed = None
        for key in keys[:-1]:
            differs = x[key] != top
            missed = differs if missed is None else into(xp.logical_and, missed, differs)
            place = add_into(place, slice(None), missed)
        return place

    place = xp.zeros(top.shape, dtype)
    return fill(xp, count_misses, place, x, top)


def _max_pool_index(xp, place, *, size, include_batch, window, strides, paddings, dilations):
    """The position of each maximum in its flattened image, or in the whole flattened batch."""
    count, rows, columns, channels = place.shape
    n, i, j, c = map(xp.asarray, np.ogrid[:count, :rows, :columns, :channels])
    place = astype(place, np.int64)
    row = i * strides[0] - paddings[0][0] + place // window[1] * dilations[0]
    column = j * strides[1] - paddings[1][0] + place % window[1] * dilations[1]
    image = n * size[0] if include_batch else 0
    return ((image + row) * size[1] + column) * channels + c


def _max_pool_back(xp, g, place, *, size, window, strides, paddings, dilations):
    """Adds each cotangent at the offset of its window's maximum."""
    keys = _keys(size, window, strides, paddings, dilations)
    shape = (g.shape[0], *(n + sum(p) for n, p in zip(size, paddings, strict=True)), g.shape[-1])
    tiled = _is_tiled(shape, window, strides, dilations)
    write = put if tiled else add_into

    def scattered(x, g, place):
        for i, key in enumerate(keys):
            x = write(x, key, masked(xp, place == i, g))
        return x

    x = fill(xp, scattered, (xp.empty if tiled else xp.zeros)(shape, g.dtype), g, place)
    return x[_inside(size, paddings)] if any(map(any, paddings)) else x


def _max_pool_pick(xp, x, place, *, window, strides, paddings, dilations):
    """The values of `x` at the offsets of the maxima."""
    keys = _keys(x.shape[1:-1], window, strides, paddings, dilations)
    x = padded(xp, x, paddings)
    return sum(masked(xp, place == i, x[key]) for i, key in enumerate(keys))


def _window_sum(xp, x, *, window, strides, paddings, dilations):
    return _reduce_windows(xp, xp.add, x, window, strides, paddings, dilations, 0)


def _window_spread(xp, x, *, size, window, strides, paddings, dilations):
    """Adds each value to all positions under its window, in an image of spatial `size`."""
    keys = _keys(size, window, strides, paddings, dilations)
    shape = (x.shape[0], *(n + sum(p) for n, p in zip(size, paddings, strict=True)), x.shape[-1])
    tiled = _is_tiled(shape, window, strides, dilations)

    def spread(total, x):
        for key in keys:
            total = (put if tiled else add_into)(total, key, x)
        return total

    total = fill(xp, spread, (xp.empty if tiled else xp.zeros)(shape, x.dtype), x)
    return total[_inside(size, paddings)] if any(map(any, paddings)) else total


def _is_tiled(shape, window, strides, dilations):
    """Whether the windows cover each value of an image exactly once."""
    apart = all(w == s and n % w == 0 for n, w, s in zip(shape[1:-1], window, strides, strict=True))
    return apart and max(dilations) == 1


def window_counts(size: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    """How many values of the image itself, without padding, each window covers."""
    counts = np.ones((1, *size, 1))
    return _window_sum(np, counts, window=window, strides=strides, paddings=paddings, dilations=dilations)


def _attrs(window, strides, paddings, dilations):
    return {"window": window, "strides": strides, "paddings": paddings, "dilations": dilations}


def _batch_examples(name):
    """The batching rule of ops whose inputs have a leading axis of examples: folds the batch into it."""

    def batch(m, size, inputs, flags, attrs):
        op = getattr(m, name)
        first, *rest = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
        merged = [m.reshape(x, shape=(x.dims[0] * x.dims[1], *x.dims[2:])) for x in rest]
        return fold(lambda x, **attributes: op(x, *merged, **attributes))(m, size, [first], [True], attrs)

    return batch


_SQUARE = _attrs((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1))
_OVERLAP = _attrs((3, 2), (2, 1), ((1, 1), (0, 1)), (1, 1))
_HOLES = _attrs((2,), (1,), ((0, 0),), (2,))
_IMAGES: list[Any] = [((2, 4, 4, 2), _SQUARE), ((1, 5, 3, 2), _OVERLAP), ((2, 5, 1), _HOLES), ((0, 4, 4, 1), _SQUARE)]


def _with_places(inner):
    """Samples for the derivatives of a maximum: an image (`inner`) or a cotangent, and the offsets of the maxima."""
    for shape, attrs in _IMAGES:
        x = np.sin(np.arange(float(math.prod(shape))) ** 2).reshape(shape)  # without `np.random`, a large import
        y = _max_pool(np, x, **attrs)
        place = _max_pool_place(np, x, y, **attrs)
        yield sample(shape, place, **attrs) if inner else sample(y.shape, place, size=shape[1:-1], **attrs)


def _max_pool_vjp(m, g, x, y, window, strides, paddings, dilations):
    attrs = _attrs(window, strides, paddings, dilations)
    back = m.max_pool_back(g, m.max_pool_place(x, y, **attrs), size=tuple(x.shape[1:-1]), **attrs)
    return _flat_in(m, x, back)


def _max_pool_jvp(m, inputs, y, attrs, ts):
    (x,), (t,) = inputs, ts
    return _flat_in(m, x, m.max_pool_pick(t, m.max_pool_place(x, y, **attrs), **attrs))


def _flat_in(m, x, slope):
    """Makes `slope` depend on `x`, with derivative 0: the second derivative of a maximum is 0, not None."""
    return m.identity_n(slope, x)[0]


max_pool = opaque(
    "max_pool", _max_pool, on=_REAL, never_aliases=True, batch=_batch_examples("max_pool"),
    shape=lambda x, **attrs: (x[0], *windows(x, **attrs), x[-1]),
    vjp=_max_pool_vjp, jvp=_max_pool_jvp, samples=[sample(shape, **attrs) for shape, attrs in _IMAGES],
)  # fmt: skip
max_pool_place = constant(
    "max_pool_place", _max_pool_place, on=_REAL, batch=_batch_examples("max_pool_place"),
    shape=lambda x, top, **attrs: top,
    samples=[sample((2, 4, 4, 2), (2, 2, 2, 2), **_SQUARE)],
)  # fmt: skip
max_pool_index = constant(
    "max_pool_index", _max_pool_index, on=INT,
    shape=same_shape,
    samples=[sample(np.arange(8).reshape(2, 2, 2, 1) % 4, size=(4, 4), include_batch=True, **_SQUARE)],
)
max_pool_back = linear(
    "max_pool_back", _max_pool_back, on=_REAL, moves_data=False, never_aliases=True,
    shape=lambda g, *place, size, **attrs: (g[0], *size, g[-1]),
    batch=_batch_examples("max_pool_back"), rows=rows_of_first,
    transpose=lambda m, g, place, window, strides, paddings, dilations: m.max_pool_pick(
        g, place, **_attrs(window, strides, paddings, dilations)
    ),
    samples=list(_with_places(False)),
)  # fmt: skip
max_pool_pick = linear(
    "max_pool_pick", _max_pool_pick, on=_REAL, moves_data=False, batch=_batch_examples("max_pool_pick"),
    shape=lambda x, place, **attrs: place,
    rows=rows_of_first,
    transpose=lambda m, g, place, x_shape, window, strides, paddings, dilations: m.max_pool_back(
        g, place, size=tuple(x_shape[1:-1]), **_attrs(window, strides, paddings, dilations)
    ),
    samples=list(_with_places(True)),
)  # fmt: skip
window_sum = linear(
    "window_sum", _window_sum, on=_REAL, moves_data=False, batch=_batch_examples("window_sum"),
    shape=lambda x, **attrs: (x[0], *windows(x, **attrs), x[-1]),
    rows=rows_of_first,
    transpose=lambda m, g, x_shape, window, strides, paddings, dilations: m.window_spread(
        g, size=tuple(x_shape[1:-1]), **_attrs(window, strides, paddings, dilations)
    ),
    samples=[sample(shape, **attrs) for shape, attrs in _IMAGES],
)  # fmt: skip
window_spread = linear(
    "window_spread", _window_spread, on=_REAL, moves_data=False, batch=_batch_examples("window_spread"),
    shape=lambda g, *place, size, **attrs: (g[0], *size, g[-1]),
    rows=rows_of_first,
    transpose=lambda m, g, window, strides, paddings, dilations: m.window_sum(
        g, **_attrs(window, strides, paddings, dilations)
    ),
    samples=[sample((2, 2, 2, 1), size=(4, 4), **_SQUARE), sample((1, 3, 3, 2), size=(5, 3), **_OVERLAP)],
)  # fmt: skip
