"""Inverses, determinants and linear systems, over any leading axes, which broadcast.

A Y = B implies A dY = dB - dA Y. So the cotangent of B is the solution of the system with the adjoint matrix, and that
of A is minus the product of that solution with the adjoint of Y.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...backends.arrays import astype, can_read_values, numpy_kernel
from ...backends.blas import linalg, one_thread_of_scipy
from ...backends.tuning import FEW
from ...core.dtypes import FLOAT, INT, NARROW
from ...engine.registry.families import bilinear, opaque, unbroadcast
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import broadcast_shape, same_shape
from .decompositions import GENERAL, SYMMETRIC, TALL
from .matrix_algebra import FIELD, adjoint, conjugate, each, identity, leading, lower, upper

_adjoint = adjoint  # for rules that have an attribute of that name


def _inverted(xp: Any, x: Any, message: str, compute: Callable[..., Any], *arrays: Any) -> Any:
    """Computes with the inverses of `x`; raises an error for singular matrices and for those that contain a NaN."""
    try:
        # The product with itself is NaN, too, and takes a third of the time.
        if can_read_values(xp) and (square := np.vdot(x, x)) != square and np.isnan(x).any():
            raise np.linalg.LinAlgError
        return compute(*arrays)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(message) from None


def _inv(xp, x):
    return _inverted(xp, x, "Input is not invertible.", linalg(xp).inv, x)


inv = opaque(
    "inv", _inv, vjp=lambda m, g, y: -(adjoint(m, y) @ g @ adjoint(m, y)),
    shape=same_shape,
    jvp=lambda m, inputs, y, attrs, ts: -(y @ ts[0] @ y), batch=leading("inv"), on=FIELD,
    samples=[sample(GENERAL), sample(np.stack([GENERAL, SYMMETRIC])), sample(np.zeros((0, 2, 2)))],
)  # fmt: skip


def _hidden(xp, factor, x):
    """Where LAPACK stopped at a zero pivot before it reached the inf or NaN that makes the determinant NaN."""
    return (factor == 0) & ~xp.isfinite(x).all(axis=(-2, -1))


def _det(xp, x):
    with np.errstate(all="ignore"):
        y = linalg(xp).det(x)
    hidden = _hidden(xp, y, x)
    return xp.where(hidden, xp.asarray(np.nan, y.dtype), y) if not can_read_values(xp) or hidden.any() else y


def _det_back(m, g, x, y):
    factor = g * conjugate(m, y)
    return m.reshape(factor, shape=(*y.shape, 1, 1)) * adjoint(m, m.inv(x))


det = opaque(
    "det", _det, vjp=_det_back, batch=leading("det"), on=FIELD,
    shape=lambda x: x[:-2],
    samples=[sample(GENERAL), sample(np.stack([GENERAL, SYMMETRIC])), sample(np.zeros((0, 2, 2)))],
)  # fmt: skip


def _slogdet(xp, x):
    with np.errstate(all="ignore"):
        sign, logarithm = linalg(xp).slogdet(x)
    hidden = _hidden(xp, sign, x)
    unknown = xp.isnan(x).any(axis=(-2, -1))
    if not can_read_values(xp) or hidden.any() or unknown.any():
        logarithm = xp.where(hidden, xp.asarray(np.nan, logarithm.dtype), logarithm)
        sign = xp.where(unknown, xp.asarray(np.nan, sign.dtype), sign)
    return sign, astype(logarithm, x.dtype)


def _slogdet_back(m, g, x):
    _, g = g
    return m.reshape(g, shape=(*g.shape, 1, 1)) * adjoint(m, m.inv(x))


slogdet = opaque(
    "slogdet", _slogdet, vjp=_slogdet_back, batch=leading("slogdet"), on=FIELD,
    shape=lambda x: [x[:-2]] * 2,
    samples=[sample(GENERAL), sample(np.stack([GENERAL, SYMMETRIC])), sample(np.zeros((0, 2, 2)))],
)  # fmt: skip


def _solve(xp, a, b):
    return _inverted(xp, a, "Input matrix is not invertible.", linalg(xp).solve, a, b)


def _solve_back(m, g, a, y, a_shape, b_shape):
    gb = m.solve(adjoint(m, a), g)
    return unbroadcast(m, -gb @ adjoint(m, y), a_shape), unbroadcast(m, gb, b_shape)


def _right_hand_tangent(m, ta, tb, y, part):
    """dB - dA Y, either of which may be zero."""
    if ta is None:
        return tb
    moved = part(ta) @ y
    return -moved if tb is None else tb - moved


def _solve_forward(m, inputs, y, attrs, ts):
    return m.solve(inputs[0], _right_hand_tangent(m, *ts, y, lambda ta: ta))


solve = opaque(
    "solve", _solve, vjp=_solve_back, jvp=_solve_forward, batch=leading("solve"), on=FIELD,
    shape=lambda a, b, **attrs: (*broadcast_shape(a[:-2], b[:-2]), *b[-2:]),
    samples=[
        sample(GENERAL, (3, 2)),
        sample(np.stack([GENERAL, SYMMETRIC]), (2, 3, 1)),
        sample(SYMMETRIC, (2, 3, 1)),
        sample(np.zeros((0, 2, 2)), (0, 2, 1)),
    ],
)  # fmt: skip


def _triangle(xp, a, low):
    return xp.tril(a) if low else xp.triu(a)


def _triangular_solve(xp, a, b, *, lower, adjoint):
    a = _triangle(xp, a, lower)
    return linalg(xp).solve(xp.conj(a.swapaxes(-1, -2)) if adjoint else a, b)


@numpy_kernel(_triangular_solve)
def _numpy_triangular_solve(a, b, *, lower, adjoint):
    if not b.size:
        return np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), b.dtype)
    trsm = _trsm(a.dtype, b.dtype)
    if a.ndim == b.ndim == 2 and a.size < FEW and b.size < FEW:  # BLAS uses one thread
        return trsm(1.0, a, b, lower=lower, trans_a=2 * adjoint)
    with one_thread_of_scipy:
        return each(lambda a, b: trsm(1.0, a, b, lower=lower, trans_a=2 * adjoint), a, b)


@cache
def _trsm(*dtypes: Any) -> Callable[..., Any]:
    """Returns the solver of BLAS: for a zero on the diagonal, LAPACK would raise an error, and TensorFlow does not."""
    from scipy.linalg import get_blas_funcs

    (trsm,) = get_blas_funcs(("trsm",), [np.empty(0, dtype) for dtype in dtypes])
    return trsm


def _triangular_part(m, x, low):
    return lower(m, x) if low else upper(m, x)


def _triangular_solve_back(m, g, a, y, a_shape, b_shape, lower, adjoint):
    gb = m.triangular_solve(a, g, lower=lower, adjoint=not adjoint)
    ga = y @ _adjoint(m, -gb) if adjoint else -gb @ _adjoint(m, y)
    return unbroadcast(m, _triangular_part(m, ga, lower), a_shape), unbroadcast(m, gb, b_shape)


def _triangular_solve_forward(m, inputs, y, attrs, ts):
    def part(ta):
        kept = _triangular_part(m, ta, attrs["lower"])
        return _adjoint(m, kept) if attrs["adjoint"] else kept

    return m.triangular_solve(inputs[0], _right_hand_tangent(m, *ts, y, part), **attrs)


triangular_solve = opaque(
    "triangular_solve", _triangular_solve, vjp=_triangular_solve_back, jvp=_triangular_solve_forward,
    shape=lambda a, b, **attrs: (*broadcast_shape(a[:-2], b[:-2]), *b[-2:]),
    batch=leading("triangular_solve"), on=FIELD,
    samples=[
        sample(SYMMETRIC, (3, 2), lower=True, adjoint=False),
        sample(np.stack([SYMMETRIC, SYMMETRIC + 2]), (2, 3, 1), lower=True, adjoint=True),
        sample(SYMMETRIC, (2, 3, 1), lower=False, adjoint=False),
        sample(SYMMETRIC, (3, 0), lower=False, adjoint=True),
    ],
)  # fmt: skip


def _banded_solve(xp, bands, b, *, low, strict):
    from scipy.linalg import solve_banded

    count = bands.shape[-2]
    high = low + count - 1
    columns = xp.stack([_moved(xp, bands[..., d, :], high - d) for d in range(count)], -2)

    def one(columns, b):
        try:
            return solve_banded((-low, high), columns, b, check_finite=False)
        except np.linalg.LinAlgError:
            if strict:
                raise np.linalg.LinAlgError("Input matrix is not invertible.") from None
            return xp.full_like(b, xp.nan)

    return each(one, columns, b)


def _moved(xp, x, by):
    """Shifts `x` along its last axis to higher positions, filling with zeros."""
    size = x.shape[-1]
    widths = [(0, 0)] * (x.ndim - 1)
    if by >= 0:
        return xp.pad(x[..., : max(size - by, 0)], [*widths, (min(by, size), 0)])
    return xp.pad(x[..., min(-by, size) :], [*widths, (0, min(-by, size))])


def shifted(m: Any, x: Any, by: int, axis: int) -> Any:
    """`x[i + by]` along an axis counted from the end, zeros beyond the ends."""
    size, at = x.shape[axis], len(x.shape) + axis
    kept, empty = slice(max(by, 0), max(size + min(by, 0), 0)), min(abs(by), size)
    part = m.slice(x, key=(*(slice(None),) * at, kept))
    paddings = [(0, 0)] * len(x.shape)
    paddings[at] = (empty, 0) if by < 0 else (0, empty)
    return m.pad(part, paddings=tuple(paddings))


def band(m: Any, bands: Any, d: int) -> Any:
    return m.slice(bands, key=(..., d, slice(None)))


def adjoint_bands(m: Any, bands: Any, low: int) -> Any:
    """The bands of the adjoint of a banded matrix."""
    count = bands.shape[-2]
    high = low + count - 1
    turned = [shifted(m, conjugate(m, band(m, bands, d)), d - high, -1) for d in reversed(range(count))]
    return m.stack(*turned, axis=len(bands.shape) - 2)


def banded_product(m: Any, bands: Any, x: Any, low: int) -> Any:
    """A banded matrix times `x`."""
    high = low + bands.shape[-2] - 1
    terms = []
    for d in range(bands.shape[-2]):
        weights = band(m, bands, d)
        terms.append(m.reshape(weights, shape=(*weights.shape, 1)) * shifted(m, x, high - d, -2))
    return sum(terms[1:], terms[0])


def _banded_solve_back(m, g, bands, y, bands_shape, b_shape, low, strict):
    count = bands_shape[-2]
    high = low + count - 1
    gb = m.banded_solve(adjoint_bands(m, bands, low), g, low=-high, strict=strict)
    last = len(gb.shape) - 1
    parts = [m.sum(gb * conjugate(m, shifted(m, y, high - d, -2)), axis=(last,)) for d in range(count)]
    return unbroadcast(m, -m.stack(*parts, axis=last - 1), bands_shape), unbroadcast(m, gb, b_shape)


def _banded_solve_forward(m, inputs, y, attrs, ts):
    tb, moved = ts[1], None if ts[0] is None else banded_product(m, ts[0], y, attrs["low"])
    right = tb if moved is None else -moved if tb is None else tb - moved
    return m.banded_solve(inputs[0], right, **attrs)


_TRIDIAGONAL = np.array([[1.0, -0.5, 0.7, 0.0], [3.0, 2.5, 4.0, 3.2], [0.0, 0.4, 1.1, -0.8]])

# The rows of `bands` are the diagonals of the matrix, from the highest to `low`: bands[d, i] is the entry in row i, and
# entries outside the matrix are ignored. A singular system raises an error if `strict`, and yields NaN otherwise.
banded_solve = opaque(
    "banded_solve", _banded_solve, vjp=_banded_solve_back, jvp=_banded_solve_forward, batch=leading("banded_solve"),
    on=FIELD,
    samples=[
        sample(_TRIDIAGONAL, (4, 2), low=-1, strict=False),
        sample(np.stack([_TRIDIAGONAL, _TRIDIAGONAL + 1]), (2, 4, 1), low=-1, strict=False),
        sample(_TRIDIAGONAL[1:], (2, 4, 1), low=-1, strict=True),
        sample(_TRIDIAGONAL[:2], (4, 1), low=0, strict=True),
    ],
)  # fmt: skip


def _pinv(xp, a, rcond):
    try:
        with np.errstate(all="ignore"):
            return xp.linalg.pinv(a, rcond)
    except np.linalg.LinAlgError:
        return xp.full_like(a.swapaxes(-1, -2), xp.nan)


def _pinv_back(m, g, a, y):
    gh, yh = adjoint(m, g), adjoint(m, y)
    rows, columns = a.shape[-2:]
    outside = identity(m, a, rows) - a @ y
    kernel = identity(m, a, columns) - y @ a
    return outside @ gh @ y @ yh + yh @ y @ gh @ kernel - yh @ g @ yh, None


def _batch_pinv(m, size, inputs, flags, attrs):
    return m.pinv(*inputs) if flags[0] else NotImplemented


pinv = opaque(
    "pinv", _pinv, vjp=_pinv_back, batch=_batch_pinv, on=FIELD,
    shape=lambda a, rcond: (*a[:-2], a[-1], a[-2]),
    samples=[
        sample(TALL, np.float32(1e-6)),
        sample(np.stack([TALL.T, TALL[::-1].T]), np.array([1e-6, 1e-5], np.float32)),
        sample(GENERAL, np.float32(1e-6)),
    ],
)  # fmt: skip


def _batch_cross(m, size, inputs, flags, attrs):
    return m.cross(*[x if f else m.broadcast_to(x, shape=(size, *x.dims)) for x, f in zip(inputs, flags, strict=True)])


cross = bilinear(
    "cross", lambda xp, a, b: xp.cross(a, b), da=lambda m, g, b: m.cross(b, g), db=lambda m, g, a: m.cross(g, a),
    shape=broadcast_shape,
    batch=_batch_cross, on=INT | FLOAT | NARROW,
    samples=[sample((3,), (3,)), sample((2, 4, 3), (2, 4, 3)), sample((0, 3), (0, 3))],
)  # fmt: skip
