"""Elementwise transcendental functions: exponentials, logarithms, trigonometry, and sigmoid-like functions."""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import astype, into, is_half, join_parts, kind_of, positive_part
from ...engine.registry.families import elementwise
from .arithmetic import REAL_FLOATING

exp = elementwise("exp", "exp", args="x", dx=lambda y: y)
expm1 = elementwise("expm1", "expm1", args="x", dx=lambda m, x: m.exp(x))
log = elementwise("log", "log", args="x", domain=(0.2, 3), dx=lambda x: 1 / x)


def _log1p(xp, x):
    """log(1 + x), accurate for small complex numbers, for which NumPy's complex log1p loses all digits."""
    if kind_of(x) != "c":
        return xp.log1p(x)
    a, b = x.real, x.imag
    near = xp.maximum(abs(a), abs(b)) < 0.5
    small, beside = xp.where(near, a, 0), xp.where(near, b, 0)
    # Near 0, log |1 + x| is log1p(|1 + x|² - 1) / 2; elsewhere it is computed from (1 + x) / 2, which does not
    # overflow.
    size = xp.hypot(0.5 * xp.where(near, 0, a) + 0.5, 0.5 * b)
    real = xp.where(near, 0.5 * xp.log1p(small * (2 + small) + beside * beside), xp.log(size) + math.log(2))
    return join_parts(xp, real, xp.arctan2(b, 1 + a))


log1p = elementwise("log1p", _log1p, domain=(-0.8, 3), dx=lambda x: 1 / (1 + x))
exp2 = elementwise("exp2", "exp2", args="x", on=REAL_FLOATING, dx=lambda y: y * math.log(2))
log2 = elementwise("log2", "log2", args="x", on=REAL_FLOATING, domain=(0.2, 3), dx=lambda x: (1 / math.log(2)) / x)
log10 = elementwise("log10", "log10", args="x", on=REAL_FLOATING, domain=(0.2, 3), dx=lambda x: (1 / math.log(10)) / x)
logaddexp = elementwise(
    "logaddexp", "logaddexp", args="a b", on=REAL_FLOATING, da=lambda m, a, b: m.sigmoid(a - b),
    db=lambda m, a, b: m.sigmoid(b - a),
)  # fmt: skip
cbrt = elementwise("cbrt", "cbrt", args="x", on=REAL_FLOATING, domain=(0.2, 3), dx=lambda y: (1 / 3) / (y * y))
hypot = elementwise(
    "hypot", "hypot", args="a b", on=REAL_FLOATING, domain=(0.5, 2),
    da=lambda m, a, y: m.divide_no_nan(a, y), db=lambda m, b, y: m.divide_no_nan(b, y),
)  # fmt: skip

sin = elementwise("sin", "sin", args="x", dx=lambda m, x: m.cos(x))
cos = elementwise("cos", "cos", args="x", dx=lambda m, x: -m.sin(x))
tan = elementwise("tan", "tan", args="x", domain=(-1, 1), dx=lambda y: 1 + y * y)


# The derivatives of the inverse functions are ops of their own, whose derivatives do not cancel near 0. They avoid x²,
# which overflows for half of the range of complex numbers, where the derivative is not 0.


def _turned(xp, x):
    """Multiplies complex numbers by i."""
    return join_parts(xp, -x.imag, x.real)


def _asin_slope(xp, x):
    """1 / √(1 - x²)."""
    if kind_of(x) != "c":
        return 1 / xp.sqrt((1 - x) * (1 + x))
    return (1 / xp.sqrt(1 - x)) * (1 / xp.sqrt(1 + x))


asin_slope = elementwise("asin_slope", _asin_slope, domain=(-0.9, 0.9), dx=lambda x, y: x * y * y * y)
asin = elementwise("asin", "arcsin", args="x", domain=(-0.9, 0.9), dx=lambda m, x: m.asin_slope(x))
acos = elementwise("acos", "arccos", args="x", domain=(-0.9, 0.9), dx=lambda m, x: -m.asin_slope(x))


def _atan_slope(xp, x):
    """1 / (1 + x²); for complex numbers the product of 1 / (1 + ix) and 1 / (1 - ix)."""
    if kind_of(x) != "c":
        return 1 / (1 + x * x)
    turned = _turned(xp, x)
    return (1 / (1 + turned)) * (1 / (1 - turned))


atan_slope = elementwise("atan_slope", _atan_slope, dx=lambda x, y: x * y * y * -2)
atan = elementwise("atan", "arctan", args="x", dx=lambda m, x: m.atan_slope(x))
atan2 = elementwise(
    "atan2", "arctan2", args="a b", on=REAL_FLOATING, domain=(0.5, 2),
    # Not by a² + b², which overflows or underflows for half of the exponents; XLA would fuse two divisions by r into
    # r².
    da=lambda m, a, b: b / (r := m.hypot(a, b)) * (1 / r), db=lambda m, a, b: -a / (r := m.hypot(a, b)) * (1 / r),
)  # fmt: skip

sinh = elementwise("sinh", "sinh", args="x", dx=lambda m, x: m.cosh(x))
cosh = elementwise("cosh", "cosh", args="x", dx=lambda m, x: m.sinh(x))
tanh = elementwise("tanh", "tanh", args="x", dx=lambda y: 1 - y * y)


def _asinh_slope(xp, x):
    """1 / √(1 + x²); for complex numbers the product of the inverse roots of 1 + ix and 1 - ix."""
    if kind_of(x) != "c":
        return 1 / xp.hypot(x, 1)
    turned = _turned(xp, x)
    return (1 / xp.sqrt(1 + turned)) * (1 / xp.sqrt(1 - turned))


asinh_slope = elementwise("asinh_slope", _asinh_slope, dx=lambda x, y: -x * y * y * y)
asinh = elementwise("asinh", "arcsinh", args="x", dx=lambda m, x: m.asinh_slope(x))
acosh = elementwise(
    "acosh", "arccosh", args="x", domain=(1.2, 3), dx=lambda m, x: m.rsqrt(x - 1) * m.rsqrt(x + 1)
)
atanh_slope = elementwise(
    "atanh_slope", lambda xp, x: (1 / (1 - x)) * (1 / (1 + x)), domain=(-0.8, 0.8), dx=lambda x, y: x * y * y * 2
)
atanh = elementwise("atanh", "arctanh", args="x", domain=(-0.8, 0.8), dx=lambda m, x: m.atanh_slope(x))

_ONE = np.array(1, np.float32)  # a typed scalar, which saves NumPy the dtype lookup


def in_single(kernel):
    """Wraps a unary kernel to compute float16 in float32: its intermediate results overflow and cancel in float16."""
    return lambda xp, x: astype(kernel(xp, astype(x, np.float32)), x.dtype) if is_half(x) else kernel(xp, x)


def _sigmoid(xp, x):
    """1 / (1 + exp(-x)). Where exp(-x) overflows, the result is subnormal, and 1 / inf = 0 is close enough."""
    if type(x) is np.ndarray and x.ndim:
        y = np.negative(x)
        if y.dtype is _ONE.dtype:
            return np.reciprocal(np.add(np.exp(y, y), _ONE, y), y)
    if is_half(x):
        return astype(_sigmoid(xp, astype(x, np.float32)), x.dtype)
    if kind_of(x) == "c":  # 1 / inf is NaN here
        low = x.real < 0
        decay = xp.exp(xp.where(low, x, -x))
        return xp.where(low, decay, 1) / (1 + decay)
    return into(xp.reciprocal, into(xp.add, into(xp.exp, -x), 1))


sigmoid = elementwise("sigmoid", _sigmoid, dx=lambda y: y * (1 - y))
softplus = elementwise("softplus", lambda xp, x: _softplus(xp, x), on=REAL_FLOATING, dx=lambda m, x: m.sigmoid(x))
log_sigmoid = elementwise(
    "log_sigmoid", lambda xp, x: -_softplus(xp, -x), on=REAL_FLOATING, dx=lambda m, x: m.sigmoid(-x)
)


def _softplus(xp, x):
    """log(1 + exp(x)) without overflow; `logaddexp` takes twenty times as long."""
    above = positive_part(xp, x)
    return above + xp.log1p(xp.exp(-abs(x)))


softsign = elementwise(
    "softsign", lambda xp, x: x / (1 + abs(x)), on=REAL_FLOATING, dx=lambda m, x: m.square(1 / (1 + m.abs(x)))
)

# x times a function of y; 0 where x is 0, whatever the function's value.
xlogy = elementwise(
    "xlogy", lambda xp, a, b: _times(xp, a, b, xp.log, 1), domain=(0.5, 2),
    da=lambda m, a, b: m.xlogy(_is_not_zero(m, a), b), db=lambda m, a, b: m.xdivy(a, b),
)  # fmt: skip
xlog1py = elementwise(
    "xlog1py", lambda xp, a, b: _times(xp, a, b, xp.log1p, 0), domain=(0.5, 2),
    da=lambda m, a, b: m.xlog1py(_is_not_zero(m, a), b), db=lambda m, a, b: m.xdivy(a, b + 1),
)  # fmt: skip
xdivy = elementwise(
    "xdivy", lambda xp, a, b: a / xp.where(a == 0, xp.asarray(1, b.dtype), b), domain=(0.5, 2),
    # The sign is applied between the two divisions by b, which XLA would otherwise fuse into one by b².
    da=lambda m, a, b: m.xdivy(_is_not_zero(m, a), b), db=lambda m, y, b: m.xdivy(-y, b),
)  # fmt: skip


def _times(xp, x, y, function, harmless):
    """`x * function(y)`, 0 where x is 0: the function is called on a harmless value there."""
    return x * function(xp.where(x == 0, xp.asarray(harmless, y.dtype), y))


def _is_not_zero(m, x):
    return m.where(m.not_equal(x, m.zeros_like(x)), m.ones_like(x), m.zeros_like(x))
