"""Attention for XLA: `jax.nn.dot_product_attention`, which has fused kernels of cuDNN, and its derivative by JAX.

The lowering of the derivative traces the forward pass again, in the same form as that of the op itself: XLA merges the
two (CSE), so that a program which has both computes it once and shares its residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from ....backends.arrays import HALF, in_single
from ....ops.nn.attention import scaled_dot_product_attention, scaled_dot_product_attention_back
from .table import lowering

_FLASH_TOKENS = 64  # fewer queries or keys are left to XLA: their matrices are small
# Raised by JAX while it traces what cuDNN does not support: sizes, a GPU, or its absence.
_NOT_FOR_CUDNN = (NotImplementedError, RuntimeError, ValueError)


def _in_half_on_gpu(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a lowering so that half precision reaches it on a GPU only: XLA's other products do not take it as is."""
    wide = in_single(kernel)

    def run(*arrays: Any, **attrs: Any) -> Any:
        return (kernel if jax.default_backend() == "gpu" else wide)(*arrays, **attrs)

    return run


@lowering("scaled_dot_product_attention", half=True)
@_in_half_on_gpu
def _attention(*arrays: jax.Array, **attrs: Any) -> Any:
    if not _is_own(*arrays[:3]):
        return in_single(partial(scaled_dot_product_attention.kernel, jnp))(*arrays, **attrs)
    return _with_pullback(*arrays, **attrs)[0]


@lowering("scaled_dot_product_attention_back", half=True)
@_in_half_on_gpu
def _attention_back(cotangent: jax.Array, *arrays: jax.Array, of_bias: bool, **attrs: Any) -> Any:
    if not _is_own(*arrays[:3]):
        kernel = in_single(partial(scaled_dot_product_attention_back.kernel, jnp))
        return kernel(cotangent, *arrays, of_bias=of_bias, **attrs)
    found = _with_pullback(*arrays, **attrs)[1](cotangent)
    return found if of_bias else found[:3]


def _is_own(query: jax.Array, key: jax.Array, value: jax.Array) -> bool:
    """Whether JAX's own attention applies: it rounds float64 to float32, and its values are as long as its keys."""
    return query.dtype.itemsize <= 4 and key.shape == value.shape and query.size > 0 and key.size > 0


def _with_pullback(
    query: jax.Array, key: jax.Array, value: jax.Array, *extras: jax.Array, scale: float, causal: bool, biased: bool
) -> tuple[Any, Callable[[Any], Any]]:  # fmt: skip
    """Returns the attention, and the function from its cotangent to those of query, key, value and bias."""
    sizes = query.shape[1], key.shape[1]
    bias, mask = extras[: int(biased)], extras[int(biased) :]

    def attend(implementation: Any, query: jax.Array, key: jax.Array, value: jax.Array, *bias: jax.Array) -> Any:
        # Of a bias and a mask, cuDNN broadcasts examples and heads only.
        given = [jnp.broadcast_to(x, (*x.shape[:2], *sizes)) for x in (*bias, *mask)]
        options: dict[str, Any] = dict(zip(("bias",) * len(bias) + ("mask",) * len(mask), given, strict=True))
        return jax.nn.dot_product_attention(
            query, key, value, **options, scale=scale, is_causal=causal, implementation=implementation
        )

    if query.dtype in HALF and min(sizes) >= _FLASH_TOKENS:
        try:
            return jax.vjp(partial(attend, "cudnn"), query, key, value, *bias)
        except _NOT_FOR_CUDNN:
            pass
    return jax.vjp(partial(attend, None), query, key, value, *bias)
