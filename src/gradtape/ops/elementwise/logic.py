"""Comparisons, logic and selection. None of them has a derivative, except for the values that `where` selects."""

from __future__ import annotations

import operator

import numpy as np

from ...backends.arrays import astype, can_select, kind_of, select
from ...backends.numpy import blocks
from ...core import dtypes
from ...core.dtypes import ANY, BOOL, FLOATING
from ...engine.registry.families import Mask, constant, elementwise
from ...engine.registry.op import sample
from .arithmetic import REAL, REAL_FLOATING

equal = elementwise("equal", operator.eq, args="a b", on=ANY, to=dtypes.bool, da=None, db=None)
not_equal = elementwise("not_equal", operator.ne, args="a b", on=ANY, to=dtypes.bool, da=None, db=None)
less = elementwise("less", operator.lt, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
less_equal = elementwise("less_equal", operator.le, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
greater = elementwise("greater", operator.gt, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)
greater_equal = elementwise("greater_equal", operator.ge, args="a b", on=REAL, to=dtypes.bool, da=None, db=None)

is_finite = elementwise("is_finite", "isfinite", args="x", on=REAL_FLOATING, to=dtypes.bool, dx=None)
is_inf = elementwise("is_inf", "isinf", args="x", on=REAL_FLOATING, to=dtypes.bool, dx=None)
is_nan = elementwise("is_nan", "isnan", args="x", on=REAL_FLOATING, to=dtypes.bool, dx=None)
signbit = elementwise("signbit", "signbit", args="x", on=REAL_FLOATING, to=dtypes.bool, dx=None)
has_log = elementwise(
    "has_log", lambda xp, x: x != 0 if kind_of(x) == "c" else x > 0, on=FLOATING, to=dtypes.bool, dx=None
)

_TRUTH = np.array([[True], [False]]), np.array([True, False])
logical_and = elementwise(
    "logical_and", operator.and_, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None
)
logical_or = elementwise("logical_or", operator.or_, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None)
logical_xor = elementwise("logical_xor", operator.xor, args="a b", on=BOOL, samples=[sample(*_TRUTH)], da=None, db=None)
logical_not = elementwise("logical_not", "logical_not", args="x", on=BOOL, samples=[sample(_TRUTH[0])], dx=None)


def _where(xp, c, a, b):
    if isinstance(c, np.bool_) and isinstance(a, np.generic) and not isinstance(b, np.ndarray):
        return a if c else a.dtype.type(b)  # fast path for scalars; `where` takes ten times as long
    if xp is np and can_select(c, a, b):
        y = blocks.run(select, (c, a, b), a.dtype)
        if y is None:
            select(c, a, b, y := np.empty(a.shape, a.dtype))
        return y
    return xp.where(c, a, b)


where = elementwise(
    "where", _where, on=ANY, same=(1, 2),
    samples=[sample(np.array([[True, False, True], [False, True, True]]), (3,), ()), sample(np.array(True), (), (2,))],
    dc=None, da=Mask(lambda c: c), db=Mask(lambda m, c: m.logical_not(c)),
)  # fmt: skip
nonzero = constant(
    "nonzero", lambda xp, x: astype(xp.stack(xp.nonzero(x), axis=1), xp.int64),
    shaped_by_values=True, samples=[sample(np.array([[1.0, 0.0], [2.0, 3.0]]))],
)  # fmt: skip
