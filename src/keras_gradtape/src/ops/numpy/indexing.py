"""Indexing along an axis, and functions mapped over entries."""

from __future__ import annotations

from keras.src.backend.common.backend_utils import vectorize_impl

import gradtape as tf
from gradtape.api.experimental.numpy.shaping import from_start
from gradtape.engine.run.namespace import ops

from ..core import vectorized_map
from .promotion import axis_of, summed, tensor
from .shaping import static
from .shared import diagonal, ravel

__all__ = ["take", "trace", "unravel_index", "vectorize"]


def take(x, indices, axis=None):
    x = tensor(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(x, axis)
    if isinstance(indices, tf.RaggedTensor):
        return tf.gather(x, indices.with_flat_values(from_start(indices.flat_values, x.dims[axis])), axis=axis)
    at = from_start(tensor(indices), x.dims[axis])
    return ops.gather(x, at, axis=axis, batch=0) if axis else ops.gather_rows(x, at)


def trace(x, offset=0, axis1=0, axis2=1):
    found = diagonal(summed(x), offset, axis1, axis2)
    return ops.sum(found, axis=(len(found.dims) - 1,), keepdims=False)


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
