"""Means and variances in one pass, and rows that are normalised with them.

`layer_norm(x, scale, shift)` is `(x - mean) / sqrt(variance + epsilon) * scale + shift` along the last axis. With z for
what is normalised and r for `1 / sqrt(variance + epsilon)`, the derivative of z by x is the symmetric map
`u -> r (u - mean(u) - z mean(u z))`: its rules, of all orders, are written with that.
"""

from __future__ import annotations

import math

import numpy as np

from ..backends.arrays import into
from ..backends.numpy.blocks import share_out
from ..core.dtypes import FLOAT, NARROW
from ..engine.registry.batching import spread
from ..engine.registry.families import opaque, shift_axes
from ..engine.registry.op import sample
from .structure import sum_of

_SMOOTH = FLOAT | NARROW
_BLOCK = 1 << 15  # elements whose steps stay in the cache; so many are done at a time


def _in_blocks(work, rows):
    """What `work(slice)` gives for blocks of the rows of a large matrix, on all cores."""
    count = len(rows)
    step = max(1, _BLOCK // rows.shape[1])

    def part(here):
        return [work(slice(i, min(i + step, here.stop))) for i in range(here.start, here.stop, step)]

    return [y for ys in share_out(part, count, 2 * rows.size) for y in ys]


def _dots(xp, a, b):
    """The inner product of each row of `a` with that of `b`, as a column."""
    return np.einsum("ij,ij->i", a, b)[:, None] if xp is np else (a * b).sum(axis=-1, keepdims=True)


def _normalised(xp, x, epsilon):
    """The normalised rows of a matrix, in memory of their own, and the column r."""
    z = x - sum_of(xp, x, axis=(1,), keepdims=True) / x.shape[1]
    r = 1 / xp.sqrt(_dots(xp, z, z) / x.shape[1] + epsilon)
    return into(xp.multiply, z, r), r


def _layer_norm(xp, x, scale, shift, *, epsilon):
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])

    def work(part):
        z, _ = _normalised(xp, rows[part], epsilon)
        return into(xp.add, into(xp.multiply, z, scale), shift)

    if xp is not np or rows.size <= _BLOCK:
        return work(slice(None)).reshape(x.shape)
    y = np.empty(rows.shape, x.dtype)
    _in_blocks(lambda part: np.copyto(y[part], work(part)), rows)
    return y.reshape(x.shape)


def _layer_norm_back(xp, cotangent, x, scale, *, epsilon):
    """The cotangents of `layer_norm`'s three arguments."""
    n = x.shape[-1]
    rows, gs = (a.reshape(math.prod(x.shape[:-1]), n) for a in (x, cotangent))

    def work(part):
        g = gs[part]
        z, r = _normalised(xp, rows[part], epsilon)
        u = g * scale
        weighed = xp.einsum("ij,ij->j", g, z)
        means = sum_of(xp, u, axis=(1,), keepdims=True) / n
        z = into(xp.multiply, z, _dots(xp, u, z) / n)
        u = into(xp.subtract, into(xp.subtract, u, means), z)
        return into(xp.multiply, u, r), weighed, sum_of(xp, g, axis=(0,))

    if xp is not np or rows.size <= _BLOCK:
        of_x, *others = work(slice(None))
        return of_x.reshape(x.shape), *others
    of_x = np.empty(rows.shape, x.dtype)

    def kept(part):
        of_x[part], *others = work(part)
        return others

    return of_x.reshape(x.shape), *(sum(terms) for terms in zip(*_in_blocks(kept, rows), strict=True))


def _mean(m, x):
    return m.mean(x, axis=(len(x.shape) - 1,), keepdims=True)


def _z_and_r(m, x, epsilon):
    centred = x - _mean(m, x)
    r = m.rsqrt(_mean(m, centred * centred) + epsilon)
    return centred * r, r


def _projected(m, u, z, r):
    """What the derivative of z by x makes of `u`."""
    return r * (u - _mean(m, u) - z * _mean(m, u * z))


def _sum_rows(m, x, first=0):
    return m.sum(x, axis=tuple(range(first, len(x.shape) - 1)), keepdims=False)


def _layer_norm_jvp(m, inputs, y, attrs, ts):
    x, scale, _ = inputs
    z, r = _z_and_r(m, x, attrs["epsilon"])
    tx, t_scale, t_shift = ts
    terms = [] if tx is None else [_projected(m, tx, z, r) * scale]
    terms += [] if t_scale is None else [t_scale * z]
    terms += [] if t_shift is None else [t_shift + m.zeros_like(z)]
    return sum(terms[1:], terms[0]) if terms else None


def _layer_norm_back_vjp(m, g, need, cotangent, x, scale, epsilon):
    """The cotangents of `layer_norm_back`, given those of what it makes: `h`, of the shape of `x`, and two rows."""
    h, row, of_shift = g
    z, r = _z_and_r(m, x, epsilon)
    u, pulled = cotangent * scale, _projected(m, h, z, r)
    a, b = _mean(m, u * z), _mean(m, h * z)
    # <h, r (u - mean(u) - z mean(u z))> depends on x by way of z, and of r, whose derivative is -r² z / n.
    by_r = _mean(m, u * h) - _mean(m, u) * _mean(m, h) - a * b
    of_x = _projected(m, cotangent * row - r * (u * b + h * a), z, r) - r * r * by_r * z
    return scale * pulled + row * z + of_shift, of_x, _sum_rows(m, cotangent * pulled)


def _aligned(m, row, flag, rank):
    """A row of each example of a batch, or one for all, beside arrays of `rank` axes."""
    return m.reshape(row, shape=(row.dims[0], *(1,) * (rank - 2), row.dims[1])) if flag else row


def _batch_layer_norm(m, size, inputs, flags, attrs):
    x, scale, shift = inputs
    x = spread(m, x, flags[0], size)
    if not any(flags[1:]):
        return m.layer_norm(x, scale, shift, **attrs)
    z, _ = _z_and_r(m, x, attrs["epsilon"])
    return z * _aligned(m, scale, flags[1], len(x.dims)) + _aligned(m, shift, flags[2], len(x.dims))


def _batch_layer_norm_back(m, size, inputs, flags, attrs):
    g, x = (spread(m, a, flag, size) for a, flag in zip(inputs[:2], flags, strict=False))
    z, r = _z_and_r(m, x, attrs["epsilon"])
    scale = _aligned(m, inputs[2], flags[2], len(x.dims))
    return _projected(m, g * scale, z, r), _sum_rows(m, g * z, 1), _sum_rows(m, g, 1)


layer_norm = opaque(
    "layer_norm", _layer_norm, on=_SMOOTH, fresh=True, jvp=_layer_norm_jvp, batch=_batch_layer_norm,
    vjp=lambda m, g, x, scale, epsilon: m.layer_norm_back(g, x, scale, epsilon=epsilon),
    samples=[
        sample((3, 4), (4,), (4,), epsilon=1e-3), sample((2, 2, 5), (5,), (5,), epsilon=0.1),
        sample((3,), (3,), (3,), epsilon=1e-3), sample((0, 3), (3,), (3,), epsilon=1e-3),
    ],
)  # fmt: skip
layer_norm_back = opaque(
    "layer_norm_back", _layer_norm_back, on=_SMOOTH, fresh=True, vjp=_layer_norm_back_vjp, batch=_batch_layer_norm_back,
    samples=[
        sample((3, 4), (3, 4), (4,), epsilon=1e-3), sample((2, 2, 5), (2, 2, 5), (5,), epsilon=0.1),
        sample((3,), (3,), (3,), epsilon=1e-3), sample((0, 3), (0, 3), (3,), epsilon=1e-3),
    ],
)  # fmt: skip


def _moments(xp, x, *, axis):
    n = max(math.prod(x.shape[i] for i in axis), 1)
    if xp is np and x.size > _BLOCK and axis == tuple(range(x.ndim - 1)):  # of each channel
        rows = x.reshape(-1, x.shape[-1])
        mean = sum(_in_blocks(lambda part: sum_of(np, rows[part], axis=(0,)), rows)) / x.dtype.type(n)

        def squares(part):
            d = rows[part] - mean
            return np.einsum("ij,ij->j", d, d)

        kept = (*(1,) * (x.ndim - 1), -1)
        return mean.reshape(kept), (sum(_in_blocks(squares, rows)) / x.dtype.type(n)).reshape(kept)
    mean = sum_of(xp, x, axis=axis, keepdims=True) / n
    d = x - mean
    return mean, sum_of(xp, into(xp.multiply, d, d), axis=axis, keepdims=True) / n


def _moments_vjp(m, g, x, ys, axis):
    n = max(math.prod(x.shape[i] for i in axis), 1)
    of_mean, of_variance = g
    return (x - ys[0]) * (of_variance * (2.0 / n)) + of_mean / n


def _moments_jvp(m, inputs, ys, attrs, ts):
    change = m.mean(ts[0], axis=attrs["axis"], keepdims=True)
    return change, 2.0 * m.mean((inputs[0] - ys[0]) * ts[0], axis=attrs["axis"], keepdims=True)


moments = opaque(
    "moments", _moments, vjp=_moments_vjp, jvp=_moments_jvp, on=_SMOOTH, fresh=True,
    batch=lambda m, size, inputs, flags, attrs: m.moments(inputs[0], **shift_axes(attrs, size)),
    samples=[
        sample((3, 4), axis=(0,)), sample((2, 3, 2), axis=(0, 1)), sample((2, 3, 2), axis=(0, 2)),
        sample((3,), axis=()), sample((0, 3), axis=(1,)),
    ],
)  # fmt: skip
