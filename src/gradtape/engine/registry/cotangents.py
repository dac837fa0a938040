"""Cotangents that are not a plain array: sparse rows, and products not yet multiplied out.

The sweep adds them up in their own form as long as it can, and makes them plain when a rule or the user needs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.numpy.blocks import add, product
from ...backends.tuning import FEW_IN_ROWS, MOST_PENDING_ROWS
from ...core.slices import IndexedSlices
from ..run.namespace import raw


class PendingProduct:
    """Σ aᵀ g over the uses of one matrix, as in a recurrent layer: one large product instead of many small ones.

    For a row that was added to those of matrices, as a bias is, there is no `a`: it is the sum of the rows of all `g`.
    """

    def __init__(self, left: Any, right: Any) -> None:
        self._lefts = [left]
        self._rights = [right]
        self._rows = right.shape[0]
        self._total: Any = None  # of terms that are added already

    def take(self, other: PendingProduct) -> PendingProduct:
        """This sum with the terms of another."""
        self._lefts += other._lefts
        self._rights += other._rights
        self._rows += other._rows
        if self._rows > MOST_PENDING_ROWS:
            self.value()
        return self

    def value(self) -> Any:
        """The sum as an array."""
        if self._rights:
            right = _stacked(self._rights)
            if self._lefts[0] is None:
                few = right.size <= FEW_IN_ROWS
                term = np.add.reduce(right, 0) if few else raw.sum(right, axis=(0,))
            else:
                term = product(_stacked(self._lefts).T, right)
            self._total = term if self._total is None else np.add(self._total, term, out=term)
            self._lefts, self._rights, self._rows = [], [], 0
        return self._total


def _stacked(arrays: list[Any]) -> Any:
    """The arrays above one another."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


UNFINISHED = frozenset({IndexedSlices, PendingProduct})


def _may_wait(m: Any, g: Any) -> bool:
    """Whether a matrix of cotangents may be kept until others come: plain, and few rows of real numbers."""
    return m is raw and g.ndim == 2 and g.shape[0] * 4 <= MOST_PENDING_ROWS and g.dtype.char in "fd"


def pending_product(m: Any, a: Any, g: Any) -> PendingProduct | None:
    """The cotangent of `b` in `a @ b` as a product that may wait, or None where waiting gains nothing."""
    return PendingProduct(a, g) if _may_wait(m, g) else None


def pending_sum(m: Any, g: Any, shape: tuple[int, ...]) -> PendingProduct | None:
    """The sum of the rows of `g`, if they have this shape, as one that may wait for others; else None."""
    return PendingProduct(None, g) if _may_wait(m, g) and g.shape[1:] == shape else None


def finished(m: Any, g: Any) -> Any:
    """A cotangent as a plain array or tensor."""
    if type(g) is PendingProduct:
        return g.value()
    return densify(m, g) if type(g) is IndexedSlices else g


def densify(m: Any, slices: IndexedSlices) -> Any:
    """The dense cotangent that the slices stand for, duplicates summed."""
    return m.scatter_add(slices.values, slices.indices, shape=_dense_shape(slices))


def _dense_shape(slices: IndexedSlices) -> tuple[int, ...]:
    return tuple([int(n) for n in getattr(slices.dense_shape, "array", slices.dense_shape)])


def bare(cotangent: Any) -> Any:
    """A cotangent of tensors, or None, as one of arrays."""
    if type(cotangent) is IndexedSlices:
        return IndexedSlices(cotangent.values.array, cotangent.indices.array, _dense_shape(cotangent))
    return None if cotangent is None else cotangent.array


def zeros(m: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A cotangent of zeros."""
    array = np.zeros(shape, dtype.numpy)
    return array if m is raw else m.constant(array)


def combined(m: Any, first: Any, second: Any) -> Any:
    """The sum of two cotangents, at least one of them unfinished; it stays so if both are of one kind.

    The one that came first belongs to the later use, and slices stand in the order of the uses.
    """
    if type(first) is type(second) is IndexedSlices:
        values = m.concat(second.values, first.values, axis=0)
        return IndexedSlices(values, m.concat(second.indices, first.indices, axis=0), first.dense_shape)
    if type(first) is type(second) is PendingProduct:
        return first.take(second)
    return add(finished(m, first), finished(m, second))
