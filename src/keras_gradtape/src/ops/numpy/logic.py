"""Comparisons, logic, bitwise ops and selection."""

from __future__ import annotations

import builtins
import math

import numpy as np

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from .promotion import axes_of, cast_all, common, numeric, promote, tensor, weak
from .searches import nonzero, searchsorted

__all__ = [
    "all", "allclose", "any", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "equal", "greater", "greater_equal", "isclose", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "left_shift", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "not_equal", "right_shift", "select", "where",
]  # fmt: skip

_FEW = 32  # up to this many values, linear search is faster than sorting


def _truth(x) -> Tensor:
    """Returns whether each element is nonzero."""
    x = tensor(x)
    return x if x.dtype.is_bool else ops.not_equal(x, ops.zeros_like(x))


def _compared(op, x1, x2) -> Tensor:
    return op(*(numeric(x, "uint8") for x in promote(x1, x2)))


def all(x, axis=None, keepdims=False):
    x = _truth(x)
    return ops.all(x, axis=axes_of(x, axis), keepdims=keepdims)


def any(x, axis=None, keepdims=False):
    x = _truth(x)
    return ops.any(x, axis=axes_of(x, axis), keepdims=keepdims)


def allclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    return all(isclose(x1, x2, rtol, atol, equal_nan))


def bitwise_and(x, y):
    return _bits("and", x, y)


def bitwise_or(x, y):
    return _bits("or", x, y)


def bitwise_xor(x, y):
    return _bits("xor", x, y)


def _bits(name: str, x, y) -> Tensor:
    x, y = promote(x, y)
    return getattr(ops, f"logical_{name}" if x.dtype.is_bool else f"bitwise_{name}")(x, y)


def bitwise_not(x):
    x = tensor(x)
    return ops.logical_not(x) if x.dtype.is_bool else ops.invert(x)


bitwise_invert = bitwise_not


def bitwise_left_shift(x, y):
    return ops.left_shift(*(numeric(v) for v in promote(x, y)))


left_shift = bitwise_left_shift


def bitwise_right_shift(x, y):
    return ops.right_shift(*(numeric(v) for v in promote(x, y)))


right_shift = bitwise_right_shift


def equal(x1, x2):
    return ops.equal(*promote(x1, x2))


def greater(x1, x2):
    return _compared(ops.greater, x1, x2)


def greater_equal(x1, x2):
    return _compared(ops.greater_equal, x1, x2)


def isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    x1, x2 = weak(x1), weak(x2)
    x1, x2 = cast_all((x1, x2), common(x1, x2, float))
    finite = ops.logical_and(isfinite(x1), isfinite(x2))
    near = ops.less_equal(ops.abs(x1 - x2), atol + rtol * ops.abs(x2))
    close = ops.logical_or(ops.logical_and(finite, near), ops.equal(x1, x2))
    return ops.logical_or(close, ops.logical_and(isnan(x1), isnan(x2))) if equal_nan else close


def isfinite(x):
    return _on_floats(ops.is_finite, x, True)


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


def isinf(x):
    return _on_floats(ops.is_inf, x, False)


def isnan(x):
    return _on_floats(ops.is_nan, x, False)


def _on_floats(op, x, otherwise: bool) -> Tensor:
    """Applies a predicate on floats; its result for other dtypes is constant."""
    x = tensor(x)
    if x.dtype.is_complex:
        join = ops.logical_and if otherwise else ops.logical_or
        return join(op(ops.real(x)), op(ops.imag(x)))
    if x.dtype.is_floating:
        return op(x)
    return tf.fill(x.dims, otherwise)


def isneginf(x):
    return _infinite(x, -np.inf)


def isposinf(x):
    return _infinite(x, np.inf)


def _infinite(x, value: float) -> Tensor:
    return _on_floats(lambda x: ops.equal(x, tensor(value, x.dtype)), x, False)


def isreal(x):
    x = tensor(x)
    if not x.dtype.is_complex:
        return tf.fill(x.dims, True)
    imaginary = ops.imag(x)
    return ops.equal(imaginary, ops.zeros_like(imaginary))


def less(x1, x2):
    return _compared(ops.less, x1, x2)


def less_equal(x1, x2):
    return _compared(ops.less_equal, x1, x2)


def logical_and(x1, x2):
    return ops.logical_and(_truth(x1), _truth(x2))


def logical_not(x):
    return ops.logical_not(_truth(x))


def logical_or(x1, x2):
    return ops.logical_or(_truth(x1), _truth(x2))


def logical_xor(x1, x2):
    return ops.logical_xor(_truth(x1), _truth(x2))


def not_equal(x1, x2):
    return ops.not_equal(*promote(x1, x2))


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError(f"{len(condlist)} conditions select among {len(choicelist)} choices: give one for each")
    values = list(promote(*choicelist, default))
    chosen = values.pop()
    for condition, value in builtins.reversed(list(zip(condlist, values, strict=True))):
        chosen = ops.where(_truth(condition), value, chosen)
    return chosen


def where(condition, x1=None, x2=None):
    if (x1 is None) != (x2 is None):
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    if x1 is None:
        return nonzero(condition)
    return ops.where(_truth(condition), *promote(x1, x2))
