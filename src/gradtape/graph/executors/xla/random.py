"""Random ops for XLA: the same numbers as the NumPy kernels draw, with XLA's control flow."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ....core import dtypes
from ....ops.random import philox
from .table import lowering


@lowering("random_truncated_normal")
def _truncated_normal(state: jax.Array, *, shape: tuple[int, ...], dtype: dtypes.DType) -> Any:
    """Rejection sampling: each group draws from its own Philox blocks; all groups iterate together."""
    numbers: Any
    each, numbers = (2, philox.normal_doubles) if dtype is dtypes.float64 else (4, philox.normal_floats)
    count = math.prod(shape)
    groups = -(-count // each)
    first = jnp.arange(groups, dtype=jnp.uint64) * jnp.uint64(each * 64)
    places = jnp.arange(each)

    def incomplete(held: tuple[jax.Array, jax.Array, jax.Array]) -> Any:
        _, found, _ = held
        return (found < each).any()

    def next_block(held: tuple[jax.Array, jax.Array, jax.Array]) -> Any:
        block, found, out = held
        candidates = numbers(jnp, philox.words(jnp, state, first + block))
        for i in range(each):
            candidate = candidates[:, i]
            inside = abs(candidate) < 2
            out = jnp.where(inside[:, None] & (places == found[:, None]), candidate[:, None], out)
            found = found + inside
        return block + jnp.uint64(1), found, out

    start = jnp.uint64(0), jnp.zeros(groups, int), jnp.zeros((groups, each), float if each == 2 else jnp.float32)
    *_, drawn = jax.lax.while_loop(incomplete, next_block, start)
    return drawn.reshape(-1)[:count].astype(dtype.numpy).reshape(shape)
