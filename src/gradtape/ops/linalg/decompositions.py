"""Matrix factorizations, over any leading axes.

The derivative of a factor follows from differentiating the product and the constraint (triangular, orthogonal) that
defines it. Eigenvectors and singular vectors are unique up to a sign or phase: their derivatives are valid for
functions that do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...backends.arrays import astype, can_read_values
from ...backends.blas import linalg
from ...core.sizes.expression import minimum
from ...engine.registry.families import opaque
from ...engine.registry.op import sample
from ...engine.registry.shape_rules import same_shape
from .matrix_algebra import (
    FIELD,
    adjoint,
    column,
    diagonal,
    each,
    identity,
    inverse_gaps,
    is_complex,
    leading,
    lower_half,
    numpy_dtype,
    row,
    safe_reciprocal,
    upper,
)

SYMMETRIC = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.4], [0.5, -0.4, 1.5]])
GENERAL = np.array([[2.0, 0.3, -0.4], [0.5, -1.0, 0.7], [0.1, 0.9, 0.6]])
TALL = np.array([[1.0, 0.4], [-0.6, 1.3], [0.8, 2.0], [0.2, -0.5]])
_NOTHING = np.zeros((0, 2, 2))


def _lower_triangle_of(m, s):
    """The cotangent of the lower triangle of a Hermitian matrix whose own cotangent is `s`."""
    return lower_half(m, s + adjoint(m, s))


def _cholesky(xp, x):
    try:
        return linalg(xp).cholesky(x)
    except np.linalg.LinAlgError:
        return each(_cholesky_or_nan, x)


def _cholesky_or_nan(x):
    try:
        return linalg(np).cholesky(x)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(x, np.nan))


def _cholesky_back(m, g, y):
    inner = lower_half(m, adjoint(m, y) @ g)
    half = m.triangular_solve(y, adjoint(m, inner), lower=True, adjoint=True)
    return _lower_triangle_of(m, m.triangular_solve(y, adjoint(m, half), lower=True, adjoint=True))


cholesky = opaque(
    "cholesky", _cholesky, vjp=_cholesky_back, batch=leading("cholesky"), on=FIELD,
    shape=same_shape,
    samples=[sample(SYMMETRIC), sample(np.stack([SYMMETRIC, 2 * SYMMETRIC])), sample(_NOTHING)],
)  # fmt: skip


def _eigh_back(m, g, ys):
    (ge, gv), (e, v) = g, ys
    weights = inverse_gaps(m, row(m, e) - column(m, e))
    turned = m.cast(weights, dtype=v.dtype) * (adjoint(m, v) @ gv)
    spread = v * row(m, m.cast(ge, dtype=v.dtype)) + v @ turned
    return _lower_triangle_of(m, spread @ adjoint(m, v))


@contextmanager
def _decomposed(kind: str) -> Iterator[None]:
    try:
        yield
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(
            f"{kind} decomposition was not successful. The input might not be valid: it may hold inf or nan"
        ) from None


def _eigh(xp, x):
    with _decomposed("Self-adjoint eigen"):
        _refuse_nonfinite(xp, x)
        e, v = linalg(xp).eigh(x)
        if can_read_values(xp) and not np.isfinite(e).all():
            raise np.linalg.LinAlgError
    return e, v


def _refuse_nonfinite(xp, x):
    """Raises for inf and NaN, for which LAPACK may return finite eigenvalues."""
    if can_read_values(xp) and not np.isfinite(np.tril(x)).all():
        raise np.linalg.LinAlgError


eigh = opaque(
    "eigh", _eigh, vjp=_eigh_back, batch=leading("eigh"), on=FIELD,
    shape=lambda x: [x[:-1], x],
    samples=[sample(SYMMETRIC), sample(np.stack([SYMMETRIC, SYMMETRIC * SYMMETRIC])), sample(_NOTHING)],
)  # fmt: skip


def _eigvalsh(xp, x):
    with _decomposed("Self-adjoint eigen"):
        _refuse_nonfinite(xp, x)
        e = linalg(xp).eigvalsh(x)
        if can_read_values(xp) and not np.isfinite(e).all():
            raise np.linalg.LinAlgError
    return e


def _eigvalsh_back(m, g, x):
    _, v = m.eigh(x)
    return _lower_triangle_of(m, (v * row(m, m.cast(g, dtype=v.dtype))) @ adjoint(m, v))


eigvalsh = opaque(
    "eigvalsh", _eigvalsh, vjp=_eigvalsh_back, batch=leading("eigvalsh"), on=FIELD,
    shape=lambda x: x[:-1],
    samples=[sample(SYMMETRIC), sample(np.stack([SYMMETRIC, SYMMETRIC * SYMMETRIC]))],
)  # fmt: skip


def _eig(xp, x):
    with _decomposed("Eigen"):
        e, v = linalg(xp).eig(x)
    dtype = xp.result_type(x.dtype, np.complex64)
    return astype(e, dtype), astype(v, dtype)


def _eig_back(m, g, ys, x_dtype):
    (ge, gv), (e, v) = g, ys
    vh = adjoint(m, v)
    weights = m.conj(inverse_gaps(m, row(m, e) - column(m, e)))
    turned = vh @ gv
    along = diagonal(m, turned)
    along = (along + m.conj(along)) * 0.5
    core = weights * (turned - (vh @ v) @ along)
    return m.cast(m.solve(vh, core @ vh + column(m, ge) * vh), dtype=x_dtype)


eig = opaque(
    "eig", _eig, vjp=_eig_back, batch=leading("eig"), on=FIELD,
    shape=lambda x: [x[:-1], x],
    samples=[sample(SYMMETRIC + np.triu(np.ones((3, 3)) / 8)), sample(np.stack([SYMMETRIC, SYMMETRIC + 1]))],
)  # fmt: skip


def _eigvals(xp, x):
    with _decomposed("Eigen"):
        return astype(linalg(xp).eigvals(x), xp.result_type(x.dtype, np.complex64))


def _eigvals_back(m, g, x, x_dtype):
    _, v = m.eig(x)
    vh = adjoint(m, v)
    return m.cast(m.solve(vh, column(m, g) * vh), dtype=x_dtype)


eigvals = opaque(
    "eigvals", _eigvals, vjp=_eigvals_back, batch=leading("eigvals"), on=FIELD,
    shape=lambda x: x[:-1],
    samples=[sample(SYMMETRIC + np.triu(np.ones((3, 3)) / 8)), sample(np.stack([GENERAL, GENERAL + 1]))],
)  # fmt: skip


def _svd(xp, x, *, full_matrices):
    if can_read_values(xp) and not np.isfinite(x).all():
        return _svd_of_nan(x, full_matrices)
    u, s, vh = linalg(xp).svd(x, full_matrices=full_matrices)
    return s, u, xp.conj(vh.swapaxes(-1, -2))


def _svd_of_nan(x, full_matrices):
    *batch, rows, columns = x.shape
    least = min(rows, columns)
    shapes = (least,), (rows, rows if full_matrices else least), (columns, columns if full_matrices else least)
    s, u, v = (np.full((*batch, *shape), np.nan, x.dtype) for shape in shapes)
    return s.real, u, v


def _svd_back(m, g, ys, full_matrices):
    (gs, gu, gv), (s, u, v) = g, ys
    rows, columns, least = u.shape[-2], v.shape[-2], s.shape[-1]
    if full_matrices and rows != columns:
        if abs(rows - columns) > 1:
            raise NotImplementedError(
                "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: "
                f"m={rows} and n={columns}; the further singular vectors are any basis of a space. Use "
                "full_matrices=False"
            )
        if rows > columns:
            u, gu = _without_last(m, u, gu, least)
        else:
            v, gv = _without_last(m, v, gv, least)
    s, gs = m.cast(s, dtype=u.dtype), m.cast(gs, dtype=u.dtype)
    uh, vh = adjoint(m, u), adjoint(m, v)
    weights = inverse_gaps(m, (row(m, s) - column(m, s)) * (row(m, s) + column(m, s)))
    inverse = row(m, safe_reciprocal(s))
    turn_u, turn_v = uh @ gu, vh @ gv
    skew_u, skew_v = turn_u - adjoint(m, turn_u), turn_v - adjoint(m, turn_v)
    core = (weights * skew_u) * row(m, s) + column(m, s) * (weights * skew_v)
    if is_complex(u):
        core = core + diagonal(m, skew_u) * 0.5 * inverse
    left = u @ core + u * row(m, gs)
    if rows > least:
        left = left + (gu - u @ turn_u) * inverse
    result = left @ vh
    if columns > least:
        result = result + (u * inverse) @ adjoint(m, gv - v @ turn_v)
    return result


def _without_last(m, v, gv, least):
    """The first vectors and their cotangent; the last vector, orthogonal to them, rotates with them."""
    first, last = ((..., slice(None), slice(0, least)), (..., slice(None), slice(least, least + 1)))
    v1, v2 = m.slice(v, key=first), m.slice(v, key=last)
    return v1, m.slice(gv, key=first) - v2 @ (adjoint(m, m.slice(gv, key=last)) @ v1)


svd = opaque(
    "svd", _svd, vjp=_svd_back, batch=leading("svd"), on=FIELD,
    samples=[
        sample(GENERAL, full_matrices=False),
        sample(TALL, full_matrices=False),
        sample(np.stack([TALL.T, TALL[::-1].T + 0.3]), full_matrices=False),
        sample(TALL[:3], full_matrices=True),
        sample(TALL[:3].T, full_matrices=True),
    ],
)  # fmt: skip


def _singular_values(xp, x):
    if can_read_values(xp) and not np.isfinite(x).all():
        return _svd_of_nan(x, False)[0]
    return linalg(xp).svd(x, compute_uv=False)


def _singular_values_back(m, g, x):
    _, u, v = m.svd(x, full_matrices=False)
    return (u * row(m, m.cast(g, dtype=u.dtype))) @ adjoint(m, v)


singular_values = opaque(
    "singular_values", _singular_values, vjp=_singular_values_back, batch=leading("singular_values"), on=FIELD,
    shape=lambda x: (*x[:-2], minimum(*x[-2:])),
    samples=[sample(TALL), sample(np.stack([GENERAL, GENERAL - 1])), sample(np.zeros((0, 3, 2)))],
)  # fmt: skip


def _qr(xp, x, *, full_matrices):
    return tuple(linalg(xp).qr(x, mode="complete" if full_matrices else "reduced"))


def _qr_back(m, g, ys):
    (gq, gr), (q, r) = g, ys
    rows, columns = q.shape[-2], r.shape[-1]
    if q.shape[-1] > columns:
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true. Received "
            f"r.shape={tuple(r.shape)}: the further columns of q are any basis of a space. Use full_matrices=False"
        )
    if columns <= rows:
        return _square_qr_back(m, gq, gr, q, r)
    # A = [X Y] = Q [U V], with V = Qᴴ Y.
    first, rest = (..., slice(None), slice(0, rows)), (..., slice(None), slice(rows, columns))
    gv = m.slice(gr, key=rest)
    y = q @ m.slice(r, key=rest)
    gx = _square_qr_back(m, gq + y @ adjoint(m, gv), m.slice(gr, key=first), q, m.slice(r, key=first))
    return m.concat(gx, q @ gv, axis=len(q.shape) - 1)


def _square_qr_back(m, gq, gr, q, r):
    inner = r @ adjoint(m, gr) - adjoint(m, gq) @ q
    half = lower_half(m, inner)
    hermitian = half + adjoint(m, half)  # its diagonal is real, like that of R
    return adjoint(m, m.triangular_solve(r, adjoint(m, gq + q @ hermitian), lower=False, adjoint=False))


qr = opaque(
    "qr", _qr, vjp=_qr_back, batch=leading("qr"), on=FIELD,
    samples=[
        sample(GENERAL, full_matrices=True),
        sample(TALL, full_matrices=False),
        sample(np.stack([TALL.T, TALL[::-1].T]), full_matrices=False),
    ],
)  # fmt: skip


def _lu(xp, x):
    from scipy.linalg import lu as factorize

    if not x.size:
        return x, xp.zeros(x.shape[:-1], np.int32)
    order, low, high = factorize(x, p_indices=True, check_finite=False)
    if not (xp.diagonal(high, 0, -2, -1) != 0).all() or xp.isnan(x).any():
        raise np.linalg.LinAlgError("Input is not invertible.")
    return high + xp.tril(low, -1), astype(xp.argsort(order, axis=-1), np.int32)


def _lu_back(m, g, ys):
    (g, _), (packed, order) = g, ys
    high = upper(m, packed)
    low = packed - high + identity(m, packed, packed.shape[-1])
    g_high = upper(m, g)
    below = adjoint(m, low) @ (g - g_high)
    core = below - upper(m, below) + upper(m, g_high @ adjoint(m, high))
    left = m.triangular_solve(low, core, lower=True, adjoint=True)
    rows = adjoint(m, m.triangular_solve(high, adjoint(m, left), lower=False, adjoint=False))
    place = m.permutation_matrix(order, dtype=numpy_dtype(packed))
    return adjoint(m, place) @ rows


lu = opaque(
    "lu", _lu, vjp=_lu_back, batch=leading("lu"), on=FIELD,
    shape=lambda x: [x, x[:-1]],
    samples=[sample(GENERAL), sample(np.stack([GENERAL[::-1], SYMMETRIC])), sample(_NOTHING)],
)  # fmt: skip
