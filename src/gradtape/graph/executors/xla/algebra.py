"""XLA lowerings for linear algebra and special functions whose JAX counterpart differs from the kernel."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import expm
from jax.scipy.special import ndtri

from ....ops.linalg import contraction
from .table import lowering


def _accumulated(a: jax.Array, b: jax.Array) -> Any:
    """Multiply matrices; half precision accumulates in float32, as in kernels of GPUs without a result in float32."""
    if a.dtype.itemsize > 2 or not jnp.issubdtype(a.dtype, jnp.floating) or jax.default_backend() == "gpu":
        return jnp.matmul(a, b)
    return jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(a.dtype)


for _op in (contraction.matmul, contraction.contract):
    lowering(_op.name, half=True)(partial(_op.kernel, SimpleNamespace(matmul=_accumulated)))

lowering("bitcast")(lambda x, *, dtype: jax.lax.bitcast_convert_type(x, dtype.numpy))
lowering("cumulative_logsumexp")(lambda x, *, axis: jax.lax.cumlogsumexp(x, axis=axis) if x.size else x)
lowering("expm")(lambda x: expm(x) if x.size else x)
lowering("lu")(lambda x: jax.lax.linalg.lu(x)[::2])  # the factors and the permutation


@lowering("triangular_solve")
def _triangular_solve(a: jax.Array, b: jax.Array, *, lower: bool, adjoint: bool) -> Any:
    options = {"left_side": True, "lower": lower, "transpose_a": adjoint, "conjugate_a": adjoint}
    return jnp.vectorize(partial(jax.lax.linalg.triangular_solve, **options), signature="(n,n),(n,k)->(n,k)")(a, b)


@lowering("erfcinv")
def _erfcinv(x: jax.Array) -> Any:
    """Compute -ndtri(x / 2) / √2; for arguments whose half underflows, by Newton's method on log erfc.

    Newton starts from the result for twice the argument. erfc(y) is exp(-y²) / (√π y) times an asymptotic series in
    1 / (2 y²).
    """
    tiny = x < 4 * float(np.finfo(x.dtype).tiny)
    y = ndtri(jnp.where(tiny, 2 * x, x) / 2) * -math.sqrt(0.5)
    start, target = jnp.where(tiny, y, 30.0), jnp.log(jnp.where(tiny & (x > 0), x, 1.0))
    found = start
    for _ in range(3):
        term = 0.5 / (found * found)
        series: Any = 1.0
        for k in (17, 15, 13, 11, 9, 7, 5, 3, 1):
            series = 1 - series * term * k
        logarithm = jnp.log(series / found) - found * found - 0.5 * math.log(math.pi)
        found = found + (logarithm - target) * series / (2 * found)
    return jnp.where(tiny & jnp.isfinite(start) & (x > 0), found, y)


@lowering("sinh")
def _sinh(x: jax.Array) -> Any:
    """Compute -i sin(ix) for complex numbers: JAX's sinh loses the real part of small ones."""
    if x.dtype.kind != "c":
        return jnp.sinh(x)
    y = jnp.sin(jax.lax.complex(-x.imag, x.real))
    return jax.lax.complex(y.imag, -y.real)


@lowering("atanh")
def _atanh(x: jax.Array) -> Any:
    """Complex atanh near ±1: JAX's overflows where the squared distance underflows."""
    if x.dtype.kind != "c":
        return jnp.arctanh(x)
    a, b = abs(x.real), x.imag
    distance = jnp.hypot(1 - a, b)
    near = distance < 0.5
    inverse = 1 / jnp.where(near, 1, distance)
    far_real = 0.25 * jnp.log1p(4 * (a * inverse) * inverse)
    near_real = 0.5 * (jnp.log(jnp.hypot(1 + a, b)) - jnp.log(jnp.where(near, distance, 1)))
    real = jnp.copysign(jnp.where(near, near_real, far_real), x.real)
    return jax.lax.complex(real, 0.5 * jnp.arctan2(b, 0.5 * ((1 - a) * (1 + a) - b * b)))


@lowering("expint")
def _expint(x: jax.Array) -> Any:
    """Fall back to a host callback: JAX's expint does not terminate for some arguments."""
    raise NotImplementedError
