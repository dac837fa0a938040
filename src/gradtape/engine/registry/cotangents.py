"""Structured cotangents: sparse rows, and deferred matrix products.

The sweep accumulates them in their own form as long as possible, and converts them to arrays when a rule or the user
needs one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.numpy.blocks import add, product
from ...backends.tuning import FEW_IN_ROWS, MOST_PENDING_ROWS
from ...core.dtypes import DType
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..run.namespace import raw
from ..run.protocols import Operand, OpNamespace


class PendingProduct:
    """A deferred Σ aᵀ g over the uses of one matrix, as in a recurrent layer: one large product instead of many small.

    For a row that is broadcast over the rows of matrices, such as a bias, `a` is None: the value is the sum of the rows
    of all `g`.
    """

    def __init__(self, left: Operand | None, right: Operand) -> None:
        self._lefts = [left]
        self._rights = [right]
        self._rows = right.shape[0]
        self._total: Any = None  # the sum of the terms computed so far

    def take(self, other: PendingProduct) -> PendingProduct:
        """Moves the terms of another sum into this one; computes them once there are too many."""
        self._lefts += other._lefts
        self._rights += other._rights
        self._rows += other._rows
        if self._rows > MOST_PENDING_ROWS:
            self.value()
        return self

    def value(self) -> Any:
        """Computes and returns the sum as an array."""
        if self._rights:
            right = _concatenate(self._rights)
            if self._lefts[0] is None:
                few = right.size <= FEW_IN_ROWS
                term = np.add.reduce(right, 0) if few else raw.sum(right, axis=(0,))
            else:
                term = product(_concatenate(self._lefts).T, right)
            self._total = term if self._total is None else np.add(self._total, term, out=term)
            self._lefts, self._rights, self._rows = [], [], 0
        return self._total


def _concatenate(arrays: list[Any]) -> Any:
    """Concatenates the arrays along the first axis."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


Cotangent = Operand | IndexedSlices | PendingProduct
DEFERRED = frozenset({IndexedSlices, PendingProduct})


def _is_deferrable(m: OpNamespace, g: Operand) -> bool:
    """Whether deferring a cotangent is possible and pays: a plain matrix of few rows of real numbers."""
    return m is raw and len(g.shape) == 2 and g.shape[0] * 4 <= MOST_PENDING_ROWS and g.dtype.char in "fd"


def pending_product(m: OpNamespace, a: Operand, g: Operand) -> PendingProduct | None:
    """Returns the cotangent of `b` in `a @ b` as a deferred product, or None where that does not pay."""
    return PendingProduct(a, g) if _is_deferrable(m, g) else None


def pending_sum(m: OpNamespace, g: Operand, shape: tuple[int, ...]) -> PendingProduct | None:
    """Returns the sum of the rows of `g`, if they have this shape, as a deferred sum; else None."""
    return PendingProduct(None, g) if _is_deferrable(m, g) and g.shape[1:] == shape else None


def materialize(m: OpNamespace, g: Cotangent | None) -> Any:
    """Converts a cotangent to a plain array or tensor."""
    if type(g) is PendingProduct:
        return g.value()
    return densify(m, g) if type(g) is IndexedSlices else g


def densify(m: OpNamespace, slices: IndexedSlices) -> Any:
    """Converts slices to a dense cotangent, summing duplicates."""
    return m.scatter_add(slices.values, slices.indices, shape=_dense_shape(slices))


def _dense_shape(slices: IndexedSlices) -> tuple[int, ...]:
    return tuple([int(n) for n in getattr(slices.dense_shape, "array", slices.dense_shape)])


def bare(cotangent: Tensor | IndexedSlices | None) -> Any:
    """Converts a cotangent of tensors, or None, to one of arrays."""
    if isinstance(cotangent, IndexedSlices):
        return IndexedSlices(cotangent.values.array, cotangent.indices.array, _dense_shape(cotangent))
    return None if cotangent is None else cotangent.array


def zeros(m: OpNamespace, shape: tuple[int, ...], dtype: DType) -> Any:
    """A cotangent of zeros."""
    array = np.zeros(shape, dtype.numpy)
    return array if m is raw else m.constant(array)


def combined(m: OpNamespace, first: Cotangent, second: Cotangent) -> Any:
    """Adds two cotangents, at least one of them structured; the sum stays structured if both have the same type.

    The reverse sweep reaches later uses first, so `second` goes in front: slices are in the order of the uses.
    """
    if type(first) is type(second) is IndexedSlices:
        values = m.concat(second.values, first.values, axis=0)
        return IndexedSlices(values, m.concat(second.indices, first.indices, axis=0), first.dense_shape)
    if type(first) is type(second) is PendingProduct:
        return first.take(second)
    return add(materialize(m, first), materialize(m, second))
