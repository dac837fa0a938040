"""Index arithmetic for ragged tensors, by ops only: a trace does not depend on the values.

A value is read (`looked_at`) only where it determines the size of a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.tensor import Tensor, constant
from ..engine.run.namespace import ops


def counting(count: int, dtype: DType) -> Tensor:
    """The integers 0, 1, ..., count - 1."""
    return constant(np.arange(count, dtype=dtype.numpy), dtype)


def number(value: int, dtype: DType) -> Tensor:
    """A scalar integer tensor."""
    return constant(dtype.as_numpy_dtype(value), dtype)


def looked_at(x: Any) -> int:
    """Read an integer that determines the size of a result; a trace is specialized on it."""
    return int(x.array if isinstance(x, Tensor) else x)


def splits_of(lengths: Tensor) -> Tensor:
    """The row splits for rows of these lengths."""
    zero = constant(np.zeros(1, lengths.dtype.numpy), lengths.dtype)
    return ops.concat(zero, ops.cumsum(lengths, axis=0), axis=0)


def row_numbers(splits: Tensor, count: int) -> Tensor:
    """The row number of each of `count` values."""
    return ops.sub(searched(splits, counting(count, splits.dtype), "right"), number(1, splits.dtype))


def searched(ascending: Tensor, values: Tensor, side: str) -> Tensor:
    """The positions at which values would be inserted into a vector in ascending order."""
    rows, sought = (ops.reshape(x, shape=(1, *x.dims)) for x in (ascending, values))
    return ops.reshape(ops.search_sorted(rows, sought, side=side, dtype=ascending.dtype.numpy), shape=values.dims)


def picked(x: Tensor, rows: Tensor) -> Tensor:
    """Gather rows of a tensor."""
    return ops.gather(x, rows, axis=0, batch=0)


def offsets(splits: Tensor, count: int) -> Tensor:
    """The position of each of `count` values in its row."""
    return ops.sub(counting(count, splits.dtype), picked(splits, row_numbers(splits, count)))


def ranges(starts: Tensor, lengths: Tensor, step: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Concatenate the ranges `starts[i], starts[i] + step, ...`; return them and their row splits."""
    splits = splits_of(lengths)
    count = looked_at(splits[-1])
    rows = row_numbers(splits, count)
    places = ops.sub(counting(count, splits.dtype), picked(splits, rows))
    if step is not None:
        places = ops.mul(places, picked(step, rows) if step.dims else step)
    return ops.add(picked(starts, rows), places), splits


def lengths_between(splits: Tensor) -> Tensor:
    """The lengths of the rows."""
    return ops.sub(splits[1:], splits[:-1])
