"""The operators of ragged tensors, which apply elementwise ops to ragged arguments."""

from __future__ import annotations

from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import is_tensor_like
from ...engine.run.convert import to_tensor
from ...ops.elementwise import arithmetic, bits, logic
from ...ops.elementwise.arithmetic import pow_
from .elementwise import applied
from .tensor import RaggedTensor

_BINARY = {
    "add": arithmetic.add, "sub": arithmetic.sub, "mul": arithmetic.mul, "truediv": arithmetic.div,
    "floordiv": arithmetic.floordiv, "mod": arithmetic.mod, "pow": pow_,
}  # fmt: skip
_LOGICAL = {
    "and": (logic.logical_and, bits.bitwise_and), "or": (logic.logical_or, bits.bitwise_or),
    "xor": (logic.logical_xor, bits.bitwise_xor),
}  # fmt: skip
_COMPARISONS = {"lt": logic.less, "le": logic.less_equal, "gt": logic.greater, "ge": logic.greater_equal}


def _operator(op: Any) -> Any:
    return lambda self, y: applied(op, (self, y), {})


def _reflected(op: Any) -> Any:
    return lambda self, y: applied(op, (y, self), {})


def _by_kind(pair: Any, reflected: bool = False) -> Any:
    def call(self: RaggedTensor, y: Any) -> Any:
        op = pair[0] if self.dtype.is_bool else pair[1]
        return applied(op, (y, self) if reflected else (self, y), {})

    return call


def _compared(op: Any, when_different: bool) -> Any:
    """Implement `==` and `!=`: values whose rows cannot be matched differ as a whole."""

    def call(self: RaggedTensor, y: Any) -> Any:
        if not isinstance(y, RaggedTensor) and not is_tensor_like(y):
            try:
                y = to_tensor(y, self.dtype)
            except (TypeError, ValueError):
                return when_different
        try:
            return applied(op, (self, y), {})
        except (InvalidArgumentError, ValueError):  # their row lengths differ
            return when_different

    return call


for _name, _op in _BINARY.items():
    setattr(RaggedTensor, f"__{_name}__", _operator(_op))
    setattr(RaggedTensor, f"__r{_name}__", _reflected(_op))
for _name, _pair in _LOGICAL.items():
    setattr(RaggedTensor, f"__{_name}__", _by_kind(_pair))
    setattr(RaggedTensor, f"__r{_name}__", _by_kind(_pair, reflected=True))
for _name, _op in _COMPARISONS.items():
    setattr(RaggedTensor, f"__{_name}__", _operator(_op))
_OTHERS = {
    "eq": _compared(logic.equal, False), "ne": _compared(logic.not_equal, True),
    "neg": lambda self: applied(arithmetic.neg, (self,), {}),
    "abs": lambda self: applied(arithmetic.absolute, (self,), {}),
    "invert": lambda self: applied(logic.logical_not, (self,), {}),
}  # fmt: skip
for _name, _method in _OTHERS.items():
    setattr(RaggedTensor, f"__{_name}__", _method)
