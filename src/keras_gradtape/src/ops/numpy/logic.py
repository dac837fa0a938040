"""Truth of arrays, membership and selection."""

from __future__ import annotations

import math

from gradtape.engine.run.namespace import ops

from .order import nonzero, searchsorted
from .promotion import axes_of, numeric, promote, tensor, truth

__all__ = ["all", "any", "isin", "where"]

_FEW = 32  # up to this many values, linear search is faster than sorting


def all(x, axis=None, keepdims=False):
    x = truth(x)
    return ops.all(x, axis=axes_of(x, axis), keepdims=keepdims)


def any(x, axis=None, keepdims=False):
    x = truth(x)
    return ops.any(x, axis=axes_of(x, axis), keepdims=keepdims)


def isin(x1, x2, assume_unique=False, invert=False):
    x1, x2 = (numeric(x, "uint8") for x in promote(x1, x2))
    count = math.prod(x2.dims)
    sought = ops.reshape(x2, shape=(count,))
    if count <= _FEW or x2.dtype.is_complex:
        found = ops.any(ops.equal(ops.reshape(x1, shape=(*x1.dims, 1)), sought), axis=(len(x1.dims),), keepdims=False)
    else:
        ordered = ops.sort(sought, axis=0)
        place = ops.minimum(searchsorted(ordered, x1), tensor(count - 1, "int32"))
        found = ops.equal(ops.gather(ordered, place, axis=0, batch=0), x1)
    return ops.logical_not(found) if invert else found


def where(condition, x1=None, x2=None):
    if (x1 is None) != (x2 is None):
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    if x1 is None:
        return nonzero(condition)
    return ops.where(truth(condition), *promote(x1, x2))
