"""NumPy's convolutions: products of matrices that hold the patches under a moving window (im2col).

Patches are made for a block of the images at a time, in buffers that all blocks share and that stay in the cache. There
are three layouts:

- rows: a matrix `(positions, offsets * channels)`, made by copies as long as a row of the window;
- planes: the transpose of that, made by copies as long as a row of the image, for few channels and for groups of them;
- shifts: a matrix `(positions, offsets along the other axes * channels)` for each offset along the first axis. These
  matrices overlap in memory, so that less is copied; their products are added.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...backends.numpy.blocks import share_out
from ...backends.numpy.threads import CORES
from ...backends.tuning import LARGE, PATCHES, PLANES, PRODUCTS, SHIFTS, SMALL_PRODUCT


@functools.lru_cache(maxsize=256)
def window_sizes(space: Any, window: Any, strides: Any, paddings: Any, dilations: Any) -> tuple[int, ...]:
    """Returns the number of positions of a moving window along each axis of an image."""
    axes = zip(space, window, strides, paddings, dilations, strict=True)
    return tuple(max((n + sum(pads) - (w - 1) * d - 1) // s + 1, 0) for n, w, s, pads, d in axes)


@functools.lru_cache(maxsize=256)
def taps(window: Any, strides: Any, dilations: Any, sizes: Any) -> tuple[tuple[slice, ...], ...]:
    """For each offset in the window, the key of the padded image's values under it at all positions."""
    axes = [
        [slice(k * d, k * d + n * s, s) for k in range(w)]
        for w, s, d, n in zip(window, strides, dilations, sizes, strict=True)
    ]
    return tuple((slice(None), *key) for key in itertools.product(*axes))


def by_group(y: Any, groups: int) -> Any:
    """Returns values at all positions, or a filter at all offsets and channels, as a matrix for each group."""
    return y.reshape(math.prod(y.shape[:-1]), groups, y.shape[-1] // groups).swapaxes(0, 1)


def _even(count: int, most: int) -> int:
    """Returns the size of blocks that divide `count` evenly, `most` or less."""
    return -(-count // -(-count // most))


class Window:
    """A window of `size` at `sizes` positions of images `(examples, *space, channels)`."""

    def __init__(
        self, shape: Any, size: Any, sizes: Any, outputs: int, strides: Any, paddings: Any, dilations: Any, groups: int
    ) -> None:
        self.count, *self.space, self.channels = shape
        self.size, self.sizes, self.outputs = size, sizes, outputs
        self.strides, self.paddings, self.dilations, self.groups = strides, paddings, dilations, groups
        self.reach = [(n - 1) * d + 1 for n, d in zip(size, dilations, strict=True)]
        self.extent = [n + sum(pads) for n, pads in zip(self.space, paddings, strict=True)]  # with padding
        for n, step, reach, extent in zip(sizes, strides, self.reach, self.extent, strict=True):
            if n and (n - 1) * step + reach > extent:
                found = f"{n} windows of {reach} at a stride of {step}"
                raise ValueError(f"{found} do not fit into {extent} places: give sizes, strides and paddings that fit")
        self.offsets = math.prod(size)
        self.depth = self.channels // groups  # channels of a group
        # How many values of a patch are neighbors in the image as well.
        self.run = (size[-1] if dilations[-1] == 1 else 1) * self.channels
        self.multiplications = self.count * math.prod(sizes) * self.offsets * self.depth * outputs
        self.is_padded = any(map(any, paddings))
        self.inside = tuple(slice(p[0], p[0] + n) for n, p in zip(self.space, paddings, strict=True))

    def layout(self) -> str:
        """Returns the name of the fastest layout."""
        if self.groups > 1:
            return "planes"
        if len(self.size) > 1 and self.size[0] > 1 == self.strides[0] and self.run >= max(SHIFTS, self.outputs):
            if self.multiplications >= self.size[0] * SMALL_PRODUCT:
                return "shifts"
        return "planes" if self.run < PLANES else "rows"

    def share(self, work: Callable[[slice, slice], Any]) -> list[Any]:
        """Calls `work` with parts of the examples, or of the rows of few examples, on all cores."""
        size = self.multiplications // PRODUCTS
        examples, rows = slice(0, self.count), slice(0, self.sizes[0])
        if self.count < min(CORES, self.sizes[0]) and size >= 2 * LARGE:
            return share_out(lambda part: work(examples, part), self.sizes[0], size, convolution=True)
        return share_out(lambda part: work(part, rows), self.count, size, convolution=True)


find_window = functools.lru_cache(maxsize=256)(Window)  # creating it takes a tenth of the time of a small convolution


class Patches:
    """The patches of one block after another, in the same buffers."""

    def __init__(self, window: Window, dtype: Any, layout: str) -> None:
        self.window, self.dtype, self.layout = window, dtype, layout
        self._buffers: dict[str, Any] = {}
        self._padded: Any = None  # the shape of the image in its buffer, and the key of its values; the rest is zero

    def blocks(self, examples: slice, rows: slice) -> Iterator[tuple[slice, slice]]:
        """Yields blocks of examples and rows whose patches fill the cache."""
        w, height = self.window, rows.stop - rows.start
        copies = w.offsets // w.size[0] if self.layout == "shifts" else w.offsets
        row_bytes = math.prod(w.sizes[1:]) * copies * w.channels * self.dtype.itemsize
        most = max(1, PATCHES // max(row_bytes, 1))  # rows in a block
        count = max(1, most // height) if height == w.sizes[0] else 1  # so that blocks of outputs are contiguous
        count, step = _even(examples.stop - examples.start, count), _even(height, most)
        for i in range(examples.start, examples.stop, count):
            for j in range(rows.start, rows.stop, step):
                yield slice(i, min(i + count, examples.stop)), slice(j, min(j + step, rows.stop))

    def buffer(self, name: str, shape: tuple[int, ...]) -> Any:
        """Returns a contiguous array of this shape, in the memory of the last one of this name."""
        size = math.prod(shape)
        memory = self._buffers.get(name)
        if memory is None or memory.size < size:
            memory = self._buffers[name] = np.empty(size, self.dtype)
        return memory[:size].reshape(shape)

    def gather(self, x: Any, rows: slice) -> list[Any]:
        """Returns the patches at rows of the examples `x` as matrices `(groups, positions, values of a patch)`."""
        w = self.window
        low, high = rows.start * w.strides[0], (rows.stop - 1) * w.strides[0] + w.reach[0]
        sizes = (rows.stop - rows.start, *w.sizes[1:])
        if self.layout == "planes":
            return [self._gather_planes(self._padded_image(np.moveaxis(x, -1, 0), low, high), sizes)]
        # Only neighbors in memory can be copied at once. The strides of axes of size 1 are arbitrary.
        if w.is_padded or x.strides[-2:] != (w.channels * x.itemsize, x.itemsize):
            image = self._padded_image(x, low, high)
        else:
            image = x[:, low:high]
        return self._gather_shifts(image, sizes) if self.layout == "shifts" else [self._gather_rows(image, sizes)]

    def _padded_image(self, x: Any, low: int, high: int) -> Any:
        """Returns rows `low` to `high` of the padded image, whose values are `x`."""
        w, before = self.window, self.window.paddings[0][0]
        start, stop = max(low - before, 0), max(min(high - before, w.space[0]), 0)
        axis = 2 if self.layout == "planes" else 1
        rows = slice(start + before - low, max(start, stop) + before - low)
        inside = (*(slice(None),) * axis, rows, *w.inside[1:])
        shape = (*x.shape[:axis], high - low, *w.extent[1:], *x.shape[axis + len(w.space) :])
        image = self.buffer("image", shape)
        if self._padded != (shape, inside):
            image[...] = 0
            self._padded = shape, inside
        image[inside] = x[(*inside[:axis], slice(start, stop))]
        return image

    def _gather_planes(self, image: Any, sizes: Any) -> Any:
        w, count = self.window, image.shape[1]
        patches = self.buffer("patches", (w.groups, w.offsets, w.depth, count, *sizes))
        image = image.reshape(w.groups, w.depth, *image.shape[1:])
        for i, key in enumerate(taps(w.size, w.strides, w.dilations, sizes)):
            patches[:, i] = image[(slice(None), slice(None), *key)]
        return patches.reshape(w.groups, w.offsets * w.depth, count * math.prod(sizes)).swapaxes(1, 2)

    def _gather_rows(self, image: Any, sizes: Any) -> Any:
        w = self.window
        parts = self._slices(image, w.size, w.strides, w.dilations, sizes)
        patches = parts[0]
        if len(parts) > 1 or not patches.flags.c_contiguous:
            patches = self.buffer("patches", (len(image), *sizes, len(parts), patches.shape[-1]))
            for i, part in enumerate(parts):
                patches[..., i, :] = part
        return patches.reshape(1, len(image) * math.prod(sizes), w.offsets * w.channels)

    def _gather_shifts(self, image: Any, sizes: Any) -> list[Any]:
        w, (rows, *others) = self.window, sizes
        lines = (image.shape[1], *others)
        parts = self._slices(image, (1, *w.size[1:]), (1, *w.strides[1:]), (1, *w.dilations[1:]), lines)
        patches = self.buffer("patches", (lines[0], len(image), *others, len(parts), parts[0].shape[-1]))
        for i, part in enumerate(parts):
            patches[..., i, :] = part.swapaxes(0, 1)
        shape = (1, len(image) * math.prod(sizes), w.offsets // w.size[0] * w.channels)
        return [patches[i : i + rows].reshape(shape) for i in range(0, w.reach[0], w.dilations[0])]

    def _slices(self, image: Any, size: Any, strides: Any, dilations: Any, sizes: Any) -> list[Any]:
        """Returns the parts of all patches: the values under each row of the window, or under each offset."""
        w = self.window
        if dilations[-1] > 1:
            return [image[key] for key in taps(size, strides, dilations, sizes)]
        shape = (*image.shape[:-2], sizes[-1], w.run)
        steps = (*image.strides[:-2], image.strides[-2] * strides[-1], image.strides[-1])
        if image.flags.c_contiguous:
            rows = np.ndarray(shape, image.dtype, image, 0, steps)  # in a seventh of the time of `as_strided`
        else:  # `Window` ensures that the windows are within the image
            rows = np.lib.stride_tricks.as_strided(image, shape, steps, writeable=False)
        return [rows[key] for key in taps(size[:-1], strides[:-1], dilations[:-1], sizes[:-1])]


def convolve(x: Any, w: Any, window: Window) -> Any:
    """Returns the convolution of images with a filter."""
    y = np.empty((window.count, *window.sizes, window.outputs), x.dtype)
    layout, filters = window.layout(), by_group(w, window.groups)
    if layout == "shifts":
        filters = filters.reshape(window.size[0], 1, -1, window.outputs)

    def part(examples: slice, rows: slice) -> None:
        patches = Patches(window, x.dtype, layout)
        for some, lines in patches.blocks(examples, rows):
            matrices, values = patches.gather(x[some], lines), y[some, lines]
            if layout != "shifts":
                np.matmul(matrices[0], filters, out=by_group(values, window.groups))
                continue
            values = values.swapaxes(0, 1)  # the order of positions in the matrices
            total, term = (patches.buffer(name, values.shape) for name in ("total", "term"))
            for i, pair in enumerate(zip(matrices, filters, strict=True)):
                np.matmul(*pair, out=(term if i else total).reshape(1, -1, window.outputs))
                if i:
                    np.add(total, term, out=values if i == len(filters) - 1 else total)

    if y.size:
        window.share(part)
    return y


def convolve_filter(x: Any, b: Any, window: Window) -> Any:
    """Returns the transpose of `convolve` with respect to the filter."""
    layout, groups = window.layout(), window.groups
    shifts = window.size[0] if layout == "shifts" else 1
    shape = (shifts, groups, window.offsets * window.depth // shifts, window.outputs // groups)

    def part(examples: slice, rows: slice) -> Any:
        patches = Patches(window, x.dtype, layout)
        w = np.zeros(shape, x.dtype)
        for some, lines in patches.blocks(examples, rows):
            values = b[some, lines]
            if layout == "shifts":
                values = patches.buffer("values", values.swapaxes(0, 1).shape)
                values[...] = b[some, lines].swapaxes(0, 1)
            values = by_group(values, groups)
            for matrix, filters in zip(patches.gather(x[some], lines), w, strict=True):
                filters += np.matmul(matrix.swapaxes(1, 2), values)
        return w

    w = sum(window.share(part)) if window.multiplications else np.zeros(shape, x.dtype)
    return w.reshape(groups, -1, shape[-1]).swapaxes(0, 1).reshape(*window.size, window.depth, window.outputs)


def convolve_input(a: Any, w: Any, window: Window) -> Any:
    """Returns the transpose of `convolve` with respect to the images: adds the cotangents of the patches to them.

    The cotangents of all offsets, as planes, are one product for few channels; otherwise each offset has its own.
    """
    x = np.zeros((window.count, *window.space, window.channels), a.dtype)
    if not window.multiplications:
        return x
    groups, depth, offsets, extent = window.groups, window.depth, window.offsets, window.extent
    keys = taps(window.size, window.strides, window.dilations, window.sizes)
    inside = (slice(None), *window.inside)
    planes = groups > 1 or depth < PLANES
    filters = by_group(w, groups)
    if not planes:
        filters = filters.reshape(offsets, depth, window.outputs).swapaxes(1, 2)

    def add_planes(patches: Patches, x: Any, a: Any) -> None:
        image = patches.buffer("image", (groups, depth, len(a), *extent))
        image[...] = 0
        found = patches.buffer("patches", (groups, offsets * depth, a.size // window.outputs))
        np.matmul(filters, by_group(a, groups).swapaxes(1, 2), out=found)
        found = found.reshape(groups, offsets, depth, len(a), *window.sizes)
        for i, key in enumerate(keys):
            image[(slice(None), slice(None), *key)] += found[:, i]
        image = image.reshape(window.channels, len(a), *extent)
        x[...] = np.moveaxis(image[(slice(None), *inside)], 0, -1)

    def add_offsets(patches: Patches, x: Any, a: Any) -> None:
        image = x
        if window.is_padded:
            image = patches.buffer("image", (len(a), *extent, depth))
            image[...] = 0
        found = patches.buffer("patches", (len(a), *window.sizes, depth))
        for key, kernel in zip(keys, filters, strict=True):
            np.matmul(a.reshape(-1, window.outputs), kernel, out=found.reshape(-1, depth))
            image[key] += found
        if image is not x:
            x[...] = image[inside]

    def part(examples: slice) -> None:
        patches = Patches(window, a.dtype, "planes")
        width = offsets * window.channels if planes else depth + window.outputs
        most = max(1, PATCHES // (math.prod(window.sizes) * width * a.itemsize))
        step = _even(examples.stop - examples.start, most)
        for i in range(examples.start, examples.stop, step):
            some = slice(i, min(i + step, examples.stop))
            (add_planes if planes else add_offsets)(patches, x[some], a[some])

    share_out(part, window.count, window.multiplications // PRODUCTS, convolution=True)
    return x


def convolve_filters(x: Any, b: Any, window: Window) -> Any:
    """Returns `convolve_filter` of each member of a batch, `(members, examples, *space, channels)`."""
    members, positions = len(x), window.count * math.prod(window.sizes)
    depth = window.offsets * window.channels
    w = np.zeros((members, depth, window.outputs), x.dtype)
    layout = "planes" if window.run < PLANES else "rows"

    def part(some: slice) -> None:
        patches = Patches(window, x.dtype, layout)
        step = max(1, PATCHES // (positions * depth * x.itemsize))
        for i in range(some.start, some.stop, step):
            few = slice(i, min(i + step, some.stop))
            images = x[few].reshape(-1, *x.shape[2:])
            (matrix,) = patches.gather(images, slice(0, window.sizes[0]))[0]
            matrices = matrix.T.reshape(depth, -1, positions).swapaxes(0, 1)
            np.matmul(matrices, b[few].reshape(-1, positions, window.outputs), out=w[few])

    if window.multiplications:
        share_out(part, members, members * window.multiplications // PRODUCTS, convolution=True)
    return w.reshape(members, *window.size, window.channels, window.outputs)
