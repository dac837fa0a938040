"""Elementwise arithmetic: sums, products, quotients and remainders, minima and maxima, rounding and powers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...backends.arrays import astype, can_read_values, kind_of, masked
from ...core import dtypes
from ...core.dtypes import FLOAT, FLOATING, INT, NARROW, NUMERIC, STRING
from ...core.tensor import Tensor, is_tensor_like
from ...engine.registry.families import NEG, ONE, Mask, ZeroWins, elementwise
from ...engine.registry.op import sample
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops

REAL = INT | FLOAT | NARROW
REAL_FLOATING = FLOAT | NARROW


def _add_strings(a, b):
    a, b = to_tensor(a), to_tensor(b)
    return concat_strings(a, b) if a.dtype is b.dtype is dtypes.string else NotImplemented


def _multiply_bools(a, b):
    a, b = to_tensor(a), to_tensor(b)
    return ops.logical_and(a, b) if a.dtype is b.dtype is dtypes.bool else NotImplemented


def _divided(name):
    """Casts integers to floats wide enough to hold them before a division; raises for tensors of different dtypes."""

    def otherwise(a, b):
        a, b = _alike(a, b)
        if a.dtype is not b.dtype:
            raise TypeError(f"`x` and `y` must have the same dtype, got {a.dtype!r} != {b.dtype!r}. Use tf.cast")
        if a.dtype.kind & FLOATING:
            return NotImplemented
        if not a.dtype.is_integer:
            raise TypeError(f"Invalid dtype {a.dtype!r} in a division: expected numbers. Use tf.cast")
        dtype = dtypes.float32 if a.dtype.size < 4 else dtypes.float64
        return getattr(ops, name)(ops.cast(a, dtype=dtype), ops.cast(b, dtype=dtype))

    return otherwise


def _alike(a, b):
    """Converts two values to tensors: a Python number or an array takes the dtype of the other, where possible."""
    if is_tensor_like(b) and not is_tensor_like(a):
        b = to_tensor(b)
        return to_tensor(a, dtype=b.dtype), b
    a = to_tensor(a)
    return a, to_tensor(b, dtype=a.dtype) if isinstance(b, np.ndarray | np.generic) else to_tensor(b, hint=a.dtype)


add = elementwise("add", operator.add, args="a b", on=NUMERIC, otherwise=_add_strings, da=ONE, db=ONE)
sub = elementwise("sub", operator.sub, args="a b", on=NUMERIC, da=ONE, db=NEG)
mul = elementwise(
    "mul", operator.mul, args="a b", on=NUMERIC, otherwise=_multiply_bools, da=lambda b: b, db=lambda a: a
)
div = elementwise(
    "div", operator.truediv, args="a b", domain=(0.5, 2), otherwise=_divided("div"),
    da=lambda b: 1 / b, db=lambda y, b: -y / b,
)  # fmt: skip
neg = elementwise("neg", operator.neg, args="x", on=NUMERIC, dx=NEG)
square = elementwise("square", lambda xp, x: x * x, on=NUMERIC, dx=lambda x: 2 * x)
reciprocal = elementwise("reciprocal", lambda xp, x: 1 / x, domain=(0.5, 2), dx=lambda y: -y * y)


def _squared_distance(a, b):
    a, b = _alike(a, b)
    if not (a.dtype.is_complex and a.dtype is b.dtype):
        return NotImplemented
    difference = a - b
    return difference * ops.conj(difference)


squared_difference = elementwise(
    "squared_difference", lambda xp, a, b: xp.square(a - b), on=REAL, otherwise=_squared_distance,
    da=lambda a, b: 2 * (a - b), db=lambda a, b: -2 * (a - b),
)  # fmt: skip


def _complex_only(f):
    """Restricts `f`, with its own derivative, to complex values."""

    def otherwise(x):
        x = to_tensor(x)
        return f(x) if x.dtype.is_complex else NotImplemented

    return otherwise


absolute = elementwise(
    "abs", operator.abs, args="x", on=REAL, otherwise=_complex_only(lambda x: ops.complex_abs(x)),
    dx=lambda m, x: m.sign(x),
)  # fmt: skip
sign = elementwise(
    "sign", "sign", args="x", on=REAL,
    otherwise=_complex_only(lambda x: ops.divide_no_nan(x, ops.cast(ops.complex_abs(x), dtype=x.dtype))),
    dx=lambda m, x: m.zeros_like(x),
)  # fmt: skip


def _multiply_no_nan(xp, a, b):
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        return a * b if b else b  # fast path of a scalar square root's derivative; `where` takes ten times as long
    return masked(xp, b != 0, a * b)


multiply_no_nan = elementwise("multiply_no_nan", _multiply_no_nan, da=lambda b: b, db=ZeroWins(lambda a: a))


def _divide_no_nan(xp, a, b):
    zero = b == 0
    return xp.where(zero, 0, a / xp.where(zero, 1, b))


divide_no_nan = elementwise(
    "divide_no_nan", _divide_no_nan, domain=(0.5, 2), otherwise=_divided("divide_no_nan"),
    da=lambda m, b: m.divide_no_nan(m.ones_like(b), b), db=lambda m, y, b: -m.divide_no_nan(y, b),
)  # fmt: skip


def _refuse_zero(xp, a, b):
    if can_read_values(xp) and a.size and np.any(b == 0):
        raise ValueError("Integer division by zero")


def _floordiv(xp, a, b):
    if kind_of(a) in "iu":
        _refuse_zero(xp, a, b)
        return a // b
    return xp.floor(a / b)


def _mod(xp, a, b):
    if kind_of(b) in "iu":
        _refuse_zero(xp, a, b)
    return a % b


def _truncatediv(xp, a, b):
    if kind_of(a) in "iu":
        _refuse_zero(xp, a, b)
        quotient = a // b
        return quotient + astype((quotient < 0) & (quotient * b != a), a.dtype)
    return xp.trunc(a / b)


def _truncatemod(xp, a, b):
    if kind_of(b) in "iu":
        _refuse_zero(xp, a, b)
    return xp.fmod(a, b)


floordiv = elementwise("floordiv", _floordiv, on=REAL, domain=(0.5, 2), da=None, db=None)
mod = elementwise("mod", _mod, on=REAL, domain=(0.5, 2), da=ONE, db=lambda m, a, b: -m.floordiv(a, b))
truncatediv = elementwise("truncatediv", _truncatediv, on=REAL, domain=(0.5, 2), da=None, db=None)
truncatemod = elementwise(
    "truncatemod", _truncatemod, on=REAL, domain=(0.5, 2),
    da=ONE, db=lambda m, a, b: -m.truncatediv(a, b),
)  # fmt: skip

# At a tie, and where an argument is NaN, the whole cotangent goes to one argument.
maximum = elementwise(
    "maximum", "maximum", args="a b", on=REAL,
    da=Mask(lambda a, b: a >= b), db=Mask(lambda m, a, b: m.logical_not(a >= b)),
)  # fmt: skip
minimum = elementwise(
    "minimum", "minimum", args="a b", on=REAL,
    da=Mask(lambda a, b: a <= b), db=Mask(lambda m, a, b: m.logical_not(a <= b)),
)  # fmt: skip

floor = elementwise("floor", "floor", args="x", on=REAL_FLOATING, dx=None)
ceil = elementwise("ceil", "ceil", args="x", on=REAL_FLOATING, dx=None)
rint = elementwise("rint", "rint", args="x", on=REAL_FLOATING, dx=None)
_INTEGERS = np.array([[12, -18], [0, 7]]), np.array([8, 0])
gcd = elementwise("gcd", "gcd", args="a b", on=INT, samples=[sample(*_INTEGERS)], da=None, db=None)
lcm = elementwise("lcm", "lcm", args="a b", on=INT, samples=[sample(*_INTEGERS)], da=None, db=None)
nextafter = elementwise(
    "nextafter", "nextafter", args="a b", on=FLOAT, da=ONE, db=lambda m, b: m.zeros_like(b)
)
concat_strings = elementwise(
    "concat_strings", lambda xp, a, b: np.asarray(a + b, dtype=object), on=STRING, da=None, db=None,
    samples=[sample(np.array([b"a", b"b"], dtype=object), np.array(b"c", dtype=object))],
)  # fmt: skip

# Powers. A small fixed exponent is computed as a product, many times faster, with the derivatives of the power.

def _power_half(xp, x):
    """Computes x ** 0.5 as C's `pow` does: unlike the square root, it is 0 at -0 and inf at -inf."""
    y = xp.sqrt(x)
    return y if kind_of(x) == "c" else xp.where(x == -np.inf, np.inf, y + 0)


def _pow(xp, a, b):
    """a ** b; NumPy's operator is a square root for one exponent of 0.5, which differs at -0 and -inf."""
    return _power_half(xp, a) if xp is np and np.ndim(b) == 0 and b == 0.5 else a**b


# For a base that is negative or 0, the derivative with respect to the exponent is 0.
pow_ = elementwise(
    "pow", _pow, args="a b", on=NUMERIC, domain=(0.5, 2),
    da=lambda m, a, b: b * m.pow(a, b - 1), db=lambda m, a, y: y * m.log(m.where(m.has_log(a), a, 1)),
)  # fmt: skip
sqrt = elementwise("sqrt", "sqrt", args="x", domain=(0.2, 3), dx=ZeroWins(lambda y: 0.5 / y))
rsqrt = elementwise("rsqrt", lambda xp, x: 1 / xp.sqrt(x), domain=(0.2, 3), dx=ZeroWins(lambda y: -0.5 * y * y * y))

# Each is differentiated into the one before it, so that the third derivative of x**2 exists and is 0, as for a power.
power_0 = elementwise("power_0", lambda xp, x: xp.ones_like(x), on=NUMERIC, domain=(0.5, 2), dx=lambda x: 0 / x)
power_1 = elementwise("power_1", lambda xp, x: x, on=NUMERIC, dx=lambda m, x: m.power_0(x))
power_2 = elementwise("power_2", lambda xp, x: x * x, on=NUMERIC, dx=lambda m, x: 2 * m.power_1(x))
power_3 = elementwise("power_3", lambda xp, x: x * x * x, on=NUMERIC, dx=lambda m, x: 3 * m.power_2(x))


power_half = elementwise("power_half", _power_half, domain=(0.2, 3), dx=lambda y: 0.5 / y)

_FIXED = {2: power_2.call, 3: power_3.call, 1: power_1.call, 0.5: power_half.call}


def power(x: Any, y: Any) -> Any:
    """`x ** y`."""
    if (type(y) is int or type(y) is float) and isinstance(x, Tensor):
        fixed = _FIXED.get(y)
        if fixed is not None and (x.dtype.kind & FLOATING or type(y) is int):
            return fixed(x)
    return pow_.call(x, y)
