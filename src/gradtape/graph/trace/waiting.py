"""Values of a trace that wait, as they do eagerly: the gradient of a matrix, until it is known what becomes of it.

A step of gradient descent is three nodes: a product of matrices, which is multiplied by a number and taken from a
variable. If nobody looks at their values, all is done by one call of oneDNN, which writes into the variable's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...engine.registry.deferred import DeferredProduct, deferred, may_wait
from ...engine.registry.op import Op
from ...ops.arithmetic import add, mul, sub
from ...ops.contraction import matmul

Rule = Callable[..., Tensor | None]  # of two values and the attributes of an op on them


def _multiplied(a: Tensor, b: Tensor, attrs: dict[str, Any]) -> Tensor | None:
    if attrs != {"transpose_a": True} or type(a) is not Tensor or type(b) is not Tensor or a.dtype is not b.dtype:
        return None
    left, right = a.array, b.array
    fits = left.ndim == right.ndim == 2 and left.shape[0] == right.shape[0]
    return deferred(left, right, a.dtype) if fits and may_wait(left, right) else None


def _scaled(a: Tensor, b: Tensor, attrs: dict[str, Any]) -> Tensor | None:
    if type(b) is DeferredProduct:
        a, b = b, a
    if type(a) is DeferredProduct and type(b) is Tensor and not b.dims:
        return a.scaled(b.array.item())
    return None


def _added(sign: float) -> Rule:
    def rule(a: Tensor, b: Tensor, attrs: dict[str, Any]) -> Tensor | None:
        if type(b) is not DeferredProduct or type(a) is not Tensor or a.dims != b.dims:
            return None
        return b.plus(a.array, sign)

    return rule


# What an op gives on two values of which one may wait, or a value that waits; None where it is to be run.
rules: dict[Op, Rule] = {matmul: _multiplied, mul: _scaled, add: _added(1.0), sub: _added(-1.0)}
