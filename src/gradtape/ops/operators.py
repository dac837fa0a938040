"""The operators of `Tensor` are the ops themselves: `a * b` is one Python call away from the product."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import FLOAT
from ..core.errors import InvalidArgumentError
from ..core.operators import ARITHMETIC, BINARY, EQUALITIES, ORDERINGS, REFLECTED, UNARY, Operator
from ..core.tensor import Tensor, wrap
from ..core.tracebacks import hide_frames
from ..engine.registry.devices import DeviceTensor
from ..engine.registry.op import registry
from .arrays import slicing
from .elementwise import bits, logic  # noqa: F401  define the ops
from .elementwise.arithmetic import power
from .linalg import contraction  # noqa: F401


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
            hide_frames(error)
            raise

    return call


def _method(row: Operator) -> Any:
    """Returns the method of a tensor: the op itself where it is called as it is."""
    if row.bool_op:
        return _by_kind(registry[row.bool_op], registry[row.op])
    return power if row.op == "pow" else registry[row.op].call


def _reflected(call: Any) -> Any:
    def answer(self: Any, other: Any) -> Any:
        try:
            return call(other, self)
        except Exception as error:
            hide_frames(error)
            raise

    return answer


def _commuted(call: Any) -> Any:
    """`_reflected` for a commutative op: `0.5 * x` takes the fast path of `x * 0.5`."""

    def answer(self: Any, other: Any) -> Any:
        try:
            return call(self, other) if type(other) is float and self.dtype.kind == FLOAT else call(other, self)
        except Exception as error:
            hide_frames(error)
            raise

    return answer


for _row in UNARY + REFLECTED + ORDERINGS:
    setattr(Tensor, _row.method, _method(_row))
for _row in EQUALITIES:
    setattr(Tensor, _row.method, _compared(registry[_row.op], _row.name == "ne"))
for _row in REFLECTED:
    setattr(Tensor, _row.reflected, (_commuted if _row.name in ("add", "mul") else _reflected)(_method(_row)))
for _row in ARITHMETIC:
    registry[_row.op].reflected = _row.reflected
for _row in ARITHMETIC[:4]:  # the frequent ones
    _call = registry[_row.op].call_on_device
    setattr(DeviceTensor, _row.method, _call)
    setattr(DeviceTensor, _row.reflected, (_commuted if _row.name in ("add", "mul") else _reflected)(_call))
Tensor.__getitem__ = slicing.getitem  # type: ignore[method-assign,assignment]
Tensor.__iter__ = slicing.iterate  # type: ignore[method-assign]
Tensor.OVERLOADABLE_OPERATORS = frozenset(
    {*(row.method for row in UNARY + BINARY), *(row.reflected for row in REFLECTED), "__getitem__"}
)
