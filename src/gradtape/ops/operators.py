"""The operators of `Tensor` are the ops themselves: `a * b` is one Python call away from the product."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import FLOAT
from ..core.errors import InvalidArgumentError
from ..core.tensor import Tensor, wrap
from .arrays import slicing
from .elementwise import arithmetic, bits, logic
from .elementwise.arithmetic import pow_, power
from .linalg import contraction


def _by_kind(on_bools: Any, on_integers: Any) -> Any:
    """Dispatches `&`, `|`, `^` and `~`: logical ops on bools, bitwise ops on integers."""

    def call(x: Any, *y: Any) -> Any:
        kind = x.dtype.kind if isinstance(x, Tensor) else y[0].dtype.kind
        return (on_bools if kind == dtypes.BOOL else on_integers).call(x, *y)

    return call


def _compared(op: Any, when_different: bool) -> Any:
    """Implements `==` and `!=`: nothing equals None, and tensors of incompatible shapes are unequal as a whole."""

    def call(x: Any, y: Any) -> Any:
        if y is None:
            return when_different
        try:
            return op.call(x, y)
        except (InvalidArgumentError, ValueError) as error:
            if "Incompatible shapes" in str(error):
                return wrap(np.bool_(when_different), dtypes.bool)
            raise

    return call


_BINARY = {
    "add": arithmetic.add.call, "sub": arithmetic.sub.call, "mul": arithmetic.mul.call,
    "truediv": arithmetic.div.call, "floordiv": arithmetic.floordiv.call, "mod": arithmetic.mod.call,
    "pow": power, "matmul": contraction.matmul.call, "and": _by_kind(logic.logical_and, bits.bitwise_and),
    "or": _by_kind(logic.logical_or, bits.bitwise_or), "xor": _by_kind(logic.logical_xor, bits.bitwise_xor),
}  # fmt: skip
_COMPARISONS = {
    "lt": logic.less.call, "le": logic.less_equal.call, "gt": logic.greater.call, "ge": logic.greater_equal.call,
    "eq": _compared(logic.equal, False), "ne": _compared(logic.not_equal, True),
}  # fmt: skip
_UNARY = {
    "neg": arithmetic.neg.call, "abs": arithmetic.absolute.call, "invert": _by_kind(logic.logical_not, bits.invert)
}  # fmt: skip

# The names of the operators, for classes that behave like a tensor: unary, binary, and reflected binary.
UNARY = tuple(f"__{name}__" for name in _UNARY)
BINARY = tuple(f"__{name}__" for name in (*_BINARY, *_COMPARISONS))
REFLECTED = tuple(f"__r{name}__" for name in _BINARY)


_ANSWERED = {
    "add": arithmetic.add, "sub": arithmetic.sub, "mul": arithmetic.mul, "truediv": arithmetic.div,
    "floordiv": arithmetic.floordiv, "mod": arithmetic.mod, "pow": pow_, "matmul": contraction.matmul,
}  # fmt: skip


def _reflected(call: Any) -> Any:
    return lambda self, other: call(other, self)


def _commuted(call: Any) -> Any:
    """`_reflected` for a commutative op: `0.5 * x` takes the fast path of `x * 0.5`."""

    def answer(self: Any, other: Any) -> Any:
        return call(self, other) if type(other) is float and self.dtype.kind == FLOAT else call(other, self)

    return answer


for _name, _call in {**_UNARY, **_BINARY, **_COMPARISONS}.items():
    setattr(Tensor, f"__{_name}__", _call)
for _name, _call in _BINARY.items():
    setattr(Tensor, f"__r{_name}__", (_commuted if _name in ("add", "mul") else _reflected)(_call))
for _name, _op in _ANSWERED.items():
    _op.reflected = f"__r{_name}__"
Tensor.__getitem__ = slicing.getitem  # type: ignore[method-assign,assignment]
Tensor.__iter__ = slicing.iterate  # type: ignore[method-assign]
Tensor.OVERLOADABLE_OPERATORS = frozenset({*UNARY, *BINARY, *REFLECTED, "__getitem__"})
