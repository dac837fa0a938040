"""Convolution and pooling in a few steps, for backends where each step is a kernel launch on a device.

The patches under the windows are one strided view of the image, `(examples, *positions, *window, channels)`. A
convolution is a copy of that view and one matrix product; a maximum or a sum of windows is one reduction of it. The
transposes write through such a view: as much of the window at a time as the stride is wide, so that no element is
written twice. Host arrays are traversed offset by offset instead (see `convolution`, `pooling`), because slices of them
stay in the cache.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backends.arrays import astype, masked

_AT_ONCE = 1 << 30  # bytes of patches that a convolution lays out at once


def is_strided(xp: Any, x: Any) -> bool:
    """Whether `x` is on a device and supports custom strides, which XLA's arrays do not."""
    return xp is not np and hasattr(x, "strides")


def windows(xp: Any, x: Any, sizes: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """A view of the values under a window at each of `sizes` positions of the padded image `x`."""
    first, *steps, last = x.strides
    moved = [step * s for step, s in zip(steps, strides, strict=True)]
    inside = [step * d for step, d in zip(steps, dilations, strict=True)]
    shape = (x.shape[0], *sizes, *window, x.shape[-1])
    return xp.lib.stride_tricks.as_strided(x, shape, (first, *moved, *inside, last))


def _blocks(window: Any, strides: Any, dilations: Any) -> list[tuple[slice, ...]]:
    """Splits the window into parts as wide as its stride, which do not overlap when the window is moved."""
    widths = [s if d == 1 else 1 for s, d in zip(strides, dilations, strict=True)]
    axes = [[slice(k, min(k + n, w)) for k in range(0, w, n)] for w, n in zip(window, widths, strict=True)]
    return list(itertools.product(*axes))


def _whole(size: Any, paddings: Any) -> tuple[int, ...]:
    """The size of a padded image."""
    return tuple(n + sum(p) for n, p in zip(size, paddings, strict=True))


def _unpadded(image: Any, size: Any, paddings: Any) -> Any:
    if not any(map(any, paddings)):
        return image
    return image[(slice(None), *(slice(p[0], p[0] + n) for n, p in zip(size, paddings, strict=True)))]


def _is_tiled(whole: Any, sizes: Any, window: Any, strides: Any, dilations: Any) -> bool:
    """Whether every position of the padded image is under exactly one window."""
    axes = zip(whole, sizes, window, strides, dilations, strict=True)
    return all(n == k * w and w == s and d == 1 for n, k, w, s, d in axes)


def spread_windows(
    xp: Any, part: Callable[[Any], Any], like: Any, size: Any, window: Any, strides: Any, paddings: Any, dilations: Any
) -> Any:
    """An image of `size` to which each window adds its values at the positions under it.

    `part(block)` is the values for a block of the window's offsets, `(examples, *positions, *block, channels)`;
    examples, positions, channels and the dtype are those of `like`.
    """
    sizes, whole = like.shape[1 : 1 + len(window)], _whole(size, paddings)
    empty = xp.empty if _is_tiled(whole, sizes, window, strides, dilations) else xp.zeros
    image = empty((like.shape[0], *whole, like.shape[-1]), like.dtype)
    blocks = _blocks(window, strides, dilations) if like.size else []
    for block in blocks:
        corner = (slice(None), *(slice(k.start * d, None) for k, d in zip(block, dilations, strict=True)))
        places = [k.stop - k.start for k in block]
        view = windows(xp, image[corner], sizes, places, strides, dilations)
        if len(blocks) == 1:
            view[...] = part(block)
        else:
            view += part(block)
    return _unpadded(image, size, paddings)


def _group_axis(xp: Any, view: Any, groups: int) -> Any:
    """A view of the channels of each group, groups first: `(groups, *all other axes, channels of a group)`."""
    *steps, step = view.strides
    channels = view.shape[-1] // groups
    return xp.lib.stride_tricks.as_strided(view, (groups, *view.shape[:-1], channels), (step * channels, *steps, step))


def patches(xp: Any, x: Any, sizes: Any, window: Any, strides: Any, dilations: Any, groups: int) -> Any:
    """The patches as a matrix, `(positions, offsets * channels)`, or as one for each group."""
    view = windows(xp, x, sizes, window, strides, dilations)
    rows, columns = x.shape[0] * math.prod(sizes), math.prod(window) * x.shape[-1] // groups
    if groups == 1:
        return view.reshape(rows, columns)
    return _group_axis(xp, view, groups).reshape(groups, rows, columns)


def _parts(count: int, sizes: Any, columns: int, dtype: Any) -> list[slice]:
    """Ranges of examples whose patches, rows of so many columns, are laid out at once."""
    each = math.prod(sizes) * columns * dtype.itemsize
    step = max(1, _AT_ONCE // max(each, 1))
    return [slice(i, i + step) for i in range(0, count, step)] or [slice(0, 0)]


def _joined(xp: Any, f: Callable[[Any], Any], parts: list[slice]) -> Any:
    return f(slice(None)) if len(parts) == 1 else xp.concatenate([f(part) for part in parts])


def _is_depthwise(channels: int, groups: int) -> bool:
    return groups == channels and groups > 1


def conv(xp: Any, x: Any, w: Any, sizes: Any, strides: Any, dilations: Any, groups: int) -> Any:
    """The convolution of a padded image."""
    window, outputs = w.shape[:-2], w.shape[-1]

    def shifted(part: Any) -> Any:
        """Depthwise: each channel has its own filters, so the result is the sum of the products with them."""
        view = windows(xp, x[part], sizes, window, strides, dilations)[..., None]
        products = view * w.reshape(*window, groups, outputs // groups)
        return products.sum(axis=_of_window(sizes, window), dtype=x.dtype).reshape(-1, *sizes, outputs)

    def convolved(part: Any) -> Any:
        matrix = patches(xp, x[part], sizes, window, strides, dilations, groups)
        if groups == 1:
            return xp.matmul(matrix, w.reshape(-1, outputs)).reshape(-1, *sizes, outputs)
        kernels = w.reshape(matrix.shape[-1], groups, outputs // groups).swapaxes(0, 1)
        return xp.matmul(matrix, kernels).swapaxes(0, 1).reshape(-1, *sizes, outputs)

    depthwise = _is_depthwise(x.shape[-1], groups)
    columns = math.prod(window) * (outputs if depthwise else x.shape[-1])
    if not x.size or not math.prod(sizes):
        return xp.zeros((x.shape[0], *sizes, outputs), x.dtype)
    return _joined(xp, shifted if depthwise else convolved, _parts(x.shape[0], sizes, columns, x.dtype))


def _of_window(sizes: Any, window: Any) -> tuple[int, ...]:
    """The axes of the window in a view of windows."""
    return tuple(range(1 + len(sizes), 1 + len(sizes) + len(window)))


def conv_filter(xp: Any, x: Any, b: Any, size: Any, strides: Any, dilations: Any, groups: int) -> Any:
    """The cotangent of the filter of `size`, given the padded image and the cotangent `b` of the convolution."""
    sizes, outputs, channels = b.shape[1:-1], b.shape[-1], x.shape[-1]

    def met(part: Any) -> Any:
        """Depthwise: each channel has its own filters; sums image times `b` over all positions."""
        view, counts = windows(xp, x[part], sizes, size, strides, dilations)[..., None], b[part]
        counts = counts.reshape(*counts.shape[:-1], *(1,) * len(size), channels, outputs // channels)
        return (view * counts).sum(axis=tuple(range(1 + len(sizes))), dtype=x.dtype)

    def correlated(part: Any) -> Any:
        matrix = patches(xp, x[part], sizes, size, strides, dilations, groups)
        rows = matrix.shape[-2]
        if groups == 1:
            return xp.matmul(matrix.T, b[part].reshape(rows, outputs))
        return xp.matmul(matrix.swapaxes(1, 2), b[part].reshape(rows, groups, -1).swapaxes(0, 1)).swapaxes(0, 1)

    depthwise = _is_depthwise(channels, groups)
    shape = (*size, channels // groups, outputs)
    if not b.size:
        return xp.zeros(shape, x.dtype)
    columns = math.prod(size) * (outputs if depthwise else channels)
    first, *others = _parts(x.shape[0], sizes, columns, x.dtype)
    total = met if depthwise else correlated
    return sum(map(total, others), total(first)).reshape(shape)


def mirrored_filter(xp: Any, w: Any, groups: int) -> Any:
    """The filter that transposes a convolution of stride one: mirrored, inputs and outputs of each group swapped."""
    window, channels, outputs = w.shape[:-2], w.shape[-2], w.shape[-1]
    space, n = tuple(range(len(window))), len(window)
    split = xp.flip(w, space).reshape(*window, channels, groups, outputs // groups)
    return split.transpose(*space, n + 2, n + 1, n).reshape(*window, outputs // groups, groups * channels)


def conv_input(xp: Any, a: Any, w: Any, size: Any, strides: Any, paddings: Any, dilations: Any, groups: int) -> Any:
    """The cotangent of the image, given the cotangent `a` of a convolution: products with the filter, scattered."""
    window, channels, outputs = w.shape[:-2], w.shape[-2], w.shape[-1]
    sizes = a.shape[1:-1]
    lead = (slice(None),) * (1 + len(sizes))

    def products(rows: Any) -> Any:
        if groups == 1:
            return xp.matmul(rows, w.reshape(-1, outputs).T)
        kernels = w.reshape(-1, groups, outputs // groups).transpose(1, 2, 0)
        by_group = xp.matmul(rows.reshape(-1, groups, outputs // groups).swapaxes(0, 1), kernels)
        return xp.moveaxis(by_group.reshape(groups, -1, *sizes, *window, channels), 0, -2)

    def spread(part: Any) -> Any:
        held = products(a[part].reshape(-1, outputs)).reshape(-1, *sizes, *window, groups * channels)
        return spread_windows(xp, lambda block: held[(*lead, *block)], held, size, window, strides, paddings, dilations)

    if not a.size:
        return xp.zeros((a.shape[0], *size, groups * channels), a.dtype)
    return _joined(xp, spread, _parts(a.shape[0], sizes, math.prod(window) * channels * groups, a.dtype))


def reduced(xp: Any, name: str, x: Any, sizes: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The maximum (`max`) or the sum of the values under each window of the padded image `x`."""
    view = windows(xp, x, sizes, window, strides, dilations)
    options = {"dtype": x.dtype} if name == "sum" else {}
    return getattr(view, name)(axis=_of_window(sizes, window), **options)


def _apart(x: Any, window: Any) -> Any:
    """Reshapes one value for each window so that it broadcasts against a view of windows."""
    return x.reshape(*x.shape[:-1], *(1,) * len(window), x.shape[-1])


def _numbers(xp: Any, window: Any, block: Any) -> Any:
    """The indices of the window's offsets in a block of it: `(*block, 1)`."""
    return xp.arange(math.prod(window)).reshape(*window, 1)[block]


def first_places(xp: Any, x: Any, top: Any, window: Any, strides: Any, dilations: Any, dtype: Any) -> Any:
    """The index of the first offset in each window of the padded image `x` that holds its largest value `top`."""
    sizes = top.shape[1:-1]
    reached = windows(xp, x, sizes, window, strides, dilations) == _apart(top, window)
    reached = reached.reshape(top.shape[0], *sizes, math.prod(window), top.shape[-1])
    reached[..., -1, :] = True  # for windows without a match, as NaN equals nothing
    return astype(reached.argmax(axis=-2), dtype)


def send_to_places(
    xp: Any, g: Any, place: Any, size: Any, window: Any, strides: Any, paddings: Any, dilations: Any
) -> Any:
    """An image of `size`, to which each window adds its value `g` at the offset with index `place`."""
    sizes, whole = g.shape[1:-1], _whole(size, paddings)
    if _is_tiled(whole, sizes, window, strides, dilations):
        # Window axes interleaved with position axes yield the image in its memory order.
        between = (-1, *(m for n in sizes for m in (n, 1)), g.shape[-1])
        numbers = xp.arange(math.prod(window)).reshape(*(m for n in window for m in (1, n)), 1)
        image = masked(xp, place.reshape(between) == numbers, g.reshape(between)) if g.size else g
        return _unpadded(image.reshape(g.shape[0], *whole, g.shape[-1]), size, paddings)
    value, chosen = _apart(g, window), _apart(place, window)

    def part(block: Any) -> Any:
        return masked(xp, chosen == _numbers(xp, window, block), value)

    return spread_windows(xp, part, g, size, window, strides, paddings, dilations)


def send_to_all(xp: Any, x: Any, size: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> Any:
    """An image of `size`, to which each window adds its value in `x` at all its offsets."""
    return spread_windows(xp, lambda block: _apart(x, window), x, size, window, strides, paddings, dilations)


def picked(xp: Any, x: Any, place: Any, window: Any, strides: Any, dilations: Any) -> Any:
    """The values of the padded image `x` at the offset with index `place` in each window."""
    sizes = place.shape[1:-1]
    chosen = _apart(place, window) == _numbers(xp, window, ...)
    values = masked(xp, chosen, windows(xp, x, sizes, window, strides, dilations))
    return values.sum(axis=_of_window(sizes, window), dtype=x.dtype)
