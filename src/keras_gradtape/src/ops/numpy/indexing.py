"""Indexing: along an axis, diagonals, triangles."""

from __future__ import annotations

import numpy as np
from keras.src.backend.common.backend_utils import vectorize_impl

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ..core import vectorized_map
from .promotion import axes_of, axis_of, summed, tensor
from .shaping import ravel, static

__all__ = [
    "diag", "diagflat", "diagonal", "take", "take_along_axis", "trace", "tril", "triu", "unravel_index", "vectorize",
]  # fmt: skip


def _from_start(indices, size: int) -> Tensor:
    """Converts negative indices, which count from the end, to non-negative ones."""
    at = tensor(indices)
    if not at.dtype.is_integer:
        at = tensor(at, "int32")
    if at.dtype.is_unsigned:
        return at
    return ops.from_start(tensor(at, "int32") if at.dtype.size < 4 else at, size=size)


def take(x, indices, axis=None):
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(x, axis)
    if isinstance(indices, tf.RaggedTensor):
        return tf.gather(x, indices.with_flat_values(_from_start(indices.flat_values, x.dims[axis])), axis=axis)
    at = _from_start(indices, x.dims[axis])
    return ops.gather(x, at, axis=axis, batch=0) if axis else ops.gather_rows(x, at)


def take_along_axis(x, indices, axis=None):
    x, at = tensor(x), tensor(indices)
    if axis is None:
        x, at, axis = ravel(x), ravel(at), 0
    axis = axis_of(x, axis)
    if len(x.dims) != len(at.dims):
        raise ValueError(f"`x` and `indices` must have as many axes. Received: shapes {x.dims} and {at.dims}")
    at = _from_start(at, x.dims[axis])
    shape = np.broadcast_shapes(*(_without(v.dims, axis) for v in (x, at)))
    x, at = (ops.broadcast_to(v, shape=(*shape[:axis], v.dims[axis], *shape[axis + 1 :])) for v in (x, at))
    return ops.take_along(x, at, axis=axis)


def _without(dims: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*dims[:axis], 1, *dims[axis + 1 :])


def diag(x, k=0):
    x = tensor(x)
    if len(x.dims) == 1:
        return diagflat(x, k)
    if len(x.dims) != 2:
        raise ValueError(f"Input must be 1- or 2-d. Received: shape {x.dims}")
    return diagonal(x, k)


def diagflat(x, k=0):
    x = ravel(x)
    n = x.dims[0] + abs(k)
    square = ops.put_diagonal(x, axes=(0, 1), shape=(x.dims[0], x.dims[0]))
    return ops.pad(square, paddings=((max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0)))) if n and k else square


def diagonal(x, offset=0, axis1=0, axis2=1):
    x = tensor(x)
    if len(x.dims) < 2:
        raise ValueError(f"`diagonal` requires a tensor of at least two dimensions. Received: shape {x.dims}")
    first, second = axes_of(x, (axis1, axis2))
    key = [slice(None)] * len(x.dims)
    key[second if offset > 0 else first] = slice(min(abs(offset), x.dims[second if offset > 0 else first]), None)
    return ops.take_diagonal(x[tuple(key)] if offset else x, axes=(first, second))


def trace(x, offset=0, axis1=0, axis2=1):
    found = diagonal(summed(x), offset, axis1, axis2)
    return ops.sum(found, axis=(len(found.dims) - 1,), keepdims=False)


def tril(x, k=0):
    return _triangle(x, lambda rows, columns: columns - rows <= k)


def triu(x, k=0):
    return _triangle(x, lambda rows, columns: columns - rows >= k)


def _triangle(x, kept) -> Tensor:
    x = tensor(x)
    if len(x.dims) < 2:
        raise ValueError(f"A triangle is part of a matrix. Received: shape {x.dims}")
    rows, columns = np.arange(x.dims[-2])[:, None], np.arange(x.dims[-1])
    return ops.where(tensor(kept(rows, columns)), x, ops.zeros_like(x))


def unravel_index(indices, shape):
    at = tensor(indices)
    found, sizes = [], static(shape)
    for n in reversed(sizes):
        found.append(ops.mod(at, tensor(n, at.dtype)))
        at = ops.floordiv(at, tensor(n, at.dtype))
    return tuple(reversed(found))


def vectorize(pyfunc, *, excluded=None, signature=None):
    return vectorize_impl(pyfunc, _mapped, excluded=excluded, signature=signature)


def _mapped(f, in_axes):
    """Maps `f` over the rows of the arguments whose entry in `in_axes` is not None."""

    def call(*args):
        def on_rows(rows):
            row = iter(rows)
            return f(*(arg if axis is None else next(row) for arg, axis in zip(args, in_axes, strict=True)))

        return vectorized_map(on_rows, tuple(arg for arg, axis in zip(args, in_axes, strict=True) if axis is not None))

    return call
