"""Sums along axes, as products with ones where that is faster than `add.reduce`; scatter-adds of rows.

NumPy's inner loop runs along the last axis: where that is short and others are reduced, loop overhead dominates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..tuning import ADDED_ROWS, FEW_IN_ROWS, LONG_SUM, LONGEST_ROW, MANY_ROWS, SHORT_SUM
from .blocks import share_out


def sum_along(x: Any, axis: tuple[int, ...]) -> Any:
    """Sums an array of floats along axes, which it removes; returns None where `add.reduce` is as fast."""
    first, end, shape = axis[0], axis[-1] + 1, x.shape
    if first < 0 or axis != tuple(range(first, end)):
        return None
    if not x.flags.c_contiguous:
        in_rows = first and end == first + 1 == len(shape)
        return np.einsum("...i->...", x) if in_rows and shape[-1] <= SHORT_SUM else None
    count, width = math.prod(shape[first:end]), math.prod(shape[end:])
    kept = (*shape[:first], *shape[end:])
    if width <= 1:
        few = 0 < count <= LONGEST_ROW and count < x.size
        return np.dot(x.reshape(-1, count), np.ones(count, x.dtype)).reshape(kept) if few else None
    if first == 0 or math.prod(shape[:first]) == 1:
        if count < MANY_ROWS and x.size <= FEW_IN_ROWS:
            return None
        return sum_rows(x.reshape(count, width)).reshape(kept)
    parts = x.reshape(-1, count, width)
    if count < LONG_SUM:
        return np.einsum("ijk->ik", parts).reshape(kept)
    y, ones = np.empty((len(parts), width), x.dtype), np.ones(count, x.dtype)
    share_out(lambda part: np.matmul(ones, parts[part], out=y[part]), len(parts), x.size)
    return y.reshape(kept)


def sum_rows(x: Any) -> Any:
    """Sums the rows of a matrix by a product with ones, several times faster than `add.reduce`."""
    return sum(share_out(lambda part: np.ones(part.stop - part.start, x.dtype) @ x[part], x.shape[0], x.size))


def row_summer(width: int, dtype: Any) -> Callable[[Any], Any]:
    """Returns a function that sums the rows, of `width` elements, of a matrix of floats to a column."""
    if width > LONGEST_ROW:
        return lambda rows: np.add.reduce(rows, axis=1, keepdims=True)
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
