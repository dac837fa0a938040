"""Truth of arrays, tolerant comparison and selection."""

from __future__ import annotations

import builtins
import math

from gradtape.engine.run.namespace import ops

from .elementwise import isfinite, isnan
from .promotion import axes_of, cast_all, common, numeric, promote, tensor, truth, weak
from .searches import nonzero, searchsorted

__all__ = ["all", "allclose", "any", "isclose", "isin", "select", "where"]

_FEW = 32  # up to this many values, linear search is faster than sorting


def all(x, axis=None, keepdims=False):
    x = truth(x)
    return ops.all(x, axis=axes_of(x, axis), keepdims=keepdims)


def any(x, axis=None, keepdims=False):
    x = truth(x)
    return ops.any(x, axis=axes_of(x, axis), keepdims=keepdims)


def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    return all(isclose(x1, x2, rtol, atol, equal_nan))


def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    x1, x2 = weak(x1), weak(x2)
    x1, x2 = cast_all((x1, x2), common(x1, x2, float))
    finite = ops.logical_and(isfinite(x1), isfinite(x2))
    near = ops.less_equal(ops.abs(x1 - x2), atol + rtol * ops.abs(x2))
    close = ops.logical_or(ops.logical_and(finite, near), ops.equal(x1, x2))
    return ops.logical_or(close, ops.logical_and(isnan(x1), isnan(x2))) if equal_nan else close


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


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(f"{len(condlist)} conditions select among {len(choicelist)} choices: give one for each")
    values = list(promote(*choicelist, default))
    chosen = values.pop()
    for condition, value in builtins.reversed(list(zip(condlist, values, strict=True))):
        chosen = ops.where(truth(condition), value, chosen)
    return chosen


def where(condition, x1=None, x2=None):
    if (x1 is None) != (x2 is None):
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    if x1 is None:
        return nonzero(condition)
    return ops.where(truth(condition), *promote(x1, x2))
