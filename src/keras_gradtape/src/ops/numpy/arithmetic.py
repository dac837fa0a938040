"""Elementwise arithmetic: sums, products, quotients, remainders, extremes, rounding, signs, complex parts."""

from __future__ import annotations

import gradtape as tf
from gradtape.core.tensor import Tensor
from gradtape.engine.run.namespace import ops
from gradtape.ops.elementwise.arithmetic import power as raised

from ...sparse import intersection, is_sparse, like, on_values, quotient, union
from .promotion import common, dtype_of, floating, numeric, on_bools, promote, promote_floats, tensor, weak

__all__ = [
    "abs", "absolute", "add", "ceil", "clip", "conj", "conjugate", "divide", "divide_no_nan", "fabs", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "gcd", "heaviside", "imag", "lcm", "maximum", "minimum", "mod",
    "multiply", "nan_to_num", "negative", "power", "real", "reciprocal", "round", "sign", "signbit", "square",
    "subtract", "true_divide", "trunc", "view",
]  # fmt: skip


@on_values()
def abs(x):
    return on_bools(ops.abs, tensor(x))


absolute = abs


@union
def add(x1, x2):
    x1, x2 = promote(x1, x2)
    return ops.logical_or(x1, x2) if x1.dtype.is_bool else ops.add(x1, x2)


@on_values()
def ceil(x):
    return ops.ceil(floating(x))


def clip(x, x_min, x_max):
    x = numeric(x)
    for bound, nearer in ((x_min, ops.maximum), (x_max, ops.minimum)):
        if bound is not None:
            x = nearer(x, _bound(bound, x))
    return x


def _bound(bound, x: Tensor) -> Tensor:
    """Converts a clipping bound to the dtype of `x`; truncates and clamps bounds of integer tensors."""
    if isinstance(bound, int | float) and x.dtype.is_integer:
        bound = int(max(min(bound, x.dtype.max), x.dtype.min))
    return tensor(bound, x.dtype)


@on_values(linear=True)
def conjugate(x):
    x = tensor(x)
    return ops.conj(x) if x.dtype.is_complex else x


conj = conjugate


@quotient
def divide(x1, x2):
    return ops.div(*promote_floats(x1, x2))


true_divide = divide


def divide_no_nan(x1, x2):
    return ops.divide_no_nan(*promote_floats(x1, x2))


@on_values()
def fabs(x):
    return ops.abs(floating(x))


@on_values()
def floor(x):
    return ops.floor(floating(x))


def floor_divide(x1, x2):
    x1, x2 = promote(x1, x2)
    return ops.floordiv(*(numeric(x, "int8") for x in (x1, x2)))


def fmax(x1, x2):
    return _ignoring_nan(maximum, *promote(x1, x2))


def fmin(x1, x2):
    return _ignoring_nan(minimum, *promote(x1, x2))


def _ignoring_nan(chosen, x1: Tensor, x2: Tensor) -> Tensor:
    if not x1.dtype.is_floating:
        return chosen(x1, x2)
    first = ops.where(ops.is_nan(x1), x2, x1)
    return chosen(first, ops.where(ops.is_nan(x2), first, x2))


def fmod(x1, x2):
    x1, x2 = (numeric(x) for x in promote(x1, x2))
    return ops.truncatemod(x1, x2)


def gcd(x1, x2):
    return on_bools(ops.gcd, *promote(x1, x2))


def heaviside(x1, x2):
    x1, x2 = (floating(x) for x in promote(x1, x2))
    zero = ops.zeros_like(x1)
    step = ops.where(ops.less(x1, zero), zero, ops.where(ops.equal(x1, zero), x2, ops.ones_like(x1)))
    return ops.where(ops.is_nan(x1), x1, step)


@on_values(linear=True)
def imag(x):
    x = tensor(x)
    return ops.imag(x) if x.dtype.is_complex else ops.zeros_like(x)


def lcm(x1, x2):
    return on_bools(ops.lcm, *promote(x1, x2))


@union
def maximum(x1, x2):
    return on_bools(ops.maximum, *promote(x1, x2))


@union
def minimum(x1, x2):
    return on_bools(ops.minimum, *promote(x1, x2))


def mod(x1, x2):
    x1, x2 = (numeric(x) for x in promote(x1, x2))
    return ops.mod(x1, x2)


@intersection
def multiply(x1, x2):
    return ops.mul(*promote(x1, x2))


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    x = tensor(x)
    if x.dtype.is_complex:
        return ops.complex(*(nan_to_num(part, nan, posinf, neginf) for part in (ops.real(x), ops.imag(x))))
    if not x.dtype.is_floating:
        return x
    infinite, positive = ops.is_inf(x), ops.greater(x, ops.zeros_like(x))
    high = tensor(x.dtype.max if posinf is None else posinf, x.dtype)
    low = tensor(x.dtype.min if neginf is None else neginf, x.dtype)
    x = ops.where(ops.is_nan(x), tensor(nan, x.dtype), x)
    return ops.where(infinite, ops.where(positive, high, low), x)


@on_values(linear=True)
def negative(x):
    return ops.neg(tensor(x))


def power(x1, x2):
    x1, x2 = weak(x1), weak(x2)
    dtype = common(x1, x2)
    if isinstance(x2, int | float) and not dtype.is_bool:
        return raised(tensor(x1, dtype), x2)  # constant exponents have cheaper gradients
    x1, x2 = (tensor(x, dtype) for x in (x1, x2))
    return on_bools(ops.pow, x1, x2) if dtype.is_bool else ops.pow(x1, x2)


@on_values(linear=True)
def real(x):
    x = tensor(x)
    return ops.real(x) if x.dtype.is_complex else x


def reciprocal(x):
    return ops.reciprocal(floating(x))


def round(x, decimals=0):
    if is_sparse(x):
        return like(x, round(x.values, decimals))
    x = tensor(x)
    if not decimals or not (x.dtype.is_floating or x.dtype.is_integer):
        return tf.round(x) if x.dtype.is_floating else numeric(x)
    if x.dtype.is_integer:
        if decimals > 0:
            return x
        unit = 10**-decimals
        return tensor(tf.round(tensor(x, "float64") / unit) * unit, x.dtype)
    return tf.round(x * 10.0**decimals) / 10.0**decimals


@on_values()
def sign(x):
    x = tensor(x)
    return on_bools(ops.sign, x)


@on_values()
def signbit(x):
    x = tensor(x)
    if x.dtype.is_floating:
        return ops.signbit(x)
    return ops.less(numeric(x, "int8"), ops.zeros_like(numeric(x, "int8")))


@on_values()
def square(x):
    return ops.square(numeric(x))


@union
def subtract(x1, x2):
    return ops.sub(*promote(x1, x2))


@on_values()
def trunc(x):
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    return ops.where(ops.less(x, ops.zeros_like(x)), ops.ceil(x), ops.floor(x))


def view(x, dtype=None):
    x = tensor(x)
    target = x.dtype if dtype is None else dtype_of(dtype)
    if x.dtype.size == target.size:
        return tf.bitcast(x, target)
    if not x.dims:
        raise ValueError(f"A scalar of {x.dtype.name} cannot be viewed as {target.name}, which is of another size")
    lead, last = x.dims[:-1], x.dims[-1]
    if x.dtype.size > target.size:
        return ops.reshape(tf.bitcast(x, target), shape=(*lead, last * x.dtype.size // target.size))
    parts = target.size // x.dtype.size
    if last % parts:
        raise ValueError(f"The last axis of shape {x.dims} of {x.dtype.name} does not divide into {target.name}s")
    return tf.bitcast(ops.reshape(x, shape=(*lead, last // parts, parts)), target)
