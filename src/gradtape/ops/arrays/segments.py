"""Segment reductions: rows with the same id are reduced to one. The sum's transpose copies a row to its segment.

`ids` holds the segment id of each row of `x`; a row with a negative id belongs to no segment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.arrays import can_read_values, combine_at, numpy_dtype, put
from ...backends.numpy.sums import sum_at
from ...core.dtypes import FLOAT, INT, NARROW, NUMERIC
from ...core.errors import InvalidArgumentError
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.families import conjugate, linear, opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape

REAL = INT | FLOAT | NARROW


def _weakest(ufunc, dtype):
    """The identity element of `ufunc`."""
    if ufunc in ("add", "multiply"):
        return int(ufunc == "multiply")
    dtype = numpy_dtype(dtype)
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return low if ufunc == "maximum" else high


def _reduce(xp, x, ids, count, ufunc, empty):
    """Reduces the rows of each segment by `ufunc`; segments without rows are `empty`."""
    if xp is np:
        return _numpy_reduce(x, ids, count, ufunc, empty)
    rows = xp.where(ids < 0, count, ids)  # an additional row collects those that belong to no segment
    start = xp.full((count + 1, *x.shape[1:]), _weakest(ufunc, x.dtype), x.dtype)
    y = combine_at(xp, ufunc, start, rows, x)
    used = put(xp.zeros(count + 1, bool), rows, True).reshape((-1, *(1,) * (x.ndim - 1)))
    return xp.where(used, y, xp.asarray(empty, x.dtype))[:count]


def _numpy_reduce(x, ids, count, ufunc, empty):
    if len(ids) and ids.min() < 0:
        x, ids = x[ids >= 0], ids[ids >= 0]
    if len(ids) and ids.max() >= count:
        raise InvalidArgumentError(f"segment id {ids.max()} is out of range [0, {count})")
    if ufunc == "add" and x.size:
        return sum_at(count, ids, x.reshape(len(ids), -1)).reshape(count, *x.shape[1:])
    y = np.full((count, *x.shape[1:]), empty, x.dtype)
    if not len(ids):
        return y
    steps = np.diff(ids)
    if steps.size and steps.min() < 0:
        order = np.argsort(ids, stable=True)
        x, ids = x[order], ids[order]
        steps = np.diff(ids)
    starts = np.concatenate([[0], np.flatnonzero(steps) + 1])
    y[ids[starts]] = getattr(np, ufunc).reduceat(x, starts, axis=0, dtype=x.dtype)
    return y


def _spread(xp, x, ids):
    if len(x):
        y = x.take(ids, axis=0) if xp is np else x[ids]  # the same, in a third of the time
    else:
        y = xp.zeros((len(ids), *x.shape[1:]), x.dtype)
    if not can_read_values(xp) or (len(ids) and ids.min() < 0):
        y = xp.where((ids < 0).reshape((-1, *(1,) * (x.ndim - 1))), xp.zeros((), x.dtype), y)
    return y


def _batched(op: str) -> Any:
    """The batching rule: with shared ids the batch becomes another axis of the rows, otherwise ids are offset."""

    def batch(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
        x, ids = inputs
        call = getattr(m, op)
        if not flags[1]:
            turned = (1, 0, *range(2, len(x.dims)))
            return m.transpose(call(m.transpose(x, perm=turned), ids, **attrs), perm=turned)
        x = broadcast_batch(m, x, flags[0], size)
        count = attrs.get("count", x.dims[1])
        first = m.constant(np.arange(size, dtype=ids.dtype.numpy)[:, None] * count)
        own = m.where(m.less(ids, m.zeros_like(ids)), ids, ids + first)
        rows = m.reshape(x, shape=(size * x.dims[1], *x.dims[2:]))
        y = call(rows, m.reshape(own, shape=(size * ids.dims[1],)), **({"count": size * count} if attrs else {}))
        return m.reshape(y, shape=(size, y.dims[0] // size if size else count, *y.dims[1:]))

    return batch


_IDS = np.array([1, 0, -1, 1, 3])
_SAMPLES = [
    sample((5, 2), _IDS, count=4),
    sample((4,), np.array([0, 0, 2, 2]), count=3),
    sample((0, 2), np.zeros(0, int), count=2),
]
segment_sum = linear(
    "segment_sum", lambda xp, x, ids, *, count: _reduce(xp, x, ids, count, "add", 0), on=NUMERIC, moves_data=False,
    shape=lambda x, ids, count, empty=None: (count, *x[len(ids) :]),
    transpose=lambda m, g, ids: m.segment_spread(g, ids), batch=_batched("segment_sum"), samples=_SAMPLES,
)  # fmt: skip
dynamic_segment_sum = opaque(  # `count` is a tensor
    "dynamic_segment_sum", lambda xp, x, ids, count: _reduce(xp, x, ids, int(count), "add", 0), on=NUMERIC,
    vjp=lambda m, g, ids: (m.segment_spread(g, ids), None, None), shaped_by_values=True,
    samples=[sample((5, 2), _IDS, np.array(4)), sample((0, 2), np.zeros(0, int), np.array(2))],
)  # fmt: skip
segment_spread = linear(
    "segment_spread", _spread, transpose=lambda m, g, ids, x_shape: m.segment_sum(g, ids, count=x_shape[0]),
    shape=lambda x, ids: (*ids, *x[1:]),
    batch=_batched("segment_spread"),
    samples=[sample((4, 2), _IDS), sample((3,), np.array([0, 2, 2])), sample((2, 2), np.zeros(0, int))],
)  # fmt: skip


def _extreme_back(m, g, x, ids, y, count):
    """Divides the cotangent evenly among the elements that equal the extreme of their segment."""
    reached = m.cast(m.equal(x, m.segment_spread(y, ids)), dtype=x.dtype)
    sharers = m.segment_sum(reached, ids, count=count)
    return m.segment_spread(g / m.maximum(sharers, m.ones_like(sharers)), ids) * reached, None


def _extreme_batch(op: str) -> Any:
    rule = _batched(op)

    def batch(m: Any, size: int, inputs: Any, flags: Any, attrs: Any) -> Any:
        return NotImplemented if flags[1] else rule(m, size, inputs, flags, attrs)

    return batch


_EXTREME_SAMPLES = [sample(*s.inputs, **s.attrs, empty=0.0) for s in _SAMPLES]
segment_max = opaque(
    "segment_max", lambda xp, x, ids, *, count, empty: _reduce(xp, x, ids, count, "maximum", empty),
    shape=lambda x, ids, count, empty=None: (count, *x[len(ids) :]),
    vjp=_extreme_back, batch=_extreme_batch("segment_max"), samples=_EXTREME_SAMPLES, on=REAL,
)  # fmt: skip
segment_min = opaque(
    "segment_min", lambda xp, x, ids, *, count, empty: _reduce(xp, x, ids, count, "minimum", empty),
    shape=lambda x, ids, count, empty=None: (count, *x[len(ids) :]),
    vjp=_extreme_back, batch=_extreme_batch("segment_min"), samples=_EXTREME_SAMPLES, on=REAL,
)  # fmt: skip


def _prod_back(m, g, x, ids, count):
    """The product of the others: that of all nonzero factors over the factor itself, 0 if another factor is zero."""
    zero = m.equal(x, m.zeros_like(x))
    factors = m.where(zero, m.ones_like(x), x)
    ones = m.cast(zero, dtype=x.dtype)
    other_zeros = m.segment_spread(m.segment_sum(ones, ids, count=count), ids) - ones
    others = m.segment_spread(m.segment_prod(factors, ids, count=count), ids) / factors
    share = m.where(m.equal(other_zeros, m.zeros_like(other_zeros)), others, m.zeros_like(others))
    return m.segment_spread(g, ids) * conjugate(m, share), None


segment_prod = opaque(
    "segment_prod", lambda xp, x, ids, *, count: _reduce(xp, x, ids, count, "multiply", 1), vjp=_prod_back,
    shape=lambda x, ids, count, empty=None: (count, *x[len(ids) :]),
    batch=_extreme_batch("segment_prod"), samples=_SAMPLES, on=NUMERIC,
)  # fmt: skip


def _partition(xp, x, numbers, *, count):
    return tuple(x[numbers == i] for i in range(count))


def _partition_back(m, g, numbers):
    """Concatenates the parts and moves each row back to its original position."""
    return m.segment_spread(m.concat(*g, axis=0), m.places_in_partition(numbers)), None


places_in_partition = opaque(
    "places_in_partition", lambda xp, numbers: _inverse(xp, xp.argsort(numbers, stable=True)), vjp=None,
    shape=same_shape,
    samples=[sample(np.array([1, 0, 2, 0]))],
)  # fmt: skip


def _inverse(xp, order):
    return put(xp.zeros_like(order), order, xp.arange(len(order)))


dynamic_partition = opaque(
    "dynamic_partition", _partition, vjp=_partition_back, shaped_by_values=True,
    samples=[sample((4, 2), np.array([1, 0, 1, 0]), count=3), sample((0,), np.zeros(0, int), count=1)],
)  # fmt: skip
