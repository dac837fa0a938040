"""Sorting, searches and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ...sparse import is_sparse, like
from .creation import linspace
from .elementwise import equal, less_equal
from .promotion import axes_of, axis_of, common, floating, numeric, on_bools, promote, tensor
from .shaping import static
from .shared import ravel

__all__ = ["argpartition", "argsort", "bincount", "digitize", "histogram", "nonzero", "searchsorted", "sort", "unique"]


def argsort(x, axis=-1):
    x = numeric(x, "uint8")
    if axis is None or not x.dims:
        x, axis = ravel(x), 0
    return ops.argsort(x, axis=axis_of(x, axis))


def argpartition(x, kth, axis=-1):
    return argsort(x, axis)  # a sorted array is a valid partition


def sort(x, axis=-1):
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    return on_bools(ops.sort, x, axis=axis_of(x, axis))


def digitize(x, bins):
    if is_sparse(x):
        return like(x, digitize(x.values, bins))
    x, bins = promote(x, bins)
    if not bins.dims[0]:
        return ops.zeros_like(tensor(x, "int32"))
    rising = searchsorted(bins, x, "right")
    falling = bins.dims[0] - searchsorted(ops.reverse(bins, axis=(0,)), x, "left")
    return ops.where(less_equal(bins[0], bins[-1]), rising, falling)


def bincount(x, weights=None, minlength=0, sparse=False):
    if sparse or is_sparse(x):
        return _sparse_bincount(x, weights, minlength)
    x = tensor(x)
    if weights is not None:
        weights = tensor(weights)
    dtype = common(x, weights) if weights is not None else common("int32")
    x = tensor(x, "int32")
    size = static(minlength)
    if math.prod(x.dims):  # the size depends on the data, so a trace is specialized for it
        size = int(ops.maximum(ops.max(x, axis=axes_of(x, None), keepdims=False) + 1, size).array)
    if weights is None:
        return ops.bincount(x, size=size, dtype=dtype.numpy)
    rows = math.prod(x.dims[:-1])
    first = np.arange(rows, dtype=np.int32).reshape((*x.dims[:-1], 1)) * size
    counts = ops.segment_sum(ravel(tensor(weights, dtype)), ravel(x + tensor(first)), count=rows * size)
    return ops.reshape(counts, shape=(*x.dims[:-1], size))


def _sparse_bincount(x, weights, minlength):
    """Sparse `bincount`; of a sparse `x` only explicit entries count."""
    x = tf.cast(x, "int32") if is_sparse(x) else tensor(x, "int32")
    if weights is not None:
        weights = weights if is_sparse(weights) else tensor(weights)
        if is_sparse(weights) and not is_sparse(x):
            weights = tensor(weights)
        weights = tf.cast(weights, common(x.dtype, weights.dtype))
    return tf.sparse.bincount(x, weights=weights, axis=-1, minlength=static(minlength))


def histogram(x, bins=10, range=None):
    x = numeric(x)
    if range:
        low, high = (tensor(float(end)) for end in range)
    else:
        low, high = (f(floating(x), axis=(0,), keepdims=False) for f in (ops.min, ops.max))
    half = tensor(ops.equal(low, high), low.dtype) / 2  # a single value gets a bin of width 1 around it
    edges = linspace(low - half, high + half, bins + 1)
    place = searchsorted(edges, x, "right") - 1
    place = ops.where(equal(x, edges[-1]), tensor(bins - 1, "int32"), place)  # the last bin is closed
    place = ops.where(ops.less(place, tensor(bins, "int32")), place, tensor(-1, "int32"))
    return ops.segment_sum(ops.ones_like(place), place, count=bins), edges


def unique(
    x,
    sorted=True,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    size=None,
    fill_value=None,
):
    x = tensor(x)
    flat = ravel(x) if axis is None else x
    axis = axis_of(flat, 0 if axis is None else axis)
    positions, inverse, counts = ops.unique_slices(numeric(flat, "uint8"), axis=axis)
    if flat is not x and len(x.dims) != 1:
        inverse = ops.reshape(inverse, shape=x.dims)
    values = ops.gather(flat, positions, axis=axis, batch=0)
    if size is not None:
        values = _resized(values, axis, size, 0 if fill_value is None else fill_value)
        positions, counts = _resized(positions, 0, size, 1), _resized(counts, 0, size, 0)
    wanted = ((positions, return_index), (inverse, return_inverse), (counts, return_counts))
    found = (values, *(v for v, asked in wanted if asked))
    return found if len(found) > 1 else values


def _resized(x: Tensor, axis: int, size: int, value: Any) -> Tensor:
    """Truncates `x` to `size` slices along `axis`, or pads it with `value`."""
    missing = size - x.dims[axis]
    if missing <= 0:
        return x[(slice(None),) * axis + (slice(0, size),)]
    widths = tuple((0, missing if i == axis else 0) for i, _ in enumerate(x.dims))
    return ops.pad(x, paddings=widths, value=value)


def nonzero(x):
    x = tensor(x)
    if not x.dims:
        raise ValueError("A scalar has no positions: `nonzero` takes tensors of at least one axis")
    places = tensor(ops.nonzero(x), "int32")
    return tuple(ops.unstack(places, axis=1)) if len(x.dims) > 1 else (ops.reshape(places, shape=(-1,)),)


def searchsorted(sorted_sequence, values, side="left"):
    sequence, values = tensor(sorted_sequence), tensor(values)
    if len(sequence.dims) != 1:
        raise ValueError(
            "`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_map` to extend it to "
            f"N-D sequences. Received: sorted_sequence.shape={sequence.dims}"
        )
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'left' or 'right'. Received: side={side!r}")
    sequence, values = (numeric(v, "uint8") for v in promote(sequence, values))
    rows = ops.reshape(values, shape=(1, math.prod(values.dims)))
    sequence = ops.reshape(sequence, shape=(1, *sequence.dims))
    found = ops.search_sorted(sequence, rows, side=side, dtype=np.dtype("int32"))
    return ops.reshape(found, shape=values.dims)
