"""Sums along axes, as products with ones where that is faster than `add.reduce`; scatter-adds of rows.

NumPy's inner loop runs along the last axis: where that is short and others are reduced, loop overhead dominates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ..tuning import (
    ADDED_ROWS,
    FEW,
    FEW_IN_ROWS,
    LONG_SUM,
    LONGEST_ROW,
    MANY_LOOPS,
    SHORT_COLUMNS,
    SHORT_SUM,
    WIDE_ROWS,
)
from .blocks import share_out


def sum_along(x: Any, axis: tuple[int, ...]) -> Any:
    """Sums an array of floats along axes, which it removes; returns None where `add.reduce` is as fast."""
    if not x.flags.c_contiguous:
        in_rows = x.ndim > 1 and axis == (x.ndim - 1,) and x.shape[-1] <= SHORT_SUM
        return np.einsum("...i->...", x) if in_rows else None
    sums = _way_to_sum(x.shape, axis)
    return None if sums is None else sums(x)


@lru_cache(maxsize=1024)
def _way_to_sum(shape: tuple[int, ...], axis: tuple[int, ...]) -> Callable[[Any], Any] | None:
    """Returns a function that sums contiguous arrays of this shape; cached, since the choice takes as long as a sum."""
    first, end = axis[0], axis[-1] + 1
    if first < 0 or axis != tuple(range(first, end)):
        return None
    kept = shape[:first] + shape[end:]
    groups, count, width = (math.prod(part) for part in (shape[:first], shape[first:end], shape[end:]))
    if width == 1 < count <= SHORT_COLUMNS:
        return lambda x: _sum_columns(x.reshape(groups, count)).reshape(kept)
    if width <= 1:
        is_few = 0 < count <= LONGEST_ROW and groups > 1
        return (lambda x: np.dot(x.reshape(groups, count), _ones(count, x.dtype)).reshape(kept)) if is_few else None
    if groups == 1:
        is_slower = count <= LONG_SUM and width > WIDE_ROWS
        return None if is_slower else lambda x: sum_rows(x.reshape(count, width)).reshape(kept)
    if count < LONG_SUM:
        if groups * count < MANY_LOOPS:
            return None
        return lambda x: np.einsum("ijk->ik", x.reshape(groups, count, width)).reshape(kept)

    def sum_by_products(x: Any) -> Any:
        parts, ones = x.reshape(groups, count, width), _ones(count, x.dtype)
        if x.size < FEW_IN_ROWS:
            return np.matmul(ones, parts).reshape(kept)
        y = np.empty((groups, width), x.dtype)
        share_out(lambda part: np.matmul(ones, parts[part], out=y[part]), groups, x.size)
        return y.reshape(kept)

    return sum_by_products


def _sum_columns(x: Any) -> Any:
    """Sums a few columns of a matrix."""
    y = x[:, 0] + x[:, 1]
    for i in range(2, x.shape[1]):
        y += x[:, i]
    return y


def sum_rows(x: Any) -> Any:
    """Sums the rows of a matrix by a product with ones, several times faster than `add.reduce`."""
    if x.size < FEW_IN_ROWS:
        return np.dot(_ones(x.shape[0], x.dtype), x)
    return sum(share_out(lambda part: np.ones(part.stop - part.start, x.dtype) @ x[part], x.shape[0], x.size))


def _ones(count: int, dtype: Any) -> Any:
    """Returns that many ones, which the caller does not change."""
    return _few_ones(count, dtype) if count <= FEW else np.ones(count, dtype)


_few_ones = lru_cache(256)(np.ones)


@lru_cache(maxsize=256)
def row_summer(width: int, dtype: Any) -> Callable[[Any], Any]:
    """Returns a function that sums the rows, of `width` elements, of an array of floats to a column."""
    if width > LONGEST_ROW:
        return lambda rows: np.add.reduce(rows, axis=-1, keepdims=True)
    ones = np.ones((width, 1), dtype)
    return lambda rows: np.dot(rows, ones)


def sum_at(count: int, rows: Any, values: Any) -> Any:
    """Scatter-add: returns a matrix of `count` rows with the sum of all `values[i]` in row `rows[i]`, in order."""
    width = values.shape[1]
    if width > 1 and values.size >= ADDED_ROWS and values.dtype.char in "fdFD":
        return _sparse_product(count, rows, values)
    total = np.zeros(count * width, values.dtype)
    # On a flat array `np.add.at` has a fast path, several times faster than over rows.
    flat = rows if width == 1 else rows.astype(np.intp)[:, None] * width + np.arange(width)
    np.add.at(total, flat.reshape(-1), values.reshape(-1))
    return total.reshape(count, width)


def _sparse_product(count: int, rows: Any, values: Any) -> Any:
    """Computes `sum_at` as the product of a sparse matrix, with a single one in each column, and `values`."""
    if np.minimum.reduce(rows) < 0 or np.maximum.reduce(rows) >= count:  # SciPy does not check the range
        raise IndexError(f"rows are from 0 to {count - 1}, got {np.minimum.reduce(rows)} to {np.maximum.reduce(rows)}")
    rows = np.ascontiguousarray(rows, np.int32 if rows.dtype == np.int32 else np.int64)
    starts, ones = np.arange(len(rows) + 1, dtype=rows.dtype), np.ones(len(rows), values.dtype)
    loop = _sparse_loop()
    if loop is None:
        from scipy.sparse import csc_matrix  # type: ignore[import-untyped]

        return csc_matrix((ones, rows, starts), shape=(count, len(rows))) @ values
    total = np.zeros((count, values.shape[1]), values.dtype)
    loop(count, len(rows), values.shape[1], starts, rows, ones, values.reshape(-1), total.reshape(-1))
    return total


@cache
def _sparse_loop() -> Any:
    """Returns the private C++ loop of SciPy's sparse product, a quarter of its time; None if SciPy removes it."""
    try:
        from scipy.sparse._sparsetools import csc_matvecs  # type: ignore[import-untyped]
    except ImportError:
        return None
    return csc_matvecs
