"""Sums of products: matrices, tensors, vectors; correlations."""

from __future__ import annotations

import math

import gradtape as tf
from gradtape.core.dtypes import int8, int32
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ... import sparse
from .promotion import axis_of, cast_all, common, floating, on_bools, promote, tensor
from .shaping import flip, moveaxis, ravel

__all__ = [
    "corrcoef", "correlate", "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "slogdet", "tensordot",
    "vdot",
]  # fmt: skip


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


def cross(x1, x2, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = promote(x1, x2)
    a, b = moveaxis(x1, axisa, -1), moveaxis(x2, axisb, -1)
    for v in (a, b):
        if v.dims[-1] not in (2, 3):
            raise ValueError(f"Vectors of a cross product have 2 or 3 components. Received: {x1.dims} and {x2.dims}")
    flat = a.dims[-1] == b.dims[-1] == 2
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    last = ops.sub(ops.mul(a0, b1), ops.mul(a1, b0))
    if flat:
        return last
    a2 = a[..., 2] if a.dims[-1] == 3 else ops.zeros_like(a0)
    b2 = b[..., 2] if b.dims[-1] == 3 else ops.zeros_like(b0)
    y = ops.stack(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last, axis=len(last.dims))
    return moveaxis(y, -1, axisc)


def dot(x1, x2):
    x1, x2 = promote(x1, x2)
    if not x1.dims or not x2.dims:
        return ops.mul(x1, x2)
    return _tensordot(x1, x2, ([len(x1.dims) - 1], [max(len(x2.dims) - 2, 0)]))


def _tensordot(x1: Tensor, x2: Tensor, axes) -> Tensor:
    return on_bools(lambda a, b: tf.tensordot(a, b, axes), x1, x2)


def einsum(subscripts, *operands, **kwargs):
    if not operands or not isinstance(subscripts, str):
        raise ValueError(f"The subscripts of `einsum` must be a string. Received: {subscripts!r}")
    return on_bools(lambda *xs: tf.einsum(subscripts, *xs), *_factors(*operands))


def inner(x1, x2):
    x1, x2 = promote(x1, x2)
    if not x1.dims or not x2.dims:
        return ops.mul(x1, x2)
    return _tensordot(x1, x2, ([len(x1.dims) - 1], [len(x2.dims) - 1]))


def kron(x1, x2):
    x1, x2 = promote(x1, x2)
    rank = max(len(x1.dims), len(x2.dims))
    a, b = ((1,) * (rank - len(x.dims)) + x.dims for x in (x1, x2))
    first = ops.reshape(x1, shape=tuple(n for d in a for n in (d, 1)))
    second = ops.reshape(x2, shape=tuple(n for d in b for n in (1, d)))
    return ops.reshape(ops.mul(first, second), shape=tuple(p * q for p, q in zip(a, b, strict=True)))


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


def outer(x1, x2):
    x1, x2 = promote(x1, x2)
    return ops.mul(ops.reshape(x1, shape=(math.prod(x1.dims), 1)), ravel(x2))


def slogdet(x):
    sign, logarithm = tf.linalg.slogdet(floating(x))
    return sign, logarithm


def tensordot(x1, x2, axes=2):
    x1, x2 = promote(x1, x2)
    if isinstance(axes, int):
        first, second = list(range(len(x1.dims) - axes, len(x1.dims))), list(range(axes))
    else:
        first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    return _tensordot(x1, x2, ([axis_of(x1, a) for a in first], [axis_of(x2, a) for a in second]))


def vdot(x1, x2):
    x1, x2 = (ravel(x) for x in promote(x1, x2))
    x1 = ops.conj(x1) if x1.dtype.is_complex else x1
    y = on_bools(ops.matmul, ops.reshape(x1, shape=(1, -1)), ops.reshape(x2, shape=(-1, 1)))
    return ops.reshape(y, shape=())
