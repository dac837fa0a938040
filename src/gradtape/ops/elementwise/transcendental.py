"""Elementwise functions of analysis: exponentials, logarithms, trigonometry, and the squashing functions."""

from __future__ import annotations

import math

import numpy as np

from ...backends.arrays import into
from ...engine.registry.families import elementwise
from .arithmetic import REAL_FLOATING

exp = elementwise("exp", "exp", args="x", dx=lambda y: y)
expm1 = elementwise("expm1", "expm1", args="x", dx=lambda y: y + 1)
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
    da=lambda a, b: b / (a * a + b * b), db=lambda a, b: -a / (a * a + b * b),
)  # fmt: skip

sinh = elementwise("sinh", "sinh", args="x", dx=lambda m, x: m.cosh(x))
cosh = elementwise("cosh", "cosh", args="x", dx=lambda m, x: m.sinh(x))
tanh = elementwise("tanh", "tanh", args="x", dx=lambda y: 1 - y * y)
asinh = elementwise("asinh", "arcsinh", args="x", dx=lambda m, y: 1 / m.cosh(y))
acosh = elementwise("acosh", "arccosh", args="x", domain=(1.2, 3), dx=lambda m, y: 1 / m.sinh(y))
atanh = elementwise("atanh", "arctanh", args="x", domain=(-0.8, 0.8), dx=lambda x: 1 / (1 - x * x))

_ONE = np.array(1, np.float32)  # of which NumPy need not find out the dtype first


def _sigmoid(xp, x):
    """1 / (1 + exp(-x)). Where exp(-x) overflows, 1 / inf = 0 is the right answer: no case needs another formula."""
    if type(x) is np.ndarray and x.ndim:
        y = np.negative(x)
        return np.reciprocal(np.add(np.exp(y, y), _ONE if y.dtype is _ONE.dtype else 1, y), y)
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
    "softsign", lambda xp, x: x / (1 + abs(x)), on=REAL_FLOATING, dx=lambda m, x: 1 / m.square(1 + m.abs(x))
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
    "xdivy", lambda xp, a, b: _times(xp, a, b, lambda y: 1 / y, 1), domain=(0.5, 2),
    da=lambda m, a, b: m.xdivy(_is_not_zero(m, a), b), db=lambda m, a, b: m.xdivy(-a, b * b),
)  # fmt: skip


def _times(xp, x, y, function, harmless):
    """`x * function(y)`, 0 where x is 0; there the function is called on a harmless value."""
    return x * function(xp.where(x == 0, xp.asarray(harmless, y.dtype), y))


def _is_not_zero(m, x):
    return m.where(m.not_equal(x, m.zeros_like(x)), m.ones_like(x), m.zeros_like(x))
