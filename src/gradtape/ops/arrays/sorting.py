"""Sorting, searching and counting. Positions are constants; the values moved to them carry the gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.arrays import astype, can_read_values, combine_at, kind_of, numpy_kernel, put, search_rows, size_of
from ...backends.numpy.blocks import by_rows
from ...backends.tuning import LONG_TO_SORT, WORTH_SELECTING
from ...core.dtypes import FLOAT, INT, NARROW
from ...core.errors import InvalidArgumentError
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.families import constant, linear, no_rule, opaque, shift_axes
from ...engine.registry.op import op_named, sample
from ...engine.registry.shape_rules import reduced_shape, resized, same_shape
from ...engine.run import dispatch

REAL = INT | FLOAT | NARROW


def _positions(xp, shape, axis, indices):
    """Index arrays that select `indices` along `axis` and everything along the other axes."""
    grid = [xp.arange(n).reshape((-1, *(1,) * (len(shape) - i - 1))) for i, n in enumerate(shape)]
    grid[axis] = indices
    return tuple(grid)


def _batch_along(m: Any, op: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
    whole = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
    return op(*whole, **shift_axes(attrs, size))


take_along = linear(
    "take_along", lambda xp, x, indices, *, axis: xp.take_along_axis(x, indices, axis),
    shape=lambda x, indices, axis: indices,
    transpose=lambda m, g, indices, x_shape, axis: m.add_along(g, indices, axis=axis, size=x_shape[axis]),
    batch=lambda m, size, inputs, flags, attrs: _batch_along(m, m.take_along, size, inputs, flags, attrs),
    samples=[
        sample((2, 3), np.array([[0, 2, 2, 1], [1, 1, 0, 0]]), axis=1),
        sample((3, 2), np.array([[2, 0]]), axis=0),
        sample((2, 0), np.zeros((2, 0), int), axis=1),
    ],
)  # fmt: skip
add_along = linear(
    "add_along", lambda xp, x, indices, *, axis, size: combine_at(
        xp, "add", xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype),
        _positions(xp, x.shape, axis, indices), x,
    ),
    shape=lambda x, indices, axis, size: resized(x, axis, size),
    transpose=lambda m, g, indices, axis: m.take_along(g, indices, axis=axis), moves_data=False,
    batch=lambda m, size, inputs, flags, attrs: _batch_along(m, m.add_along, size, inputs, flags, attrs),
    samples=[
        sample((2, 4), np.array([[0, 2, 2, 1], [1, 1, 0, 0]]), axis=1, size=3),
        sample((1, 2), np.array([[2, 0]]), axis=0, size=3),
    ],
)  # fmt: skip


def _argsort(xp, x, *, axis, descending=False):
    """Stable in both directions: equal values keep their order."""
    if not descending:
        return astype(xp.argsort(x, axis=axis, stable=True), np.int32)
    backwards = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True)
    return astype(x.shape[axis] - 1 - xp.flip(backwards, axis=axis), np.int32)


argsort = constant(
    "argsort", _argsort, on=REAL,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.argsort(inputs[0], **shift_axes(attrs, size)),
    samples=[sample((3, 4), axis=1), sample(np.array([2.0, 1.0, 2.0]), axis=0, descending=True)],
)  # fmt: skip


def _sort(xp, x, *, axis, descending=False):
    y = xp.sort(x, axis=axis)
    return xp.flip(y, axis=axis) if descending else y


sort = opaque(
    "sort", _sort, on=REAL,
    shape=same_shape,
    vjp=lambda m, g, x, axis, descending: m.add_along(
        g, m.argsort(x, axis=axis, descending=bool(descending)), axis=axis, size=x.shape[axis]
    ),
    jvp=lambda m, inputs, y, attrs, ts: m.take_along(ts[0], m.argsort(inputs[0], **attrs), axis=attrs["axis"]),
    batch=lambda m, size, inputs, flags, attrs: m.sort(inputs[0], **shift_axes(attrs, size)),
    samples=[sample((3, 4), axis=1), sample((3, 2), axis=0, descending=True), sample((2, 0), axis=1)],
)  # fmt: skip


def _top_k(xp, x, *, k):
    """The k largest values along the last axis and their positions; of equal values, the first come first."""
    if k == 1 and kind_of(x) != "f":
        indices = xp.argmax(x, axis=-1)[..., None]
    else:
        indices = _argsort(xp, x, axis=x.ndim - 1, descending=True)[..., :k]
    return xp.take_along_axis(x, indices, axis=-1), astype(indices, np.int32)


@numpy_kernel(_top_k)
def _numpy_top_k(x, *, k):
    n = x.shape[-1]
    if x.size <= WORTH_SELECTING or not 0 < 8 * k < n or (k == 1 and kind_of(x) != "f"):
        return _top_k(np, x, k=k)
    rows = x.reshape(-1, n)
    parts = by_rows(lambda part: _select(rows[part], k), *rows.shape)
    indices = np.concatenate(parts).reshape((*x.shape[:-1], k))
    return np.take_along_axis(x, indices, axis=-1), astype(indices, np.int32)


def _select(rows, k):
    """The positions of the k largest of each row: only values that reach the k-th are sorted with their positions."""
    n = rows.shape[1]
    # `sort` is vectorized, and so is `partition`, which is faster on long rows.
    ordered = np.sort(rows, axis=1) if n <= LONG_TO_SORT else np.partition(rows, n - k, axis=1)
    reached = ~(rows < ordered[:, n - k, None])
    flat = np.flatnonzero(reached)
    if flat.size == len(rows) * k:  # each row has at least k
        return _in_order(rows, flat.reshape(-1, k))
    indices = np.empty((len(rows), k), np.intp)
    ends = np.cumsum(np.bincount(flat // n))
    for i, found in enumerate(np.split(flat, ends[:-1])):  # several values equal the k-th
        indices[i] = _in_order(rows, found[None])[0, :k]
    return indices


def _in_order(rows, flat):
    """The columns of positions in the flattened matrix, sorted by their values in descending order.

    Each row of `flat` belongs to one row. Of equal values, the first come first.
    """
    order = _argsort(np, rows.take(flat), axis=1, descending=True)
    return np.take_along_axis(flat, order, axis=1) % rows.shape[1]


top_k = opaque(
    "top_k", _top_k, on=REAL,
    shape=lambda x, k: [(*x[:-1], k)] * 2,
    vjp=lambda m, g, x_shape, ys: m.add_along(g[0], ys[1], axis=len(x_shape) - 1, size=x_shape[-1]),
    jvp=lambda m, inputs, ys, attrs, ts: (m.take_along(ts[0], ys[1], axis=len(ts[0].shape) - 1), None),
    batch=lambda m, size, inputs, flags, attrs: m.top_k(inputs[0], **attrs),
    samples=[sample((3, 4), k=2), sample((5,), k=0), sample((1000,), k=3)],
)  # fmt: skip


def _extreme_position(xp, x, axis, dtype, name):
    if not x.shape[axis]:
        node = dispatch.node_name(op_named(name))
        raise InvalidArgumentError(f"Reduction axis {axis} is empty in shape {list(x.shape)} [Op:{node}]")
    found = getattr(xp, name)(x, axis=axis)
    if kind_of(x) == "f":
        # NumPy's argmax and argmin select NaN over every number, TensorFlow's every number over NaN.
        chosen = xp.take_along_axis(x, xp.expand_dims(found, axis), axis)
        if not can_read_values(xp) or np.isnan(chosen).any():
            found = getattr(xp, name)(xp.where(xp.isnan(x), -np.inf if name == "argmax" else np.inf, x), axis=axis)
    return astype(found, dtype)


_POSITION_SAMPLES = [sample((3, 4), axis=1, dtype=np.dtype("int64")), sample((3,), axis=0, dtype=np.dtype("int32"))]
argmax = constant(
    "argmax", lambda xp, x, *, axis, dtype: _extreme_position(xp, x, axis, dtype, "argmax"),
    shape=lambda x, axis, dtype: reduced_shape(x, axis=(axis,)),
    batch=lambda m, size, inputs, flags, attrs: m.argmax(inputs[0], **shift_axes(attrs, size)),
    samples=_POSITION_SAMPLES,
)  # fmt: skip
argmin = constant(
    "argmin", lambda xp, x, *, axis, dtype: _extreme_position(xp, x, axis, dtype, "argmin"),
    shape=lambda x, axis, dtype: reduced_shape(x, axis=(axis,)),
    batch=lambda m, size, inputs, flags, attrs: m.argmin(inputs[0], **shift_axes(attrs, size)),
    samples=_POSITION_SAMPLES,
)  # fmt: skip


def _in_top_k(xp, targets, predictions, *, k):
    classes = predictions.shape[1]
    if not classes:
        return xp.zeros(targets.shape, bool)
    known = (targets >= 0) & (targets < classes)
    chosen = xp.take_along_axis(predictions, xp.where(known, targets, 0)[:, None], axis=1)
    return known & xp.isfinite(predictions).all(axis=1) & ((predictions > chosen).sum(axis=1) < k)


in_top_k = constant(
    "in_top_k", _in_top_k, samples=[sample(np.array([1, 0, 7]), (3, 4), k=2)],
    shape=lambda targets, predictions, k: targets,
)  # fmt: skip


def _unique(xp, x, *, dtype):
    """The distinct values in order of appearance, the index of each value among them, and their counts."""
    if x.dtype == object:
        places: dict[Any, int] = {}
        inverse = np.array([places.setdefault(value, len(places)) for value in x.tolist()], dtype)
        values = np.array(list(places), dtype=object)
        return values, inverse, np.bincount(inverse, minlength=len(values)).astype(dtype)
    values, first, inverse, counts = xp.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = xp.argsort(first)
    return values[order], astype(xp.argsort(order)[inverse], dtype), astype(counts[order], dtype)


unique = opaque(
    "unique", _unique, vjp=no_rule("Unique. Which values are distinct has no derivative; use tf.stop_gradient"),
    shaped_by_values=True, samples=[sample(np.array([4, 2, 4, 7]), dtype=np.dtype("int32"))],
)  # fmt: skip


def _unique_slices(xp, x, *, axis):
    """The first positions of the distinct slices along `axis`, sorted; each slice's index among them; counts."""
    _, first, inverse, counts = xp.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    return astype(first, np.int32), astype(inverse.reshape(-1), np.int32), astype(counts, np.int32)


unique_slices = constant(
    "unique_slices", _unique_slices, shaped_by_values=True,
    samples=[sample(np.array([4, 2, 4, 7]), axis=0), sample(np.array([[1.0, 0.0, 1.0], [2.0, 3.0, 2.0]]), axis=1)],
)  # fmt: skip


def _search_sorted(xp, sequence, values, *, side, dtype):
    """Searches each row of `values` in the same row of `sequence`."""
    return astype(search_rows(xp, sequence, values, side), dtype)


search_sorted = constant(
    "search_sorted", _search_sorted, on=REAL,
    shape=lambda sequence, values, **attrs: values,
    samples=[sample(np.array([[1, 3, 5]]), np.array([[0, 3, 9]]), side="left", dtype=np.dtype("int32"))],
)  # fmt: skip


def _bincount(xp, x, *weights, size, binary=False, dtype):
    """Counts 0 ... size-1 in each row of `x`, or sums the corresponding weights."""
    rows, inside = _row_numbers(xp, x), x < size
    counted = xp.where(inside, weights[0] if weights else 1, 0)
    places = rows * size + xp.where(inside, x, 0)
    counts = combine_at(xp, "add", xp.zeros(size_of(rows) * size, counted.dtype), places, counted)
    return _as_counts(xp, counts, (*x.shape[:-1], size), binary, dtype)


@numpy_kernel(_bincount)
def _numpy_bincount(x, *weights, size, binary=False, dtype):
    rows, inside = _row_numbers(np, x), x < size
    counted = weights[0][inside] if weights else None
    counts = np.bincount((rows * size + x)[inside], counted, minlength=rows.size * size)
    return _as_counts(np, counts, (*x.shape[:-1], size), binary, dtype)


def _row_numbers(xp, x):
    return xp.arange(math.prod(x.shape[:-1])).reshape((*x.shape[:-1], 1))


def _as_counts(xp, counts, shape, binary, dtype):
    counts = counts.reshape(shape)
    return astype(xp.minimum(counts, 1) if binary else counts, dtype)


bincount = opaque(
    "bincount", _bincount, vjp=no_rule("DenseBincount. Use tf.math.unsorted_segment_sum to count with gradients"),
    shape=lambda x, *weights, size, **attrs: (size,),
    samples=[sample(np.array([1, 1, 3, 0]), size=4, dtype=np.dtype("int32"))],
)  # fmt: skip


def _bins(xp, x, limits, *, count, dtype):
    low, high = astype(limits, np.float64)  # the width of the range may overflow its dtype
    scaled = (astype(x, np.float64) - low) / ((high - low) / count)
    return astype(xp.clip(scaled, 0, count - 1), dtype)


histogram_bins = constant(
    "histogram_bins", _bins, on=FLOAT | INT | NARROW,
    shape=lambda x, limits, **attrs: x,
    samples=[sample((5,), np.array([-1.0, 1.0]), count=4, dtype=np.dtype("int32"))],
)  # fmt: skip


def _invert_permutation(xp, x):
    return astype(xp.argsort(x), x.dtype)


@numpy_kernel(_invert_permutation)
def _numpy_invert_permutation(x):
    outside = x[(x < 0) | (x >= len(x))]
    if outside.size:
        raise InvalidArgumentError(f"{outside[0]} is not between 0 and {len(x)} [Op:InvertPermutation]")
    inverse = put(np.full(x.shape, -1, x.dtype), x, np.arange(len(x), dtype=x.dtype))
    if (inverse < 0).any():
        raise InvalidArgumentError("a value is duplicated in the input: it is not a permutation [Op:InvertPermutation]")
    return inverse


invert_permutation = constant(
    "invert_permutation", _invert_permutation, on=INT, shape=same_shape, samples=[sample(np.array([2, 0, 1]))]
)
