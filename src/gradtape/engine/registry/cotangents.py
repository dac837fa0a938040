"""Structured cotangents: sparse rows, and deferred sums of matrix products and of placed slices.

The sweep accumulates them in their own form as long as possible, and converts them to arrays when a rule or the user
needs one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...backends.arrays import HALF
from ...backends.numpy import blocks
from ...backends.numpy.blocks import add, product
from ...backends.numpy.floating_point import REPORTS, run_silently
from ...backends.numpy.sums import sum_rows
from ...backends.tuning import FEW_IN_ROWS, MOST_PENDING_ROWS
from ...core.dtypes import DType
from ...core.protocols import Operand, OpNamespace
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ..run.namespace import ops, raw

Key = tuple[Any, ...]


class PendingSum:
    """A sum of terms of one cotangent, of bare arrays, that is computed when its value is needed.

    The sweep has the only reference to it. It never writes to its terms, which other cotangents may share; it owns its
    total, into which further terms are added in place.
    """

    __slots__ = ()

    def value(self) -> Any:
        """Computes and returns the sum as an array."""
        raise NotImplementedError


class PendingProduct(PendingSum):
    """A deferred Σ aᵀ g over the uses of one matrix, as in a recurrent layer: one large product instead of many small.

    For a row that is broadcast over the rows of matrices, such as a bias, `a` is None: the value is the sum of the rows
    of all `g`.
    """

    __slots__ = ("_lefts", "_m", "_rights", "_rows", "_total")

    def __init__(self, m: OpNamespace, left: Operand | None, right: Operand) -> None:
        self._m = m
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
        if self._rights:
            m, total = self._m, self._total
            try:
                term = self._term()
            except REPORTS:
                term = run_silently(self._term)
            self._total = term if total is None else accumulate(m, term, total)
            self._lefts, self._rights, self._rows = [], [], 0
        return self._total

    def _term(self) -> Any:
        """Computes the sum of the pending terms."""
        m = self._m
        right = _concatenate(m, self._rights, 0)
        if self._lefts[0] is None:
            few = m is raw and right.size < FEW_IN_ROWS
            return sum_rows(right) if few else m.sum(right, axis=(0,))
        left = _concatenate(m, self._lefts, 0)
        return product(left.T, right) if m is raw else m.matmul(left, right, transpose_a=True)


class PendingHalves(PendingSum):
    """A sum of cotangents of half precision that is rounded once, when its value is needed.

    Of bare arrays it is a total in float32. Recorded tensors are terms of one `add_n`, which rounds once, too.
    """

    __slots__ = ("_dtype", "_m", "_terms", "_total")

    def __init__(self, m: OpNamespace, first: Any, second: Any) -> None:
        self._m, self._dtype = m, first.dtype
        self._total = first.astype(np.float32) if m is raw else None
        self._terms = [] if m is raw else [first]
        self.take(second)

    def take(self, other: Any) -> PendingHalves:
        """Adds an array or a tensor to this sum."""
        if self._total is None:
            self._terms.append(other)
        else:
            self._total = accumulate(self._m, self._total, other)
        return self

    def value(self) -> Any:
        if self._total is not None:
            return run_silently(self._total.astype, self._dtype)
        if len(self._terms) > 1:
            self._terms = [self._m.add_n(*self._terms)]
        return self._terms[0]


class PendingSlices(PendingSum):
    """A deferred sum of the cotangents of slices of one value, each placed into zeros of the value's shape.

    Slices that partition the value along an axis, as the gates of a recurrent layer do, are concatenated; others are
    added into views of one array. NumPy's half precision is added in float32, and rounded in the value.
    """

    __slots__ = ("_half", "_m", "_shape", "_size", "_terms", "_total")

    def __init__(self, m: OpNamespace, g: Any, key: Key, shape: tuple[int, ...]) -> None:
        self._m = m
        self._shape = shape
        self._half = g.dtype if m is raw and g.dtype in HALF else None
        self._terms = [(key, g if self._half is None else g.astype(np.float32))]
        self._size = math.prod(g.shape)  # the elements of all terms
        self._total: Any = None  # the sum, once it is computed; further terms are added to it at once

    def take(self, other: Any) -> PendingSlices:
        """Adds a cotangent of any kind to this one."""
        if type(other) is not PendingSlices:
            self._total = accumulate(self._m, self._sum(), materialize(self._m, other))
        elif self._total is None and self._size + other._size <= math.prod(self._shape):
            self._terms += other._terms
            self._size += other._size
        else:  # terms that overlap need more memory than the sum
            self._sum()
            self._add(other._terms)
        return self

    def add_to(self, array: Any) -> PendingSlices:
        """Adds the terms to `array`, which this sum owns from now on."""
        terms, self._terms = self._terms, []
        self._total = array if self._half is None else array.astype(np.float32)
        self._add(terms)
        return self

    def value(self) -> Any:
        return self._sum() if self._half is None else run_silently(self._sum().astype, self._half)

    def _sum(self) -> Any:
        if self._total is None:
            terms, self._terms = self._terms, []
            if len(terms) > 1 and self._size == math.prod(self._shape):
                self._total = _partition(self._m, terms, self._shape)
            if self._total is None:
                (key, g), *rest = terms
                self._total = self._m.place(g, key=key, shape=self._shape)
                self._add(rest)
        return self._total

    def _add(self, terms: Iterable[tuple[Key, Any]]) -> None:
        for key, g in terms:
            self._total = accumulate(self._m, self._total, g, key)


def _partition(m: OpNamespace, terms: Sequence[tuple[Key, Any]], shape: tuple[int, ...]) -> Any:
    """Concatenates the cotangents of slices that partition a value of this shape along an axis; else returns None."""
    found: list[Any] = []
    for key, g in terms:
        span = _span(key, shape)
        if span is None or (found and span[0] != found[0][0]):
            return None
        found.append((*span, len(found), g))
    found.sort()  # their numbers differ, so that no arrays are compared
    axis = found[0][0]
    end = 0
    parts = []
    for _, start, stop, _, g in found:
        if start != end:
            return None
        end = stop
        whole = (*shape[:axis], stop - start, *shape[axis + 1 :])
        parts.append(g if g.shape == whole else m.reshape(g, shape=whole))
    return _concatenate(m, parts, axis) if end == shape[axis] else None


def _span(key: Key, shape: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Returns the axis, start and stop of a key that selects a part of one axis, in order, and all of the others."""
    found = None
    axis = 0
    for k in key:
        if type(k) is slice:
            start, stop, step = k.indices(shape[axis])
            if step != 1:
                return None
        elif type(k) is int:
            start = k + shape[axis] if k < 0 else k
            stop = start + 1
        elif k is None:
            continue
        elif k is Ellipsis:
            axis += len(shape) - sum(k is not None and k is not Ellipsis for k in key)
            continue
        else:
            return None
        if stop - start < shape[axis]:
            if found is not None:
                return None
            found = axis, start, max(start, stop)
        axis += 1
    return found


def _concatenate(m: OpNamespace, arrays: list[Any], axis: int) -> Any:
    return arrays[0] if len(arrays) == 1 else m.concat(*arrays, axis=axis)


def accumulate(m: OpNamespace, total: Any, term: Any, key: Key | None = None) -> Any:
    """Adds an array to `total`, which the caller owns, or to its slice at `key`, in place if possible; returns it."""
    if m is not raw:
        return m.accumulate(total, term, key)
    part = total if key is None else total[key]
    if type(part) is np.ndarray:
        blocks.accumulate(part, term)
    elif key is None:
        return add(total, term)
    else:
        total[key] = add(part, term)
    return total


Cotangent = Operand | IndexedSlices | PendingSum
DEFERRED = frozenset({IndexedSlices, PendingHalves, PendingProduct, PendingSlices})


def is_half_precision(m: OpNamespace, g: Operand) -> bool:
    """Whether a cotangent has NumPy's half precision, whose sums are rounded once."""
    dtype = g.dtype if m is raw else g.dtype.numpy if m is ops else None
    return dtype in HALF


def _is_deferrable(m: OpNamespace, g: Operand) -> bool:
    """Whether deferring a product is possible and pays: a bare matrix of few rows, of numbers that BLAS multiplies."""
    if not m.is_bare or (m is raw and g.dtype.char not in "fd"):
        return False
    shape = g.shape
    return len(shape) == 2 and shape[0] * 4 <= MOST_PENDING_ROWS


def pending_product(m: OpNamespace, a: Operand, g: Operand) -> PendingProduct | None:
    """Returns the cotangent of `b` in `a @ b` as a deferred product, or None where that does not pay."""
    return PendingProduct(m, a, g) if _is_deferrable(m, g) else None


def pending_sum(m: OpNamespace, g: Operand, shape: tuple[int, ...]) -> PendingProduct | None:
    """Returns the sum of the rows of `g`, if they have this shape, as a deferred sum; else None."""
    return PendingProduct(m, None, g) if _is_deferrable(m, g) and g.shape[1:] == shape else None


def placed_slice(m: OpNamespace, g: Operand, key: Key, shape: tuple[int, ...]) -> Any:
    """Returns the cotangent of `x` in `x[key]`, where `x` has this shape; of bare arrays as a deferred sum."""
    if not m.is_bare:
        return m.place(g, key=key, shape=shape)
    for k in key:
        if type(k) is slice:
            if k.start is not None or k.stop is not None or k.step is not None:
                break
        elif k is not None and k is not Ellipsis:
            break
    else:
        return m.reshape(g, shape=shape)  # of `x[..., None]`
    return PendingSlices(m, g, key, shape)


def materialize(m: OpNamespace, g: Cotangent | None) -> Any:
    """Converts a cotangent to a plain array or tensor; slices of the same index are summed."""
    if isinstance(g, PendingSum):
        return g.value()
    if type(g) is not IndexedSlices:
        return g
    try:
        return m.scatter_add(g.values, g.indices, shape=_dense_shape(g))
    except REPORTS:
        return run_silently(m.scatter_add, g.values, g.indices, shape=_dense_shape(g))


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


def combined(m: OpNamespace, first: Cotangent, second: Cotangent, owned: bool = False) -> Any:
    """Adds two cotangents, at least one of them structured.

    The sum stays structured if both have the same type, or one is a sum of slices. The sweep may write to `first` if it
    is `owned`. It reaches later uses first, so `second` goes in front: indexed slices are in the order of the uses.
    """
    if type(first) is PendingHalves:
        return first.take(materialize(m, second))
    if type(first) is PendingSlices:
        return first.take(second)
    if type(second) is PendingSlices:
        owned = owned or type(first) in DEFERRED
        first = materialize(m, first)
        return second.add_to(first if owned else np.array(first) if m is raw else m.copy(first))
    if type(first) is type(second) is IndexedSlices:
        values = m.concat(second.values, first.values, axis=0)
        return IndexedSlices(values, m.concat(second.indices, first.indices, axis=0), first.dense_shape)
    if type(first) is type(second) is PendingProduct:
        return first.take(second)
    return add(materialize(m, first), materialize(m, second))
