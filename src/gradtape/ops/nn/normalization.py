"""Means and variances in one pass, and normalization with them, by channel and by row.

`normalization(x, mean, variance, scale, shift)` is `(x - mean) / sqrt(variance + epsilon) * scale + shift`: a batch or
layer norm, given the moments. Mean and variance have a number for each index along the last axis, the channels, or, as
columns, for each row; scale and shift one for each channel. With z for the normalized values, r for
`1 / sqrt(variance + epsilon)` and u for the cotangent times the scale, the cotangents are `u r` of x, `-sum(u r)` of
the mean, `-sum(u z) r² / 2` of the variance, `sum(g z)` of the scale and `sum(g)` of the shift.

`channel_affine(x, centre, factor, shift)` is `(x - centre) * factor + shift`, with rows or columns in the same way: the
derivative of moments.

`layer_norm(x, scale, shift)` is `(x - mean) / sqrt(variance + epsilon) * scale + shift` along the last axis. With z for
the normalized values and r for `1 / sqrt(variance + epsilon)`, the derivative of z with respect to x is the symmetric
map `u -> r (u - mean(u) - z mean(u z))`, in terms of which its rules of all orders are written.
"""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import into, numpy_kernel, row_dots
from ...backends.numpy.blocks import by_rows
from ...backends.numpy.memory import empty
from ...backends.numpy.sums import row_summer, sum_rows
from ...backends.tuning import BLOCK, CHANNEL_BLOCK, REPEATED_ROW
from ...core.dtypes import FLOAT, NARROW
from ...engine.registry.batching import broadcast_batch
from ...engine.registry.devices import joint_vjp_kernel
from ...engine.registry.examples import SummedRows, all_rows
from ...engine.registry.families import opaque, shift_axes
from ...engine.registry.op import JointRule, sample
from ...engine.registry.shape_rules import reduced_shape, same_shape
from ..arrays.structure import sum_of

_SMOOTH = FLOAT | NARROW
def _normalised(xp, x, sums, epsilon, out=None):
    """The normalized rows of a matrix, in `out` or newly allocated, and the column r; `sums` sums rows."""
    mean = sums(x) / x.shape[1]
    z = x - mean if out is None else np.subtract(x, mean, out=out)
    r = 1 / xp.sqrt(row_dots(xp, z, z) / x.shape[1] + epsilon)
    return into(xp.multiply, z, r), r


def _has_blocks(xp, x):
    """Whether a kernel computes with blocks of `x` on all cores: with a large NumPy array."""
    return xp is np and x.size > BLOCK


def _summer(xp, x):
    """The function that sums the rows of a matrix with as many channels as `x` to a column."""
    if xp is np and x.dtype.char in "fd":
        return row_summer(x.shape[-1], x.dtype)
    return lambda rows: sum_of(xp, rows, axis=(1,), keepdims=True)


def _layer_norm(xp, x, scale, shift, *, epsilon):
    rows, sums = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), _summer(xp, x)

    def work(part, out=None):
        z, _ = _normalised(xp, rows[part], sums, epsilon, out)
        return into(xp.add, into(xp.multiply, z, scale), shift)

    if not _has_blocks(xp, x):
        return work(slice(None)).reshape(x.shape)
    y = empty(rows.shape, x.dtype)
    by_rows(lambda part: work(part, y[part]), *rows.shape)
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
        z = into(xp.multiply, z, row_dots(xp, u, z) / n)
        u = into(xp.subtract, into(xp.subtract, u, means), z)
        return into(xp.multiply, u, r), weighed, sum_of(xp, g, axis=(0,))

    if not _has_blocks(xp, x):
        of_x, *others = work(slice(None))
        return of_x.reshape(x.shape), *others
    of_x = empty(rows.shape, x.dtype)

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
    shape=same_shape,
    vjp=lambda m, g, x, scale, epsilon: m.layer_norm_back(g, x, scale, epsilon=epsilon),
    samples=[
        sample((3, 4), (4,), (4,), epsilon=1e-3), sample((2, 2, 5), (5,), (5,), epsilon=0.1),
        sample((3,), (3,), (3,), epsilon=1e-3), sample((0, 3), (3,), (3,), epsilon=1e-3),
    ],
)  # fmt: skip
def _rows_of_layer_norm_back(inputs, flags, attrs, count):
    """The per-example rule of `layer_norm_back`, whose scale belongs to all examples."""
    alone = flags[0] and not any(flags[1:]) and len(inputs[0].dims) > 1
    return SummedRows((2,), kept=(0,)) if alone else None


layer_norm_back = opaque(
    "layer_norm_back", _layer_norm_back, on=_SMOOTH, never_aliases=True, vjp=_layer_norm_back_vjp,
    batch=_batch_layer_norm_back, rows=_rows_of_layer_norm_back,
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
    if row.ndim > 1:
        return row.reshape(-1, 1)  # a column
    return np.broadcast_to(row, (repeats, row.size)).reshape(-1)  # `tile` takes several times as long


def _sum_channels(terms, channels):
    """The sums of each channel, from those of blocks of long rows."""
    return np.add.reduce(sum(terms).reshape(-1, channels), axis=0)


def _column_sums(rows):
    return np.ones(len(rows), rows.dtype) @ rows


def _has_columns(x, centre):
    """Whether `centre` has a number for each row of `x`, in a column, and not for each channel."""
    return len(centre.shape) == len(x.shape) > 1


def _in_steps(x, steps):
    """Applies `(ufunc, row or column)` one after the other to the rows of a large array, in blocks on all cores."""
    long, *terms = _long_rows(x, *[a for _, a in steps])
    y, channels = empty(long.shape, x.dtype), x.shape[-1]
    repeats = long.shape[1] // channels

    def work(part):
        rows = slice(part.start * repeats, part.stop * repeats)
        here = long[part]
        for (ufunc, _), a in zip(steps, terms, strict=True):
            width, a = (channels, a[rows]) if a.ndim > 1 else (long.shape[1], a)
            here = ufunc(here.reshape(-1, width), a, out=y[part].reshape(-1, width))

    by_rows(work, *long.shape, CHANNEL_BLOCK)
    return y.reshape(x.shape)


def _normalization(xp, x, mean, variance, scale, shift, *, epsilon):
    r = 1 / xp.sqrt(variance + epsilon)
    if _has_columns(x, mean):
        return _row_normalization(xp, x, mean, r, scale, shift)
    if _has_blocks(xp, x):
        return _in_steps(x, [(np.subtract, mean), (np.multiply, r * scale), (np.add, shift)])
    return into(xp.add, into(xp.multiply, x - mean, r * scale), shift)


def _row_normalization(xp, x, mean, r, scale, shift):
    if xp is not np or x.dtype.char not in "fd":
        return into(xp.add, into(xp.multiply, into(xp.multiply, x - mean, r), scale), shift)
    rows, means, rs = (a.reshape(math.prod(a.shape[:-1]), a.shape[-1]) for a in (x, mean, r))
    y, scale = empty(rows.shape, x.dtype), scale[None]

    def work(part):
        d = np.subtract(rows[part], means[part], out=y[part])
        # A row and a column take two to three times as long to multiply `d` by as the matrix of their products.
        np.add(np.multiply(d, np.dot(rs[part], scale), out=d), shift, out=d)

    if _has_blocks(xp, x):
        by_rows(work, *rows.shape)
    else:
        work(slice(None))
    return y.reshape(x.shape)


def _normalization_back(xp, cotangent, x, mean, variance, scale, *, epsilon):
    """The cotangents of the arguments of `normalization`."""
    r = 1 / xp.sqrt(variance + epsilon)
    if _has_columns(x, mean):
        return _row_normalization_back(xp, cotangent, x, mean, r, scale)
    factor = r * scale
    if _has_blocks(xp, x):
        of_x, weighed, of_shift = _channel_normalization_back(cotangent, x, mean, factor)
    else:
        axes = tuple(range(x.ndim - 1))
        weighed = sum_of(xp, into(xp.multiply, x - mean, cotangent), axis=axes)
        of_x, of_shift = cotangent * factor, sum_of(xp, cotangent, axis=axes)
    of_scale = weighed * r
    return of_x, -factor * of_shift, -0.5 * factor * r * of_scale, of_scale, of_shift


def _channel_normalization_back(cotangent, x, mean, factor=None):
    """The product of the cotangent and the factors, and its sums with `x - mean` and alone, of a large array.

    Without factors, the first is `x - mean`.
    """
    rows, mean = _long_rows(x, mean)
    gs, y = cotangent.reshape(rows.shape), empty(rows.shape, x.dtype)
    factor = None if factor is None else _repeated(factor, rows.shape[1] // x.shape[-1])

    def work(part):
        g, d = gs[part], np.subtract(rows[part], mean, out=y[part])
        weighed = np.multiply(d, g, out=empty(d.shape, d.dtype))
        if factor is not None:
            np.multiply(g, factor, out=d)
        return _column_sums(weighed), _column_sums(g)

    sums = zip(*by_rows(work, *rows.shape, CHANNEL_BLOCK), strict=True)
    return y.reshape(x.shape), *[_sum_channels(terms, x.shape[-1]) for terms in sums]


def _row_normalization_back(xp, cotangent, x, mean, r, scale):
    gs, rows, means, rs = (a.reshape(math.prod(a.shape[:-1]), a.shape[-1]) for a in (cotangent, x, mean, r))
    sums = _summer(xp, x)

    def work(part):
        g, r = gs[part], rs[part]
        u, z = g * scale, into(xp.multiply, rows[part] - means[part], r)
        of_variance, of_mean = row_dots(xp, u, z) * r * r * -0.5, -r * sums(u)
        of_x = into(xp.multiply, u, r)
        return of_x, of_mean, of_variance, sum_of(xp, into(xp.multiply, z, g), axis=(0,)), sum_of(xp, g, axis=(0,))

    if not _has_blocks(xp, x):
        of_x, of_mean, of_variance, *of_rows = work(slice(None))
    else:
        of_x = empty(rows.shape, x.dtype)

        def kept(part):
            of_x[part], *others = work(part)
            return others

        of_means, of_variances, *terms = zip(*by_rows(kept, *rows.shape), strict=True)
        of_mean, of_variance, of_rows = np.concatenate(of_means), np.concatenate(of_variances), [sum(a) for a in terms]
    return of_x.reshape(x.shape), of_mean.reshape(mean.shape), of_variance.reshape(mean.shape), *of_rows


def _sum_like(m, x, row):
    """Sums `x` to the shape of `row`, which has a number for each channel or, as a column, for each row."""
    return m.sum(x, axis=(len(x.shape) - 1,), keepdims=True) if _has_columns(x, row) else _sum_rows(m, x)


def _z_and_r_of(m, x, mean, variance, epsilon):
    r = m.rsqrt(variance + epsilon)
    return (x - mean) * r, r


def _normalization_vjp(m, g, x, mean, variance, scale, epsilon):
    return m.normalization_back(g, x, mean, variance, scale, epsilon=epsilon)


def _normalization_jvp(m, inputs, y, attrs, ts):
    x, mean, variance, scale, _ = inputs
    tx, t_mean, t_variance, t_scale, t_shift = ts
    z, r = _z_and_r_of(m, x, mean, variance, attrs["epsilon"])
    terms = [] if tx is None else [tx * r * scale]
    terms += [] if t_mean is None else [m.zeros_like(x) - t_mean * r * scale]
    terms += [] if t_variance is None else [z * (-0.5 * r * r * t_variance) * scale]
    terms += [] if t_scale is None else [z * t_scale]
    terms += [] if t_shift is None else [m.zeros_like(x) + t_shift]
    return sum(terms[1:], terms[0]) if terms else None


def _normalization_back_vjp(m, g, cotangent, x, mean, variance, scale, epsilon):
    """The cotangents of `normalization_back`, given those of its five outputs.

    Their products with the outputs sum to Σ g q, with `q = scale inner + of_scale z + of_shift`.
    """
    of_x, of_mean, of_variance, of_scale, of_shift = g
    z, r = _z_and_r_of(m, x, mean, variance, epsilon)
    inner = r * (of_x - of_mean - 0.5 * of_variance * r * z)
    by_x = cotangent * r * (of_scale - 0.5 * scale * of_variance * r * r)
    by_r = cotangent * (scale * (inner - of_variance * r * r * z) + of_scale * z)
    return (
        scale * inner + of_scale * z + of_shift, by_x, -_sum_like(m, by_x, mean),
        -0.5 * r * r * _sum_like(m, by_r, mean), _sum_rows(m, cotangent * inner),
    )  # fmt: skip


def _aligned_statistics(m, mean, variance, flags, rank):
    """Reshapes mean and variance, of which some have a leading batch axis, to broadcast against `rank` axes."""
    if len(mean.dims) - flags[0] == rank - 1 > 1:
        return mean, variance  # columns
    return (_aligned(m, a, flag, rank) for a, flag in zip((mean, variance), flags, strict=True))


def _batch_normalization(m, size, inputs, flags, attrs):
    x, mean, variance, scale, shift = inputs
    rank, columns = len(x.dims) + (not flags[0]), len(mean.dims) - flags[1] > 1
    if not any(flags[3:]) and (columns or not any(flags[1:])):
        count = 3 if columns else 1
        given = [broadcast_batch(m, a, flag, size) for a, flag in zip(inputs[:count], flags, strict=False)]
        return m.normalization(*given, *inputs[count:], **attrs)
    mean, variance = _aligned_statistics(m, mean, variance, flags[1:3], rank)
    scale, shift = (_aligned(m, row, flag, rank) for row, flag in zip((scale, shift), flags[3:], strict=True))
    return _z_and_r_of(m, x, mean, variance, attrs["epsilon"])[0] * scale + shift


def _batch_normalization_back(m, size, inputs, flags, attrs):
    g, x, mean, variance, scale = inputs
    g = broadcast_batch(m, g, flags[0], size)
    rank, columns = len(g.dims), len(mean.dims) - flags[2] > 1
    mean, variance = _aligned_statistics(m, mean, variance, flags[2:4], rank)
    z, r = _z_and_r_of(m, x, mean, variance, attrs["epsilon"])
    u = g * _aligned(m, scale, flags[4], rank)
    of_x = u * r

    def summed(a):
        return m.sum(a, axis=(rank - 1,), keepdims=True) if columns else _sum_rows(m, a, 1)

    return of_x, -summed(of_x), -0.5 * summed(of_x * z * r), _sum_rows(m, g * z, 1), _sum_rows(m, g, 1)


_ROWS = [((3, 4), (4,)), ((2, 2, 5), (5,)), ((3,), (3,)), ((0, 3), (3,)), ((3, 4), (3, 1)), ((2, 2, 3), (2, 2, 1))]
_VARIANCE = (0.5, 2.0)
normalization = opaque(
    "normalization", _normalization, on=_SMOOTH, never_aliases=True, vjp=_normalization_vjp, jvp=_normalization_jvp,
    shape=same_shape,
    batch=_batch_normalization, domain=_VARIANCE,
    samples=[sample(x, row, row, x[-1:], x[-1:], epsilon=1e-3) for x, row in _ROWS],
)  # fmt: skip
def _rows_of_back(inputs, flags, attrs, count):
    """The per-example rule of `normalization_back`: columns belong to the examples, rows of channels to all."""
    if not flags[0] or any(flags[1:]) or len(inputs[0].dims) < 2:
        return None
    return SummedRows((4,), kept=(0, 1, 2)) if len(inputs[2].dims) > 1 else SummedRows((2, 3, 4), kept=(0,))


normalization_back = opaque(
    "normalization_back", _normalization_back, on=_SMOOTH, never_aliases=True, vjp=_normalization_back_vjp,
    batch=_batch_normalization_back, rows=_rows_of_back, domain=_VARIANCE,
    samples=[sample(x, x, row, row, x[-1:], epsilon=1e-3) for x, row in _ROWS],
)  # fmt: skip


def _channel_affine(xp, x, centre, factor, shift):
    if _has_blocks(xp, x):
        return _in_steps(x, [(np.subtract, centre), (np.multiply, factor), (np.add, shift)])
    return into(xp.add, into(xp.multiply, x - centre, factor), shift)


def _channel_affine_vjp(m, g, x, centre, factor):
    of_shift = _sum_like(m, g, centre)
    return g * factor, -factor * of_shift, _sum_like(m, g * (x - centre), centre), of_shift


def _batch_channel_affine(m, size, inputs, flags, attrs):
    x, *rows = inputs
    if not any(flags[1:]) and len(rows[0].dims) == 1:
        return m.channel_affine(x, *rows)
    rank = len(x.dims) + (not flags[0])
    if len(rows[0].dims) - flags[1] == rank - 1 > 1:
        return m.channel_affine(*[broadcast_batch(m, a, flag, size) for a, flag in zip(inputs, flags, strict=True)])
    centre, factor, shift = (_aligned(m, row, flag, rank) for row, flag in zip(rows, flags[1:], strict=True))
    return (x - centre) * factor + shift


channel_affine = opaque(
    "channel_affine", _channel_affine, on=_SMOOTH, never_aliases=True, vjp=_channel_affine_vjp,
    shape=same_shape,
    batch=_batch_channel_affine,
    rows=lambda inputs, *given: all_rows(inputs, *given) if len(inputs[-1].dims) > 1 else None,
    samples=[sample(x, row, row, row) for x, row in _ROWS],
)  # fmt: skip


def _moments(xp, x, *, axis, keepdims=True):
    n = math.prod(x.shape[i] for i in axis)
    mean = sum_of(xp, x, axis=axis, keepdims=True) / n
    d = x - mean
    variance = sum_of(xp, into(xp.multiply, d, d), axis=axis, keepdims=keepdims) / n
    return mean if keepdims else mean.reshape(variance.shape), variance


@numpy_kernel(_moments)
def _numpy_moments(x, *, axis, keepdims=True):
    shape = x.shape
    if 0 < x.size <= BLOCK and x.dtype.char in "fd":
        if _of_rows(shape, axis):
            rows, n = x.reshape(-1, shape[-1]), x.dtype.type(shape[-1])
            sums, kept = row_summer(shape[-1], x.dtype), shape[:-1] + (1,) * keepdims
            mean = sums(rows) / n
            d = rows - mean
            return mean.reshape(kept), (np.vecdot(d, d) / n).reshape(kept)
        if _of_channels(shape, axis) and not keepdims:
            rows = x.reshape(-1, shape[-1])
            n = x.dtype.type(len(rows))
            mean = sum_rows(rows) / n
            d = rows - mean
            return mean, sum_rows(np.multiply(d, d, out=d)) / n
    if x.size > BLOCK and (_of_channels(shape, axis) or _of_rows(shape, axis)):
        n = x.dtype.type(math.prod(shape[i] for i in axis))
        found = (_row_moments if axis[0] else _channel_moments)(x, n)
        kept = [1 if i in axis else size for i, size in enumerate(shape) if keepdims or i not in axis]
        return tuple(a.reshape(kept) for a in found)
    return _moments(np, x, axis=axis, keepdims=keepdims)


def _of_channels(shape, axis):
    return len(shape) > 1 and axis == tuple(range(len(shape) - 1))


def _of_rows(shape, axis):
    return len(shape) > 1 and axis == (len(shape) - 1,)


def _row_moments(x, n):
    """The moments of each row of a large array."""
    rows, sums = x.reshape(-1, x.shape[-1]), row_summer(x.shape[-1], x.dtype)

    def work(part):
        mean = sums(rows[part]) / n
        d = np.subtract(rows[part], mean, out=empty(rows[part].shape, x.dtype))
        return mean, row_dots(np, d, d) / n

    return map(np.concatenate, zip(*by_rows(work, *rows.shape), strict=True))


def _channel_moments(x, n):
    """The moments of each channel of a large array."""
    channels = x.shape[-1]
    rows, = _long_rows(x)
    sums = by_rows(lambda part: _column_sums(rows[part]), *rows.shape, CHANNEL_BLOCK)
    mean = _sum_channels(sums, channels) / n
    centre = _repeated(mean, rows.shape[1] // channels)

    def squares(part):
        d = np.subtract(rows[part], centre, out=empty(rows[part].shape, x.dtype))
        return _column_sums(np.multiply(d, d, out=d))

    return mean, _sum_channels(by_rows(squares, *rows.shape, CHANNEL_BLOCK), channels) / n


def _moments_vjp(m, g, x, ys, axis):
    n = max(math.prod(x.shape[i] for i in axis), 1)
    kept = tuple([1 if i in axis else size for i, size in enumerate(x.shape)])
    if g[1] is None:  # of the mean alone: zero times an infinite `x - mean` would be NaN
        return m.broadcast_to(m.reshape(g[0] / n, shape=kept), shape=tuple(x.shape))
    if g[0] is None:
        mean, factor = (m.reshape(a, shape=kept) for a in (ys[0], g[1] * (2.0 / n)))
        return (x - mean) * factor
    terms = ys[0], g[1] * (2.0 / n), g[0] / n
    if _of_channels(x.shape, axis):
        return m.channel_affine(x, *[m.reshape(row, shape=(x.shape[-1],)) if row.ndim > 1 else row for row in terms])
    if len(g[0].shape) < len(x.shape):
        terms = [m.reshape(a, shape=kept) for a in terms]
    if _of_rows(x.shape, axis) and math.prod(x.shape) > BLOCK:
        return m.channel_affine(x, *terms)
    mean, factor, shift = terms
    return (x - mean) * factor + shift


def _moments_jvp(m, inputs, ys, attrs, ts):
    axis, keepdims = attrs["axis"], attrs.get("keepdims", True)
    changes = ts[0], (inputs[0] - m.mean(inputs[0], axis=axis, keepdims=True)) * (2.0 * ts[0])
    return tuple([m.mean(change, axis=axis, keepdims=keepdims) for change in changes])


moments = opaque(
    "moments", _moments, vjp=_moments_vjp, jvp=_moments_jvp, on=_SMOOTH, never_aliases=True,
    shape=lambda x, axis, keepdims=True: [reduced_shape(x, axis=axis, keepdims=keepdims)] * 2,
    batch=lambda m, size, inputs, flags, attrs: m.moments(inputs[0], **shift_axes(attrs, size)),
    samples=[
        sample((3, 4), axis=(0,)), sample((2, 3, 2), axis=(0, 1)), sample((2, 3, 2), axis=(0, 2)),
        sample((3,), axis=()), sample((0, 3), axis=(1,)), sample((3, 4), axis=(0,), keepdims=False),
        sample((2, 3), axis=(1,), keepdims=False),
    ],
)  # fmt: skip


moments.takes_none = True


def _normalization_by_moments_vjp(m, g, saved, saved_of_moments):
    """The cotangents of x, scale and shift of a batch or layer norm, given that the moments are those of x."""
    x, mean, variance, scale, epsilon = saved
    columns = _has_columns(x, mean)
    if not (_of_rows if columns else _of_channels)(x.shape, saved_of_moments[2]) or x.dtype.itemsize < 4:
        return None
    vjp = joint_vjp_kernel(m, "row_normalization" if columns else "normalization")
    found = None if vjp is None else vjp(g, x, mean, variance, scale, epsilon)
    if found is None and type(x) is np.ndarray and x.size:
        back = _norm_back if x.size <= BLOCK else _norm_back_of_rows if columns else _norm_back_of_channels
        found = back(g, x, mean, variance, scale, epsilon)
    elif found is None and columns:
        found = m.layer_norm_back(g, x, scale, epsilon=epsilon)
    return None if found is None else (found[0], None, None, *found[1:])


def _norm_back(g, x, mean, variance, scale, epsilon, out=None):
    """The cotangents of x, `r (u - mean(u) - z mean(u z))`, and of scale and shift of a batch or layer norm."""
    shape, channels = x.shape, x.shape[-1]
    r, columns = 1 / np.sqrt(variance + epsilon), len(mean.shape) > 1
    if len(shape) > 2:
        g, x = g.reshape(-1, channels), x.reshape(-1, channels)
        mean, r = (mean.reshape(-1, 1), r.reshape(-1, 1)) if columns else (mean, r)
    d = x - mean if out is None else np.subtract(x, mean, out=out)
    u = g * d if out is None else np.multiply(g, d, out=empty(d.shape, d.dtype))
    of_shift = sum_rows(g) if out is None else _column_sums(g)
    if columns:
        of_scale = np.dot(r[:, 0], u)
        scale_column, share = scale[:, None], r / channels
        np.multiply(d, np.dot(u, scale_column) * share * r * r, out=d)
        np.add(d, np.dot(g, scale_column) * share, out=d)
        # A row and a column take two to three times as long to multiply `g` by as the matrix of their products.
        np.multiply(np.dot(r, scale[None]), g, out=u)
        return np.subtract(u, d, out=d).reshape(shape), of_scale, of_shift
    of_scale = sum_rows(u) * r  # the means are those of g, and the scale is a factor of all terms
    np.multiply(d, of_scale * (r / len(x)), out=d)
    np.add(d, of_shift / len(x), out=d)
    u = np.subtract(g, d, out=d)
    return np.multiply(u, r * scale, out=u).reshape(shape), of_scale, of_shift


def _norm_back_of_rows(g, x, mean, variance, scale, epsilon):
    """`_norm_back` of a large array whose rows are normalized, in blocks of them."""
    rows, gs, *columns = (a.reshape(-1, a.shape[-1]) for a in (x, g, mean, variance))
    of_x = empty(rows.shape, x.dtype)

    def work(part):
        given = np.ascontiguousarray(gs[part]), rows[part], *[a[part] for a in columns]
        return _norm_back(*given, scale, epsilon, of_x[part])[1:]

    return of_x.reshape(x.shape), *map(sum, zip(*by_rows(work, *rows.shape), strict=True))


def _norm_back_of_channels(g, x, mean, variance, scale, epsilon):
    """`_norm_back` of a large array whose channels are normalized: sums over all blocks, then the cotangent of x."""
    r, n = 1 / np.sqrt(variance + epsilon), x.dtype.type(x.size // x.shape[-1])
    of_x, weighed, of_shift = _channel_normalization_back(g, x, mean)
    of_scale = weighed * r
    rows, factor, offset, slope = _long_rows(of_x, of_scale * r / n, of_shift / n, r * scale)
    gs = g.reshape(rows.shape)

    def work(part):
        d = rows[part]
        np.add(np.multiply(d, factor, out=d), offset, out=d)
        np.multiply(np.subtract(gs[part], d, out=d), slope, out=d)

    by_rows(work, *rows.shape, CHANNEL_BLOCK)
    return of_x, of_scale, of_shift


normalization.joint = JointRule(moments, 0, (1, 2), _normalization_by_moments_vjp)
