"""Floating-point functions: exponentials, logarithms, trigonometry, roots. Integers become floats."""

from __future__ import annotations

import math

from gradtape.core.dtypes import int16
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops

from ...sparse import on_values
from .promotion import common, floating, promote_floats, tensor

__all__ = [
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "i0",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "nextafter",
    "rad2deg",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]  # fmt: skip


def angle(x):
    x = floating(x)
    if x.dtype.is_complex:
        return ops.angle(x)
    return ops.where(ops.is_nan(x), x, ops.where(ops.signbit(x), math.pi, ops.zeros_like(x)))


def arccos(x):
    return ops.acos(floating(x))


def arccosh(x):
    return ops.acosh(floating(x))


@on_values()
def arcsin(x):
    return ops.asin(floating(x))


@on_values()
def arcsinh(x):
    return ops.asinh(floating(x))


@on_values()
def arctan(x):
    return ops.atan(floating(x))


def arctan2(x1, x2):
    return ops.atan2(*promote_floats(x1, x2))


@on_values()
def arctanh(x):
    return ops.atanh(floating(x))


@on_values()
def cbrt(x):
    return ops.cbrt(floating(x))


def cos(x):
    return ops.cos(floating(x))


def cosh(x):
    return ops.cosh(floating(x))


@on_values(linear=True)
def deg2rad(x):
    return floating(x) * (math.pi / 180)


def exp(x):
    return ops.exp(floating(x))


def exp2(x):
    return ops.exp2(floating(x))


@on_values()
def expm1(x):
    return ops.expm1(floating(x))


def hypot(x1, x2):
    return ops.hypot(*promote_floats(x1, x2))


def i0(x):
    return ops.bessel_i0(floating(x))


def ldexp(x1, x2):
    x1, x2 = tensor(x1), tensor(x2)
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype.name}")
    dtype = common(x1, x2, float)
    return tensor(x1, dtype) * ops.exp2(tensor(x2, dtype))


def log(x):
    return ops.log(floating(x))


def log10(x):
    return ops.log10(floating(x))


@on_values()
def log1p(x):
    return ops.log1p(floating(x))


def log2(x):
    return ops.log2(floating(x))


def logaddexp(x1, x2):
    return ops.logaddexp(*promote_floats(x1, x2))


def logaddexp2(x1, x2):
    a, b = promote_floats(x1, x2)
    return ops.logaddexp(a * math.log(2), b * math.log(2)) * (1 / math.log(2))


def nextafter(x1, x2):
    a, b = promote_floats(x1, x2)
    return _next_bfloat16(a, b) if a.dtype.narrow else ops.nextafter(a, b)


def _next_bfloat16(a: Tensor, b: Tensor) -> Tensor:
    """Steps through the bit patterns: floats of one sign are ordered like the integers with the same bits."""
    zero = ops.zeros_like(a)
    bits, up = ops.bitcast(a, dtype=int16), ops.greater(b, a)
    stepped = ops.where(ops.equal(up, ops.greater(a, zero)), bits + 1, bits - 1)
    smallest = ops.where(up, tensor(1, int16), tensor(1 - 2**15, int16))
    moved = ops.bitcast(ops.where(ops.equal(a, zero), smallest, stepped), dtype=a.dtype)
    return ops.where(ops.logical_or(ops.equal(a, b), ops.is_nan(a + b)), a * 0 + b, moved)


@on_values(linear=True)
def rad2deg(x):
    return floating(x) * (180 / math.pi)


@on_values()
def sin(x):
    return ops.sin(floating(x))


def sinc(x):
    x = floating(x) * math.pi
    nonzero = ops.not_equal(x, ops.zeros_like(x))
    apart = ops.where(nonzero, x, ops.ones_like(x))  # keeps the gradient of the unselected branch free of NaN
    return ops.where(nonzero, ops.sin(apart) / apart, 1 - ops.square(x) / 6)


@on_values()
def sinh(x):
    return ops.sinh(floating(x))


@on_values()
def sqrt(x):
    return ops.sqrt(floating(x))


@on_values()
def tan(x):
    return ops.tan(floating(x))


@on_values()
def tanh(x):
    return ops.tanh(floating(x))
