"""Cotangents that are not a plain array: sparse rows, and products not yet multiplied out.

The sweep adds them up in their own form as long as it can, and makes them plain when a rule or the user needs them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...backends.numpy.blocks import add, product
from ...core.dtypes import DType
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, wrap
from ..run.namespace import ops, raw
from .deferred import deferred, may_wait

_SMALL = 1 << 14  # numbers whose rows NumPy adds up as fast as anybody
_MOST_ROWS = 2048  # beyond this many rows, one product is as fast as several and waiting only costs memory


class Products:
    """Σ aᵀ g over the uses of one matrix, as in a recurrent layer: one large product instead of many small ones.

    For a row that was added to those of matrices, as a bias is, there is no `a`: it is the sum of the rows of all `g`.
    """

    _total: Any = None  # of terms that are added already
    _waits = False  # whether the product is for whoever looks at it

    def __init__(self, left: Any, right: Any) -> None:
        self._lefts = [left]
        self._rights = [right]
        self._rows = right.shape[0]

    def take(self, other: Products) -> Products:
        """This sum with the terms of another."""
        self._lefts += other._lefts
        self._rights += other._rights
        self._rows += other._rows
        if self._rows > _MOST_ROWS:
            self.value()
        return self

    def settled(self, last: list[Any]) -> Any:
        """The sum as an array, see `value`; or this, if it is one product that may wait for whoever looks at it."""
        if len(self._rights) > 1 or self._total is not None:
            return self.value(last)
        left, right = self._lefts[0], self._rights[0]
        if left is None:
            return np.add.reduce(right, 0) if right.size <= _SMALL else raw.sum(right, axis=(0,))
        if may_wait(left, right):
            self._waits = True
            return self
        return product(left.T, right)

    def tensor(self, dtype: DType) -> Tensor:
        """The sum as a tensor, which may wait."""
        if self._waits:
            return deferred(self._lefts[0], self._rights[0], dtype)
        return wrap(self.value(), dtype)

    def value(self, last: list[Any] | None = None) -> Any:
        """The sum as an array. `last` keeps the cotangents that were stacked, for a sum that is asked for next.

        The two matrices of a recurrent layer, one for its input and one for its state, have the same cotangents.
        """
        if not self._lefts:
            return self._total
        several = len(self._lefts) > 1
        if self._lefts[0] is None and last is None:
            sums = [raw.sum(g, axis=(0,)) for g in self._rights]
            term = np.add.reduce(sums) if several else sums[0]
        else:
            right = _stacked(self._rights, [] if last is None else last) if several else self._rights[0]
            if self._lefts[0] is None:
                term = raw.sum(right, axis=(0,))
            else:
                left = np.concatenate(self._lefts) if several else self._lefts[0]
                term = product(left.T, right)
        self._total = term if self._total is None else np.add(self._total, term, out=term)
        self._lefts, self._rights, self._rows = [], [], 0
        return self._total


def _stacked(parts: list[Any], last: list[Any]) -> Any:
    """The arrays above one another; `last` is what the previous call has stacked, and the result."""
    if not (last and len(parts) == len(last[0]) and all(map(operator.is_, parts, last[0]))):
        last[:] = parts, np.concatenate(parts)
    return last[1]


UNFINISHED = frozenset({IndexedSlices, Products})


def deferred_product(m: Any, a: Any, g: Any) -> Products | None:
    """The cotangent of `b` in `a @ b` as a product that may wait, or None where waiting gains nothing."""
    if m is raw and a.ndim == 2 and a.shape[0] * 4 <= _MOST_ROWS and a.dtype.char in "fd":
        return Products(a, g)
    return None


def deferred_sum(m: Any, g: Any, shape: tuple[int, ...]) -> Products | None:
    """The sum of the rows of `g`, if they have this shape, as one that may wait for others; else None."""
    if m is raw and g.ndim == 2 and g.shape[1:] == shape and g.shape[0] * 4 <= _MOST_ROWS and g.dtype.char in "fd":
        return Products(None, g)
    return None


def finished(m: Any, g: Any) -> Any:
    """A cotangent as a plain array or tensor."""
    if type(g) is Products:
        return g.value()
    return densify(m, g) if type(g) is IndexedSlices else g


def densify(m: Any, slices: IndexedSlices) -> Any:
    """The dense cotangent that the slices stand for, duplicates summed."""
    shape = tuple(int(n) for n in getattr(slices.dense_shape, "array", slices.dense_shape))
    return m.scatter_add(slices.values, slices.indices, shape=shape)


def zeros(m: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A cotangent of zeros."""
    array = np.zeros(shape, dtype.numpy)
    return array if m is raw else ops.constant(array)


def combined(m: Any, first: Any, second: Any) -> Any:
    """The sum of two cotangents, at least one of them unfinished; it stays so if both are of one kind.

    The one that came first belongs to the later use, and slices stand in the order of the uses.
    """
    if type(first) is type(second) is IndexedSlices:
        values = m.concat(second.values, first.values, axis=0)
        return IndexedSlices(values, m.concat(second.indices, first.indices, axis=0), first.dense_shape)
    if type(first) is type(second) is Products:
        return first.take(second)
    return add(finished(m, first), finished(m, second))
