"""Data movement for XLA: padding, which fuses with its consumer, in place of writes into zeros; barriers, shardings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .table import lowering


@lowering("pad")
def _pad(x: jax.Array, *, paddings: Sequence[tuple[int, int]], value: float | None = None) -> Any:
    around = jnp.asarray(0 if value is None else value, x.dtype)
    return jax.lax.pad(x, around, [(before, after, 0) for before, after in paddings])


@lowering("place")
def place_in_zeros(x: jax.Array, *, key: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Returns zeros of `shape` with `x` at `key`."""
    if Ellipsis in key:
        at = key.index(Ellipsis)
        missing = len(shape) - sum(k is not None and k is not Ellipsis for k in key)
        key = (*key[:at], *(slice(None),) * missing, *key[at + 1 :])
    places = [k if isinstance(k, slice) else slice(k, k + 1 or None) for k in key if k is not None]
    ranges = [range(n)[s] for n, s in zip(shape, places, strict=False)]
    ranges += [range(n) for n in shape[len(ranges) :]]
    x = jnp.flip(x.reshape([len(r) for r in ranges]), [i for i, r in enumerate(ranges) if r.step < 0])
    widths = []
    for n, r in zip(shape, ranges, strict=True):
        low, high = (min(r[0], r[-1]), max(r[0], r[-1])) if r else (n, n - 1)
        widths.append((low, n - 1 - high, abs(r.step) - 1))
    return jax.lax.pad(x, jnp.zeros((), x.dtype), widths)


lowering("optimization_barrier")(lambda *arrays: jax.lax.optimization_barrier(arrays))
lowering("sharding_constraint")(lambda x, *, sharding: jax.lax.with_sharding_constraint(x, sharding))
