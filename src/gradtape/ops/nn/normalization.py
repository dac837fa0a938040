"""Means and variances in one pass, and normalization with them, by channel and by row.

`channel_affine(x, centre, factor, shift)` is `(x - centre) * factor + shift` with one of each for each index along the
last axis, or, as columns, for each row: a batch or layer norm, given the moments, and the derivative of moments.

`layer_norm(x, scale, shift)` is `(x - mean) / sqrt(variance + epsilon) * scale + shift` along the last axis. With z for
the normalized values and r for `1 / sqrt(variance + epsilon)`, the derivative of z with respect to x is the symmetric
map `u -> r (u - mean(u) - z mean(u z))`, in terms of which its rules of all orders are written.
"""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import into
from ...backends.numpy.blocks import by_rows
from ...backends.numpy.sums import row_summer
from ...backends.tuning import BLOCK, CHANNEL_BLOCK, REPEATED_ROW
from ...core.dtypes import FLOAT, NARROW
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.examples import SummedRows, all_rows
from ...engine.registry.families import opaque, shift_axes
from ...engine.registry.op import sample
from ..arrays.structure import sum_of

_SMOOTH = FLOAT | NARROW
def _dots(xp, a, b):
    """The inner product of each row of `a` with that of `b`, as a column."""
    return np.vecdot(a, b)[:, None] if xp is np else (a * b).sum(axis=-1, keepdims=True)


def _normalised(xp, x, sums, epsilon):
    """The normalized rows of a matrix, newly allocated, and the column r; `sums` sums rows."""
    z = x - sums(x) / x.shape[1]
    r = 1 / xp.sqrt(_dots(xp, z, z) / x.shape[1] + epsilon)
    return into(xp.multiply, z, r), r


def _summer(xp, x):
    """The function that sums the rows of a matrix with as many channels as `x` to a column."""
    if xp is np and x.dtype.char in "fd":
        return row_summer(x.shape[-1], x.dtype)
    return lambda rows: sum_of(xp, rows, axis=(1,), keepdims=True)


def _layer_norm(xp, x, scale, shift, *, epsilon):
    rows, sums = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), _summer(xp, x)

    def work(part):
        z, _ = _normalised(xp, rows[part], sums, epsilon)
        return into(xp.add, into(xp.multiply, z, scale), shift)

    if xp is not np or rows.size <= BLOCK:
        return work(slice(None)).reshape(x.shape)
    y = np.empty(rows.shape, x.dtype)
    by_rows(lambda part: np.copyto(y[part], work(part)), *rows.shape)
    return y.reshape(x.shape)


def _layer_norm_back(xp, cotangent, x, scale, *, epsilon):
    """The cotangents of the three arguments of `layer_norm`."""
    n = x.shape[-1]
    rows, gs = (a.reshape(math.prod(x.shape[:-1]), n) for a in (x, cotangent))
    sums = _summer(xp, x)

    def work(part):
        g = gs[part]
        z, r = _normalised(xp, rows[part], sums, epsilon)
        weighed = sum_of(xp, g * z, axis=(0,))
        u = g * scale
        means = sums(u) / n
        z = into(xp.multiply, z, _dots(xp, u, z) / n)
        u = into(xp.subtract, into(xp.subtract, u, means), z)
        return into(xp.multiply, u, r), weighed, sum_of(xp, g, axis=(0,))

    if xp is not np or rows.size <= BLOCK:
        of_x, *others = work(slice(None))
        return of_x.reshape(x.shape), *others
    of_x = np.empty(rows.shape, x.dtype)

    def kept(part):
        of_x[part], *others = work(part)
        return others

    return of_x.reshape(x.shape), *(sum(terms) for terms in zip(*by_rows(kept, *rows.shape), strict=True))


def _mean(m, x):
    return m.mean(x, axis=(len(x.shape) - 1,), keepdims=True)


def _z_and_r(m, x, epsilon):
    centred = x - _mean(m, x)
    r = m.rsqrt(_mean(m, centred * centred) + epsilon)
    return centred * r, r


def _projected(m, u, z, r):
    """Applies the derivative of z with respect to x to `u`."""
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
    """The cotangents of `layer_norm_back`, given those of its outputs: `h`, of the shape of `x`, and two rows."""
    h, row, of_shift = g
    z, r = _z_and_r(m, x, epsilon)
    u, pulled = cotangent * scale, _projected(m, h, z, r)
    a, b = _mean(m, u * z), _mean(m, h * z)
    # <h, r (u - mean(u) - z mean(u z))> depends on x through z and through r, whose derivative is -r² z / n.
    by_r = _mean(m, u * h) - _mean(m, u) * _mean(m, h) - a * b
    of_x = _projected(m, cotangent * row - r * (u * b + h * a), z, r) - r * r * by_r * z
    return scale * pulled + row * z + of_shift, of_x, _sum_rows(m, cotangent * pulled)


def _aligned(m, row, flag, rank):
    """Reshapes a row per example of a batch, or one for all, to broadcast against arrays of `rank` axes."""
    return m.reshape(row, shape=(row.dims[0], *(1,) * (rank - 2), row.dims[1])) if flag else row


def _batch_layer_norm(m, size, inputs, flags, attrs):
    x, scale, shift = inputs
    x = broadcast_batch(m, x, flags[0], size)
    if not any(flags[1:]):
        return m.layer_norm(x, scale, shift, **attrs)
    z, _ = _z_and_r(m, x, attrs["epsilon"])
    return z * _aligned(m, scale, flags[1], len(x.dims)) + _aligned(m, shift, flags[2], len(x.dims))


def _batch_layer_norm_back(m, size, inputs, flags, attrs):
    g, x = (broadcast_batch(m, a, flag, size) for a, flag in zip(inputs[:2], flags, strict=False))
    z, r = _z_and_r(m, x, attrs["epsilon"])
    scale = _aligned(m, inputs[2], flags[2], len(x.dims))
    return _projected(m, g * scale, z, r), _sum_rows(m, g * z, 1), _sum_rows(m, g, 1)


layer_norm = opaque(
    "layer_norm", _layer_norm, on=_SMOOTH, never_aliases=True, jvp=_layer_norm_jvp, batch=_batch_layer_norm,
    vjp=lambda m, g, x, scale, epsilon: m.layer_norm_back(g, x, scale, epsilon=epsilon),
    samples=[
        sample((3, 4), (4,), (4,), epsilon=1e-3), sample((2, 2, 5), (5,), (5,), epsilon=0.1),
        sample((3,), (3,), (3,), epsilon=1e-3), sample((0, 3), (3,), (3,), epsilon=1e-3),
    ],
)  # fmt: skip
def _rows_beside(*shared):
    """The per-example rule of an op's derivative whose arguments `shared`, rows of channels, belong to all examples.

    Columns belong to the examples.
    """

    def rows(inputs, flags, attrs, count):
        if len(inputs[-1].dims) > 1:
            return all_rows(inputs, flags, attrs, count)
        alone = flags[0] and not any(flags[1:]) and len(inputs[0].dims) > 1
        return SummedRows(shared, kept=(0,)) if alone else None

    return rows


layer_norm_back = opaque(
    "layer_norm_back", _layer_norm_back, on=_SMOOTH, never_aliases=True, vjp=_layer_norm_back_vjp,
    batch=_batch_layer_norm_back, rows=_rows_beside(2),
    samples=[
        sample((3, 4), (3, 4), (4,), epsilon=1e-3), sample((2, 2, 5), (2, 2, 5), (5,), epsilon=0.1),
        sample((3,), (3,), (3,), epsilon=1e-3), sample((0, 3), (0, 3), (3,), epsilon=1e-3),
    ],
)  # fmt: skip


def _long_rows(x, *rows):
    """A large array as a matrix of long rows, each several times its channels, and `rows` repeated to match.

    NumPy's inner loops run along a row, and starting one takes as long as some hundred elements.
    """
    channels = x.shape[-1]
    repeats = math.gcd(x.size // channels, max(1, REPEATED_ROW // channels))
    return x.reshape(-1, channels * repeats), *[_repeated(row, repeats) for row in rows]


def _repeated(row, repeats):
    return np.broadcast_to(row, (repeats, row.size)).reshape(-1)  # `tile` takes several times as long


def _sum_channels(terms, channels):
    """The sums of each channel, from those of blocks of long rows."""
    return np.add.reduce(sum(terms).reshape(-1, channels), axis=0)


def _column_sums(rows):
    return np.ones(len(rows), rows.dtype) @ rows


def _has_columns(x, centre):
    """Whether `centre` has a number for each row of `x`, in a column, and not for each channel."""
    return len(centre.shape) == len(x.shape) > 1


def _channel_affine(xp, x, centre, factor, shift):
    if xp is not np or x.size <= BLOCK:
        return into(xp.add, into(xp.multiply, x - centre, factor), shift)
    if _has_columns(x, centre):
        rows, *terms = (a.reshape(-1, a.shape[-1]) for a in (x, centre, factor, shift))
    else:
        rows, *terms = _long_rows(x, centre, factor, shift)
    y = np.empty(rows.shape, x.dtype)
    steps = [(np.subtract, terms[0]), (np.multiply, terms[1]), (np.add, terms[2])]
    steps = [(step, a) for step, a in steps if step is np.multiply or a.any()]

    def work(part):
        here = rows[part]
        for step, a in steps:
            here = step(here, a if a.ndim == 1 else a[part], out=y[part])

    by_rows(work, *rows.shape, CHANNEL_BLOCK)
    return y.reshape(x.shape)


def _channel_affine_back(xp, cotangent, x, centre, factor):
    """The cotangents of `channel_affine`'s x, factor and shift; that of its centre is `-factor` times the last."""
    columns = _has_columns(x, centre)
    if xp is not np or x.size <= BLOCK:
        axes = (x.ndim - 1,) if columns else tuple(range(x.ndim - 1))
        weighed = into(xp.multiply, x - centre, cotangent)
        return cotangent * factor, *[sum_of(xp, a, axis=axes, keepdims=columns) for a in (weighed, cotangent)]
    if columns:
        return _row_affine_back(cotangent, x, centre, factor)
    rows, centre, factor = _long_rows(x, centre, factor)
    gs = cotangent.reshape(rows.shape)
    of_x, centred = np.empty(rows.shape, x.dtype), not centre.any()

    def work(part):
        g = gs[part]
        weighed = rows[part] * g if centred else into(np.multiply, rows[part] - centre, g)
        np.multiply(g, factor, out=of_x[part])
        return _column_sums(weighed), _column_sums(g)

    sums = zip(*by_rows(work, *rows.shape, CHANNEL_BLOCK), strict=True)
    return of_x.reshape(x.shape), *[_sum_channels(terms, x.shape[-1]) for terms in sums]


def _row_affine_back(cotangent, x, centre, factor):
    """Same as `_channel_affine_back` for a large array and columns."""
    gs, rows, centres, factors = (a.reshape(-1, a.shape[-1]) for a in (cotangent, x, centre, factor))
    of_x, sums = np.empty(rows.shape, x.dtype), row_summer(x.shape[-1], x.dtype)

    def work(part):
        g = gs[part]
        np.multiply(g, factors[part], out=of_x[part])
        return _dots(np, rows[part] - centres[part], g), sums(g)

    columns = map(np.concatenate, zip(*by_rows(work, *rows.shape), strict=True))
    return of_x.reshape(x.shape), *[a.reshape(centre.shape) for a in columns]


def _sum_like(m, x, row):
    """Sums `x` to the shape of `row`, which has a number for each channel or, as a column, for each row."""
    return m.sum(x, axis=(len(x.shape) - 1,), keepdims=True) if _has_columns(x, row) else _sum_rows(m, x)


def _channel_affine_vjp(m, g, x, centre, factor):
    of_x, of_factor, of_shift = m.channel_affine_back(g, x, centre, factor)
    return of_x, -factor * of_shift, of_factor, of_shift


def _channel_affine_jvp(m, inputs, y, attrs, ts):
    x, centre, factor, _ = inputs
    tx, t_centre, t_factor, t_shift = ts
    terms = [] if tx is None else [tx * factor]
    terms += [] if t_centre is None else [m.zeros_like(x) - t_centre * factor]
    terms += [] if t_factor is None else [(x - centre) * t_factor]
    terms += [] if t_shift is None else [m.zeros_like(x) + t_shift]
    return sum(terms[1:], terms[0]) if terms else None


def _channel_affine_back_vjp(m, g, cotangent, x, centre, factor):
    """The cotangents of `channel_affine_back`, given those of its outputs: `h`, of the shape of `x`, and two rows."""
    h, row, of_shift = g
    of_cotangent = h * factor + m.channel_affine(x, centre, row, of_shift)
    return of_cotangent, cotangent * row, -row * _sum_like(m, cotangent, row), _sum_like(m, cotangent * h, row)


def _batch_channel_affine(m, size, inputs, flags, attrs):
    x, *rows = inputs
    if not any(flags[1:]) and len(rows[0].dims) == 1:
        return m.channel_affine(x, *rows)
    rank = len(x.dims) + (not flags[0])
    if len(rows[0].dims) - flags[1] == rank - 1 > 1:
        return m.channel_affine(*[broadcast_batch(m, a, flag, size) for a, flag in zip(inputs, flags, strict=True)])
    centre, factor, shift = (_aligned(m, row, flag, rank) for row, flag in zip(rows, flags[1:], strict=True))
    return (x - centre) * factor + shift


def _batch_channel_affine_back(m, size, inputs, flags, attrs):
    g, x, *rows = inputs
    if len(rows[0].dims) - flags[2] == len(g.dims) - flags[0] > 1:
        whole = [broadcast_batch(m, a, flag, size) for a, flag in zip(inputs, flags, strict=True)]
        return m.channel_affine_back(*whole)
    g = broadcast_batch(m, g, flags[0], size)
    centre, factor = (_aligned(m, row, flag, len(g.dims)) for row, flag in zip(rows, flags[2:], strict=True))
    return g * factor, _sum_rows(m, g * (x - centre), 1), _sum_rows(m, g, 1)


channel_affine = opaque(
    "channel_affine", _channel_affine, on=_SMOOTH, never_aliases=True, vjp=_channel_affine_vjp, jvp=_channel_affine_jvp,
    batch=_batch_channel_affine,
    rows=lambda inputs, *given: all_rows(inputs, *given) if len(inputs[-1].dims) > 1 else None,
    samples=[
        sample((3, 4), (4,), (4,), (4,)), sample((2, 2, 5), (5,), (5,), (5,)), sample((3,), (3,), (3,), (3,)),
        sample((0, 3), (3,), (3,), (3,)), sample((3, 4), (3, 1), (3, 1), (3, 1)),
        sample((2, 2, 3), (2, 2, 1), (2, 2, 1), (2, 2, 1)),
    ],
)  # fmt: skip
channel_affine_back = opaque(
    "channel_affine_back", _channel_affine_back, on=_SMOOTH, never_aliases=True, vjp=_channel_affine_back_vjp,
    batch=_batch_channel_affine_back, rows=_rows_beside(2, 3),
    samples=[
        sample((3, 4), (3, 4), (4,), (4,)), sample((2, 2, 5), (2, 2, 5), (5,), (5,)), sample((3,), (3,), (3,), (3,)),
        sample((0, 3), (0, 3), (3,), (3,)), sample((3, 4), (3, 4), (3, 1), (3, 1)),
        sample((2, 2, 3), (2, 2, 3), (2, 2, 1), (2, 2, 1)),
    ],
)  # fmt: skip


def _moments(xp, x, *, axis):
    n = math.prod(x.shape[i] for i in axis)
    if xp is np and x.size > BLOCK and _of_channels(x.shape, axis):
        return _channel_moments(x, x.dtype.type(n))
    if xp is np and x.size > BLOCK and _of_rows(x.shape, axis):
        return _row_moments(x, x.dtype.type(n))
    mean = sum_of(xp, x, axis=axis, keepdims=True) / n
    d = x - mean
    return mean, sum_of(xp, into(xp.multiply, d, d), axis=axis, keepdims=True) / n


def _of_channels(shape, axis):
    return len(shape) > 1 and axis == tuple(range(len(shape) - 1))


def _of_rows(shape, axis):
    return len(shape) > 1 and axis == (len(shape) - 1,)


def _row_moments(x, n):
    """The moments of each row of a large array."""
    rows, sums = x.reshape(-1, x.shape[-1]), row_summer(x.shape[-1], x.dtype)

    def work(part):
        mean = sums(rows[part]) / n
        d = rows[part] - mean
        return mean, _dots(np, d, d) / n

    columns = map(np.concatenate, zip(*by_rows(work, *rows.shape), strict=True))
    return tuple(a.reshape(*x.shape[:-1], 1) for a in columns)


def _channel_moments(x, n):
    """The moments of each channel of a large array."""
    channels, kept = x.shape[-1], (*(1,) * (x.ndim - 1), -1)
    rows, = _long_rows(x)
    sums = by_rows(lambda part: _column_sums(rows[part]), *rows.shape, CHANNEL_BLOCK)
    mean = _sum_channels(sums, channels) / n
    centre = _repeated(mean, rows.shape[1] // channels)

    def squares(part):
        d = rows[part] - centre
        return _column_sums(np.multiply(d, d, out=d))

    variance = _sum_channels(by_rows(squares, *rows.shape, CHANNEL_BLOCK), channels) / n
    return mean.reshape(kept), variance.reshape(kept)


def _moments_vjp(m, g, x, ys, axis):
    n = max(math.prod(x.shape[i] for i in axis), 1)
    terms = ys[0], g[1] * (2.0 / n), g[0] / n
    if _of_channels(x.shape, axis):
        return m.channel_affine(x, *[m.reshape(row, shape=(x.shape[-1],)) for row in terms])
    if _of_rows(x.shape, axis) and math.prod(x.shape) > BLOCK:
        return m.channel_affine(x, *terms)
    mean, factor, shift = terms
    return (x - mean) * factor + shift


def _moments_jvp(m, inputs, ys, attrs, ts):
    change = m.mean(ts[0], axis=attrs["axis"], keepdims=True)
    return change, 2.0 * m.mean((inputs[0] - ys[0]) * ts[0], axis=attrs["axis"], keepdims=True)


moments = opaque(
    "moments", _moments, vjp=_moments_vjp, jvp=_moments_jvp, on=_SMOOTH, never_aliases=True,
    batch=lambda m, size, inputs, flags, attrs: m.moments(inputs[0], **shift_axes(attrs, size)),
    samples=[
        sample((3, 4), axis=(0,)), sample((2, 3, 2), axis=(0, 1)), sample((2, 3, 2), axis=(0, 2)),
        sample((3,), axis=()), sample((0, 3), axis=(1,)),
    ],
)  # fmt: skip
