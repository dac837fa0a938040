"""The operators of `Tensor` are the ops themselves: `a * b` is one Python call from the product."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import arithmetic, contraction


def _reflected(op: Any) -> Any:
    return lambda self, other: op(other, self)


def _attach(name: str, op: Any) -> None:
    setattr(Tensor, f"__{name}__", op.call)
    setattr(Tensor, f"__r{name}__", _reflected(op.call))


_attach("add", arithmetic.add)
_attach("sub", arithmetic.sub)
_attach("mul", arithmetic.mul)
_attach("truediv", arithmetic.div)
_attach("matmul", contraction.matmul)
Tensor.__neg__ = arithmetic.neg.call
Tensor.__abs__ = arithmetic.absolute.call
Tensor.__lt__ = arithmetic.less.call
Tensor.__le__ = arithmetic.less_equal.call
Tensor.__gt__ = arithmetic.greater.call
Tensor.__ge__ = arithmetic.greater_equal.call
Tensor.__invert__ = arithmetic.logical_not.call
Tensor.__getitem__ = lambda self, i: __import__("gradtape.engine.op",fromlist=["ops"]).ops.slice(self, key=(i,) if not isinstance(i, tuple) else i)
