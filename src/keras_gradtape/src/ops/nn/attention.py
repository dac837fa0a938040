"""Dot-product attention: for each query the mean of the values, weighted by the softmax of its scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras.src.backend.common.dtypes import result_type

from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor

_MASKED = -0.7 * float(np.finfo(np.float32).max)


def dot_product_attention(
    query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
    attn_logits_soft_cap=None,
):  # fmt: skip
    """Attention of `(batch, time, heads, depth)`; `flash_attention` is only a hint."""
    q, k, v = convert_to_tensor(query), convert_to_tensor(key), convert_to_tensor(value)
    if any(len(x.dims) != 4 for x in (q, k, v)):
        raise ValueError(
            f"`dot_product_attention` only supports 4D inputs. Received: query.shape={q.dims}, key.shape={k.dims}, "
            f"value.shape={v.dims}."
        )
    dtype = result_type(q.dtype.name, k.dtype.name, v.dtype.name)
    groups = q.dims[2] // k.dims[2]
    q = ops.transpose(cast(q, dtype), perm=(0, 2, 1, 3))
    k, v = (_repeated(cast(x, dtype), groups) for x in (k, v))
    factor = 1.0 / math.sqrt(k.dims[-2]) if scale is None else scale
    logits = ops.matmul(q * factor, k)
    logits = cast(logits, result_type(dtype, "float32"))
    if bias is not None:
        logits = logits + cast(convert_to_tensor(bias), logits.dtype)
    seen = _seen(mask, is_causal, *logits.dims[-2:])
    if seen is not None:
        logits = ops.where(seen, logits, convert_to_tensor(_MASKED, dtype=logits.dtype))
    weights = cast(ops.softmax(logits, axis=3), dtype)
    return ops.transpose(ops.matmul(weights, ops.transpose(v, perm=(0, 1, 3, 2))), perm=(0, 2, 1, 3))


def _repeated(x: Tensor, groups: int) -> Tensor:
    """Transposes `(batch, time, heads, depth)` to `(batch, heads, depth, time)`, repeating each head `groups` times."""
    batch, time, heads, depth = x.dims
    x = ops.transpose(x, perm=(0, 2, 3, 1))
    if groups == 1:
        return x
    x = ops.broadcast_to(
        ops.reshape(x, shape=(batch, heads, 1, depth, time)), shape=(batch, heads, groups, depth, time)
    )
    return ops.reshape(x, shape=(batch, heads * groups, depth, time))


def _seen(mask: Any, is_causal: bool, queries: int, keys: int) -> Tensor | None:
    """Returns the mask of keys that each query attends to; None if all."""
    causal = convert_to_tensor(np.tri(queries, keys, dtype=bool)) if is_causal else None
    if mask is None:
        return causal
    given = cast(convert_to_tensor(mask), "bool")
    return given if causal is None else ops.logical_and(given, causal)
