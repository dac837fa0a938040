"""Reductions, which combine the values along axes, and softmax, the derivative of one of them (logsumexp)."""

from __future__ import annotations

import math
from functools import cache

import ml_dtypes
import numpy as np

from ...backends.arrays import astype, into, kind_of, numpy_dtype, numpy_kernel, permuted, size_of
from ...backends.numpy.blocks import by_rows
from ...backends.numpy.memory import empty
from ...backends.tuning import BLOCK, SHORT_ROWS, TURNED_AT_ONCE
from ...core.dtypes import BOOL, FLOAT, INT, NARROW, NUMERIC
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.families import QuotientWeight, conjugate, constant, opaque, reduction, shift_axes
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import reduced_shape, same_shape
from .scans import advanced, cumprod_back, delayed
from .structure import sum_of

REAL = INT | FLOAT | NARROW
_SAMPLES = [
    sample((3, 4, 2), axis=(0, 2)),
    sample((3, 4), axis=(1,), keepdims=True),
    sample((), axis=()),
    sample((0, 3), axis=(1,)),
]


def _max(xp, x, *, axis, keepdims=False):
    found = _identity(xp, x, axis, keepdims, -np.inf)
    return xp.max(x, axis=axis, keepdims=keepdims) if found is None else found


def _min(xp, x, *, axis, keepdims=False):
    found = _identity(xp, x, axis, keepdims, np.inf)
    return xp.min(x, axis=axis, keepdims=keepdims) if found is None else found


def _identity(xp, x, axis, keepdims, identity):
    """The maximum or minimum along an axis without elements: the identity of the reduction; None for other axes.

    `identity` is that of floats, -inf or inf; that of integers is their smallest or largest number.
    """
    if 0 not in x.shape or all(x.shape[i] for i in axis):
        return None
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape) if keepdims or i not in axis)
    if kind_of(x) != "f":
        limits = np.iinfo(numpy_dtype(x.dtype))
        identity = limits.min if identity < 0 else limits.max
    return xp.full(shape, identity, x.dtype)


@numpy_kernel(_max)
def _numpy_max(x, *, axis, keepdims=False):
    return _extreme(x, axis, keepdims, np.maximum, -np.inf)


@numpy_kernel(_min)
def _numpy_min(x, *, axis, keepdims=False):
    return _extreme(x, axis, keepdims, np.minimum, np.inf)


def _extreme(x, axis, keepdims, ufunc, identity):
    """The maximum or minimum of a NumPy array."""
    if axis == (x.ndim - 1,) and x.ndim > 1 and x.size:
        rows, kept = x.reshape(-1, x.shape[-1]), (*x.shape[:-1], 1) if keepdims else x.shape[:-1]
        if 1 < x.shape[-1] <= SHORT_ROWS and x.size <= TURNED_AT_ONCE:
            return ufunc.reduce(rows.T.copy(), axis=0).reshape(kept)
        if x.size > BLOCK and x.shape[-1] > SHORT_ROWS:
            parts = by_rows(lambda part: row_extremes(rows[part], ufunc), *rows.shape)
            return np.concatenate(parts).reshape(kept)
    found = _identity(np, x, axis, keepdims, identity)
    # `np.max` and the array's method are slower ways to call it.
    return ufunc.reduce(x, axis=axis, keepdims=keepdims) if found is None else found


def row_extremes(rows, ufunc=np.maximum):
    """The maximum or minimum of each row of a large matrix, as a column.

    `argmax` takes half the time of `maximum.reduce`, and finds NaN, too.
    """
    columns = rows.argmax(axis=1) if ufunc is np.maximum else rows.argmin(axis=1)
    return rows.take(columns + np.arange(0, rows.size, rows.shape[1]))[:, None]


def _share(m, x, y, axis):
    """The weight of each element in an extreme value: ties share it evenly."""
    reached = m.cast(m.equal(x, y), dtype=x.dtype)
    return QuotientWeight(reached, m.sum(reached, axis=axis, keepdims=True))


max_ = reduction("max", _max, weight=_share, on=REAL, samples=_SAMPLES)
min_ = reduction("min", _min, weight=_share, on=REAL, samples=_SAMPLES)
prod = reduction(
    "prod", lambda xp, x, *, axis, keepdims=False: xp.prod(x, axis=axis, dtype=x.dtype, keepdims=keepdims), on=NUMERIC,
    weight=lambda m, x, axis: m.prod_of_others(x, axis=axis),
    samples=[*_SAMPLES, sample(np.array([0.0, 2.0, 3.0, 0.0]), axis=(0,)), sample((0, 3), axis=(0,))],
)  # fmt: skip


def _rows(m, x, axis):
    """Moves `axis` to the end and flattens them into one."""
    kept = tuple(i for i in range(len(x.shape)) if i not in axis)
    return m.reshape(
        m.transpose(x, perm=(*kept, *axis)),
        shape=(*(x.shape[i] for i in kept), int(np.prod([x.shape[i] for i in axis], dtype=int))),
    )


def _unrows(m, rows, shape, axis):
    """The inverse of `_rows`."""
    order = (*(i for i in range(len(shape)) if i not in axis), *axis)
    split = m.reshape(rows, shape=tuple(shape[i] for i in order))
    return m.transpose(split, perm=tuple(np.argsort(order).tolist()))


def _prod_of_others(xp, x, *, axis):
    y = xp.prod(x, axis=axis, dtype=x.dtype, keepdims=True)
    if isinstance(y, np.ndarray | np.generic) and np.isfinite(y).all() and np.all(y):
        return y / x
    kept = tuple(i for i in range(x.ndim) if i not in axis)
    order = (*kept, *axis)
    moved = permuted(x, order)
    rows = moved.reshape((*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axis)))
    one = xp.ones_like(rows[..., :1])
    left = xp.cumprod(xp.concatenate([one, rows[..., :-1]], axis=-1), axis=-1, dtype=x.dtype)
    right = xp.cumprod(xp.concatenate([one, xp.flip(rows[..., 1:], axis=-1)], axis=-1), axis=-1, dtype=x.dtype)
    right = xp.flip(right, axis=-1)
    return permuted((left * right).reshape(moved.shape), tuple(np.argsort(order).tolist()))


def _prod_of_others_back(m, g, x, axis):
    """The product of the others is the product of all before times that of all after, each a cumulative product."""
    last = len(x.shape) - len(axis)

    def running(z):
        before = delayed(m, z, last, m.ones_like)
        return before, m.cumprod(before, axis=last)

    def back(h, before, y):
        return advanced(m, cumprod_back(m, h, before, y, last), last, m.zeros_like)

    def flipped(z):
        return m.reverse(z, axis=(last,))

    z, h = _rows(m, x, axis), _rows(m, g, axis)
    before, left = running(z)
    after, right = running(flipped(z))
    from_left = back(h * conjugate(m, flipped(right)), before, left)
    from_right = flipped(back(flipped(h * conjugate(m, left)), after, right))
    return _unrows(m, from_left + from_right, tuple(x.shape), axis)


prod_of_others = opaque(
    "prod_of_others", _prod_of_others, vjp=_prod_of_others_back, on=NUMERIC,
    shape=same_shape,
    batch=lambda m, size, inputs, flags, attrs: m.prod_of_others(inputs[0], **shift_axes(attrs, size)),
    samples=[
        sample((3, 2, 2), axis=(0, 2)),
        sample(np.array([0.0, 2.0, 3.0, 0.0]), axis=(0,)),
        sample(np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), axis=(1,)),
        sample((), axis=()),
        sample((0, 3), axis=(0,)),
    ],
)  # fmt: skip


def _logsumexp(xp, x, *, axis, keepdims=False):
    top = _max(xp, x, axis=axis, keepdims=True)
    return _logsumexp_above(xp, x, xp.where(xp.isfinite(top), top, xp.zeros_like(top)), axis, keepdims)


def _logsumexp_above(xp, x, top, axis, keepdims):
    y = xp.log(sum_of(xp, into(xp.exp, x - top), axis=axis, keepdims=keepdims))
    return y + (top if keepdims else top.reshape(y.shape))


@numpy_kernel(_logsumexp)
def _numpy_logsumexp(x, *, axis, keepdims=False):
    if x.size > BLOCK and len(axis) == 1 and x.ndim > 1 and axis[0] == x.ndim - 1 and x.shape[-1]:
        rows = x.reshape(-1, x.shape[-1])
        parts = by_rows(lambda part: _logsumexp_of_rows(rows[part]), *rows.shape)
        return np.concatenate(parts).reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1])
    top = _numpy_max(x, axis=axis, keepdims=True)
    if not math.isfinite(np.add.reduce(top, axis=None)):  # one number is faster than a mask
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
    return _logsumexp_above(np, x, top, axis, keepdims)


def _logsumexp_of_rows(rows):
    top = row_extremes(rows)
    top = np.where(np.isfinite(top), top, np.zeros_like(top))
    e = np.subtract(rows, top, out=empty(rows.shape, rows.dtype))
    return np.log(sum_of(np, np.exp(e, out=e), axis=(1,))) + top[:, 0]


def _share_of_sum(m, x, y, axis):
    """Each element's share of the sum: `exp(x - y)`, normalized because `y` is rounded where it is far from 0."""
    if len(axis) == 1 and math.prod(x.shape) > BLOCK:
        return m.softmax(x, axis=axis[0])
    e = m.exp(x - m.where(m.is_finite(y), y, 0.0))  # beside infinite values, the share of a finite one is 0
    return QuotientWeight(e, m.sum(e, axis=axis, keepdims=True))


def _shares_of_cotangent(g, x, axis):
    """The product of a cotangent and the softmax of a large array along its last axis."""
    if len(axis) != 1 or x.size <= BLOCK or x.ndim < 2 or axis[0] != x.ndim - 1:
        return None
    columns = g.reshape(-1, 1)
    return _weighed(x, axis[0], lambda z, axis, part: _softmax_of(np, z, axis, columns[part]))


logsumexp = reduction(
    "logsumexp", _logsumexp, weight=_share_of_sum, product=_shares_of_cotangent, on=FLOAT | NARROW, samples=_SAMPLES
)


def _euclidean_norm(xp, x, *, axis, keepdims=False):
    """√Σx² of values divided by their maximum: the squares might overflow or lose digits to underflow."""
    if kind_of(x) != "f" or any(x.shape[i] == 0 for i in axis):
        return _root_of_squares(xp, x, axis, keepdims)[0]
    top = xp.max(abs(x), axis=axis, keepdims=True)
    # XLA multiplies by 1 / unit, and flushes it to 0 if it is subnormal.
    unit = xp.where((top > 0) & (top < np.inf), xp.where(top > 1, 0.125 * top, top), 1)
    shares = x / unit
    scaled = xp.sqrt(xp.sum(shares * shares, axis=axis, keepdims=True)) * unit
    return scaled if keepdims else scaled.reshape([n for i, n in enumerate(x.shape) if i not in axis])


def _root_of_squares(xp, x, axis, keepdims):
    """√Σx² without a check of its range, and Σx²."""
    squares = xp.sum(x * x, axis=axis, dtype=x.dtype, keepdims=keepdims)
    return astype(xp.sqrt(squares), x.dtype), squares


@numpy_kernel(_euclidean_norm)
def _numpy_euclidean_norm(x, *, axis, keepdims=False):
    y, squares = _root_of_squares(np, x, axis, keepdims)
    if kind_of(x) != "f" or not x.size:
        return y
    limits = np.finfo(x.dtype)
    usual = (squares > limits.tiny / limits.eps) & (squares < np.inf)
    return y if usual.all() else _euclidean_norm(np, x, axis=axis, keepdims=keepdims)


euclidean_norm = reduction(
    "euclidean_norm", _euclidean_norm, on=REAL, weight=lambda m, x, y: m.divide_no_nan(x, y), samples=_SAMPLES,
    domain=(0.5, 2),
)  # fmt: skip


_BOOLS = np.array([[True, False], [True, True]])
all_ = constant(
    "all", lambda xp, x, *, axis, keepdims=False: x.all(axis=axis, keepdims=keepdims), on=BOOL,
    shape=reduced_shape,
    batch=lambda m, size, inputs, flags, attrs: m.all(inputs[0], **shift_axes(attrs, size)),
    samples=[sample(_BOOLS, axis=(1,)), sample(_BOOLS, axis=(0, 1), keepdims=True)],
)  # fmt: skip
any_ = constant(
    "any", lambda xp, x, *, axis, keepdims=False: x.any(axis=axis, keepdims=keepdims), on=BOOL,
    shape=reduced_shape,
    batch=lambda m, size, inputs, flags, attrs: m.any(inputs[0], **shift_axes(attrs, size)),
    samples=[sample(_BOOLS, axis=(1,)), sample(_BOOLS, axis=(0, 1), keepdims=True)],
)  # fmt: skip


def _less_maximum(xp, x, axis):
    return x - _finite(xp, xp.max(x, axis=axis, keepdims=True)) if size_of(x) else xp.zeros_like(x)


def _finite(xp, top):
    """Maxima, infinite ones as the largest finite number: finite values beside inf have a softmax of 0, not NaN."""
    return xp.minimum(top, _largest(numpy_dtype(top.dtype)))


@cache
def _largest(dtype):
    return float(ml_dtypes.finfo(dtype).max)


def _weighed(x, axis, whole):
    """Applies `whole(values, axis, part)` along one axis of a NumPy array less its maximum, which it overwrites.

    `part` is the slice of the rows.
    """
    n = x.shape[axis]
    if not x.size or not _in_rows(x, axis):
        return whole(_less_maximum(np, x, axis), axis, slice(None))
    rows, y = x.reshape(-1, n), empty(x.shape, x.dtype)
    out = y.reshape(-1, n)

    def work(part):
        if n > SHORT_ROWS:
            whole(np.subtract(rows[part], _finite(np, row_extremes(rows[part])), out=out[part]), 1, part)
        else:
            columns = rows[part].T.copy()
            columns -= _finite(np, np.maximum.reduce(columns, axis=0))
            out[part] = whole(columns, 0, part).T

    if x.size > BLOCK:
        by_rows(work, *rows.shape)
    else:
        work(slice(None))
    return y


def _in_rows(x, axis):
    """Whether to compute along the last axis of a NumPy array in blocks of rows: if they are many or short."""
    return x.ndim > 1 and axis == x.ndim - 1 and (x.size > BLOCK or x.shape[axis] <= SHORT_ROWS)


def _softmax(xp, x, *, axis):
    return _softmax_of(xp, _less_maximum(xp, x, axis), axis)


@numpy_kernel(_softmax)
def _numpy_softmax(x, *, axis):
    return _weighed(x, axis, lambda z, axis, part: _softmax_of(np, z, axis))


def _softmax_of(xp, z, axis, factors=None):
    """The softmax of values that are 0 at most, in place where arrays are mutable, times a column."""
    e = into(xp.exp, z)
    total = sum_of(xp, e, axis=(axis,), keepdims=True)
    return into(xp.divide, e, total) if factors is None else np.multiply(e, factors.reshape(total.shape) / total, out=e)


def _log_softmax(xp, x, *, axis):
    return _log_softmax_of(xp, _less_maximum(xp, x, axis), axis)


def _log_softmax_of(xp, z, axis):
    return into(xp.subtract, z, xp.log(sum_of(xp, xp.exp(z), axis=(axis,), keepdims=True)))


@numpy_kernel(_log_softmax)
def _numpy_log_softmax(x, *, axis):
    return _weighed(x, axis, lambda z, axis, part: _log_softmax_of(np, z, axis))


def _softmax_back(xp, cotangent, value, *, axis):
    return (cotangent - sum_of(xp, cotangent * value, axis=(axis,), keepdims=True)) * value


@numpy_kernel(_softmax_back)
def _numpy_softmax_back(cotangent, value, *, axis):
    if value.size > BLOCK and axis == value.ndim - 1:
        return _in_row_blocks(_softmax_back_in_rows, cotangent, value)
    return _softmax_back(np, cotangent, value, axis=axis)


def _log_softmax_back(xp, cotangent, value, *, axis):
    return cotangent - xp.exp(value) * sum_of(xp, cotangent, axis=(axis,), keepdims=True)


@numpy_kernel(_log_softmax_back)
def _numpy_log_softmax_back(cotangent, value, *, axis):
    if value.size > BLOCK and axis == value.ndim - 1:
        return _in_row_blocks(_log_softmax_back_in_rows, cotangent, value)
    return _log_softmax_back(np, cotangent, value, axis=axis)


def _in_row_blocks(f, g, y):
    """The array that `f(g, y, out)` fills, given blocks of rows."""
    out = empty(y.shape, y.dtype)
    gs, ys, outs = (a.reshape(-1, y.shape[-1]) for a in (g, y, out))
    by_rows(lambda part: f(gs[part], ys[part], outs[part]), *ys.shape)
    return out


def _softmax_back_in_rows(g, y, out):
    np.multiply(np.subtract(g, np.vecdot(g, y)[:, None], out=out), y, out=out)


def _log_softmax_back_in_rows(g, y, out):
    np.multiply(np.exp(y, out=out), sum_of(np, g, axis=(1,), keepdims=True), out=out)
    np.subtract(g, out, out=out)


def _sum(m, x, axis):
    return m.sum(x, axis=(axis,), keepdims=True)


def _softmax_back_vjp(m, g, cotangent, value, axis):
    """The Jacobian of softmax is symmetric; each entry is bilinear in the result."""
    of_value = g * (cotangent - _sum(m, cotangent * value, axis)) - cotangent * _sum(m, g * value, axis)
    return m.softmax_back(g, value, axis=axis), of_value


def _log_softmax_back_vjp(m, g, cotangent, value, axis):
    e = m.exp(value)
    return g - _sum(m, g * e, axis), -g * e * _sum(m, cotangent, axis)


def _batch_pair(name):
    def batch(m, size, inputs, flags, attrs):
        whole = [broadcast_batch(m, x, flag, size) for x, flag in zip(inputs, flags, strict=True)]
        return getattr(m, name)(*whole, **shift_axes(attrs, size))

    return batch


_AXIS_SAMPLES = [sample((3, 4), axis=1), sample((2, 3, 2), axis=1), sample((4,), axis=0), sample((0, 3), axis=0)]
softmax = opaque(
    "softmax", _softmax, on=FLOAT | NARROW, never_aliases=True, samples=_AXIS_SAMPLES,
    shape=same_shape,
    vjp=lambda m, g, y, axis: m.softmax_back(g, y, axis=axis),
    jvp=lambda m, inputs, y, attrs, ts: m.softmax_back(ts[0], y, **attrs),
    batch=lambda m, size, inputs, flags, attrs: m.softmax(inputs[0], **shift_axes(attrs, size)),
)  # fmt: skip
log_softmax = opaque(
    "log_softmax", _log_softmax, on=FLOAT | NARROW, never_aliases=True, samples=_AXIS_SAMPLES,
    shape=same_shape,
    vjp=lambda m, g, y, axis: m.log_softmax_back(g, y, axis=axis),
    jvp=lambda m, inputs, y, attrs, ts: ts[0] - m.sum(ts[0] * m.exp(y), axis=(attrs["axis"],), keepdims=True),
    batch=lambda m, size, inputs, flags, attrs: m.log_softmax(inputs[0], **shift_axes(attrs, size)),
)  # fmt: skip
_PAIR_SAMPLES = [sample(x.inputs[0], x.inputs[0], **x.attrs) for x in _AXIS_SAMPLES]
softmax_back = opaque(
    "softmax_back", _softmax_back, on=FLOAT | NARROW, never_aliases=True, vjp=_softmax_back_vjp,
    shape=same_shape,
    batch=_batch_pair("softmax_back"), samples=_PAIR_SAMPLES,
)  # fmt: skip
log_softmax_back = opaque(
    "log_softmax_back", _log_softmax_back, on=FLOAT | NARROW, never_aliases=True, vjp=_log_softmax_back_vjp,
    shape=same_shape,
    batch=_batch_pair("log_softmax_back"), samples=_PAIR_SAMPLES,
)  # fmt: skip
