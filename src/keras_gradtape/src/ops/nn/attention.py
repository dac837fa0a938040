"""Dot-product attention: for each query the mean of the values, weighted by the softmax of its scores."""

from __future__ import annotations

import math

from keras.src.backend.common.dtypes import result_type

from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from ..core import cast
from ..core import dense_tensor as convert_to_tensor


def dot_product_attention(
    query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
    attn_logits_soft_cap=None,
):  # fmt: skip
    """Attention of `(batch, time, heads, depth)`; the op never stores all weights, whatever `flash_attention` says."""
    q, k, v = convert_to_tensor(query), convert_to_tensor(key), convert_to_tensor(value)
    if any(len(x.dims) != 4 for x in (q, k, v)):
        raise ValueError(
            f"`dot_product_attention` only supports 4D inputs. Received: query.shape={q.dims}, key.shape={k.dims}, "
            f"value.shape={v.dims}."
        )
    dtype = result_type(q.dtype.name, k.dtype.name, v.dtype.name)
    if scale is not None and not isinstance(scale, (int, float)):  # it may be a variable
        q, scale = q * cast(convert_to_tensor(scale), q.dtype), 1.0
    batch = max(q.dims[0], k.dims[0], v.dims[0]) if q.dims[0] else 0
    q, k, v = (_of_batch(cast(x, dtype), batch) for x in (q, k, v))
    matrices = (batch, q.dims[2], q.dims[1], k.dims[1])
    extras = []
    if bias is not None:
        extras.append(_of_scores("bias", cast(convert_to_tensor(bias), dtype), matrices))
    if mask is not None:
        extras.append(_of_scores("mask", cast(convert_to_tensor(mask), "bool"), matrices))
    factor = 1.0 / math.sqrt(max(k.dims[3], 1)) if scale is None else float(scale)
    return ops.scaled_dot_product_attention(
        q, k, v, *extras, scale=factor, causal=bool(is_causal), biased=bias is not None
    )


def _of_batch(x: Tensor, batch: int) -> Tensor:
    return x if x.dims[0] == batch else ops.broadcast_to(x, shape=(batch, *x.dims[1:]))


def _of_scores(name: str, x: Tensor, matrices: tuple[int, ...]) -> Tensor:
    """Returns a bias or mask with the four axes of the scores, each of their size or 1."""
    dims = (1,) * (4 - len(x.dims)) + x.dims
    if len(dims) != 4 or any(n not in (1, size) for n, size in zip(dims, matrices, strict=True)):
        raise ValueError(
            f"`{name}` must be broadcastable to (batch, heads, queries, keys) = {matrices}. Received: "
            f"{name}.shape={x.dims}."
        )
    return x if len(x.dims) == 4 else ops.reshape(x, shape=dims)
