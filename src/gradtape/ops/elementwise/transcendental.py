"""Elementwise functions of analysis: exponentials, logarithms, trigonometry, and the squashing functions."""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import into
from ...engine.registry.families import elementwise
from .arithmetic import REAL_FLOATING

exp = elementwise("exp", "exp", args="x", dx=lambda y: y)
expm1 = elementwise("expm1", "expm1", args="x", dx=lambda m, x: m.exp(x))
log = elementwise("log", "log", args="x", domain=(0.2, 3), dx=lambda x: 1 / x)
log1p = elementwise("log1p", "log1p", args="x", domain=(-0.8, 3), dx=lambda x: 1 / (1 + x))
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
asin = elementwise("asin", "arcsin", args="x", domain=(-0.9, 0.9), dx=lambda m, x: 1 / m.sqrt(1 - x * x))
acos = elementwise("acos", "arccos", args="x", domain=(-0.9, 0.9), dx=lambda m, x: -1 / m.sqrt(1 - x * x))
atan = elementwise("atan", "arctan", args="x", dx=lambda x: 1 / (1 + x * x))
atan2 = elementwise(
    "atan2", "arctan2", args="a b", on=REAL_FLOATING, domain=(0.5, 2),
    # Not by a² + b², which overflows, or is 0, for half of the exponents.
    da=lambda m, a, b: b / (r := m.hypot(a, b)) / r, db=lambda m, a, b: -a / (r := m.hypot(a, b)) / r,
)  # fmt: skip

sinh = elementwise("sinh", "sinh", args="x", dx=lambda m, x: m.cosh(x))
cosh = elementwise("cosh", "cosh", args="x", dx=lambda m, x: m.sinh(x))
tanh = elementwise("tanh", "tanh", args="x", dx=lambda y: 1 - y * y)
# 1 / cosh(y) by half of y: at the largest x, cosh(y) overflows, and the second derivative is NaN.
asinh = elementwise("asinh", "arcsinh", args="x", dx=lambda m, y: 0.5 / (m.square(m.cosh(0.5 * y)) - 0.5))
acosh = elementwise(
    "acosh", "arccosh", args="x", domain=(1.2, 3), dx=lambda m, x: m.rsqrt(x - 1) * m.rsqrt(x + 1)
)
atanh = elementwise("atanh", "arctanh", args="x", domain=(-0.8, 0.8), dx=lambda x: 1 / (1 - x * x))

_ONE = np.array(1, np.float32)  # of which NumPy need not find out the dtype first


def in_single(kernel):
    """A kernel of one argument with float16 computed in float32: between its steps float16 overflows and cancels."""
    return lambda xp, x: kernel(xp, x.astype(np.float32)).astype(x.dtype) if x.dtype.char == "e" else kernel(xp, x)


def _sigmoid(xp, x):
    """1 / (1 + exp(-x)). Where exp(-x) overflows, the answer is subnormal, and 1 / inf = 0 is near enough."""
    if type(x) is np.ndarray and x.ndim:
        y = np.negative(x)
        if y.dtype is _ONE.dtype:
            return np.reciprocal(np.add(np.exp(y, y), _ONE, y), y)
    if x.dtype.char == "e":
        return _sigmoid(xp, x.astype(np.float32)).astype(x.dtype)
    if x.dtype.kind == "c":  # 1 / inf is NaN here
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
    """log(1 + exp(x)), whatever the size of x; `logaddexp` takes twenty times as long."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-abs(x)))


softsign = elementwise(
    "softsign", lambda xp, x: x / (1 + abs(x)), on=REAL_FLOATING, dx=lambda m, x: m.square(1 / (1 + m.abs(x)))
)

# x times a function of y, 0 where x is 0 whatever the function.
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
    da=lambda m, a, b: m.xdivy(_is_not_zero(m, a), b), db=lambda m, y, b: -m.xdivy(y, b),
)  # fmt: skip


def _times(xp, x, y, function, harmless):
    """`x * function(y)`, 0 where x is 0; there the function is called on a harmless value."""
    return x * function(xp.where(x == 0, xp.asarray(harmless, y.dtype), y))


def _is_not_zero(m, x):
    return m.where(m.not_equal(x, m.zeros_like(x)), m.ones_like(x), m.zeros_like(x))
