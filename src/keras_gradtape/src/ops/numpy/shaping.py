"""Shapes and axes, joining, splitting and repeating."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
from keras.src.backend.common.backend_utils import canonicalize_axis

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ... import sparse
from .promotion import axes_of, axis_of, common, promote, tensor

__all__ = [
    "append", "array_split", "broadcast_to", "concatenate", "copy", "dsplit", "dstack", "expand_dims", "flip",
    "fliplr", "flipud", "hsplit", "hstack", "meshgrid", "moveaxis", "ndim", "ravel", "repeat", "reshape",
    "roll", "rot90", "size", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "vsplit", "vstack",
]  # fmt: skip


def along(x: Tensor, axis: int, key: Any) -> Tensor:
    """Returns `x[..., key, ...]` with `key` at `axis`."""
    return x[(slice(None),) * axis_of(x, axis) + (key,)]


def static(value: Any) -> Any:
    """Converts a tensor, an array or a sequence of them to a Python number or a tuple of numbers."""
    if isinstance(value, list | tuple):
        return tuple(v if type(v) is int else static(v) for v in value)
    if isinstance(value, int) or value is None:
        return value
    known = np.asarray(value)
    return known.item() if not known.shape else tuple(known.tolist())


def append(x1, x2, axis=None):
    x1, x2 = promote(x1, x2)
    if axis is None:
        return ops.concat(ravel(x1), ravel(x2), axis=0)
    return ops.concat(x1, x2, axis=axis_of(x1, axis))


def array_split(x, indices_or_sections, axis=0):
    x = tensor(x)
    axis, count = axis_of(x, axis), indices_or_sections
    size = x.dims[axis]
    return list(ops.split(x, sizes=tuple(size // count + (i < size % count) for i in range(count)), axis=axis))


def broadcast_to(x, shape):
    return ops.broadcast_to(tensor(x), shape=static(shape))


def concatenate(xs, axis=0):
    if builtins.all(isinstance(x, tf.SparseTensor) for x in xs):
        dtype = common(*(x.dtype for x in xs))
        return tf.sparse.concat(axis, [tf.cast(x, dtype) for x in xs])
    xs = promote(*xs)
    return ops.concat(*xs, axis=axis_of(xs[0], axis))


@sparse.on_values(linear=True)
def copy(x):
    return ops.identity(tensor(x))


def dsplit(x, indices_or_sections):
    return split(x, indices_or_sections, axis=2)


def dstack(xs):
    def deep(x: Tensor) -> Tensor:
        if len(x.dims) < 2:
            return ops.reshape(x, shape=(1, math.prod(x.dims), 1))
        return x if len(x.dims) > 2 else expand_dims(x, 2)

    return ops.concat(*map(deep, promote(*xs)), axis=2)


def expand_dims(x, axis):
    x = _kept(x)
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    rank = len(x.dims) + len(axes)
    places = {canonicalize_axis(a, rank) for a in axes}
    sizes = iter(x.dims)
    return _reshaped(x, tuple(1 if i in places else next(sizes) for i in range(rank)))


def flip(x, axis=None):
    x = tensor(x)
    return ops.reverse(x, axis=axes_of(x, axis))


def fliplr(x):
    return flip(x, 1)


def flipud(x):
    return flip(x, 0)


def hsplit(x, indices_or_sections):
    x = tensor(x)
    return split(x, indices_or_sections, axis=0 if len(x.dims) == 1 else 1)


def hstack(xs):
    xs = [x if x.dims else ops.reshape(x, shape=(1,)) for x in promote(*xs)]
    return ops.concat(*xs, axis=0 if len(xs[0].dims) == 1 else 1)


def meshgrid(*x, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Valid values for `indexing` are 'xy' and 'ij', but received: {indexing}")
    flat = [ravel(v) for v in x]
    order = list(range(len(flat)))
    if indexing == "xy" and len(flat) > 1:
        order[:2] = [1, 0]
    shape = tuple(flat[i].dims[0] for i in order)
    grids = []
    for i, v in enumerate(flat):
        thin = tuple(n if k == order.index(i) else 1 for k, n in enumerate(shape))
        grids.append(ops.broadcast_to(ops.reshape(v, shape=thin), shape=shape))
    return grids


def moveaxis(x, source, destination):
    x = tensor(x)
    sources, destinations = axes_of(x, source), axes_of(x, destination)
    if len(sources) != len(destinations):
        raise ValueError(f"`source` {source} and `destination` {destination} must have as many axes")
    order = [i for i in range(len(x.dims)) if i not in sources]
    for to, come in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, come)
    return ops.transpose(x, perm=tuple(order))


def ndim(x):
    return len(tensor(x).dims)


def ravel(x):
    x = tensor(x)
    return ops.reshape(x, shape=(math.prod(x.dims),))


def repeat(x, repeats, axis=None):
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(x, axis)
    counts = static(repeats)
    if isinstance(counts, tuple) and len(counts) == 1:
        counts = counts[0]
    if isinstance(counts, int):
        before, n, after = x.dims[:axis], x.dims[axis], x.dims[axis + 1 :]
        spread = ops.broadcast_to(ops.reshape(x, shape=(*before, n, 1, *after)), shape=(*before, n, counts, *after))
        return ops.reshape(spread, shape=(*before, n * counts, *after))
    places = np.repeat(np.arange(x.dims[axis], dtype=np.int32), counts)
    return ops.gather(x, tensor(places), axis=axis, batch=0)


def _kept(x: Any) -> Any:
    """Converts `x` to a tensor, which may be sparse."""
    return x if isinstance(x, tf.SparseTensor) else tensor(x)


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return ops.reshape(x, shape=shape) if isinstance(x, Tensor) else tf.sparse.reshape(x, shape)


def reshape(x, newshape):
    x = _kept(x)
    shape = static(newshape)
    shape = (shape,) if isinstance(shape, int) else shape
    if -1 in shape or None in shape:
        known = [n for n in shape if n not in (-1, None)]
        if len(shape) - len(known) > 1:
            raise ValueError(f"At most one size of `newshape` may be -1. Received: newshape={newshape}")
        size, rest = math.prod(x.dims), math.prod(known)
        shape = tuple((size // rest if rest else 0) if n in (-1, None) else n for n in shape)
    return _reshaped(x, shape)


def roll(x, shift, axis=None):
    x = tensor(x)
    if axis is None:
        return ops.reshape(roll(ravel(x), shift, 0), shape=x.dims)
    axes, shifts = axes_of(x, axis), static(shift)
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    shifts, axes = np.broadcast_arrays(shifts, axes)
    return ops.roll(x, shift=tuple(shifts.tolist()), axis=tuple(axes.tolist()))


def rot90(array, k=1, axes=(0, 1)):
    x = tensor(array)
    if len(x.dims) < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={len(x.dims)}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = axes_of(x, axes)
    turns = k % 4
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if turns else x


def size(x):
    return math.prod(tensor(x).dims)


def split(x, indices_or_sections, axis=0):
    x = tensor(x)
    axis = axis_of(x, axis)
    total, parts = x.dims[axis], static(indices_or_sections)
    if isinstance(parts, int):
        if total % parts:
            raise ValueError(f"An axis of size {total} cannot be split into {parts} equal parts")
        sizes = (total // parts,) * parts
    else:
        ends = [builtins.min(builtins.max(p if p >= 0 else total + p, 0), total) for p in parts]
        starts = [0, *ends]
        sizes = tuple(builtins.max(b - a, 0) for a, b in zip(starts, [*ends, total], strict=True))
        if builtins.sum(sizes) != total:  # the indices decrease, so that slices overlap
            return [along(x, axis, slice(a, a + n)) for a, n in zip(starts, sizes, strict=True)]
    return list(ops.split(x, sizes=sizes, axis=axis))


def squeeze(x, axis=None):
    x = _kept(x)
    if axis is None:
        return _reshaped(x, tuple(n for n in x.dims if n != 1))
    axes = axes_of(x, axis)
    if builtins.any(x.dims[a] != 1 for a in axes):
        raise ValueError(f"Cannot squeeze axis={axis} of shape {x.dims}: its size is not 1")
    return _reshaped(x, tuple(n for i, n in enumerate(x.dims) if i not in axes))


def stack(x, axis=0):
    xs = promote(*x)
    return ops.stack(*xs, axis=canonicalize_axis(axis, len(xs[0].dims) + 1))


def swapaxes(x, axis1, axis2):
    x = tensor(x)
    order = list(range(len(x.dims)))
    a, b = axis_of(x, axis1), axis_of(x, axis2)
    order[a], order[b] = b, a
    return ops.transpose(x, perm=tuple(order))


def tile(x, repeats):
    x = tensor(x)
    counts = static(repeats)
    counts = counts if isinstance(counts, tuple) else (counts,)
    rank = builtins.max(len(counts), len(x.dims))
    counts = (1,) * (rank - len(counts)) + counts
    dims = (1,) * (rank - len(x.dims)) + x.dims
    spread = ops.broadcast_to(
        ops.reshape(x, shape=tuple(n for d in dims for n in (1, d))),
        shape=tuple(n for c, d in zip(counts, dims, strict=True) for n in (c, d)),
    )
    return ops.reshape(spread, shape=tuple(c * d for c, d in zip(counts, dims, strict=True)))


def transpose(x, axes=None):
    x = _kept(x)
    order = tuple(range(len(x.dims)))[::-1] if axes is None else axes_of(x, tuple(axes))
    return ops.transpose(x, perm=order) if isinstance(x, Tensor) else tf.sparse.transpose(x, order)


def vsplit(x, indices_or_sections):
    return split(x, indices_or_sections, axis=0)


def vstack(xs):
    xs = [x if len(x.dims) > 1 else ops.reshape(x, shape=(1, math.prod(x.dims))) for x in promote(*xs)]
    return ops.concat(*xs, axis=0)
