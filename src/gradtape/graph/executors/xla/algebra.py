"""Linear algebra and special functions for XLA: what has another name there, or a form of its own."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.linalg import expm
from jax.scipy.special import ndtri

from ....ops.linalg import contraction
from .table import lowering


def _accumulated(a: Any, b: Any) -> Any:
    """A product; one in half precision is added up in single."""
    if a.dtype.itemsize > 2 or not jnp.issubdtype(a.dtype, jnp.floating):
        return jnp.matmul(a, b)
    return jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(a.dtype)


_products = SimpleNamespace(matmul=_accumulated)


@lowering("matmul")
def _matmul(a: Any, b: Any, **attrs: Any) -> Any:
    return contraction.matmul.kernel(_products, a, b, **attrs)


@lowering("contract")
def _contract(a: Any, b: Any, **attrs: Any) -> Any:
    return contraction.contract.kernel(_products, a, b, **attrs)


@lowering("triangular_solve")
def _triangular_solve(a: Any, b: Any, *, lower: bool, adjoint: bool) -> Any:
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    return jax.lax.linalg.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint and jnp.iscomplexobj(a)
    )


@lowering("lu")
def _lu(x: Any) -> Any:
    packed, _, order = jax.lax.linalg.lu(x)
    return packed, order


@lowering("expm")
def _expm(x: Any) -> Any:
    return expm(x) if x.size else x


@lowering("complex")
def _complex(a: Any, b: Any) -> Any:
    return jax.lax.complex(*jnp.broadcast_arrays(a, b))


@lowering("bitcast")
def _bitcast(x: Any, *, dtype: Any) -> Any:
    return jax.lax.bitcast_convert_type(x, dtype.numpy)


@lowering("erfcinv")
def _erfcinv(x: Any) -> Any:
    return ndtri(x / 2) * -math.sqrt(0.5)


@lowering("cumulative_logsumexp")
def _cumulative_logsumexp(x: Any, *, axis: int) -> Any:
    return jax.lax.cumlogsumexp(x, axis=axis) if x.size else x


@lowering("search_sorted")
def _search_sorted(sequence: Any, values: Any, *, side: str, dtype: Any) -> Any:
    return jax.vmap(lambda row, sought: jnp.searchsorted(row, sought, side=side))(sequence, values).astype(dtype)
