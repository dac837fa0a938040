"""A gradient that is a product of two matrices, not multiplied out before somebody looks at it.

The gradient of a layer's weights is `inputsᵀ @ cotangents`, and often needed only for `w.assign_sub(rate * gradient)`.
A deferred product is scaled by scaling a number, and added to a variable by one call of oneDNN, which writes into the
variable's memory what it has multiplied: two passes over the weights less, and no memory for the gradient at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from ...backends.numpy import onednn
from ...backends.numpy.blocks import SHARED, product
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ..run import dispatch

_new = object.__new__
_held: Any = Tensor.array  # the slot, which holds (left, right, scale) until the value is known
_SCALES = 2.0**-40, 2.0**40  # factors beyond are for the products themselves, which may overflow or vanish


class DeferredProduct(Tensor):
    """`scale · leftᵀ @ right`. When somebody looks at its array, the product is computed, and it is a plain tensor."""

    __slots__ = ()

    level = float("inf")  # before tensors of other kinds are interpreted, this one is made plain

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, for which nothing needs to be computed."""
        held = _held.__get__(self)
        return (held[0].shape[1], held[1].shape[1]) if type(held) is tuple else held.shape

    def computed(self) -> Tensor:
        """Itself, a plain tensor from now on."""
        held = _held.__get__(self)
        if type(held) is tuple:  # else another thread has just computed it
            left, right, scale = held
            value = product(left.T, right)
            _held.__set__(self, value if scale == 1 else np.multiply(value, value.dtype.type(scale), out=value))
        self.__class__ = Tensor  # type: ignore[assignment]
        return self

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Runs `op`, which needs the value."""
        self.computed()
        return dispatch.run(op, inputs, attrs)

    def __mul__(self, factor: Any) -> Tensor:
        if (type(factor) is float or type(factor) is int) and dispatch.thread.recorder is None:
            scaled = self.scaled(factor)
            if scaled is not None:
                return scaled
        return Tensor.__mul__(self.computed(), factor)

    __rmul__ = __mul__

    def scaled(self, factor: float) -> Tensor | None:
        """The product times a number, waiting too; None where that needs the value."""
        held = _held.__get__(self)
        if type(held) is not tuple:
            return None
        left, right, scale = held
        small, large = _SCALES
        return deferred(left, right, self.dtype, scale * factor) if small < abs(scale * factor) < large else None

    def plus(self, base: Any, sign: float) -> Tensor | None:
        """An array plus the product times `sign`, waiting too; None where that needs the value."""
        held = _held.__get__(self)
        if type(held) is not tuple:
            return None
        left, right, scale = held
        y = _new(DeferredSum)
        _held.__set__(y, (left, right, sign * scale, base))
        y.dtype = self.dtype
        y.mark = None
        return y

    def added_to(self, array: Any, sign: float) -> bool:
        """Whether the product, times `sign`, could be added to the array's own memory."""
        held = _held.__get__(self)
        if type(held) is not tuple:
            return False
        left, right, scale = held
        return onednn.add_product(array, left.T, right, sign * scale)


class DeferredSum(DeferredProduct):
    """`base + scale · leftᵀ @ right`, as the new value of a variable that holds `base` now."""

    __slots__ = ()

    def computed(self) -> Tensor:
        """Itself, a plain tensor from now on."""
        held = _held.__get__(self)
        if type(held) is tuple:
            left, right, scale, base = held
            _held.__set__(self, _sum(base, left, right, scale))
        self.__class__ = Tensor  # type: ignore[assignment]
        return self

    def scaled(self, factor: float) -> None:
        """The value is needed."""

    def plus(self, base: Any, sign: float) -> None:
        """The value is needed."""

    def added_to(self, array: Any, sign: float) -> bool:
        """It cannot be added: the value is needed."""
        return False

    def become_of(self, variable: Any) -> None:
        """Makes this, which nobody else knows, the value of a variable: the product is added where its value is.

        That may not be done if somebody else sees the array; what this holds of it is let go first.
        """
        held = _held.__get__(self)
        if type(held) is not tuple or held[3] is not variable._array:
            variable._take(self.array)
            return
        left, right, scale = held[:3]
        _held.__set__(self, None)
        del held
        if not variable._written(onednn.add_product, left.T, right, scale):
            variable._take(_sum(variable._settled(), left, right, scale))


def _sum(base: Any, left: Any, right: Any, scale: float) -> Any:
    total = base.copy()
    if not onednn.add_product(total, left.T, right, scale):
        total += total.dtype.type(scale) * product(left.T, right)
    return total


# A slot cannot be overridden in the class's body: type checkers see an attribute there.
DeferredProduct.array = property(lambda self: self.computed().array)  # type: ignore[assignment]


def deferred(left: Any, right: Any, dtype: DType, scale: float = 1.0) -> Tensor:
    """The product as a tensor that waits."""
    y = _new(DeferredProduct)
    _held.__set__(y, (left, right, scale))
    y.dtype = dtype
    y.mark = None
    return y


def may_wait(left: Any, right: Any) -> bool:
    """Whether `leftᵀ @ right` is large enough to be worth waiting, and the two take less memory than it would.

    Memory of others, which may change, does not wait.
    """
    size = left.shape[1] * right.shape[1]
    if size < SHARED or left.dtype.char != "f":
        return False
    first, second = left.base, right.base
    if first is None:
        first = left
    if second is None:
        second = right
    if type(first) is not ndarray or type(second) is not ndarray or first.nbytes + second.nbytes > 4 * size:
        return False
    return first.flags.owndata and second.flags.owndata
