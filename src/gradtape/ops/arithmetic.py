"""Elementwise arithmetic, comparisons, logic and selection."""

from __future__ import annotations

import operator

import numpy as np

from .. import dtypes
from ..dtypes import ANY, BOOL, FLOAT, FLOATING, INT, NARROW, NUMERIC
from ..engine.families import NEG, ONE, Mask, ZeroWins, elementwise, opaque
from ..engine.op import sample

REAL = INT | FLOAT | NARROW
DISCRETE = INT | BOOL

add = elementwise("add", operator.add, args="a b", on=NUMERIC, da=ONE, db=ONE)
sub = elementwise("sub", operator.sub, args="a b", on=NUMERIC, da=ONE, db=NEG)
mul = elementwise("mul", operator.mul, args="a b", on=NUMERIC, da=lambda b: b, db=lambda a: a)
div = elementwise(
    "div", operator.truediv, args="a b", domain=(0.5, 2), da=lambda b: 1 / b, db=lambda y, b: -y / b
)
neg = elementwise("neg", operator.neg, args="x", on=NUMERIC, dx=NEG)
square = elementwise("square", lambda xp, x: x * x, on=NUMERIC, dx=lambda x: 2 * x)
reciprocal = elementwise("reciprocal", lambda xp, x: 1 / x, domain=(0.5, 2), dx=lambda y: -y * y)
squared_difference = elementwise(
    "squared_difference", lambda xp, a, b: xp.square(a - b), on=REAL,
    da=lambda a, b: 2 * (a - b), db=lambda a, b: -2 * (a - b),
)  # fmt: skip
absolute = elementwise("abs", operator.abs, args="x", on=REAL, kinks=True, dx=lambda m, x: m.sign(x))
sign = elementwise("sign", "sign", args="x", on=REAL, kinks=True, dx=lambda m, x: m.zeros_like(x))
multiply_no_nan = elementwise(
    "multiply_no_nan", lambda xp, a, b: xp.where(b == 0, xp.zeros_like(b), a * b),
    da=lambda b: b, db=ZeroWins(lambda a: a),
)  # fmt: skip
conj = opaque(
    "conj", lambda xp, x: xp.conj(x), vjp=lambda m, g: m.conj(g), samples=[sample((3, 4))],
    jvp=lambda m, inputs, y, attrs, ts: m.conj(ts[0]),
    batch=lambda m, size, inputs, flags, attrs: m.conj(inputs[0]),
)  # fmt: skip

maximum = elementwise(
    "maximum", "maximum", args="a b", on=REAL, kinks=True,
    da=Mask(lambda a, b: a >= b), db=Mask(lambda a, b: a < b),
)  # fmt: skip
minimum = elementwise(
    "minimum", "minimum", args="a b", on=REAL, kinks=True,
    da=Mask(lambda a, b: a <= b), db=Mask(lambda a, b: a > b),
)  # fmt: skip

equal = elementwise("equal", operator.eq, args="a b", on=ANY, to=dtypes.bool, da=None, db=None)
not_equal = elementwise("not_equal", operator.ne, args="a b", on=ANY, to=dtypes.bool, da=None, db=None)
less = elementwise("less", operator.lt, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
less_equal = elementwise("less_equal", operator.le, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
greater = elementwise("greater", operator.gt, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
greater_equal = elementwise("greater_equal", operator.ge, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)

_TRUTH = np.array([[True], [False]]), np.array([True, False])
logical_and = elementwise(
    "logical_and", operator.and_, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None
)
logical_or = elementwise("logical_or", operator.or_, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None)
logical_xor = elementwise("logical_xor", operator.xor, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None)
logical_not = elementwise("logical_not", "logical_not", args="x", on=BOOL, samples=[sample(_TRUTH[0])], dx=None)

where = elementwise(
    "where", lambda xp, c, a, b: xp.where(c, a, b), on=ANY, same=(1, 2), kinks=True,
    samples=[sample(np.array([[True, False, True], [False, True, True]]), (3,), ())],
    dc=None, da=Mask(lambda c: c), db=Mask(lambda m, c: m.logical_not(c)),
)  # fmt: skip
