"""Sums of products: matrices, tensors, vectors; correlations."""

from __future__ import annotations

import gradtape as tf
from gradtape.core.dtypes import int8, int32
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ... import sparse
from .promotion import cast_all, common, floating, on_bools, promote, tensor
from .shared import flip, ravel

__all__ = ["corrcoef", "correlate", "cov", "einsum", "matmul", "slogdet"]


def _factors(*given) -> list[Tensor]:
    """Returns the factors in their common dtype; products of int8 accumulate in int32."""
    xs = [x if isinstance(x, Tensor) else tensor(x) for x in given]
    return cast_all(xs, "int32") if all(x.dtype is int8 for x in xs) else promote(*xs)


def corrcoef(x):
    x = floating(x)
    x = ops.reshape(x, shape=(1, *x.dims)) if len(x.dims) < 2 else x
    apart = x - ops.mean(x, axis=(1,), keepdims=True)
    products = ops.matmul(apart, apart, transpose_b=True)
    lengths = ops.sqrt(ops.take_diagonal(products, axes=(0, 1)))
    products = products / ops.reshape(lengths, shape=(-1, 1)) / lengths
    y = ops.maximum(ops.minimum(products, ops.ones_like(products)), -ops.ones_like(products))
    return ops.reshape(y, shape=()) if y.dims == (1, 1) else y


def correlate(x1, x2, mode="valid"):
    x1, x2 = promote(x1, x2)
    x1, x2 = (x if x.dtype.is_floating else tensor(x, "float32") for x in (x1, x2))
    if len(x1.dims) != 1 or len(x2.dims) != 1:
        raise ValueError(f"Only 1-D tensors are correlated. Received: shapes {x1.dims} and {x2.dims}")
    swapped = x1.dims[0] < x2.dims[0]
    long, short = (x2, x1) if swapped else (x1, x2)
    m = short.dims[0]
    before = {"valid": 0, "same": m // 2, "full": m - 1}.get(mode)
    if before is None:
        raise ValueError(f"`mode` must be 'valid', 'same' or 'full'. Received: mode={mode}")
    after = m - 1 - before if mode == "same" else before
    rows = ops.reshape(ops.pad(long, paddings=((before, after),)), shape=(1, long.dims[0] + before + after, 1))
    y = ravel(tf.nn.conv1d(rows, ops.reshape(short, shape=(m, 1, 1)), stride=1, padding="VALID"))
    return flip(y) if swapped else y


def cov(x):
    x = floating(tensor(x, "float64") if tensor(x).dtype.name == "int64" else x)
    if len(x.dims) > 2:
        raise ValueError(f"Input tensor must have at most 2 dimensions. Received: x.shape={x.dims}")
    if not x.dims:
        return tensor(float("nan"), x.dtype)  # there is nothing over which it varies
    x = ops.reshape(x, shape=(1, *x.dims)) if len(x.dims) < 2 else x
    apart = x - ops.mean(x, axis=(1,), keepdims=True)
    y = ops.matmul(apart, ops.conj(apart), transpose_b=True) / (x.dims[1] - 1)
    return ops.reshape(y, shape=()) if y.dims == (1, 1) else y


def einsum(subscripts, *operands, **kwargs):
    if not operands or not isinstance(subscripts, str):
        raise ValueError(f"The subscripts of `einsum` must be a string. Received: {subscripts!r}")
    return on_bools(lambda *xs: tf.einsum(subscripts, *xs), *_factors(*operands))


def matmul(x1, x2):
    if not (type(x1) is Tensor is type(x2)) and (sparse.is_sparse(x1) or sparse.is_sparse(x2)):
        return _sparse_matmul(x1, x2)
    x1, x2 = _factors(x1, x2)
    if not x1.dims or not x2.dims:
        raise ValueError(f"A scalar has no matrix product. Received: shapes {x1.dims} and {x2.dims}. Use `multiply`")
    row, column = len(x1.dims) == 1, len(x2.dims) == 1
    a = ops.reshape(x1, shape=(1, *x1.dims)) if row else x1
    b = ops.reshape(x2, shape=(*x2.dims, 1)) if column else x2
    y = on_bools(ops.matmul, a, b)
    if not (row or column):
        return y
    kept = y.dims[: -2 if row and column else -1] if column else (*y.dims[:-2], y.dims[-1])
    return ops.reshape(y, shape=kept)


def _sparse_matmul(x1, x2):
    x1, x2 = (x if sparse.is_sparse(x) else tensor(x) for x in (x1, x2))
    dtype = int32 if x1.dtype is x2.dtype is int8 else common(x1.dtype, x2.dtype)
    return sparse.matmul(tf.cast(x1, dtype), tf.cast(x2, dtype), matmul)


def slogdet(x):
    sign, logarithm = tf.linalg.slogdet(floating(x))
    return sign, logarithm
