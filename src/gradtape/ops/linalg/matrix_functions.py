"""Analytic functions of matrices: exponential, logarithm, square root.

For such an f, f([[A, E], [0, A]]) = [[f(A), L], [0, f(A)]], where L is the derivative of f at A along E; and the
cotangent is the derivative at the adjoint of A along the cotangent of f(A). So every rule is f again, on a matrix of
twice the size.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.dtypes import COMPLEX
from ...engine.registry.families import opaque
from ...engine.registry.op import Op, sample
from .decompositions import GENERAL, SYMMETRIC
from .matrix_algebra import FIELD, adjoint, each, leading


def _derivative(m: Any, function: Any, a: Any, e: Any) -> Any:
    """Along `e`; it is computed along a direction as large as 1: a larger one would drown `a` in the doubled matrix."""
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
        name, kernel, batch=leading(name),
        vjp=lambda m, g, x: _derivative(m, getattr(m, name), adjoint(m, x), g),
        jvp=lambda m, inputs, y, attrs, ts: _derivative(m, getattr(m, name), inputs[0], ts[0]),
        **options,
    )  # fmt: skip


def _expm(xp, x):
    from scipy.linalg import expm

    with np.errstate(all="ignore"):
        return expm(x)


expm = _analytic(
    "expm", _expm, on=FIELD, samples=[sample(GENERAL), sample(np.stack([GENERAL, SYMMETRIC])), sample((0, 2, 2))]
)


def _sqrtm(xp, x):
    return each(_principal_root, x) if x.size else x


def _principal_root(x):
    from scipy.linalg import sqrtm

    with np.errstate(all="ignore"):
        y = sqrtm(x)
    if x.dtype.kind == "c" or y.dtype.kind != "c":
        return y.astype(x.dtype)
    real = np.abs(y.imag).max() <= 1e3 * np.finfo(x.dtype).eps * np.abs(y).max()
    return (y.real if real else np.full_like(y.real, np.nan)).astype(x.dtype)


sqrtm = _analytic("sqrtm", _sqrtm, on=FIELD, samples=[sample(SYMMETRIC), sample(np.stack([SYMMETRIC, SYMMETRIC + 1]))])


def _logm(xp, x):
    return each(_principal_logarithm, x) if x.size else x


def _principal_logarithm(x):
    from scipy.linalg import logm

    if not np.isfinite(x).all():
        return np.full_like(x, np.nan)
    with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        y = logm(x.astype(np.complex128)).astype(x.dtype)  # in single precision SciPy's loses half the digits
    # SciPy moves a singular matrix a little and goes on; but it has no logarithm.
    return np.full_like(x, np.nan) if any("exactly singular" in str(w.message) for w in said) else y


logm = _analytic("logm", _logm, on=COMPLEX, samples=[sample(SYMMETRIC + 0.2j), sample(np.stack([SYMMETRIC + 0j] * 2))])
