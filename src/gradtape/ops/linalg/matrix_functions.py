"""Analytic functions of matrices: exponential, logarithm, square root.

For such an f, f([[A, E], [0, A]]) = [[f(A), L], [0, f(A)]], where L is the Fréchet derivative of f at A in direction E;
the cotangent is the derivative at the adjoint of A in the direction of the cotangent of f(A). So every rule is f again,
on a matrix of twice the size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.arrays import host_only
from ...core.dtypes import COMPLEX
from ...engine.registry.families import opaque
from ...engine.registry.op import Op, sample
from ...engine.registry.shape_rules import same_shape
from .decompositions import GENERAL, SYMMETRIC
from .matrix_algebra import FIELD, adjoint, each, leading


def _derivative(m: Any, function: Any, a: Any, e: Any) -> Any:
    """The Fréchet derivative in direction `e`.

    The direction is scaled to magnitude 1: a larger one would swamp `a` in the doubled matrix.
    """
    size, rank = a.shape[-1], len(a.shape)
    if 0 in a.shape:
        return e
    scale = _magnitude(m, e)
    top = m.concat(a, e / scale, axis=rank - 1)
    bottom = m.concat(m.zeros_like(a), a, axis=rank - 1)
    y = function(m.concat(top, bottom, axis=rank - 2))
    return m.slice(y, key=(..., slice(0, size), slice(size, 2 * size))) * scale


def _magnitude(m: Any, e: Any) -> Any:
    """The largest magnitude in each matrix, or 1, as a constant: the derivative does not depend on it."""
    rank = len(e.shape)
    largest = m.max(m.abs(m.stop_gradient(e)), axis=(rank - 2, rank - 1), keepdims=True)
    return m.cast(m.where(largest > 0, largest, m.ones_like(largest)), dtype=e.dtype)


def _analytic(name: str, kernel: Any, **options: Any) -> Op:
    return opaque(
        name, kernel, batch=leading(name), shape=same_shape,
        vjp=lambda m, g, x: _derivative(m, getattr(m, name), adjoint(m, x), g),
        jvp=lambda m, inputs, y, attrs, ts: _derivative(m, getattr(m, name), inputs[0], ts[0]),
        **options,
    )  # fmt: skip


# The norms, by bits of a real number, up to which the estimates in SciPy's `expm` do not overflow: from about 100 on,
# that of a float32 matrix is NaN, or squares the result 2**31 times.
_LARGEST_NORMS = {32: 2.0**5, 64: 2.0**60}


def _expm(xp, x):
    host_only(xp)
    from scipy.linalg import expm

    bits = np.finfo(x.dtype).bits
    with np.errstate(all="ignore"):
        norms, largest = np.abs(x).sum(-2, keepdims=True).max(-1, keepdims=True, initial=0), _LARGEST_NORMS[bits]
        if (norms <= largest).all():
            return expm(x)
        is_finite = np.isfinite(norms)
        halvings = np.maximum(np.frexp(np.where(is_finite, norms, 0) / largest)[1], 0)
        y = expm((np.where(is_finite, x, 0) * np.exp2(-1.0 * halvings)).astype(x.dtype))
        for i in range(halvings.max()):
            y = np.where(i < halvings, y @ y, y)
        return np.where(is_finite, y, np.nan).astype(x.dtype)


expm = _analytic(
    "expm", _expm, on=FIELD, samples=[sample(GENERAL), sample(np.stack([GENERAL, SYMMETRIC])), sample((0, 2, 2))]
)


def _sqrtm(xp, x):
    host_only(xp)
    return each(_principal_root, x) if x.size else x


def _principal_root(x):
    from scipy.linalg import sqrtm

    try:
        with np.errstate(all="ignore"):
            y = sqrtm(x)
    except ValueError:  # SciPy before 1.16 refuses inf and nan
        return np.full_like(x, np.nan)
    if x.dtype.kind == "c" or y.dtype.kind != "c":
        return y.astype(x.dtype)
    real = np.abs(y.imag).max() <= 1e3 * np.finfo(x.dtype).eps * np.abs(y).max()
    return (y.real if real else np.full_like(y.real, np.nan)).astype(x.dtype)


sqrtm = _analytic("sqrtm", _sqrtm, on=FIELD, samples=[sample(SYMMETRIC), sample(np.stack([SYMMETRIC, SYMMETRIC + 1]))])


def _logm(xp, x):
    host_only(xp)
    return each(_principal_logarithm, x) if x.size else x


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NEAR_IDENTITY = 0.25  # within this distance the quadrature with so many nodes is exact to the last digit
_MOST_ROOTS = 100  # for float64, 1e308 ** (2 ** -11) is already near 1


def _principal_logarithm(x):
    """Inverse scaling and squaring of the Schur form (Higham, Functions of Matrices, 11.5).

    SciPy's `logm` is not used: it estimates norms with NumPy's global random generator, which belongs to the program.
    """
    from scipy.linalg import schur, solve_triangular, sqrtm

    if not np.isfinite(x).all():
        return np.full_like(x, np.nan)
    triangle, basis = schur(x.astype(np.complex128), output="complex")
    diagonal = np.diag(triangle)
    if (diagonal == 0).any():
        return np.full_like(x, np.nan)
    identity, root, roots = np.eye(len(x)), triangle, 0
    with np.errstate(all="ignore"):
        while np.abs(root - identity).sum(axis=0).max() > _NEAR_IDENTITY and roots < _MOST_ROOTS:
            # SciPy before 1.15 returns complex256, of whose roots it computes half the digits.
            root, roots = np.triu(sqrtm(root)).astype(np.complex128), roots + 1
        # log(I + R) is the integral of R / (I + tR) from 0 to 1.
        rest = root - identity
        places, weights = (_NODES + 1) / 2, _WEIGHTS / 2
        terms = [w * solve_triangular(identity + t * rest, rest) for t, w in zip(places, weights, strict=True)]
        y = 2.0**roots * sum(terms)
    np.fill_diagonal(y, np.log(diagonal))
    return (basis @ y @ basis.conj().T).astype(x.dtype)


logm = _analytic("logm", _logm, on=COMPLEX, samples=[sample(SYMMETRIC + 0.2j), sample(np.stack([SYMMETRIC + 0j] * 2))])
