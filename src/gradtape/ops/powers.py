"""Powers. A small fixed exponent is a product, many times faster than a power, with the derivatives of the power."""

from __future__ import annotations

import operator
from typing import Any

from ..core.dtypes import FLOATING, NUMERIC
from ..core.tensor import Tensor
from ..engine.registry.families import ZeroWins, elementwise

# By a negative base, and by 0, the derivative with respect to the exponent is 0.
pow_ = elementwise(
    "pow", operator.pow, args="a b", on=NUMERIC, domain=(0.5, 2),
    da=lambda m, a, b: b * m.pow(a, b - 1), db=lambda m, a, y: y * m.log(m.where(m.has_log(a), a, 1)),
)  # fmt: skip
sqrt = elementwise("sqrt", "sqrt", args="x", domain=(0.2, 3), dx=ZeroWins(lambda y: 0.5 / y))
rsqrt = elementwise("rsqrt", lambda xp, x: 1 / xp.sqrt(x), domain=(0.2, 3), dx=ZeroWins(lambda y: -0.5 * y * y * y))

# Each is differentiated into the one before it, so that x**2 has a third derivative, and it is 0 as that of a power is.
power_0 = elementwise("power_0", lambda xp, x: xp.ones_like(x), on=NUMERIC, domain=(0.5, 2), dx=lambda x: 0 / x)
power_1 = elementwise("power_1", lambda xp, x: x, on=NUMERIC, dx=lambda m, x: m.power_0(x))
power_2 = elementwise("power_2", lambda xp, x: x * x, on=NUMERIC, dx=lambda m, x: 2 * m.power_1(x))
power_3 = elementwise("power_3", lambda xp, x: x * x * x, on=NUMERIC, dx=lambda m, x: 3 * m.power_2(x))
power_half = elementwise("power_half", "sqrt", args="x", domain=(0.2, 3), dx=lambda y: 0.5 / y)

_FIXED = {2: power_2.call, 3: power_3.call, 1: power_1.call, 0.5: power_half.call}


def power(x: Any, y: Any) -> Any:
    """`x ** y`."""
    if (type(y) is int or type(y) is float) and isinstance(x, Tensor):
        fixed = _FIXED.get(y)
        if fixed is not None and (x.dtype.kind & FLOATING or type(y) is int):
            return fixed(x)
    return pow_.call(x, y)
