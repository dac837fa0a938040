"""Membership."""

from __future__ import annotations

import math

from gradtape.engine.run.namespace import ops

from .order import searchsorted
from .promotion import numeric, promote, tensor

__all__ = ["isin"]

_FEW = 32  # up to this many values, linear search is faster than sorting


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
