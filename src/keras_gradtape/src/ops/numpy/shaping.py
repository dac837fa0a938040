"""Shapes and axes, joining, splitting and repeating."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
from keras.src.backend.common.backend_utils import canonicalize_axis

import gradtape as tf
from gradtape.api.arrays.repeating import grid_coordinates
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ... import sparse
from .promotion import axes_of, axis_of, common, promote, tensor
from .shared import ravel

__all__ = [
    "array_split", "column_stack", "concatenate", "copy", "expand_dims", "meshgrid", "reshape", "size", "squeeze",
    "transpose",
]


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


def array_split(x, indices_or_sections, axis=0):
    x = tensor(x)
    axis, count = axis_of(x, axis), indices_or_sections
    size = x.dims[axis]
    return list(ops.split(x, sizes=tuple(size // count + (i < size % count) for i in range(count)), axis=axis))


def column_stack(xs):
    xs = promote(*xs)
    return ops.concat(*(expand_dims(x, -1) if len(x.dims) == 1 else x for x in xs), axis=1)


def concatenate(xs, axis=0):
    if builtins.all(isinstance(x, tf.SparseTensor) for x in xs):
        dtype = common(*(x.dtype for x in xs))
        return tf.sparse.concat(axis, [tf.cast(x, dtype) for x in xs])
    xs = promote(*xs)
    return ops.concat(*xs, axis=axis_of(xs[0], axis))


@sparse.on_values(linear=True)
def copy(x):
    return ops.identity(tensor(x))


def expand_dims(x, axis):
    x = _kept(x)
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    rank = len(x.dims) + len(axes)
    places = {canonicalize_axis(a, rank) for a in axes}
    sizes = iter(x.dims)
    return _reshaped(x, tuple(1 if i in places else next(sizes) for i in range(rank)))


def meshgrid(*x, indexing="xy"):
    return grid_coordinates([ravel(v) for v in x], indexing)


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


def size(x):
    return math.prod(tensor(x).dims)


def squeeze(x, axis=None):
    x = _kept(x)
    if axis is None:
        return _reshaped(x, tuple(n for n in x.dims if n != 1))
    axes = axes_of(x, axis)
    if builtins.any(x.dims[a] != 1 for a in axes):
        raise ValueError(f"Cannot squeeze axis={axis} of shape {x.dims}: its size is not 1")
    return _reshaped(x, tuple(n for i, n in enumerate(x.dims) if i not in axes))


def transpose(x, axes=None):
    x = _kept(x)
    order = tuple(range(len(x.dims)))[::-1] if axes is None else axes_of(x, tuple(axes))
    return ops.transpose(x, perm=order) if isinstance(x, Tensor) else tf.sparse.transpose(x, order)
