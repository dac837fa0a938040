"""Convolution, bilinear in image and filter: each transpose of the three ops here is another of the three.

Images are `(examples, *space, channels)`, filters `(*window, channels // groups, outputs)`; other layouts are
transposed to these. `paddings` holds a pair for each spatial axis. A convolution is a matrix product of the patches
under the window (im2col) with the filter as a matrix; `patches.py` has the NumPy kernels.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from ...backends.arrays import add_into, into, numpy_kernel, permuted, put
from ...backends.numpy.blocks import fill, share_out
from ...core.dtypes import FLOAT, INT, NARROW
from ...engine.registry.batching import broadcast_batch, fold
from ...engine.registry.examples import SummedRows, rows_of_first
from ...engine.registry.families import bilinear
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import windows
from . import patches
from .patches import by_group, find_window, taps, window_sizes


def padded(xp: Any, x: Any, paddings: Any, value: Any = 0) -> Any:
    """Adds `paddings` around the spatial axes of `x`."""
    if not any(map(any, paddings)):
        return x
    space = x.shape[1:-1]
    shape = (x.shape[0], *(n + sum(p) for n, p in zip(space, paddings, strict=True)), x.shape[-1])
    inside = (slice(None), *(slice(p[0], p[0] + n) for n, p in zip(space, paddings, strict=True)))
    return put(xp.zeros(shape, x.dtype) if value == 0 else xp.full(shape, value, x.dtype), inside, x)


def _patch_matrices(xp, x, window, strides, dilations, sizes, groups):
    """The patches of the padded image as a matrix for each group: `(groups, positions, offsets * channels of one)`."""
    places = math.prod(window)
    found = xp.concatenate([x[key] for key in taps(window, strides, dilations, sizes)], axis=-1)
    split = found.reshape(math.prod(found.shape[:-1]), places, groups, x.shape[-1] // groups)
    return xp.moveaxis(split, 2, 0).reshape(groups, split.shape[0], places * split.shape[3])


def _is_depthwise(channels, groups):
    return groups == channels and groups > 1


def _weighted(xp, x, weights):
    """`x`, `(..., channels)`, times the weights of each channel, `(channels,)`.

    The weights are repeated along a row of the image, so that NumPy's inner loop is long.
    """
    return x * xp.tile(weights, (x.shape[-2], 1))


def _planes(y, channels):
    """The values of each channel's first filter, those of its second, and so on."""
    split = y.reshape(*y.shape[:-1], channels, y.shape[-1] // channels)
    return [split[..., i] for i in range(split.shape[-1])]


def _weighted_sum(xp, images, weights):
    return functools.reduce(functools.partial(into, xp.add), map(_weighted, itertools.repeat(xp), images, weights))


def _conv(xp, x, w, *, strides, paddings, dilations, groups):
    window, outputs = w.shape[:-2], w.shape[-1]
    sizes = window_sizes(x.shape[1:-1], window, strides, paddings, dilations)
    count, channels = x.shape[0], x.shape[-1]
    if 0 in window:
        return xp.zeros((count, *sizes, outputs), x.dtype)
    if _is_depthwise(channels, groups):
        keys = taps(window, strides, dilations, sizes)
        if xp is not np:  # XLA compiles a step for each filter of a channel slowly
            images, kernels = padded(xp, x, paddings), w.reshape(len(keys), channels, outputs // channels)
            terms = [images[key][..., None] * kernel for key, kernel in zip(keys, kernels, strict=True)]
            return functools.reduce(operator.add, terms).reshape(count, *sizes, outputs)
        kernels = _planes(w.reshape(len(keys), outputs), channels)

        def shifted(y, x):
            """Depthwise: each channel has its own filters, so the result is a sum of shifted images."""
            images = [x[key] for key in keys]
            sums = [_weighted_sum(xp, images, kernel) for kernel in kernels]
            return put(y, ..., sums[0] if len(sums) == 1 else xp.stack(sums, axis=-1).reshape(y.shape))

        return fill(xp, shifted, xp.empty((count, *sizes, outputs), x.dtype), padded(xp, x, paddings))
    matrices = _patch_matrices(xp, padded(xp, x, paddings), window, strides, dilations, sizes, groups)
    return xp.moveaxis(xp.matmul(matrices, by_group(w, groups)), 0, 1).reshape(count, *sizes, outputs)


@numpy_kernel(_conv)
def _numpy_conv(x, w, *, strides, paddings, dilations, groups):
    windows = strides, paddings, dilations
    if _is_depthwise(x.shape[-1], groups):
        return _conv(np, x, w, strides=strides, paddings=paddings, dilations=dilations, groups=groups)
    sizes = window_sizes(x.shape[1:-1], w.shape[:-2], *windows)
    return patches.convolve(x, w, find_window(x.shape, w.shape[:-2], sizes, w.shape[-1], *windows, groups))


def _mirrored(a, w, size, strides, paddings, dilations, groups):
    """The paddings with which `conv_input` is the convolution of `a` with the mirrored filter.

    None if it is not, as with strides, or is slower: it has more outputs to sum, and values of the padding to multiply.
    """
    if groups > 1 or max(strides) > 1 or w.shape[-1] > 2 * w.shape[-2]:
        return None
    if 4 * math.prod(size) > 5 * math.prod(a.shape[1:-1]):
        return None
    reach = [(n - 1) * d for n, d in zip(w.shape[:-2], dilations, strict=True)]
    before = [r - p[0] for r, p in zip(reach, paddings, strict=True)]
    after = [n - k + r - b for n, k, r, b in zip(size, a.shape[1:-1], reach, before, strict=True)]
    return tuple(zip(before, after, strict=True)) if min(*before, *after) >= 0 else None


def _turned(xp, w):
    """The mirrored filter, with inputs and outputs exchanged."""
    space = tuple(range(w.ndim - 2))
    return permuted(xp.flip(w, axis=space), (*space, w.ndim - 1, w.ndim - 2))


def _conv_input(xp, a, w, *, size, strides, paddings, dilations, groups):
    mirrored = _mirrored(a, w, size, strides, paddings, dilations, groups)
    if mirrored is not None:
        return _conv(xp, a, _turned(xp, w), strides=strides, paddings=mirrored, dilations=dilations, groups=1)
    sizes, channels = a.shape[1:-1], w.shape[-2] * groups
    depthwise = _is_depthwise(channels, groups)
    kernel = permuted(w.reshape(math.prod(w.shape[:-2]), w.shape[-2], groups, w.shape[-1] // groups), (0, 2, 3, 1))
    keys = taps(w.shape[:-2], strides, dilations, sizes)

    def spread_out(a, weights):
        """What the values `a` contribute to the images' values under one offset of the window."""
        if not depthwise:
            values = xp.moveaxis(xp.matmul(by_group(a, groups), weights), 0, 1)
            return values.reshape(*a.shape[:-1], channels)
        filters = _planes(weights.reshape(w.shape[-1]), channels)
        return _weighted_sum(xp, _planes(a, channels), filters)

    def scattered(x, a):
        for key, weights in zip(keys, kernel, strict=True):
            x = add_into(x, key, spread_out(a, weights))
        return x

    shape = (a.shape[0], *(n + sum(p) for n, p in zip(size, paddings, strict=True)), channels)
    x = fill(xp, scattered, xp.zeros(shape, a.dtype), a)
    if not any(map(any, paddings)):
        return x
    return x[(slice(None), *(slice(p[0], p[0] + n) for n, p in zip(size, paddings, strict=True)))]


@numpy_kernel(_conv_input)
def _numpy_conv_input(a, w, *, size, strides, paddings, dilations, groups):
    mirrored = _mirrored(a, w, size, strides, paddings, dilations, groups)
    if mirrored is not None:
        return _numpy_conv(a, _turned(np, w), strides=strides, paddings=mirrored, dilations=dilations, groups=1)
    channels, windows = w.shape[-2] * groups, (strides, paddings, dilations)
    if _is_depthwise(channels, groups):
        return _conv_input(np, a, w, size=size, strides=strides, paddings=paddings, dilations=dilations, groups=groups)
    image = (a.shape[0], *size, channels)
    return patches.convolve_input(a, w, find_window(image, w.shape[:-2], a.shape[1:-1], w.shape[-1], *windows, groups))


def _conv_filter(xp, x, b, *, size, strides, paddings, dilations, groups):
    sizes, outputs, channels = b.shape[1:-1], b.shape[-1], x.shape[-1]
    if 0 in size:
        return xp.zeros((*size, channels // groups, outputs), x.dtype)
    if _is_depthwise(channels, groups):
        x = padded(xp, x, paddings)
        keys = taps(size, strides, dilations, sizes)
        if xp is not np:
            ones = xp.ones(math.prod(b.shape[:-1]), x.dtype)
            values = b.reshape(*b.shape[:-1], channels, outputs // channels)
            products = ((x[key][..., None] * values).reshape(-1, outputs) for key in keys)
            return xp.stack([ones @ product for product in products]).reshape(*size, 1, outputs)

        def met(examples):
            """The sums over all positions of image times `b`: `(offsets, channels, filters of a channel)`."""
            planes = _planes(b[examples], channels)
            ones = xp.ones(math.prod(planes[0].shape[:-1]), x.dtype)
            products = ((x[examples][key] * plane).reshape(-1, channels) for key in keys for plane in planes)
            sums = xp.stack([ones @ product for product in products])
            return sums.reshape(len(keys), len(planes), channels).swapaxes(1, 2)

        return sum(share_out(met, x.shape[0], b.size * len(keys))).reshape(*size, 1, outputs)
    matrices = _patch_matrices(xp, padded(xp, x, paddings), size, strides, dilations, sizes, groups)
    w = xp.matmul(matrices.swapaxes(1, 2), by_group(b, groups))
    return xp.moveaxis(w, 0, 1).reshape(*size, channels // groups, outputs)


@numpy_kernel(_conv_filter)
def _numpy_conv_filter(x, b, *, size, strides, paddings, dilations, groups):
    windows = strides, paddings, dilations
    if _is_depthwise(x.shape[-1], groups):
        return _conv_filter(np, x, b, size=size, strides=strides, paddings=paddings, dilations=dilations, groups=groups)
    return patches.convolve_filter(x, b, find_window(x.shape, size, b.shape[1:-1], b.shape[-1], *windows, groups))


def _conv_filters(xp, x, b, *, size, strides, paddings, dilations, groups):
    """`_conv_filter` of each member of a batch, `(members, examples, *space, channels)`, by products of patches.

    As one convolution with a group for each member, XLA compiles it for minutes and runs it a hundred times as long.
    """
    members, depth, outputs = x.shape[0], x.shape[-1] // groups, b.shape[-1] // groups
    keys, positions = taps(size, strides, dilations, b.shape[2:-1]), math.prod(b.shape[1:-1])
    images = padded(xp, x.reshape(members * x.shape[1], *x.shape[2:]), paddings)
    found = xp.concatenate([images[key] for key in keys], axis=-1)
    if groups == 1:
        matrices = found.reshape(members, positions, len(keys) * depth).swapaxes(1, 2)
        return xp.matmul(matrices, b.reshape(members, positions, outputs)).reshape(members, *size, depth, outputs)
    found = found.reshape(members, positions, len(keys), groups, depth)
    matrices = permuted(found, (0, 3, 2, 4, 1)).reshape(members, groups, len(keys) * depth, positions)
    w = xp.matmul(matrices, b.reshape(members, positions, groups, outputs).swapaxes(1, 2))
    return xp.moveaxis(w, 1, -2).reshape(members, *size, depth, groups * outputs)


@numpy_kernel(_conv_filters)
def _numpy_conv_filters(x, b, *, size, strides, paddings, dilations, groups):
    if groups == 1:
        window = find_window(x.shape[1:], size, b.shape[2:-1], b.shape[-1], strides, paddings, dilations, 1)
        return patches.convolve_filters(x, b, window)
    members, depth = x.shape[0], x.shape[-1] // groups
    if not members:
        return np.zeros((0, *size, depth, b.shape[-1]), x.dtype)
    joined = [np.moveaxis(a, 0, -2).reshape(*a.shape[1:-1], members * a.shape[-1]) for a in (x, b)]
    attrs = {"size": size, "strides": strides, "paddings": paddings, "dilations": dilations}
    w = _numpy_conv_filter(*joined, groups=members * groups, **attrs)
    return np.moveaxis(w.reshape(*size, depth, members, b.shape[-1]), -2, 0)


def _join(m, x, axis):
    """Folds the leading batch axis of `x` into its `axis`, counted from the end."""
    shape = tuple(x.shape)
    at = len(shape) + axis
    moved = m.transpose(x, perm=(*range(1, at), 0, *range(at, len(shape))))
    return m.reshape(moved, shape=(*shape[1:at], shape[0] * shape[at], *shape[at + 1 :]))


def _part(m, y, axis, size):
    """Moves the batch axis, folded into `axis`, back to the front."""
    shape = tuple(y.shape)
    at = len(shape) + axis
    split = m.reshape(y, shape=(*shape[:at], size, shape[at] // size, *shape[at + 1 :]))
    return m.transpose(split, perm=(at, *(i for i in range(len(shape) + 1) if i != at)))


def _batch_by_channels(op, m, size, inputs, flags, attrs):
    """Runs a batch of convolutions as one with more channels: in groups, unless only one side is batched."""
    if not size:
        return NotImplemented
    axis = -1
    if attrs["groups"] == 1 and not all(flags) and (op is conv_filter or op is conv):
        axis = -2 if flags[0] else -1
    else:
        inputs = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
        flags, attrs = (True, True), {**attrs, "groups": attrs["groups"] * size}
    joined = [_join(m, x, -1) if flag else x for x, flag in zip(inputs, flags, strict=True)]
    return _part(m, op(*joined, **attrs), axis, size)


def _batch(m, size, inputs, flags, attrs):
    if not flags[1]:
        return fold(conv)(m, size, inputs, flags, attrs)
    return _batch_by_channels(conv, m, size, inputs, flags, attrs)


def _batch_input(m, size, inputs, flags, attrs):
    if not flags[1]:
        return fold(conv_input)(m, size, inputs, flags, attrs)
    return _batch_by_channels(conv_input, m, size, inputs, flags, attrs)


def _batch_filter(m, size, inputs, flags, attrs):
    if size and all(flags):
        return m.conv_filters(*inputs, **attrs)
    return _batch_by_channels(conv_filter, m, size, inputs, flags, attrs)


def _of_each_member(m, op, x, w, groups, **attrs):
    """Applies `op` to each member of a batch: all members side by side, each with groups of channels."""
    members = x.shape[0]
    return _part(m, op(_join(m, x, -1), _join(m, w, -1), groups=members * groups, **attrs), -1, members)


def _batch_filters(m, size, inputs, flags, attrs):
    if not size:
        return NotImplemented
    whole = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
    w = m.conv_filters(*[m.reshape(x, shape=(size * x.dims[1], *x.dims[2:])) for x in whole], **attrs)
    return m.reshape(w, shape=(size, w.dims[0] // size, *w.dims[1:]))


def _attrs(strides, paddings, dilations, groups):
    return {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}


_PLAIN: dict[str, Any] = {"strides": (1, 1), "paddings": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 1}
_SAME: dict[str, Any] = {**_PLAIN, "paddings": ((1, 1), (0, 1)), "strides": (2, 1)}
_GROUPED: dict[str, Any] = {**_PLAIN, "groups": 2, "dilations": (2, 1), "paddings": ((1, 0), (0, 0))}
_UNSTRIDED: dict[str, Any] = {**_PLAIN, "paddings": ((1, 0), (0, 1)), "dilations": (2, 1)}
_DEPTHWISE: dict[str, Any] = {**_PLAIN, "groups": 3, "strides": (1, 2)}
_LINE: dict[str, Any] = {"strides": (2,), "paddings": ((1, 2),), "dilations": (1,), "groups": 1}

conv = bilinear(
    "conv", _conv, batch=_batch, rows=rows_of_first, never_aliases=True, on=INT | FLOAT | NARROW,
    shape=lambda x, w, groups, **attrs: (x[0], *windows(x, w[:-2], **attrs), w[-1]),
    da=lambda m, g, w, x_shape, strides, paddings, dilations, groups: m.conv_input(
        g, w, size=tuple(x_shape[1:-1]), **_attrs(strides, paddings, dilations, groups)
    ),
    db=lambda m, g, x, w_shape, strides, paddings, dilations, groups: m.conv_filter(
        x, g, size=tuple(w_shape[:-2]), **_attrs(strides, paddings, dilations, groups)
    ),
    samples=[
        sample((2, 4, 3, 2), (3, 2, 2, 3), **_PLAIN),
        sample((2, 5, 3, 1), (2, 2, 1, 2), **_SAME),
        sample((1, 4, 3, 4), (2, 2, 2, 6), **_GROUPED),
        sample((1, 3, 4, 3), (2, 2, 1, 6), **_DEPTHWISE),
        sample((2, 5, 8), (3, 8, 2), **_LINE),
        sample((0, 3, 3, 2), (2, 2, 2, 3), **_PLAIN),
    ],
)  # fmt: skip
conv_input = bilinear(
    "conv_input", _conv_input, batch=_batch_input, rows=rows_of_first, never_aliases=True, on=INT | FLOAT | NARROW,
    shape=lambda a, w, size, groups, **attrs: (a[0], *size, w[-2] * groups),
    da=lambda m, g, w, strides, paddings, dilations, groups: m.conv(
        g, w, **_attrs(strides, paddings, dilations, groups)
    ),
    db=lambda m, g, a, w_shape, strides, paddings, dilations, groups: m.conv_filter(
        g, a, size=tuple(w_shape[:-2]), **_attrs(strides, paddings, dilations, groups)
    ),
    samples=[
        sample((2, 2, 2, 3), (3, 2, 2, 3), size=(4, 3), **_PLAIN),
        sample((2, 3, 3, 2), (2, 2, 1, 2), size=(5, 3), **_SAME),
        sample((1, 3, 2, 6), (2, 2, 2, 6), size=(4, 3), **_GROUPED),
        sample((1, 2, 2, 6), (2, 2, 1, 6), size=(3, 4), **_DEPTHWISE),
        sample((2, 3, 3, 2), (2, 2, 3, 2), size=(4, 3), **_UNSTRIDED),
        sample((2, 4, 2, 2), (1, 1, 3, 2), size=(3, 2), **{**_PLAIN, "paddings": ((1, 0), (0, 0))}),
    ],
)  # fmt: skip
conv_filter = bilinear(
    "conv_filter", _conv_filter, batch=_batch_filter, never_aliases=True, on=INT | FLOAT | NARROW,
    shape=lambda x, b, size, groups, **attrs: (*size, x[-1] // groups, b[-1]),
    rows=lambda inputs, flags, attrs, count: None if all(flags) else SummedRows(),
    da=lambda m, g, b, x_shape, strides, paddings, dilations, groups: m.conv_input(
        b, g, size=tuple(x_shape[1:-1]), **_attrs(strides, paddings, dilations, groups)
    ),
    db=lambda m, g, x, strides, paddings, dilations, groups: m.conv(
        x, g, **_attrs(strides, paddings, dilations, groups)
    ),
    samples=[
        sample((2, 4, 3, 2), (2, 2, 2, 3), size=(3, 2), **_PLAIN),
        sample((2, 5, 3, 1), (2, 3, 3, 2), size=(2, 2), **_SAME),
        sample((1, 4, 3, 4), (1, 3, 2, 6), size=(2, 2), **_GROUPED),
        sample((1, 3, 4, 3), (1, 2, 2, 6), size=(2, 2), **_DEPTHWISE),
        sample((0, 3, 3, 2), (0, 2, 2, 3), size=(2, 2), **_PLAIN),
    ],
)  # fmt: skip
conv_filters = bilinear(
    "conv_filters", _conv_filters, batch=_batch_filters, never_aliases=True, on=INT | FLOAT | NARROW,
    da=lambda m, g, b, x_shape, strides, paddings, dilations, groups: _of_each_member(
        m, m.conv_input, b, g, size=tuple(x_shape[2:-1]), **_attrs(strides, paddings, dilations, groups)
    ),
    db=lambda m, g, x, strides, paddings, dilations, groups: _of_each_member(
        m, m.conv, x, g, **_attrs(strides, paddings, dilations, groups)
    ),
    samples=[
        sample((3, 2, 4, 3, 2), (3, 2, 2, 2, 3), size=(3, 2), **_PLAIN),
        sample((2, 1, 5, 3, 1), (2, 1, 3, 3, 2), size=(2, 2), **_SAME),
        sample((2, 1, 4, 3, 4), (2, 1, 3, 2, 6), size=(2, 2), **_GROUPED),
        sample((2, 2, 3, 4, 3), (2, 2, 2, 2, 6), size=(2, 2), **_DEPTHWISE),
        sample((2, 0, 3, 3, 2), (2, 0, 2, 2, 3), size=(2, 2), **_PLAIN),
    ],
)  # fmt: skip
